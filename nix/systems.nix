# Each declared system that one of the two pins has, at exactly the version in its TOML, and those that nixpkgs lacks but
# the registry of a language has, of exactly the files in their TOML.
{
  declared,
  lib,
  pins,
  system,
}: let
  agree = import ./agree.nix {inherit lib;};
  withPackage = lib.filterAttrs (_: one: one.source ? nix) declared.systems;

  stated = name: key:
    withPackage.${name}.source.nix.${key}
    or (throw "systems/${name}.toml: the key source.nix.${key} is missing; [source.nix] has pin, attribute and program.");
  pinOf = name: let
    pin = stated name "pin";
  in
    if pins ? ${pin}
    then pin
    else throw "systems/${name}.toml names the pin ${pin}, which this flake does not have. It has ${lib.concatStringsSep ", " (builtins.attrNames pins)}. To add one, give it to mkProject as pins.${pin} in flake.nix (docs/your-own-project.md).";

  package = name: let
    attribute = stated name "attribute";
    pin = pinOf name;
  in
    pins.${pin}.${attribute}
    or (throw "systems/${name}.toml names ${attribute} of the ${pin} nixpkgs, which has no such attribute: correct it there (docs/pinning.md).");

  disagreement = name: one:
    agree name one "${stated name "attribute"} of the ${pinOf name} nixpkgs" ((package name).version or null);
  disagreements = lib.mapAttrs disagreement withPackage;

  ofPins =
    lib.mapAttrs (
      name: _:
        if disagreements.${name} == null
        then package name
        else throw disagreements.${name}
    )
    withPackage;

  pkgs = pins.modern;
  goHashes = builtins.fromTOML (builtins.readFile ./go-systems.toml);
  others = lib.filterAttrs (_: one: !(one.source ? nix)) declared.systems;
  fromGo = lib.filterAttrs (name: one: one.source ? go && goHashes ? ${name}) others;
  fromMaven = lib.filterAttrs (_: one: one.source ? maven) others;
  fromWheels = lib.filterAttrs (_: one: one.source ? python.wheels) others;
  ofMaven = lib.mapAttrs (import ./maven.nix {inherit lib pkgs;}) fromMaven;
  ofGo = lib.mapAttrs (import ./go.nix {inherit goHashes lib pkgs;}) fromGo;
  ofWheels = lib.mapAttrs (import ./wheels.nix {inherit lib pkgs system;}) fromWheels;
in {
  # A sentence for every system of the project whose package and TOML differ.
  disagreements =
    builtins.filter (words: words != null)
    (builtins.attrValues (builtins.intersectAttrs declared.own.systems disagreements));

  # name -> package; a package that differs from its TOML is an error.
  packages = ofPins // ofGo // ofMaven // ofWheels;

  # name -> what the harness gets: a package with the program in bin/, a program, or a folder of jars.
  programs =
    lib.mapAttrs (_: package: "${package}") ofPins
    // lib.mapAttrs (name: package: "${package}" + lib.optionalString (fromMaven.${name}.source.maven ? program) "/${fromMaven.${name}.source.maven.program}") ofMaven
    // lib.mapAttrs (name: package: "${package}/bin/${fromGo.${name}.source.go.program}") ofGo
    // lib.mapAttrs (_: package: "${package}/bin/python") ofWheels;

  # The pins that some systems come from.
  pinsOf = names:
    lib.unique (map pinOf (builtins.filter (name: withPackage ? ${name}) names));
}
