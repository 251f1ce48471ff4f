# All outputs of the flake for one machine type, combined from the files in this folder.
{
  self,
  nixpkgs,
  nixpkgs-historic,
  system,
}: let
  inherit (nixpkgs) lib;
  pins = import ./pins.nix {inherit nixpkgs nixpkgs-historic system;};
  pkgs = pins.modern;
  declared = import ./declared.nix {inherit lib;};
  pinned = import ./systems.nix {inherit declared lib pins;};
  python = import ./python.nix {inherit lib pkgs;};
  benchload = import ./benchload.nix {inherit pkgs;};
  benchbook = import ./benchbook.nix {inherit benchload pkgs python self;};
  experiments = import ./experiments.nix {
    inherit benchbook declared lib nixpkgs nixpkgs-historic pinned pkgs;
  };
  dispatcher = import ./dispatcher.nix {
    inherit experiments lib nixpkgs pkgs self;
  };
  test = import ./test.nix {inherit benchload pkgs python self;};
  help = import ./help.nix {inherit experiments lib pkgs;};
  site = import ./site.nix {inherit benchbook pkgs;};
  app = description: package: {
    type = "app";
    program = "${package}/bin/${package.name}";
    meta = {inherit description;};
  };
in {
  packages =
    pinned.packages
    // experiments
    // {
      inherit benchload site;
      systems = benchbook.systems "all" pinned.packages;
      benchbook = benchbook.command;
      default = benchbook.command;
    };
  apps =
    lib.mapAttrs (slug: app declared.experiments.${slug}.question) experiments
    // {
      benchbook = app "The command line: list, plan, run, report and more" benchbook.command;
      experiment = app "Run an experiment by its name, with only the systems that it needs" dispatcher;
      test = app "Every test, Python and Go, on a copy of this source" test;
      default = app "What can be run from this flake" help;
    };
  checks = import ./checks.nix {
    inherit benchbook declared experiments lib pinned pkgs python self test;
  };
  devShells.default = import ./shell.nix {inherit pkgs python;};
  # `nix fmt` passes no path; alejandra alone would read its standard input.
  formatter = pkgs.writeShellApplication {
    name = "format";
    runtimeInputs = [pkgs.alejandra];
    text = ''alejandra "''${@:-.}"'';
  };
}
