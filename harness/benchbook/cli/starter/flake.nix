{
  description = "A project of Benchbook";

  # The repository of Benchbook that this project uses; flake.lock pins its revision.
  inputs.benchbook.url = "github:OWNER/benchbook";

  # `nix run .#experiment -- first` runs an experiment of this folder with the systems that it names.
  outputs = {
    self,
    benchbook,
  }:
    benchbook.lib.mkProject {
      inherit self;
    };
}
