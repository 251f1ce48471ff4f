# `nix develop` and direnv: everything that a contributor needs.
{
  pkgs,
  python,
}:
pkgs.mkShell {
  # Quarto runs the cells of the reports with this Python.
  QUARTO_PYTHON = "${python.testing}/bin/python3";
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
