"""Messages about systems that the flake does not include, and the stored inputs of the flake."""

import json

import pytest

from benchbook.declare.system import System
from benchbook.errors import Unavailable
from benchbook.host.provenance import provenance, revision
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
