# A sentence for each difference between the flake's versions and systems/*.toml.
{
  declared,
  lib,
  pinned,
  python,
}: let
  agree = import ./agree.nix {inherit lib;};
  # SQLite comes with Python itself; the harness asks it for its version at run time. A server that comes as a Python
  # package (it names its program) is installed on request and is in no pin; neither is a binding with its own wheels.
  embedded =
    lib.filterAttrs (_: one: one.source ? python && one.source.python.package != "sqlite3" && !(one.source.python ? program) && !(one.source.python ? wheels))
    declared.systems;
  inPython = lib.mapAttrsToList (name: one:
    agree name one "the Python package ${one.source.python.package} of the modern nixpkgs"
    (python.version one.source.python.package))
  embedded;
in
  pinned.disagreements ++ builtins.filter (words: words != null) inPython
