# Each declared system that one of the two pins has, at exactly the version in its TOML.
{
  declared,
  lib,
  pins,
}: let
  agree = import ./agree.nix {inherit lib;};
  withPackage = lib.filterAttrs (_: one: one.source ? nix) declared.systems;

  package = name: one: let
    inherit (one.source.nix) attribute pin;
  in
    pins.${pin}.${attribute}
    or (throw "systems/${name}.toml names ${attribute} of the ${pin} nixpkgs, which has no such attribute: correct it there (docs/pinning.md).");

  disagreement = name: one:
    agree name one "${one.source.nix.attribute} of the ${one.source.nix.pin} nixpkgs" (package name one).version;
  disagreements = lib.mapAttrs disagreement withPackage;
in {
  # A sentence for every system whose package and TOML differ.
  disagreements = builtins.filter (words: words != null) (builtins.attrValues disagreements);

  # name -> package; a package that differs from its TOML is an error.
  packages =
    lib.mapAttrs (
      name: one:
        if disagreements.${name} == null
        then package name one
        else throw disagreements.${name}
    )
    withPackage;

  # The pins that some systems come from.
  pinsOf = names:
    lib.unique (map (name: declared.systems.${name}.source.nix.pin)
      (builtins.filter (name: withPackage ? ${name}) names));
}
