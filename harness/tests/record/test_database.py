from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import pytest

from benchbook.errors import RequestError
from benchbook.record import database, duckdb_file, query
from benchbook.record.tables import SCHEMA_VERSION, TABLES
from tests.record.entering import enter_trial


def count(results: Path, said: list[str] | None = None) -> int:
    return int(
        query.sql(results, "SELECT count(*) FROM trials", (said if said is not None else []).append).item()
    )


def asides(results: Path) -> list[Path]:
    return sorted(results.glob("benchbook.duckdb.aside-*"))


def test_the_file_is_of_one_storage_format_and_every_column_has_a_comment(recorded: tuple[Path, str]) -> None:
    results, _ = recorded
    assert count(results) == 6
    with duckdb.connect(str(results / duckdb_file.FILE), read_only=True) as connection:
        version = connection.execute(
            "SELECT tags['storage_version'] FROM duckdb_databases() WHERE NOT internal"
        ).fetchone()
        assert version == ("v1.5.0+",)
        tables = connection.execute("SELECT table_name FROM duckdb_tables() WHERE comment <> ''").fetchall()
        columns = connection.execute(
            "SELECT 1 FROM duckdb_columns() WHERE comment <> '' AND NOT internal"
        ).fetchall()
    assert {name for (name,) in tables} == {table.name for table in TABLES}
    assert len(columns) == sum(len(table.columns) for table in TABLES)


def test_a_missing_file_is_made_from_the_folders(recorded: tuple[Path, str], said: list[str]) -> None:
    results, run_id = recorded
    assert count(results, said) == 6
    (results / duckdb_file.FILE).unlink()
    assert enter_trial(results, results / "runs" / run_id / "trials" / "0000", said.append)
    assert count(results, said) == 6
    assert said == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not a readable DuckDB file"),
        (b"garbage" * 4000, "is not a readable DuckDB file"),
        ("older", "is of storage format v1.0.0+, not v1.5.0"),
        ("unknown", "is not a readable DuckDB file"),
        ("truncated", "is not a readable DuckDB file"),
        ("foreign", "lacks the tables of Benchbook"),
        ("schema", f"has tables of version 0, not {SCHEMA_VERSION}"),
    ],
)
@pytest.mark.parametrize("read", [True, False])
def test_a_file_that_cannot_be_used_is_kept_aside_and_built_again(
    recorded: tuple[Path, str], said: list[str], content: bytes | str, words: str, read: bool
) -> None:
    results, run_id = recorded
    file = results / duckdb_file.FILE
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        _spoil(file, results, content)
    before = file.read_bytes()
    if not read:
        assert enter_trial(results, results / "runs" / run_id / "trials" / "0000", said.append)
    assert count(results, said) == 6
    assert len(said) == 1
    assert words in said[0]
    assert "built again from the run folders" in said[0]
    (aside,) = asides(results)
    assert aside.name in said[0]
    assert aside.read_bytes() == before


def _spoil(file: Path, results: Path, how: str) -> None:
    if how in ("older", "foreign"):
        settings = {} if how == "older" else {"storage_compatibility_version": "v1.5.0"}
        with duckdb.connect(str(file), config=settings) as connection:
            connection.execute("CREATE TABLE mine (a INTEGER)")
        return
    database.rebuild(results)
    if how == "schema":
        with duckdb.connect(str(file)) as connection:
            connection.execute("UPDATE schema_version SET version = 0")
        return
    content = bytearray(file.read_bytes())
    if how == "unknown":
        content[12] = 250  # the number of the storage format
    file.write_bytes(content[: len(content) if how == "unknown" else 5000])


@pytest.mark.parametrize("name", [duckdb_file.FILE, f"{duckdb_file.FILE}.wal"])
def test_a_named_pipe_for_the_file_is_set_aside(
    recorded: tuple[Path, str], said: list[str], name: str
) -> None:
    results, _ = recorded
    place = results / name
    database.rebuild(results)
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    assert count(results, said) == 6
    assert f"{name} is not a regular file" in said[0]
    assert "built again from the run folders" in said[0]


