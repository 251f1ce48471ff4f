# The separate Python environment of an embedded system, of exactly the wheels in its TOML.
{
  lib,
  pkgs,
  system,
}: name: one: let
  source = one.source.python;
  python = {"3.11" = pkgs.python311;}.${source.python};
  machine = builtins.head (builtins.split "-" system);

  # NAME-VERSION-PYTHON-ABI-PLATFORM.whl
  wheel = file: sha256: let
    part = builtins.elemAt (builtins.filter builtins.isString (builtins.split "-" (lib.removeSuffix ".whl" file)));
    platform = part 4;
  in {
    name = part 0;
    fits = platform == "any" || lib.hasSuffix "_${machine}" platform;
    value = pkgs.fetchPypi {
      pname = part 0;
      version = part 1;
      format = "wheel";
      dist = part 2;
      python = part 2;
      abi = part 3;
      inherit platform sha256;
    };
  };
  fitting = builtins.filter (one: one.fits) (lib.mapAttrsToList wheel source.wheels);
  # Of several files of a package, the last one was built for the newest C library, which pip prefers too.
  chosen = builtins.foldl' (found: one: found // {${one.name} = one.value;}) {} fitting;

  # The system's own package comes last: where a file is in two wheels (chDB's chdb/__init__.py), its own file is meant.
  own = builtins.replaceStrings ["-"] ["_"] source.package;
  ordered = builtins.attrValues (builtins.removeAttrs chosen [own]) ++ [chosen.${own}];

  # Wheels expect these libraries in the system's folders, which NixOS does not have.
  libraries = lib.makeLibraryPath [pkgs.stdenv.cc.cc pkgs.zlib];
in
  pkgs.runCommand name {nativeBuildInputs = [pkgs.unzip];} ''
    ${python}/bin/python3 -m venv --without-pip "$out/environment"
    for wheel in ${lib.concatStringsSep " " (map (one: "${one}") ordered)}; do
      unzip -qo "$wheel" -d "$out/environment/lib/python${source.python}/site-packages"
    done
    # A program must not write to the store.
    ${python}/bin/python3 -m compileall -q --invalidation-mode unchecked-hash "$out/environment"
    mkdir "$out/bin"
    cat >"$out/bin/python" <<PROGRAM
    #!${pkgs.bash}/bin/bash
    export LD_LIBRARY_PATH=${libraries}
    exec $out/environment/bin/python "\$@"
    PROGRAM
    chmod +x "$out/bin/python"
  ''
