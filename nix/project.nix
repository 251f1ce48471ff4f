# The outputs of a project for one machine type, from its parts.
{
  app,
  bare,
  benchbook,
  command,
  declared,
  dispatcher,
  experiments,
  lib,
  pinned,
  pkgs,
  project,
  python,
  tools,
  ...
}: let
  own = {
    systems = builtins.intersectAttrs declared.own.systems pinned.packages;
    programs = builtins.intersectAttrs declared.own.systems pinned.programs;
    experiments = builtins.intersectAttrs declared.own.experiments experiments;
  };
in {
  packages =
    own.systems
    // own.experiments
    // {
      systems = benchbook.systems "all" pinned.programs;
      site = import ./site.nix {
        inherit pkgs project;
        command = benchbook.commandWith tools.rendering;
      };
      benchbook = command;
      experiment = dispatcher;
      default = command;
    };
  apps =
    lib.mapAttrs (slug: app declared.own.experiments.${slug}.question) own.experiments
    // {
      benchbook = app "The command line: list, plan, run, report and more" command;
      experiment = app "Run an experiment by its name, with only the systems that it needs" dispatcher;
      default = app "The command line" command;
    };
  checks = {
    versions = import ./none.nix {inherit lib pkgs;} "versions" (import ./versions.nix {inherit declared lib pinned python;});
    declarations = pkgs.runCommand "declarations" {nativeBuildInputs = [bare];} ''
      export HOME=$TMPDIR BENCHBOOK_PROJECT=${project}
      for kind in experiments systems datasets storage; do
        benchbook list "$kind" --json >/dev/null
      done
      touch "$out"
    '';
  };
  # Where `nix flake check` does not look: every experiment, also those that come with Benchbook, and the path of each system.
  legacyPackages = {
    inherit experiments;
    inherit (pinned) programs;
  };
  # The command line with the systems of the project.
  devShells.default = pkgs.mkShell {
    BENCHBOOK_NIX_SYSTEMS = benchbook.systems "own" own.programs;
    packages = [command] ++ builtins.attrValues own.systems;
  };
}
