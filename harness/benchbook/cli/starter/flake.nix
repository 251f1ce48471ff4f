{
  description = "A project of Benchbook";

  # The repository of Benchbook that this project uses.
  inputs.benchbook.url = "github:OWNER/benchbook";

  # `nix run . -- run first` runs the pinned Benchbook here.
  outputs = {benchbook, ...}: {
    apps = builtins.mapAttrs (_: apps: {default = apps.benchbook;}) benchbook.apps;
  };
}
