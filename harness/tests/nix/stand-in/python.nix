# python3 with the packages of harness/requirements.lock, from the environment that ./bench installed by hash.
{
  builders,
  host,
  surface,
}: let
  locked = builtins.readFile ./requirements.lock;
  lines = builtins.filter builtins.isString (builtins.split "\n" locked);
  pins = builtins.filter (match: match != null) (map (builtins.match "([a-z0-9-]+)==([^ ;]+).*") lines);
  versions = builtins.listToAttrs (map (match: {
      name = builtins.head match;
      value = builtins.elemAt match 1;
    })
    pins);

  stub = pname: version: {inherit pname version;};
  functions = {
    buildPythonPackage = {
      pname,
      version,
      pyproject,
      src,
      build-system,
      dependencies,
      pythonRelaxDeps,
      doCheck,
      pythonImportsCheck,
    }:
      if versions.${pname} or null == version && src.version == version
      then stub pname version
      else throw "nix wants ${pname} ${version}, but harness/requirements.lock has ${versions.${pname} or "none"}.";
  };
  package = name: _:
    functions.${
      name
    }
    or (
      if versions ? ${name}
      then stub name versions.${name}
      else throw "the stand-in takes Python packages from harness/requirements.lock, which has no ${name}."
    );
  packages = builtins.mapAttrs package surface.python;
in {
  pkgs = packages;
  withPackages = choose:
    builders.build "python3-env" {
      # Another lock is another environment.
      packages = map (one: "${one.pname}==${one.version}") (choose packages);
      lock = builtins.hashString "sha256" locked;
      script = ''
        mkdir -p "$out/bin"
        for name in python python3; do
          printf '#!/bin/sh\nexec %s "$@"\n' ${host.programs.python} >"$out/bin/$name"
          chmod +x "$out/bin/$name"
        done
      '';
    };
}
