# Python with the packages in harness/pyproject.toml; their names in nixpkgs are those of PyPI.
{
  declared,
  lib,
  pkgs,
}: let
  file = builtins.fromTOML (builtins.readFile ../harness/pyproject.toml);
  # All extras, as ./bench installs them; the extra `all` only names the others.
  extras = builtins.removeAttrs file.project.optional-dependencies ["all"];
  dependencies = file.project.dependencies ++ builtins.concatLists (builtins.attrValues extras);
  name = requirement: builtins.head (builtins.match "([A-Za-z0-9-]+).*" requirement);
  bound = requirement: builtins.match "[^>]+>=([0-9.]+).*" requirement;
  # ./bench does the type checking with the locked checker and stubs; ruff is a separate program.
  development = builtins.filter (one: builtins.elem (name one) ["hypothesis" "pytest" "pytest-timeout" "pytest-xdist"]) file.dependency-groups.dev;

  own = packages: {hdrhistogram = import ./hdrhistogram.nix {inherit packages pkgs;};};
  all = packages: packages // own packages;
  available = all pkgs.python3.pkgs;
  tooOld = requirement: let
    lowest = bound requirement;
  in
    lowest != null && builtins.compareVersions available.${name requirement}.version (builtins.head lowest) < 0;
  # A sentence for each package that is older than pyproject.toml requires.
  disagreements = requirements:
    map (one: "harness/pyproject.toml wants ${one}, but nixpkgs has ${available.${name one}.version}.")
    (builtins.filter tooOld requirements);

  # Bindings of the project's systems, as far as nixpkgs has them; the harness reports those that it lacks.
  bindings =
    builtins.filter (package: available ? ${package})
    (lib.mapAttrsToList (_: one: one.source.python.package) declared.embedded);
  environment = requirements:
    if disagreements requirements == []
    then
      pkgs.python3.withPackages (packages:
        map (one: (all packages).${one}) (lib.unique (map name requirements ++ bindings)))
    else throw (lib.concatStringsSep " " (disagreements requirements));
in {
  runtime = environment dependencies;
  testing = environment (dependencies ++ development);

  # The version of a package, for systems that run inside Python.
  version = package: available.${package}.version or null;

  tooOld = disagreements (dependencies ++ development);
}
