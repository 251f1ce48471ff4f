# The two pinned nixpkgs as package sets. A pin is fetched only when one of its packages is used.
{
  nixpkgs,
  nixpkgs-historic,
  system,
}: let
  # No system that comes from a pin is unfree or marked insecure there. The first one that is gets its name here, in
  # allowUnfreePredicate or permittedInsecurePackages; user configuration has no influence.
  packages = input:
    import input {
      inherit system;
      config = {};
    };
in {
  modern = packages nixpkgs;
  historic = packages nixpkgs-historic;
}
