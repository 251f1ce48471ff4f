# All outputs of the flake. This repository is a project like any other; to it come the outputs for work on Benchbook.
{
  self,
  nixpkgs,
  nixpkgs-historic,
}: let
  inherit (nixpkgs) lib;
  source = self;
  machines = ["x86_64-linux" "aarch64-linux"];
  own = {
    modern = nixpkgs;
    historic = nixpkgs-historic;
  };

  # project: its flake. inputs: name of a pin -> nixpkgs, or a function from a machine type to packages.
  partsOf = project: inputs: system: import ./parts.nix {inherit inputs lib project source system;};

  # Machine type -> output -> value, the other way round.
  outputs = of: let
    made = lib.genAttrs machines of;
  in
    lib.mapAttrs (output: _: lib.mapAttrs (_: one: one.${output}) made) made.x86_64-linux;
in
  outputs (system: let
    parts = partsOf self own system;
  in
    import ./development.nix parts (import ./project.nix parts))
  // {
    mkProject = {
      self,
      pins ? {},
    }:
      outputs (system: import ./project.nix (partsOf self (own // pins) system));

    # Built from the packages of the nixpkgs that they are added to.
    overlays.default = final: _: let
      parts = partsOf self (own // {modern = _: final;}) final.stdenv.hostPlatform.system;
    in {
      inherit (parts) benchload;
      benchbook = parts.command;
    };
  }
