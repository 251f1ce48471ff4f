# The outputs of this repository for one machine type: those of its project, and those for work on Benchbook itself.
{
  app,
  benchload,
  experiments,
  lib,
  pkgs,
  python,
  source,
  tools,
  ...
}: project: let
  test = import ./test.nix {inherit benchload pkgs python source tools;};
in
  project
  // {
    packages = project.packages // {inherit benchload;};
    apps =
      project.apps
      // {
        test = app "Every test, Python and Go, on a copy of this source" test;
        default = app "What can be run from this flake" (import ./help.nix {inherit experiments lib pkgs;});
      };
    checks = project.checks // import ./checks.nix {inherit experiments lib pkgs python source test;};
    # Tests that need a machine with KVM and much memory.
    legacyPackages = project.legacyPackages // {vm = import ./vm.nix {inherit experiments pkgs;};};
    devShells.default = import ./shell.nix {inherit pkgs python tools;};
    # `nix fmt` passes no path; alejandra alone would read its standard input. .bench has copies of the stand-in.
    formatter = pkgs.writeShellApplication {
      name = "format";
      runtimeInputs = [pkgs.alejandra];
      text = ''alejandra --exclude ./.bench -- "''${@:-.}"'';
    };
  }
