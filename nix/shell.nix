# `nix develop` and direnv: everything that a contributor needs.
{
  pkgs,
  python,
}:
pkgs.mkShell {
  packages = [
    python.testing
    pkgs.alejandra
    pkgs.duckdb
    pkgs.fio
    pkgs.git
    pkgs.go
    pkgs.go-tools
    pkgs.hyperfine
    pkgs.quarto
    pkgs.ruff
    pkgs.shellcheck
    pkgs.uv
  ];
}
