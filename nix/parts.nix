# What the outputs of a project are made of, for one machine type.
{
  # Name of a pin -> nixpkgs, or a function from a machine type to packages.
  inputs,
  lib,
  # The flake of the project.
  project,
  # The flake of Benchbook.
  source,
  system,
}: rec {
  inherit lib project source;
  pins = import ./pins.nix {inherit inputs lib system;};
  pkgs = pins.modern;
  declared = import ./declared.nix {inherit lib project source;};
  pinned = import ./systems.nix {inherit declared lib pins system;};
  python = import ./python.nix {inherit declared lib pkgs;};
  benchload = import ./benchload.nix {inherit pkgs;};
  benchbook = import ./benchbook.nix {inherit benchload lib pkgs project python source;};
  tools = import ./tools.nix {inherit declared lib pkgs;};
  # For builds: the command line with Python alone.
  bare = benchbook.commandWith tools.none;
  command = benchbook.commandWith tools.all;
  experiments = import ./experiments.nix {inherit benchbook declared inputs lib pinned pkgs tools;};
  dispatcher = import ./dispatcher.nix {inherit declared experiments inputs lib pinned pkgs project source;};
  app = description: package: {
    type = "app";
    program = "${package}/bin/${package.name}";
    meta = {inherit description;};
  };
}
