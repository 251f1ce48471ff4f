"""Only the user who stored a plan on this machine has the seal with which it is continued."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchbook.errors import RequestError
from benchbook.record import seal

PLAN = b'{"run_id": "r-1"}\n'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "benchbook"


def sealed(results: Path) -> Path:
    run = results / "runs" / "r-1"
    assert seal.seal_plan(run, PLAN)
    (run / "plan.json").write_bytes(PLAN)
    return run


def test_a_sealed_plan_is_own_in_a_moved_folder_too(tmp_path: Path, home: Path) -> None:
    run = sealed(tmp_path / "results")
    seal.require_plan(run, PLAN)
    (tmp_path / "results").rename(tmp_path / "moved")
    assert seal.is_own(tmp_path / "moved" / "runs" / "r-1")
    key = home / seal.KEY_FILE
    assert key.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in home.iterdir()] == [seal.KEY_FILE]


@pytest.mark.parametrize(
    "content",
    [None, "", "{", "[]", '{"plan": 5}', '{"plan": null}', '{"plan": "é"}', '{"plan": "00"}', "[" * 100_000],
)
def test_whatever_a_stranger_ships_is_no_seal(tmp_path: Path, content: str | None) -> None:
    run = sealed(tmp_path)
    (run / seal.FILE).unlink()
    if content is not None:
        (run / seal.FILE).write_text(content)
    assert not seal.is_own(run)
    with pytest.raises(RequestError, match="r-1 is not continued") as caught:
        seal.require_plan(run, PLAN)
    assert "rerun" in str(caught.value.hint)


def test_an_edited_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="changed since"):
        seal.require_plan(sealed(tmp_path), PLAN.replace(b"r-1", b"r-2"))


def test_a_seal_of_another_user_or_machine_or_kind_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = sealed(tmp_path)
    mine = json.loads((run / seal.FILE).read_text())["plan"]
    assert seal.fits("plan", PLAN, mine)
    assert not seal.fits("request", PLAN, mine)
    (tmp_path / "machine-id").write_text("another\n")
    with monkeypatch.context() as patch:
        patch.setattr(seal, "MACHINE_FILE", tmp_path / "machine-id")
        assert not seal.is_own(run)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    assert not seal.is_own(run)  # without a key
    assert seal.of("plan", PLAN) != mine
    assert not seal.is_own(run)  # with a key


@pytest.mark.parametrize("damage", ["readable", "short", "fifo", "link"])
def test_a_key_that_others_may_know_is_not_used(tmp_path: Path, home: Path, damage: str) -> None:
    run = sealed(tmp_path)
    key = home / seal.KEY_FILE
    content = key.read_bytes()
    key.unlink()
    if damage == "fifo":
        os.mkfifo(key, 0o600)
    elif damage == "link":
        (tmp_path / "theirs").write_bytes(content)
        key.symlink_to(tmp_path / "theirs")
    else:
        key.write_bytes(content[:10] if damage == "short" else content)
        key.chmod(0o644 if damage == "readable" else 0o600)
    assert not seal.is_own(run)
    assert not seal.seal_plan(run, PLAN)  # and so the run says that it cannot be resumed


def test_without_a_folder_for_the_key_nothing_is_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert not seal.seal_plan(tmp_path, PLAN)
    assert list(tmp_path.glob(seal.FILE)) == []
