"""The results database: one DuckDB file next to the run folders, opened only for the length of a commit."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from benchbook.errors import RequestError
from benchbook.record import folder, objects
from benchbook.record.folder import Say, tell
from benchbook.record.tables import SCHEMA_VERSION, statements

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# Waiting for others: one writer of a results folder at a time, and DuckDB's own lock on its file.

LOCK_FILE = ".benchbook.lock"
WAIT_SECONDS = 60.0
"""How long to wait for another process."""
_PAUSE_SECONDS = 0.1

T = TypeVar("T")


class Busy(Exception):
    """Another process holds it; the words say which."""


@contextlib.contextmanager
def writer(results: Path, say: Say) -> Iterator[None]:
    """Be the only writer of a results folder: DuckDB's lock does not cover replacing its file.

    Raises RequestError where the folder cannot be written or another writer stays too long.
    """
    import fcntl

    try:
        results.mkdir(parents=True, exist_ok=True)
        file = (results / LOCK_FILE).open("ab")
    except OSError as error:
        raise folder.cannot_write(results, error) from error
    with file:

        def take() -> None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise Busy(_writer(results)) from error

        patiently(take, results, say)
        with contextlib.suppress(OSError):
            os.ftruncate(file.fileno(), 0)
            os.write(file.fileno(), f"{os.getpid()}\n".encode())
        yield


def _writer(results: Path) -> str:
    with contextlib.suppress(OSError):
        if number := (results / LOCK_FILE).read_text(errors="replace").strip():
            return f"another Benchbook (process {number})"
    return "another Benchbook"


def patiently(attempt: Callable[[], T], place: Path, say: Say) -> T:
    """Return what ``attempt`` returns, trying again while it raises Busy; say once that we wait.

    Raises RequestError after WAIT_SECONDS.
    """
    until: float | None = None
    while True:
        try:
            return attempt()
        except Busy as busy:
            if until is None:  # the first attempt may have taken long by itself, which is no waiting
                until = time.monotonic() + WAIT_SECONDS
                say(f"{place} is in use by {busy}; waiting up to {WAIT_SECONDS:.0f} s.")
            elif time.monotonic() >= until:
                raise RequestError(
                    f"{place} has been in use by {busy} for {WAIT_SECONDS:.0f} s.",
                    "Let it finish or close it, then ask again; nothing was lost, the run folders are whole.",
                ) from busy
            time.sleep(_PAUSE_SECONDS)


def lock_holder(words: str) -> str | None:
    """Return who holds the lock by the words of DuckDB's error, or None where it is not about a lock."""
    if "Could not set lock" not in words:
        return None
    found = re.search(r"held in (\S+) \(PID (\d+)\)", words)
    return f"{Path(found[1]).name} (process {found[2]})" if found else "another process"


# The results database: one DuckDB file beside the run folders, opened only for the length of a commit.
#
# It holds nothing that the folders do not hold. So a file that is corrupt, of another storage format or
# of an older schema is moved aside and made anew; only a newer schema is refused, because there a newer
# Benchbook knows more than this one.

FILE = "benchbook.duckdb"
STORAGE_VERSION = "v1.5.0"
"""The one storage format, the same with and without Nix, whichever 1.5.x writes it."""


class Unusable(Exception):
    """The file cannot be used as it is, and the words say why; it can be made anew."""


@contextlib.contextmanager
def open(results: Path, read_only: bool = False, say: Say = tell) -> Iterator[DuckDBPyConnection]:  # noqa: A001
    """Open the results database for the length of a ``with`` block; make it where there is none.

    Of results on object storage it is a database in memory that reads the objects in place.

    Raises RequestError where another process keeps it open for more than a minute, where its schema
    is newer than this Benchbook, where the folder is full or cannot be written, and, for reading,
    where there are no results.
    """
    import duckdb

    file = results / FILE
    remote = objects.of(results)
    with contextlib.ExitStack() as stack:
        if remote is not None:
            connection = remote.connection()
        elif read_only:
            connection = _to_read(results, say)
        else:
            stack.enter_context(writer(results, say))
            connection = _to_write(results, say)
        stack.callback(connection.close)
        try:
            yield connection
        except duckdb.Error as error:
            if not is_of_the_file(error):
                raise
            raise failure(file, error) from error


def _to_read(results: Path, say: Say) -> DuckDBPyConnection:
    file = results / FILE
    if not file.exists() and not folder.run_folders(results):
        raise RequestError(
            f"There are no results in {results} yet.",
            "Run an experiment first (bench run quickstart), or name another folder with --results DIR.",
        )
    try:
        return usable(file, read_only=True, say=say)
    except Unusable:
        with writer(results, say):
            _to_write(results, say).close()  # which makes it anew
    try:
        return usable(file, read_only=True, say=say)
    except Unusable as why:
        raise failure(file, why) from why


