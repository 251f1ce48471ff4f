# The checks of `nix flake check` for work on Benchbook itself.
{
  experiments,
  lib,
  pkgs,
  python,
  source,
  test,
}: {
  python-packages = import ./none.nix {inherit lib pkgs;} "python-packages" python.tooOld;

  # A sandbox has neither servers nor a browser; `nix run .#test` runs their tests too.
  python = pkgs.runCommand "test-python" {nativeBuildInputs = [test];} ''
    export HOME=$TMPDIR
    benchbook-test --only python -- -q -p no:cacheprovider -n auto --dist loadfile \
      --ignore=tests/live --ignore=tests/browser
    touch "$out"
  '';
  go = import ./benchload.nix {
    inherit pkgs;
    doCheck = true;
  };
  # `./bench lint` checks Python with the locked ruff: another version may format differently.
  formatting =
    pkgs.runCommand "formatting" {
      nativeBuildInputs = [pkgs.go pkgs.shellcheck];
    } ''
      cd ${source}
      unformatted=$(gofmt -l harness/benchload)
      [ -z "$unformatted" ] || { echo "gofmt: $unformatted" >&2; exit 1; }
      shellcheck bench nix/go-hash nix/vendor-hash harness/tests/nix/with-stand-in .ci/nix
      touch "$out"
    '';
  formatting-nix = pkgs.runCommand "formatting-nix" {nativeBuildInputs = [pkgs.alejandra];} ''
    alejandra --check ${source}/flake.nix ${source}/nix ${source}/harness/tests/nix ${source}/harness/benchbook/cli/starter
    touch "$out"
  '';
  smoke = pkgs.runCommand "smoke" {nativeBuildInputs = [experiments.quickstart];} ''
    export HOME=$TMPDIR
    quickstart --profile smoke --results "$TMPDIR/results"
    touch "$out"
  '';
}
