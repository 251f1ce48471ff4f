"""A long log keeps its beginning and its end; nothing behind a link is changed."""

from __future__ import annotations

import os
from pathlib import Path

from benchbook.host import guarded
from benchbook.process import secret
from benchbook.run import long_logs


def test_a_long_log_keeps_beginning_and_end(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "deep" / "server.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"a" * 3000 + b"b" * 100_000 + b"c" * 3000)
    short = tmp_path / "logs" / "short.log"
    short.write_bytes(b"d" * 7000)
    assert long_logs.cut(tmp_path / "logs", 3000) == [log]
    said = b"\n[Benchbook left out 100,000 bytes of this file]\n"
    assert log.read_bytes() == b"a" * 3000 + said + b"c" * 3000
    assert short.read_bytes() == b"d" * 7000
    assert [path.name for path in log.parent.iterdir()] == ["server.log"]


def test_a_sparse_log_of_gigabytes_is_cut(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with log.open("wb") as file:
        file.truncate(5 << 30)
    assert long_logs.cut(tmp_path) == [log]
    assert log.stat().st_size < 17 << 20


def test_files_of_the_user_behind_links_stay(tmp_path: Path) -> None:
    mine, logs = tmp_path / "mine", tmp_path / "logs"
    mine.mkdir()
    logs.mkdir()
    for name in ("soft", "hard", "inside"):
        (mine / name).write_bytes(b"x" * 50_000)
    (logs / "a.log").symlink_to(mine / "soft")
    (logs / "b.log").hardlink_to(mine / "hard")
    (logs / "c").symlink_to(mine)
    (tmp_path / "linked").symlink_to(mine)
    assert long_logs.cut(logs, 1000) == long_logs.cut(tmp_path / "linked", 1000) == []
    assert long_logs.cut(tmp_path / "none") == []
    assert all(path.stat().st_size == 50_000 for path in mine.iterdir())


def test_thousands_of_nested_folders_stop_no_run(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "server.log").write_bytes(b"x" * 50_000)
    inside = os.open(logs, os.O_DIRECTORY)
    for _ in range(1500):
        os.mkdir("d" * 50, dir_fd=inside)
        deeper = os.open("d" * 50, os.O_DIRECTORY, dir_fd=inside)
        os.close(inside)
        inside = deeper
    os.close(inside)
    (logs / "password.log").write_text(f"started with {secret.draw()}")
    assert long_logs.cut(logs, 1000) == [logs / "server.log"]
    assert secret.redact_files(tmp_path) == [logs / "password.log"]
    secret.forget()
    guarded.remove_tree(logs)
