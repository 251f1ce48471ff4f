# The two pinned nixpkgs as package sets. A pin is fetched only when one of its packages is used.
{
  nixpkgs,
  nixpkgs-historic,
  system,
}: let
  config = {
    # A system under test is often not free or, being historic, insecure. Its TOML states its licence, it
    # listens on loopback only, and it is fetched only for an experiment that names it.
    allowUnfree = true;
    allowInsecurePredicate = _: true;
  };
  packages = input: import input {inherit config system;};
in {
  modern = packages nixpkgs;
  historic = packages nixpkgs-historic;
}
