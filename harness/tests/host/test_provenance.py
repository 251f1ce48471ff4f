import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest

import benchbook
from benchbook.host.provenance import PACKAGES, provenance, revision, source_digest


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("BENCHBOOK_NIX_SYSTEMS", "BENCHBOOK_NIX_REVISION", "BENCHBOOK_BENCHLOAD"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def checkout(tmp_path):
    def git(*arguments):
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments],
            cwd=tmp_path, check=True, capture_output=True,
            env={key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
        )  # fmt: skip

    git("init", "--quiet")
    (tmp_path / "bench").write_text("one")
    git("add", "bench")
    git("commit", "--quiet", "--message=one")
    return tmp_path


def test_a_clean_checkout_and_then_a_dirty_one(checkout):
    clean = revision(checkout)
    assert len(clean.revision or "") == 40
    assert clean.dirty is False
    (checkout / "notes.txt").write_text("of no account")
    assert revision(checkout).dirty is False
    (checkout / "systems").mkdir()
    (checkout / "systems" / "new.toml").write_text("a system that no commit has")
    assert revision(checkout).dirty is True


@pytest.mark.parametrize(
    "place", ["systems", "storage", "datasets", "experiments", "reports", "workloads", "nix", "harness"]
)
def test_a_new_file_where_declarations_and_plug_ins_are_makes_a_checkout_dirty(checkout, place):
    (checkout / place).mkdir()
    (checkout / place / "new.py").write_text("pass")
    assert revision(checkout).dirty is True


def test_a_changed_file_is_dirty(checkout):
    (checkout / "bench").write_text("two")
    assert revision(checkout).dirty is True


def test_a_change_in_a_project_of_its_own_is_none_of_the_checkout_around_it(checkout):
    (checkout / "projects" / "own").mkdir(parents=True)
    (checkout / "projects" / "own" / "benchbook.toml").write_text('name = "own"')
    subprocess.run(["git", "add", "projects"], cwd=checkout, check=True)
    assert revision(checkout).dirty is False


def test_the_digest_of_a_first_pull_makes_no_run_dirty(checkout):
    (checkout / "systems").mkdir()
    (checkout / "systems" / "images.lock.json").write_text("{}")
    subprocess.run(["git", "add", "systems"], cwd=checkout, check=True)
    assert revision(checkout).dirty is False


def test_a_hooks_environment_does_not_lead_elsewhere(checkout, monkeypatch):
    expected = revision(checkout)
    monkeypatch.setenv("GIT_DIR", str(checkout / "nowhere"))
    assert revision(checkout) == expected


def test_outside_a_checkout_within_another_and_without_git(checkout, tmp_path_factory, monkeypatch):
    outside = revision(tmp_path_factory.mktemp("outside"))
    assert (outside.revision, outside.dirty, outside.detail) == (None, None, "the folder is not a checkout")
    (checkout / "inner").mkdir()
    assert revision(checkout / "inner").detail == "the folder is inside another checkout"
    monkeypatch.setenv("PATH", str(checkout))
    assert revision(checkout).detail == "git is absent"


def test_the_flake_states_its_revision(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCHBOOK_NIX_REVISION", "abc-dirty")
    found = revision(tmp_path)
    assert (found.revision, found.dirty) == ("abc", True)


def test_provenance_of_this_checkout_is_whole_and_json():
    root = Path(benchbook.__file__).parents[2]
    found = provenance(root)
    assert json.loads(json.dumps(found)) == found
    assert found["benchbook_version"] == benchbook.__version__
    assert found["lock_digest"].startswith("sha256:")
    assert found["nix"] is None
    assert set(found["packages"]) == set(PACKAGES)
    assert all(found["packages"].values())


def test_uncommitted_changes_are_in_the_provenance(checkout):
    assert provenance(checkout)["git_dirty"] is False
    (checkout / "bench").write_text("two")
    assert provenance(checkout)["git_dirty"] is True


def test_an_empty_folder_has_no_digests(tmp_path):
    found = provenance(tmp_path)
    assert [found[name] for name in ("lock_digest", "flake_lock_digest", "go_sum_digest")] == [None] * 3


def test_the_load_tool_states_its_version(tmp_path):
    tool = tmp_path / "benchload"
    tool.write_text('#!/bin/sh\necho \'{"version": "1.2"}\'\n')
    tool.chmod(0o755)
    digest = hashlib.sha256(tool.read_bytes()).hexdigest()
    assert provenance(tmp_path, tool)["benchload"] == {"version": "1.2", "digest": f"sha256:{digest}"}
    absent = provenance(tmp_path, tmp_path / "none")["benchload"]
    assert absent["digest"] is None
    assert absent["version"].startswith("not readable")


def test_store_paths_come_from_the_flake(tmp_path, monkeypatch):
    systems = tmp_path / "systems.json"
    systems.write_text('{"influxdb-1.8.10": "/nix/store/abc-influxdb-1.8.10"}')
    monkeypatch.setenv("BENCHBOOK_NIX_SYSTEMS", str(systems))
    monkeypatch.setenv("BENCHBOOK_NIX_REVISION", "abc")
    assert provenance(tmp_path)["nix"] == {
        "revision": "abc",
        "systems": {"influxdb-1.8.10": "/nix/store/abc-influxdb-1.8.10"},
    }


def test_the_source_digest_depends_on_names_and_contents_alone(tmp_path):
    for folder, order in (("a", ("x.py", "y.py")), ("b", ("y.py", "x.py"))):
        (tmp_path / folder / "__pycache__").mkdir(parents=True)
        (tmp_path / folder / "__pycache__" / f"{folder}.pyc").write_text(folder)
        for name in order:
            (tmp_path / folder / name).write_text(name)
    same = source_digest(tmp_path / "a")
    assert same == source_digest(tmp_path / "b")
    (tmp_path / "b" / "x.py").rename(tmp_path / "b" / "z.py")
    assert same != source_digest(tmp_path / "b")
