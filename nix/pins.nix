# The pinned nixpkgs as package sets, by the names that systems/*.toml use. A pin is fetched only when one of its packages
# is used.
{
  inputs,
  lib,
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
in
  lib.mapAttrs (
    _: input:
      if builtins.isFunction input
      then input system
      else packages input
  )
  inputs
