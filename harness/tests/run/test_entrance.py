"""A server that runs as another user: whether it can reach its data is checked before the first trial."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.errors import RequestError
from benchbook.process.launch import Program
from benchbook.process.ordinary_user import OrdinaryUser
from benchbook.run import engine

STRANGER = OrdinaryUser("stranger", 54321, 54321, "/usr/bin/setpriv")


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(engine, "ordinary_user", lambda *_: STRANGER)
    (tmp_path / "closed" / "scratch").mkdir(parents=True)
    tmp_path.chmod(0o700)
    (tmp_path / "closed").chmod(0o700)
    return SimpleNamespace(
        programs={"postgresql-15": Program("postgresql-15", "15", "host", path=Path("/usr/bin/postgres"))},
        system=lambda name: SimpleNamespace(driver="postgresql" if name == "postgresql-15" else "sqlite"),
        scratch=tmp_path / "closed" / "scratch",
        plan=SimpleNamespace(run_id="quickstart-1"),
        cluster=None,
    )


def test_all_folders_in_the_way_are_named(context: Any, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="postgresql-15: The server runs as the user stranger") as caught:
        engine._require_entrance(context)
    assert f"{tmp_path} or {tmp_path}/closed" in caught.value.message
    assert caught.value.hint is not None
    assert f"{tmp_path} {tmp_path}/closed\n  Then continue with: " in caught.value.hint
    assert caught.value.hint.endswith("bench resume quickstart-1")


@pytest.mark.parametrize("elsewhere", [{"url": "postgres://db"}, {"image": "sha256:1"}, {"system": "sqlite"}])
def test_other_programs_need_no_folder_of_ours(context: Any, elsewhere: dict[str, str]) -> None:
    context.programs = {
        "any": Program(**{"system": "postgresql-15", "version": "15", "source": "given", **elsewhere})
    }
    engine._require_entrance(context)


def test_a_worker_checks_its_own_folders(context: Any) -> None:
    context.cluster = object()
    engine._require_entrance(context)
