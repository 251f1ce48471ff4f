"""The files with pins agree with each other; the check needs no Nix."""

import base64
import hashlib
import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NIX = ROOT / "nix"


def toml(path):
    return tomllib.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def surface():
    return toml(Path(__file__).with_name("surface.toml"))


@pytest.mark.parametrize("name", ["go.mod", "go.sum"])
def test_the_vendor_hash_was_made_for_these_go_files(name):
    stated = toml(NIX / "vendor-hash.toml")[name]
    true = hashlib.sha256((ROOT / "harness" / "benchload" / name).read_bytes()).hexdigest()
    assert stated == true, f"harness/benchload/{name} changed: run nix/vendor-hash and commit what it writes"


def test_the_hashes_of_go_systems_are_those_of_all_their_versions():
    hashes = toml(NIX / "go-systems.toml")
    declared = [toml(path) for path in sorted((ROOT / "systems").glob("*.toml"))]
    built = {
        one["name"]: one["version"]
        for one in declared
        if "go" in one["source"] and "nix" not in one["source"]
    }
    assert {name: held["version"] for name, held in hashes.items()} == built


def test_hdrhistogram_has_the_version_and_a_hash_of_the_lock():
    text = (NIX / "hdrhistogram.nix").read_text(encoding="utf-8")
    version = re.search(r'version = "(.+?)"', text).group(1)
    digest = base64.b64decode(re.search(r'hash = "sha256-(.+?)"', text).group(1)).hex()
    lock = (ROOT / "harness" / "requirements.lock").read_text(encoding="utf-8")
    pinned = re.search(
        rf"^hdrhistogram=={re.escape(version)} (?:.*\n)(?: +--hash=.*\n?)+", lock, re.MULTILINE
    )
    assert pinned, f"requirements.lock has another hdrhistogram than {version}"
    assert f"sha256:{digest}" in pinned.group(0)


def test_every_package_that_the_harness_needs_is_on_the_surface(surface):
    names = {re.match(r"[A-Za-z0-9-]+", one).group(0) for one in _dependencies()}
    assert names - {"hdrhistogram"} <= set(surface["python"])


def test_every_system_of_nixpkgs_is_on_the_surface(surface):
    for path in sorted((ROOT / "systems").glob("*.toml")):
        source = toml(path)["source"].get("nix")
        if source:
            assert source["attribute"] in surface[source["pin"]], (
                f"{path.name}: add it to tests/nix/surface.toml"
            )


def test_the_table_of_sources_is_what_the_systems_declare():
    text = (ROOT / "docs" / "pinning.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| (\S+) \| (.+?) \| (\S+) \| (build|evaluation|-) \|$", text, re.MULTILINE)
    declared = [toml(path) for path in sorted((ROOT / "systems").glob("*.toml"))]
    assert [row[:3] for row in table] == [
        (one["name"], _source(one["source"]), one["version"] + (".x" if one.get("match") == "series" else ""))
        for one in declared
    ]
    built = re.search(r"^built=\((.+)\)$", (ROOT / ".ci" / "nix").read_text(encoding="utf-8"), re.MULTILINE)[
        1
    ].split()
    for name, source, _, proof in table:
        if name in built or source in ("Benchbook", "Python package"):
            assert proof == "build", name
        else:
            assert proof == (
                "evaluation" if "`" in source or source in ("Go module", "Maven", "wheels") else "-"
            ), name


def _source(sources):
    """Return the source that a run of the flake uses, on a machine without the system."""
    names = {"go": "Go module", "maven": "Maven", "own": "Benchbook", "docker": "image"}
    if "nix" in sources:
        return f"{sources['nix']['pin']} `{sources['nix']['attribute']}`"
    if "wheels" in sources.get("python", {}):
        return "wheels"
    if "python" in sources:
        return "pip" if "program" in sources["python"] else "Python package"
    return next(names[one] for one in names if one in sources)


def test_the_surface_is_what_the_flake_uses(surface):
    files = [ROOT / "flake.nix", *NIX.glob("*.nix")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    used = set(re.findall(r"\b(?:pkgs|lib|packages)\.([a-zA-Z][\w-]*)", text))
    declared = {re.match(r"[A-Za-z0-9-]+", one).group(0) for one in _requirements()}
    taken_by_nix_develop = {"bashInteractive"}
    systems = [toml(path)["source"].get("nix", {}) for path in (ROOT / "systems").glob("*.toml")]
    taken_by_systems = {one["attribute"] for one in systems if one.get("pin") == "modern"}
    assert set(surface["modern"]) - taken_by_nix_develop - taken_by_systems <= used
    assert set(surface["lib"]) <= used
    assert set(surface["python"]) <= used | declared
    assert used <= set().union(*surface.values())


def test_the_stand_in_knows_every_program_that_the_harness_looks_for():
    programs = (Path(__file__).parent / "stand-in" / "programs.txt").read_text(encoding="utf-8")
    sources = (ROOT / "harness" / "benchbook").rglob("*.py")
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    wanted = set(re.findall(r'\b(?:which|_on_path)\("([\w.-]+)"', text))
    made_otherwise = {"benchload", "go", "psql"}
    assert wanted - made_otherwise <= set(programs.split())
    assert {"java", "setpriv"} <= wanted


def _dependencies():
    """Return the packages of the harness with those of all its extras."""
    project = toml(ROOT / "harness" / "pyproject.toml")["project"]
    extras = {name: some for name, some in project["optional-dependencies"].items() if name != "all"}
    return [*project["dependencies"], *(one for some in extras.values() for one in some)]


def _requirements():
    return [*_dependencies(), *toml(ROOT / "harness" / "pyproject.toml")["dependency-groups"]["dev"]]


def test_the_lock_pins_what_the_flake_asks_for():
    nodes = json.loads((ROOT / "flake.lock").read_text(encoding="utf-8"))["nodes"]
    flake = (ROOT / "flake.nix").read_text(encoding="utf-8")
    for name, owner, repo, ref in re.findall(r'([\w-]+)\.url = "github:(\w+)/(\w+)/([\w.-]+)"', flake):
        node = nodes[name]
        assert node["original"] == {"type": "github", "owner": owner, "repo": repo, "ref": ref}
        assert len(node["locked"]["rev"]) == 40
        assert node["locked"]["narHash"].startswith("sha256-")
    assert set(nodes["root"]["inputs"]) == {"nixpkgs", "nixpkgs-historic"}
