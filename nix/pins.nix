# The two pinned nixpkgs as package sets. A pin is fetched only when one of its packages is used.
{
  lib,
  nixpkgs,
  nixpkgs-historic,
  system,
}: let
  # Systems that are unfree in nixpkgs, by name, and those that it marks insecure, by name and version. None is now.
  # User configuration has no influence.
  unfree = [];
  insecure = [];
  packages = input:
    import input {
      inherit system;
      config = {
        allowUnfreePredicate = package: builtins.elem (lib.getName package) unfree;
        permittedInsecurePackages = insecure;
      };
    };
in {
  modern = packages nixpkgs;
  historic = packages nixpkgs-historic;
}