@pytest.mark.parametrize("read", [True, False])
def test_a_newer_schema_is_refused_and_left(recorded: tuple[Path, str], read: bool) -> None:
    results, run_id = recorded
    database.rebuild(results)
    with duckdb.connect(str(results / duckdb_file.FILE)) as connection:
        connection.execute(f"UPDATE schema_version SET version = {SCHEMA_VERSION + 1}")
    before = (results / duckdb_file.FILE).read_bytes()
    ask = (
        (lambda: query.sql(results, "SELECT 1"))
        if read
        else (lambda: database.enter(results, results / "runs" / run_id))
    )
    with pytest.raises(RequestError, match="written by a newer Benchbook") as caught:
        ask()
    assert "Update Benchbook" in str(caught.value.hint)
    assert (results / duckdb_file.FILE).read_bytes() == before
    assert asides(results) == []


def test_no_results_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"There are no results in .*nothing yet") as caught:
        query.sql(tmp_path / "nothing", "SELECT 1")
    assert "bench run quickstart" in str(caught.value.hint)
    assert not (tmp_path / "nothing").exists()


def test_a_path_that_duckdb_misreads_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r'does not take a "\?"'):
        database.rebuild(tmp_path / "what?")


class Holder:
    """Another process that keeps the database open until it gets a line."""

    def __init__(self, code: str, *arguments: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).resolve().parents[2],
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "held\n"

    def let_go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


DUCKDB = """
    import sys, duckdb
    connection = duckdb.connect(sys.argv[1])
    print("held", flush=True)
    sys.stdin.read()
"""
WRITER = """
    import sys
    from pathlib import Path
    from benchbook.record import database
    with database.open(Path(sys.argv[1])):
        print("held", flush=True)
        sys.stdin.read()
"""


SHARED = """
    import fcntl, sys
    with open(sys.argv[1], "rb") as file:
        fcntl.lockf(file, fcntl.LOCK_SH)
        print("held", flush=True)
        sys.stdin.read()
"""


