# A sentence for each difference between the flake's versions and the project's systems/*.toml.
{
  declared,
  lib,
  pinned,
  python,
}: let
  agree = import ./agree.nix {inherit lib;};
  inPython = lib.mapAttrsToList (name: one:
    agree name one "the Python package ${one.source.python.package} of the modern nixpkgs"
    (python.version one.source.python.package))
  (builtins.intersectAttrs declared.own.systems declared.embedded);
in
  pinned.disagreements ++ builtins.filter (words: words != null) inPython
