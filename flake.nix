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
    forAllSystems = nixpkgs.lib.genAttrs ["x86_64-linux" "aarch64-linux"];
    benchbook = forAllSystems (system: import ./nix {inherit self nixpkgs nixpkgs-historic system;});
    output = name: forAllSystems (system: benchbook.${system}.${name});
  in {
    packages = output "packages";
    apps = output "apps";
    checks = output "checks";
    legacyPackages = output "legacyPackages";
    devShells = output "devShells";
    formatter = output "formatter";
    # `nix flake init -t` makes the project that `benchbook init` makes.
    templates.default = {
      path = ./harness/benchbook/cli/starter;
      description = "A project of Benchbook: experiments, systems and data of your own";
    };
  };
}
