# All outputs of the flake for one machine type, combined from the files in this folder.
{
  self,
  nixpkgs,
  nixpkgs-historic,
  system,
}: let
  inherit (nixpkgs) lib;
  pins = import ./pins.nix {inherit lib nixpkgs nixpkgs-historic system;};
  pkgs = pins.modern;
  declared = import ./declared.nix {inherit lib;};
  pinned = import ./systems.nix {inherit declared lib pins system;};
  python = import ./python.nix {inherit lib pkgs;};
  benchload = import ./benchload.nix {inherit pkgs;};
  benchbook = import ./benchbook.nix {inherit benchload lib pkgs python self;};
  tools = import ./tools.nix {inherit declared lib pkgs;};
  # For builds: the command line with Python alone.
  bare = benchbook.commandWith tools.none;
  command = benchbook.commandWith tools.all;
  experiments = import ./experiments.nix {
    inherit benchbook declared lib nixpkgs nixpkgs-historic pinned pkgs tools;
  };
  dispatcher = import ./dispatcher.nix {
    inherit declared experiments lib nixpkgs pinned pkgs self;
  };
  test = import ./test.nix {inherit benchload pkgs python self tools;};
  vm = import ./vm.nix {inherit experiments pkgs;};
  help = import ./help.nix {inherit experiments lib pkgs;};
  site = import ./site.nix {
    inherit pkgs;
    command = benchbook.commandWith tools.rendering;
  };
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
      systems = benchbook.systems "all" pinned.programs;
      benchbook = command;
      experiment = dispatcher;
      default = command;
    };
  apps =
    lib.mapAttrs (slug: app declared.experiments.${slug}.question) experiments
    // {
      benchbook = app "The command line: list, plan, run, report and more" command;
      experiment = app "Run an experiment by its name, with only the systems that it needs" dispatcher;
      test = app "Every test, Python and Go, on a copy of this source" test;
      default = app "What can be run from this flake" help;
    };
  checks = import ./checks.nix {
    inherit declared experiments lib pinned pkgs python self test;
    command = bare;
  };
  # Where `nix flake check` does not look: tests that need a machine with KVM and much memory, and the path of each system.
  legacyPackages = {
    inherit vm;
    inherit (pinned) programs;
  };
  devShells.default = import ./shell.nix {inherit pkgs python tools;};
  # `nix fmt` passes no path; alejandra alone would read its standard input. .bench has copies of the stand-in.
  formatter = pkgs.writeShellApplication {
    name = "format";
    runtimeInputs = [pkgs.alejandra];
    text = ''alejandra --exclude ./.bench -- "''${@:-.}"'';
  };
}
