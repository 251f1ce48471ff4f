# The checks of `nix flake check`.
{
  command,
  declared,
  experiments,
  lib,
  pinned,
  pkgs,
  python,
  self,
  test,
}: let
  # A check by evaluation: it fails with all sentences, or builds an empty file.
  none = name: sentences:
    if sentences == []
    then pkgs.writeText name "nothing disagrees\n"
    else throw (lib.concatStringsSep " " sentences);
in {
  versions = none "versions" (import ./versions.nix {inherit declared lib pinned python;});
  python-packages = none "python-packages" python.tooOld;

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
  declarations = pkgs.runCommand "declarations" {nativeBuildInputs = [command];} ''
    export HOME=$TMPDIR
    for kind in experiments systems datasets storage; do
      benchbook list "$kind" --json >/dev/null
    done
    touch "$out"
  '';
  # `./bench lint` checks Python with the locked ruff: another version may format differently.
  formatting =
    pkgs.runCommand "formatting" {
      nativeBuildInputs = [pkgs.go pkgs.shellcheck];
    } ''
      cd ${self}
      unformatted=$(gofmt -l harness/benchload)
      [ -z "$unformatted" ] || { echo "gofmt: $unformatted" >&2; exit 1; }
      shellcheck bench nix/go-hash nix/vendor-hash harness/tests/nix/with-stand-in .ci/nix
      touch "$out"
    '';
  formatting-nix = pkgs.runCommand "formatting-nix" {nativeBuildInputs = [pkgs.alejandra];} ''
    alejandra --check ${self}/flake.nix ${self}/nix ${self}/harness/tests/nix
    touch "$out"
  '';
  smoke = pkgs.runCommand "smoke" {nativeBuildInputs = [experiments.quickstart];} ''
    export HOME=$TMPDIR
    quickstart --profile smoke --results "$TMPDIR/results"
    touch "$out"
  '';
}
