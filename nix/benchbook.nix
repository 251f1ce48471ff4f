# The command benchbook: the harness with its Python and benchload, run from the flake's source.
{
  benchload,
  lib,
  pkgs,
  project,
  python,
  source,
}: let
  # Compiled once here: a program must not write to the store, which contains the source.
  library = pkgs.runCommand "benchbook-library" {nativeBuildInputs = [python.runtime];} ''
    mkdir -p "$out"
    cp -r ${../harness/benchbook} "$out/benchbook"
    chmod -R u+w "$out/benchbook"
    python3 -m compileall -q --invalidation-mode unchecked-hash "$out/benchbook"
  '';
  systems = name: programs: pkgs.writeText "${name}-systems.json" (builtins.toJSON programs);
in rec {
  # The file that maps each system to its store path, for the harness.
  inherit systems;

  # Nix has no revision if inputs are overridden or files changed; the stand-in or rerun may pass it.
  revision = source.rev or source.dirtyRev or "\${BENCHBOOK_NIX_REVISION:-unknown}";

  # What the harness reads from its environment, the same for every command of the flake.
  environment = ''
    export BENCHBOOK_ROOT=${source}
    export BENCHBOOK_BENCHLOAD=${benchload}/bin/benchload
    export BENCHBOOK_NIX_REVISION="${revision}"
    ${lib.optionalString (project.outPath != source.outPath) ''
      export BENCHBOOK_NIX_PROJECT=${project}
      export BENCHBOOK_NIX_PROJECT_REVISION=${project.rev or project.dirtyRev or "unknown"}
    ''}
    export PYTHONPATH=${library}
    export QUARTO_PYTHON=${python.runtime}/bin/python3
    export PYTHONNOUSERSITE=1 PYTHONDONTWRITEBYTECODE=1
  '';

  # The command line with the programs in `tools`, without systems from nixpkgs.
  commandWith = tools:
    pkgs.writeShellApplication {
      name = "benchbook";
      runtimeInputs = [python.runtime] ++ tools.first;
      text = ''
        ${environment}
        export PATH="$PATH${lib.optionalString (tools.last != []) ":${lib.makeBinPath tools.last}"}"
        export BENCHBOOK_NIX_SYSTEMS="''${BENCHBOOK_NIX_SYSTEMS:-${systems "no" {}}}"
        export BENCHBOOK_COMMAND="''${BENCHBOOK_COMMAND:-nix run .#benchbook --}"
        exec python3 -P -m benchbook "$@"
      '';
    };
}
