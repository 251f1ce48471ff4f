{
  description = "Benchbook: reproducible benchmarks of databases and storage, with notebook reports";

  inputs = {
    # The harness, its tools and current systems.
    nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";
    # Systems that newer nixpkgs dropped or moved past. It is fetched only when one of them is asked for.
    nixpkgs-historic.url = "github:NixOS/nixpkgs/nixos-22.05";
  };

  outputs = {
    self,
    nixpkgs,
    nixpkgs-historic,
  }: let
    benchbook = import ./nix {inherit self nixpkgs nixpkgs-historic;};
  in {
    inherit (benchbook) apps checks devShells formatter legacyPackages overlays packages;
    # `mkProject {inherit self;}` gives the same outputs for a project of your own (docs/your-own-project.md).
    lib = {inherit (benchbook) mkProject;};
    # `nix flake init -t` makes the project that `benchbook init` makes.
    templates.default = {
      path = ./harness/benchbook/cli/starter;
      description = "A project of Benchbook: experiments, systems and data of your own";
    };
  };
}
