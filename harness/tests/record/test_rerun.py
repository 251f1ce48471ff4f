"""The command that repeats a run, derived from its run.json."""

import subprocess
from pathlib import Path

import pytest

from benchbook.errors import RequestError
from benchbook.record.rerun import arguments, made_by, rerun


def run(revision="a" * 40, **changes):
    return {
        "run_id": "quickstart-1",
        "experiment": "quickstart",
        "profile": "smoke",
        "order_seed": 7,
        "argv": ["run", "quickstart", "--profile", "smoke", "--results", "elsewhere"],
        "provenance": {"git_revision": revision, "git_dirty": False},
    } | changes


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Return the revision of a checkout with a flake, the working directory of the test."""
    for name in ("BENCHBOOK_NIX", "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "flake.nix").write_text("{}")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@t"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message=one"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    monkeypatch.chdir(tmp_path)
    return subprocess.run(
        [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def nix(monkeypatch):
    monkeypatch.setenv("BENCHBOOK_NIX", "some-nix")


def asked(facts):
    return arguments(facts, made_by(facts["argv"])[1])


def test_the_same_options_and_order_without_the_folder():
    assert asked(run()) == ["quickstart", "--profile", "smoke", "--order-seed", "7"]
    given = run(argv=["run", "quickstart", "--order-seed=3", "--results=x"])
    assert asked(given) == ["quickstart", "--order-seed=3"]


def test_a_run_that_was_finished_by_resume_has_its_plan():
    assert asked(run(argv=["resume"])) == ["quickstart", "--profile", "smoke", "--order-seed", "7"]


def test_with_nix_the_flake_of_the_checkout_at_the_revision(checkout, nix):
    again = rerun(run(checkout), None, ["--results", "/r"])
    assert again.executable
    assert again.command[:3] == ["some-nix", "run", f"git+file://{Path.cwd()}?rev={checkout}#experiment"]
    assert again.shown().endswith("-- quickstart --profile smoke --order-seed 7 --results /r")


@pytest.mark.parametrize(
    ("flake", "expected"),
    [
        ("github:owner/name", "github:owner/name/{}#experiment"),
        ("git+https://example.org/x", "git+https://example.org/x?rev={}#experiment"),
        ("git+https://example.org/x?ref=main", "git+https://example.org/x?ref=main&rev={}#experiment"),
    ],
)
def test_the_source_can_be_elsewhere(nix, flake, expected):
    assert rerun(run(), flake, []).command[2] == expected.format("a" * 40)


def test_without_nix_the_steps_by_hand(checkout, monkeypatch):
    monkeypatch.setattr("benchbook.record.rerun.shutil.which", lambda name: None)
    again = rerun(run(checkout), None, [])
    assert not again.executable
    assert f"worktree add --detach ../benchbook-{checkout[:12]} {checkout} && " in again.shown()
    assert again.shown().endswith("/bench run quickstart --profile smoke --order-seed 7")


def test_a_revision_without_a_flake_is_done_by_hand(checkout, nix):
    subprocess.run(["git", "rm", "--quiet", "flake.nix"], check=True)
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "-m", "two"], check=True
    )
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    assert not rerun(run(head), None, []).executable


def test_what_cannot_be_found_is_said(checkout, nix):
    with pytest.raises(RequestError, match="No local Git checkout has the revision"):
        rerun(run("b" * 40), None, [])
    unknown = run(provenance={"git_revision": None, "git_detail": "git is absent"})
    with pytest.raises(RequestError, match="has no revision: git is absent") as caught:
        rerun(unknown | {"experiment": "a b; true", "profile": "quick", "order_seed": 7}, None, [])
    assert str(caught.value.hint).endswith("run 'a b; true' --profile quick --order-seed 7")


def test_changes_that_were_not_committed_are_known(checkout, nix):
    assert rerun(run(provenance={"git_revision": checkout, "git_dirty": True}), None, []).dirty