@pytest.mark.parametrize("code", [DUCKDB, SHARED])
def test_a_program_that_holds_the_file_stops_no_writer(
    recorded: tuple[Path, str], said: list[str], monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    results, run_id = recorded
    database.rebuild(results)
    holder = Holder(code, results / duckdb_file.FILE)
    monkeypatch.setattr(duckdb_file, "WAIT_SECONDS", 0.3)
    assert enter_trial(results, results / "runs" / run_id / "trials" / "0000", said.append)
    assert said[-1].endswith(" It is built again from the run folders.")
    assert f"process {holder.process.pid}" in said[-1]
    assert count(results, said) == 6
    again = Holder(code, results / duckdb_file.FILE)
    assert database.rebuild(results, said.append)["trials"] == 6
    holder.let_go()
    again.let_go()


def test_who_may_not_write_to_the_folder_may_not_lock_it(recorded: tuple[Path, str]) -> None:
    results, _ = recorded
    lock = results / duckdb_file.LOCK_FILE
    for folder_rights, rights in ((0o755, 0o600), (0o775, 0o660), (0o700, 0o600)):
        lock.touch()
        lock.chmod(0o644)
        results.chmod(folder_rights)
        database.rebuild(results)
        assert stat.S_IMODE(lock.stat().st_mode) == rights


@pytest.mark.parametrize(("read", "code"), [(True, DUCKDB), (True, WRITER), (False, WRITER)])
def test_a_lock_is_waited_for_with_words_and_not_for_ever(
    recorded: tuple[Path, str], said: list[str], monkeypatch: pytest.MonkeyPatch, read: bool, code: str
) -> None:
    results, run_id = recorded
    database.rebuild(results)
    place = results / "runs" / run_id / "trials" / "0000"
    holder = Holder(code, results / duckdb_file.FILE if code == DUCKDB else results)

    def ask() -> object:
        return count(results, said) if read else enter_trial(results, place, said.append)

    monkeypatch.setattr(duckdb_file, "WAIT_SECONDS", 0.3)
    with pytest.raises(RequestError, match=r"has been in use by .*process") as caught:
        ask()
    assert "nothing was lost" in str(caught.value.hint)
    assert len(said) == 1
    assert f"process {holder.process.pid}" in said[0]
    assert "waiting up to" in said[0]
    monkeypatch.setattr(duckdb_file, "WAIT_SECONDS", 20.0)
    monkeypatch.setattr(duckdb_file, "_PAUSE_SECONDS", 0.01)

    def pause(_: float) -> None:
        if holder.process.poll() is None:
            holder.let_go()

    monkeypatch.setattr(duckdb_file.time, "sleep", pause)
    assert ask()
    assert asides(results) == []


def test_one_program_that_reads_while_it_writes_waits_too(
    recorded: tuple[Path, str], said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results, _ = recorded
    database.rebuild(results)
    monkeypatch.setattr(duckdb_file, "WAIT_SECONDS", 0.1)
    with (
        database.open(results),
        pytest.raises(RequestError, match="in use by another part of this program"),
        database.open(results, read_only=True, say=said.append),
    ):
        pass


def test_a_full_disk_is_a_sentence_and_the_old_file_stays(recorded: tuple[Path, str]) -> None:
    results, run_id = recorded
    database.rebuild(results)
    before = (results / duckdb_file.FILE).read_bytes()
    code = """
    import resource, signal, sys
    from pathlib import Path
    from benchbook.errors import RequestError
    from benchbook.record import database
    results, run, limit = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    for fill in (lambda: database.rebuild(results), lambda: database.enter(results, run)):
        try:
            fill()
        except RequestError as error:
            print(error)
    """
    for limit in (1000, 20_000, 300_000, len(before) // 2):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code), results, results / "runs" / run_id, str(limit)],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).resolve().parents[2],
        )
        assert done.stdout.count("Free some space") >= 1, done.stderr
        assert str(results / duckdb_file.FILE) in done.stdout
        assert done.stderr == ""
        assert not list(results.glob("*.new*"))
        assert count(results) == 6


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_a_sentence(recorded: tuple[Path, str]) -> None:
    results, run_id = recorded
    results.chmod(0o500)
    try:
        with pytest.raises(RequestError, match="cannot be written: Permission denied"):
            database.enter(results, results / "runs" / run_id)
    finally:
        results.chmod(0o700)


def test_a_results_folder_that_is_a_file_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("")
    with pytest.raises(RequestError, match="cannot be written") as caught:
        database.rebuild(tmp_path / "results")
    assert "--results DIR" in str(caught.value.hint)


def test_a_writer_killed_with_9_leaves_a_file_that_opens(recorded: tuple[Path, str], said: list[str]) -> None:
    results, run_id = recorded
    database.rebuild(results)
    code = """
    import sys
    from pathlib import Path
    from benchbook.record import database
    print("held", flush=True)
    while True:
        database.enter(Path(sys.argv[1]), Path(sys.argv[2]))
    """
    for _ in range(3):
        holder = Holder(code, results, results / "runs" / run_id)
        try:
            holder.process.wait(0.4)
        except subprocess.TimeoutExpired:
            holder.process.kill()
        holder.let_go()
        assert count(results, said) == 6
        assert database.enter(results, results / "runs" / run_id, said.append) == 6
    assert asides(results) == []


@pytest.mark.parametrize("name", ["benchbook.duckdb", "benchbook.duckdb.wal", "benchbook.duckdb.tmp"])
def test_a_linked_database_is_refused_and_its_target_stays(
    recorded: tuple[Path, str], tmp_path: Path, said: list[str], name: str
) -> None:
    results, run_id = recorded
    target = tmp_path / "target"
    with duckdb.connect(str(target)) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 1 AS x")
    before = target.read_bytes()
    (results / name).unlink(missing_ok=True)
    (results / name).symlink_to(target)
    for attempt in (
        lambda: count(results, said),
        lambda: database.rebuild(results, said.append),
        lambda: database.enter(results, results / "runs" / run_id, said.append),
    ):
        with pytest.raises(RequestError, match=f"{name} is a link"):
            attempt()
    assert target.read_bytes() == before
    assert (results / name).is_symlink()