def _to_write(results: Path, say: Say) -> DuckDBPyConnection:
    """Return a connection to a file that can be used, made anew from the folders where it could not."""
    from benchbook.record import rebuild

    file = results / FILE
    try:
        return usable(file, read_only=False, say=say)
    except Unusable as why:
        if file.exists():
            say(f"{file} {why}. It is kept as {_move_aside(file).name} and made anew from the run folders.")
        rebuild.replace(results, say)
    try:
        return usable(file, read_only=False, say=say)
    except Unusable as why:
        raise failure(file, why) from why


def usable(file: Path, *, read_only: bool, say: Say) -> DuckDBPyConnection:
    """Open a file and look whether it is one of ours; raise Unusable where it must be made anew."""
    import duckdb

    if not file.exists():
        raise Unusable("does not exist")
    connection = patiently(lambda: connect(file, read_only=read_only), file, say)
    try:
        stored = connection.execute(
            "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = current_database()"
        ).fetchone()
        if stored is None or not str(stored[0]).startswith(STORAGE_VERSION):
            raise Unusable(f"is of storage format {stored and stored[0]}, not {STORAGE_VERSION}")
        found = connection.execute("SELECT max(version) FROM schema_version").fetchone()
        version = found[0] if found else None
        if version is not None and version > SCHEMA_VERSION:
            raise RequestError(
                f"{file} was written by a newer Benchbook: its tables are of version {version},"
                f" and this one knows {SCHEMA_VERSION}.",
                "Update Benchbook, or name another folder with --results DIR.",
            )
        if version != SCHEMA_VERSION:
            raise Unusable(f"has tables of version {version}, not {SCHEMA_VERSION}")
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        connection.close()
        raise Unusable("has not the tables of Benchbook") from error
    except BaseException:
        connection.close()
        raise
    return connection


def connect(file: Path, *, read_only: bool) -> DuckDBPyConnection:
    """Open a file with DuckDB, pinned to one storage format and without any network.

    Raises lock.Busy where another process holds it, Unusable where it is corrupt or of an unknown
    format, RequestError where the folder is full, cannot be written, or has a name DuckDB cannot take.
    """
    import duckdb

    if "?" in str(file):  # DuckDB takes what follows for options, and writes its log elsewhere
        raise RequestError(
            f'{file} cannot hold a database: DuckDB does not take a "?" in a path.',
            "Name another folder with --results DIR.",
        )
    settings: dict[str, str | bool | int | float | list[str]] = {
        "storage_compatibility_version": STORAGE_VERSION,
        "autoinstall_known_extensions": False,
    }
    try:
        return duckdb.connect(str(file), read_only=read_only, config=settings)
    except duckdb.ConnectionException as error:  # this process has it open in the other mode
        raise Busy("another part of this program") from error
    except duckdb.Error as error:
        if holder := lock_holder(str(error)):
            raise Busy(holder) from error
        if _is_of_the_folder(str(error)):
            raise failure(file, error) from error
        raise Unusable(f"is no DuckDB file that can be read ({str(error).splitlines()[0]})") from error


def make(file: Path) -> DuckDBPyConnection:
    """Make a new database with all tables, comments and no rows; return the open connection."""
    connection = connect(file, read_only=False)
    connection.begin()
    for statement in statements():
        connection.execute(statement)
    connection.commit()  # all at once: a commit waits for the disk
    return connection


def failure(file: Path, error: Exception) -> RequestError:
    """Return the error for a database that failed while it was open, with the next step."""
    first = str(error).splitlines()[0].rstrip(". ") + "."
    if _is_of_the_folder(first):
        return RequestError(
            f"{file} cannot be read or written: {first}",
            "Free some space, make the folder writable, or name another one with --results DIR.",
        )
    return RequestError(
        f"{file} is damaged: {first}", "Make it anew from the run folders with bench rebuild."
    )


def is_of_the_file(error: Exception) -> bool:
    """Tell a database that cannot be read or written from a mistake in what it was asked."""
    import duckdb

    of_the_file = (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.FatalException)
    return isinstance(error, of_the_file) or _is_of_the_folder(str(error))


_FOLDER_WORDS = (
    "no space left",
    "permission denied",
    "read-only file system",
    "file too large",
    "cannot open file",
    "not enough space",
    "could not write",
    "out of memory",
    "disk quota",
)


def _is_of_the_folder(words: str) -> bool:
    """Tell a full or closed folder from a damaged file by DuckDB's words: it has no codes for them."""
    return any(word in words.lower() for word in _FOLDER_WORDS)


def _move_aside(file: Path) -> Path:
    """Rename a file that cannot be used (and its log) to a name that is free; return the new name."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    aside = file.with_name(f"{file.name}.aside-{stamp}")
    try:
        file.rename(aside)
        log = file.with_name(f"{file.name}.wal")
        if log.exists():
            log.rename(aside.with_name(f"{aside.name}.wal"))
    except OSError as error:
        raise folder.cannot_write(file, error) from error
    return aside
