"""Messages about systems that the flake does not include, and the stored inputs of the flake."""

import json
from pathlib import Path

import pytest

from benchbook.cli import export
from benchbook.declare.system import System
from benchbook.errors import RequestError, Unavailable
from benchbook.host.provenance import provenance, revision, sha256_of
from benchbook.provision import environment, maven, nix
from benchbook.provision.find import find
from benchbook.provision.request import Request

DURABILITY = {"fsync": "yes", "wal": "yes", "replication": "none", "compression": "none"}


def declared(**source):
    return System.model_validate(
        {
            "name": "stored",
            "title": "Stored",
            "driver": "sqlite",
            "version": "3",
            "match": "series",
            "embedded": True,
            "license": "MIT",
            "homepage": "https://example.org",
            "arms": {"vanilla": {"description": "as installed", "durability": DURABILITY}},
            "source": {"python": {"package": "sqlite3"}} | source,
        }
    )


@pytest.fixture
def asked(tmp_path):
    """Return a request of a run that the flake started without systems, and its messages."""
    systems = tmp_path / "systems.json"
    systems.write_text("{}")
    said = []
    return Request(
        environment={"BENCHBOOK_NIX_SYSTEMS": str(systems), "PATH": ""}, progress=said.append
    ), said


def test_a_system_without_a_nix_package_names_its_other_source(asked):
    request, said = asked
    assert find(declared(), request).source == "python"
    assert len(said) == 1
    assert said[0].startswith("stored has no Nix package; instead: use SQLite 3.")


def test_a_system_that_this_app_does_not_bring_names_its_other_source(asked):
    request, said = asked
    find(declared(nix={"pin": "modern", "attribute": "stored", "program": "stored"}), request)
    assert said[0].startswith("stored is not among the systems of this app; instead: use SQLite 3.")


def test_a_pin_of_a_project_has_the_name_that_its_flake_gives(tmp_path):
    nix = {"pin": "mine", "attribute": "stored", "program": "stored"}
    system = declared(nix=nix, python=None)
    (tmp_path / "package" / "bin").mkdir(parents=True)
    (tmp_path / "package" / "bin" / "stored").touch(mode=0o755)
    found = find(system, from_files(tmp_path, system, tmp_path / "package"))
    assert (found.source, found.path) == ("nix", tmp_path / "package" / "bin" / "stored")


MAVEN = {"artifacts": ["org.example:server:1"], "sha256": {"org.example:server:1:jar": "0" * 64}}
GO = {"package": "example.org/server", "program": "server"}
WHEELS = {"package": "stored", "python": "3.11", "wheels": {"stored-3-cp311-cp311-any.whl": "0" * 64}}


def from_files(tmp_path, system, path, *programs):
    """Return a request of an app that brings a system at a path, on a PATH with some programs."""
    (tmp_path / "bin").mkdir()
    for program in programs:
        (tmp_path / "bin" / program).touch(mode=0o755)
    (tmp_path / "systems.json").write_text(json.dumps({system.name: str(path)}))
    return Request(
        environment={"BENCHBOOK_NIX_SYSTEMS": str(tmp_path / "systems.json"), "PATH": str(tmp_path / "bin")}
    )


def test_a_system_of_the_flakes_jars_needs_no_maven_and_has_the_digest_of_its_pins(tmp_path):
    system = declared(maven=MAVEN)
    found = find(system, from_files(tmp_path, system, tmp_path, "java"))
    assert (found.source, found.path) == ("nix", tmp_path)
    assert found.digest == maven.digest(system.source.maven)


def test_a_system_of_the_flakes_jars_needs_java(tmp_path):
    system = declared(maven=MAVEN, python=None)
    with pytest.raises(Unavailable, match="nix: no java on PATH"):
        find(system, from_files(tmp_path, system, tmp_path))


def test_a_binding_of_the_flakes_wheels_runs_in_their_python(tmp_path):
    system = declared(python=WHEELS)
    python = tmp_path / "python"
    python.touch(mode=0o755)
    found = find(system, from_files(tmp_path, system, python))
    assert (found.source, found.path, found.version) == ("nix", python, "3")
    assert found.digest == environment.digest(system.source.python)


def test_a_program_that_the_flake_builds_from_its_module_has_the_digest_of_its_file(tmp_path):
    system = declared(go=GO, python=None)
    program = tmp_path / "server"
    program.write_text("")
    found = find(system, from_files(tmp_path, system, program))
    assert (found.source, found.path, found.digest) == ("nix", program, sha256_of(program))


def test_files_that_the_store_lost_are_no_program(tmp_path):
    system = declared(maven=MAVEN, python=None)
    with pytest.raises(Unavailable, match=r"nix: .*lost does not exist"):
        find(system, from_files(tmp_path, system, tmp_path / "lost", "java"))


@pytest.mark.parametrize("source", [{"maven": MAVEN}, {"python": WHEELS}, {"go": GO}])
def test_a_system_of_files_that_this_app_does_not_bring_is_among_those_of_others(asked, source):
    request, _ = asked
    assert nix.lacking(declared(**source), request) == "is not among the systems of this app"


def test_outside_nix_nothing_is_said(asked):
    _, said = asked
    find(declared(), Request(environment={"PATH": ""}, progress=said.append))
    assert said == []


def test_where_nothing_has_it_the_hint_names_the_flakes_systems(asked):
    request, said = asked
    nix = {"pin": "modern", "attribute": "stored", "program": "stored"}
    with pytest.raises(Unavailable, match=r"this app of the flake does not include stored.*\.#systems"):
        find(declared(nix=nix, python={"package": "no-such-binding"}), request)
    assert said == []


def test_the_pinned_nixpkgs_stand_with_the_run(tmp_path, monkeypatch):
    inputs = {"modern": {"narHash": "sha256-x", "revision": None}}
    (tmp_path / "inputs.json").write_text(json.dumps(inputs))
    monkeypatch.setenv("BENCHBOOK_NIX_INPUTS", str(tmp_path / "inputs.json"))
    monkeypatch.setenv("BENCHBOOK_NIX_REVISION", "unknown")
    assert provenance(tmp_path)["nix"]["inputs"] == inputs
    known = revision(tmp_path)
    assert (known.revision, known.dirty) == (None, None)
    assert known.detail.startswith("the flake has none")


@pytest.mark.parametrize(("apart", "start"), [(True, "bench export"), (False, "./bench export")])
def test_a_run_is_not_published_into_the_store(monkeypatch, apart, start):
    monkeypatch.delenv("BENCHBOOK_COMMAND", raising=False)
    monkeypatch.setattr(export, "is_apart", lambda: apart)
    monkeypatch.setattr(export, "require_project", lambda *_: None)
    with pytest.raises(RequestError, match="but /nix/store/x-source is in the Nix store") as raised:
        export._require_checkout(Path("/nix/store/x-source"), private=False, output=None)
    assert raised.value.hint.endswith(f": {start} --publish --results FOLDER")
