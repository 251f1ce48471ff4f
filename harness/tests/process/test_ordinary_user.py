"""The unprivileged user that some servers need."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from benchbook.errors import TrialFailed
from benchbook.process.ordinary_user import OrdinaryUser, ordinary_user

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def test_an_ordinary_user_stays_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    user = ordinary_user("postgres")
    assert user.setpriv is None
    assert user.command(["server", "-D", "x"]) == ["server", "-D", "x"]


@as_root
def test_root_becomes_a_user_without_rights_who_owns_the_folder() -> None:
    user = ordinary_user("there-is-no-such-user")
    assert user.name == "nobody"
    ran = subprocess.run(
        [str(part) for part in user.command(["id", "-u"])], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == str(user.uid) != "0"
    with tempfile.TemporaryDirectory(
        prefix="benchbook-"
    ) as made:  # pytest's folders are closed to other users
        Path(made).chmod(0o755)
        folder = Path(made) / "data"
        (folder / "inner").mkdir(parents=True)
        (folder / "inner" / "file").touch()
        OrdinaryUser(user.name, user.uid, user.gid, None).take_over(folder)
        assert folder.stat().st_uid == 0  # it is the harness's own user: nothing is given away
        user.take_over(folder)
        assert (folder / "inner" / "file").stat().st_uid == user.uid


@as_root
def test_a_folder_that_the_user_could_not_reach_is_told(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "data").mkdir(parents=True)
    tmp_path.chmod(0o700)
    with pytest.raises(
        TrialFailed, match=r"nobody and needs the folder .*, but this user may not enter"
    ) as caught:
        ordinary_user().take_over(closed / "data")
    assert caught.value.hint is not None
    assert "chmod o+x" in caught.value.hint
