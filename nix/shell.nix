# `nix develop` and direnv: everything that a contributor needs.
{
  pkgs,
  python,
  tools,
}:
pkgs.mkShell {
  # Quarto runs the cells of the reports with this Python.
  QUARTO_PYTHON = "${python.testing}/bin/python3";
  packages =
    [
      python.testing
      pkgs.alejandra
      pkgs.duckdb
      pkgs.go-tools
      pkgs.ruff
      pkgs.shellcheck
      pkgs.uv
    ]
    ++ tools.all.first
    ++ tools.all.last;
}
