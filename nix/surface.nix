# Hides everything in nixpkgs except what surface.toml lists.
rec {
  listed = builtins.fromTOML (builtins.readFile ./surface.toml);

  # limit "modern" pkgs: the attributes of pkgs that the section lists, and no others.
  limit = section: from:
    builtins.mapAttrs
    (name: file: from.${name} or (throw "nix/surface.toml lists ${name} (${file}) under [${section}], but this nixpkgs has no such attribute."))
    listed.${section};
}
