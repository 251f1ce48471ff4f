# A system from Maven repositories, of exactly the artifacts in its TOML: a folder of jars, or an unpacked distribution.
{
  lib,
  pkgs,
}: name: one: let
  source = one.source.maven;
  # A coordinate is group:artifact:version:type, and :classifier if it has one.
  artifact = coordinate: sha256: let
    parts = builtins.filter builtins.isString (builtins.split ":" coordinate);
    part = builtins.elemAt parts;
    classifier = lib.optionalString (builtins.length parts == 5) "-${part 4}";
  in rec {
    file = "${part 1}-${part 2}${classifier}.${part 3}";
    fetched = pkgs.fetchurl {
      url = "mirror://maven/${builtins.replaceStrings ["."] ["/"] (part 0)}/${part 1}/${part 2}/${file}";
      inherit sha256;
    };
    add =
      if part 3 == "zip"
      then "unzip -q ${fetched}"
      else "ln -s ${fetched} ${file}";
  };
  steps = lib.mapAttrsToList (coordinate: sha256: (artifact coordinate sha256).add) source.sha256;
in
  pkgs.runCommand name {nativeBuildInputs = [pkgs.unzip];} ''
    mkdir "$out"
    cd "$out"
    ${lib.concatStringsSep "\n" steps}
    patchShebangs "$out"
  ''
