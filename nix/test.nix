# Every test, on a copy of the source, because tests write files and the store is read-only.
{
  benchload,
  pkgs,
  python,
  source,
  tools,
}:
pkgs.writeShellApplication {
  name = "benchbook-test";
  runtimeInputs = [python.testing] ++ tools.all.first;
  text = ''
    scratch=$(mktemp -d)
    trap 'chmod -R u+w "$scratch" && rm -rf "$scratch"' EXIT
    cp -r ${source}/. "$scratch/benchbook"
    chmod -R u+w "$scratch/benchbook"
    cp -r ${benchload.goModules} "$scratch/benchbook/harness/benchload/vendor"
    export BENCHBOOK_ROOT=$scratch/benchbook
    export BENCHBOOK_BENCHLOAD=${benchload}/bin/benchload
    export PYTHONPATH=$scratch/benchbook/harness
    export PYTHONNOUSERSITE=1 QUARTO_PYTHON=${python.testing}/bin/python3
    export GOCACHE="''${GOCACHE:-$scratch/go-cache}" GOPROXY=off GOFLAGS=
    python3 -P -m benchbook test "$@"
  '';
}
