"""Programs that are built from git revisions, each more than once."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchbook.errors import RequestError
from benchbook.provision import revision
from benchbook.provision.request import Request

BUILD = "cp source program; date +%N >> built"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    git = ["git", "-c", "user.email=a@example.org", "-c", "user.name=a"]
    subprocess.run([*git, "init", "-q"], check=True)
    for content, tag in (("one", "v1"), ("two", "v2")):
        (folder / "source").write_text(content)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", content], check=True)
        subprocess.run([*git, "tag", tag], check=True)
    return folder


def request(tmp_path: Path) -> Request:
    return Request(cache=tmp_path / "cache")


def test_each_revision_is_built_from_its_own_source_into_two_folders(
    repository: Path, tmp_path: Path
) -> None:
    commits = [revision.commit("--base", name) for name in ("v1", "HEAD")]
    made = [
        revision.built(commit, number, BUILD, "program", request(tmp_path))
        for commit in commits
        for number in (1, 2)
    ]
    assert [one.read_text() for one in made] == ["one", "one", "two", "two"]
    assert len({one.parent for one in made}) == 4
    again = revision.built(commits[0], 1, BUILD, "program", request(tmp_path))
    assert again == made[0]
    assert len((again.parent / "built").read_text().splitlines()) == 1
    listed = subprocess.run(["git", "worktree", "list"], capture_output=True, text=True, check=True).stdout
    assert len(listed.splitlines()) == 1
    assert (repository / "source").read_text() == "two"


def test_a_revision_that_is_not_there_is_named(repository: Path) -> None:
    for name in ("v3", "--help"):
        with pytest.raises(RequestError, match=f"--head {name}: .* has no such revision"):
            revision.commit("--head", name)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("echo broken; exit 3", "exit code 3 for .* broken"),
        ("true", "--program program: `true` made no such file"),
    ],
)
def test_a_build_that_fails_is_explained_and_not_kept(
    repository: Path, tmp_path: Path, command: str, words: str
) -> None:
    commit = revision.commit("--base", "v1")
    for _ in range(2):
        with pytest.raises(RequestError, match=words):
            revision.built(commit, 1, command, "program", request(tmp_path))
    assert not [one for one in (tmp_path / "cache" / "revisions").iterdir() if one.is_dir()]
