# HdrHistogram for Python, which nixpkgs does not have.
{
  packages,
  pkgs,
}:
packages.buildPythonPackage rec {
  pname = "hdrhistogram";
  version = "0.10.8";
  pyproject = true;

  src = pkgs.fetchPypi {
    inherit pname version;
    hash = "sha256-iJhu6hhNEzDFP8qYrfWHmTOaI6wn9IiIewQjx85WnDQ=";
  };

  build-system = [packages.setuptools packages.pbr];
  dependencies = [packages.pbr packages.setuptools];
  # It requires the newest setuptools but uses only features of every version.
  pythonRelaxDeps = ["setuptools"];
  # Its tests need logs of other projects.
  doCheck = false;
  pythonImportsCheck = ["hdrh.histogram"];
}
