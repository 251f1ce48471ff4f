"""The DuckDB file of a results folder: its locks, its storage format, and what is wrong with it.

The file holds nothing that the run folders do not hold. A file that is corrupt, of another storage format or of an
older schema is therefore ``Unusable``, and the caller builds it again. Only a newer schema is refused: a newer
Benchbook wrote it.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from benchbook.declare import names
from benchbook.errors import RequestError, command
from benchbook.host import guarded, temporary
from benchbook.record import folder
from benchbook.record.folder import Say
from benchbook.record.tables import SCHEMA_VERSION, TABLES, script

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FILE = "benchbook.duckdb"
STORAGE_VERSION = "v1.5.0"
"""The one storage format, with and without Nix, whichever 1.5.x writes it."""

LOCK_FILE = ".benchbook.lock"
WAIT_SECONDS = 60.0
"""Time to wait for another process."""
_PAUSE_SECONDS = 0.1

CLOSED: dict[str, bool] = {
    "enable_external_access": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
    "allow_persistent_secrets": False,
    "lock_configuration": True,
}
"""Settings of a connection whose queries reach nothing but the tables: no file, no network, no extension, no variable
of Python, and no statement that changes these settings. DuckDB still spills large results beside its file."""

T = TypeVar("T")


class Busy(Exception):
    """Another process holds the file or the folder; the text says which."""


class StillBusy(RequestError):
    """Another process held the file or the folder for WAIT_SECONDS."""


class Unusable(Exception):
    """The file cannot be used, and the text says why; it can be built again from the run folders."""


# Locks: one writer of a results folder at a time, and DuckDB's own lock on its file.


@contextlib.contextmanager
def only_writer(results: Path, say: Say) -> Iterator[None]:
    """Be the only writer of a results folder; DuckDB's lock does not cover replacing its file.

    Raises RequestError if the folder cannot be written or another writer stays too long.
    """
    from filelock import FileLock, Timeout

    path = results / LOCK_FILE
    holder = "another Benchbook"

    def take() -> None:
        nonlocal holder
        holder = _lock_owner(path) or holder  # some releases of filelock empty the file in an attempt
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise Busy(holder) from error

    try:
        results.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, mode=guarded.close_lock(path))
        patiently(take, results, say)
    except OSError as error:
        raise folder.cannot_write(results, error) from error
    try:
        with contextlib.suppress(OSError):
            path.write_text(f"{os.getpid()}\n", encoding="ascii")
        yield
    finally:
        lock.release()


def _lock_owner(path: Path) -> str | None:
    with contextlib.suppress(OSError):
        if number := guarded.contents(path, guarded.RECORD_BYTES).decode(errors="replace").strip()[:20]:
            return f"another Benchbook (process {number})"
    return None


def patiently(attempt: Callable[[], T], place: Path, say: Say) -> T:
    """Return the result of ``attempt``, trying again while it raises Busy; report the wait once.

    Raises StillBusy after WAIT_SECONDS.
    """
    until: float | None = None
    while True:
        try:
            return attempt()
        except Busy as busy:
            if until is None:  # after the first attempt, which may itself have taken long
                until = time.monotonic() + WAIT_SECONDS
                say(f"{place} is in use by {busy}; waiting up to {WAIT_SECONDS:.0f} s.")
            elif time.monotonic() >= until:
                raise StillBusy(
                    f"{place} has been in use by {busy} for {WAIT_SECONDS:.0f} s.",
                    "Let it finish or close it, then run the command again; nothing was lost.",
                ) from busy
            time.sleep(_PAUSE_SECONDS)


def lock_holder(message: str) -> str | None:
    """Return who holds the lock according to DuckDB's error; None if the error is not about a lock."""
    if "Could not set lock" not in message:
        return None
    found = re.search(r"held in (\S+) \(PID (\d+)\)", message)
    return f"{Path(found[1]).name} (process {found[2]})" if found else "another process"


# The file itself.


def usable(file: Path, *, read_only: bool, say: Say, files: bool = False) -> DuckDBPyConnection:
    """Open a file that is one of ours; raise Unusable if it must be built again. ``files`` is that of ``connect``."""
    import duckdb

    require_no_link(file)
    if not file.exists():
        raise Unusable("does not exist")
    for one in (file, write_ahead_log(file)):
        if one.exists() and not one.is_file():  # opening a named pipe would wait for ever
            raise Unusable(f"is unusable: {one.name} is not a regular file")
    connection = patiently(lambda: connect(file, read_only=read_only, files=files), file, say)
    try:
        _require_nothing_else(file, connection)
        stored = connection.execute(
            "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = current_database()"
        ).fetchone()
        if stored is None or not str(stored[0]).startswith(STORAGE_VERSION):
            raise Unusable(f"is of storage format {stored and stored[0]}, not {STORAGE_VERSION}")
        found = connection.execute("SELECT max(version) FROM schema_version").fetchone()
        version = found[0] if found else None
        if version is not None and version > SCHEMA_VERSION:
            raise RequestError(
                f"{file} was written by a newer Benchbook: its tables have version {version},"
                f" and this Benchbook reads versions up to {SCHEMA_VERSION}.",
                "Update Benchbook, or name another folder with --results DIR.",
            )
        if version != SCHEMA_VERSION:
            raise Unusable(f"has tables of version {version}, not {SCHEMA_VERSION}")
        _require_tables(connection)
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        connection.close()
        raise Unusable("lacks the tables of Benchbook") from error
    except BaseException:
        connection.close()
        raise
    return connection


def require_no_link(file: Path) -> None:
    """Raise RequestError if a database, its log or its folder for spilling is a link: DuckDB would write elsewhere."""
    for one in (file, write_ahead_log(file), file.with_name(f"{file.name}.tmp")):
        if guarded.is_link(one):
            raise RequestError(
                f"{one} is a link, not a file of its own. Nothing was changed.",
                f"Remove the link; the database is built again from the run folders: {command('rebuild')}",
            )


_CHECKED: set[tuple[int, ...]] = set()
"""States of files that were found to hold nothing else; to list the functions of one takes 50 ms."""


def _require_nothing_else(file: Path, connection: DuckDBPyConnection) -> None:
    """Raise Unusable if the file has macros, views, types or schemas: a macro ``lower`` replaces the function.

    The queries call no function by a name that such a macro could take.
    """
    found = file.stat()
    state = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    if state in _CHECKED:
        return
    for kind in ("function", "view", "schema", "type"):
        text = f"SELECT {kind}_name FROM system.main.duckdb_{kind}s() WHERE NOT internal LIMIT 1"  # noqa: S608 - ours
        if other := connection.execute(text).fetchone():
            raise Unusable(f"has the {kind} {names.shown(other[0])}, which is not of Benchbook")
    _CHECKED.add(state)


def _require_tables(connection: DuckDBPyConnection) -> None:
    """Raise Unusable if a table or column is missing, as after somebody changed the file with another program."""
    found = connection.execute(
        "SELECT table_name, list(column_name ORDER BY column_index) FROM duckdb_columns()"
        " WHERE database_name = current_database() AND schema_name = 'main' GROUP BY table_name"
    ).fetchall()
    columns = dict(found)
    for table in TABLES:
        if columns.get(table.name) != [column.name for column in table.columns]:
            raise Unusable(f"lacks the table {table.name}, or its columns are others")


def connect(file: Path, *, read_only: bool, files: bool = False) -> DuckDBPyConnection:
    """Open a file with DuckDB, pinned to one storage format and without any network.

    Queries of a read-only connection reach nothing but the tables, unless ``files`` lets them read and write files.

    Raises Busy if another process holds it, Unusable if it is corrupt or of an unknown format, and RequestError
    if the folder is full, cannot be written, or has a name that DuckDB does not take.
    """
    import duckdb

    require_no_link(file)
    if "?" in str(file):  # DuckDB takes what follows for options, and writes its log elsewhere
        raise RequestError(
            f'{file} cannot hold a database: DuckDB does not take a "?" in a path.',
            "Name another folder with --results DIR.",
        )
    settings: dict[str, str | bool | int | float | list[str]] = {
        "storage_compatibility_version": STORAGE_VERSION,
        "autoinstall_known_extensions": False,
        **(CLOSED if read_only and not files else {}),
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
        raise Unusable(f"is not a readable DuckDB file ({str(error).splitlines()[0]})") from error


def make(file: Path) -> DuckDBPyConnection:
    """Make a new database with all tables, comments and no rows; return the open connection."""
    connection = connect(file, read_only=False)
    connection.begin()
    connection.execute(script())
    connection.commit()  # all at once: a commit waits for the disk
    return connection


def move_aside(file: Path) -> Path:
    """Rename an unusable file (and its log) to a free name; return the new name."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    aside = file.with_name(f"{file.name}.aside-{stamp}")
    try:
        file.rename(aside)
        log = write_ahead_log(file)
        if log.exists():
            log.rename(write_ahead_log(aside))
    except OSError as error:
        raise folder.cannot_write(file, error) from error
    return aside


def write_ahead_log(file: Path) -> Path:
    """Return the log that DuckDB keeps beside a file."""
    return file.with_name(f"{file.name}.wal")


def failure(file: Path, error: Exception) -> RequestError:
    """Return the error for a database that failed while it was open, with the next step."""
    first = str(error).splitlines()[0].rstrip(". ") + "."
    if _is_of_the_folder(first):
        return RequestError(
            f"Cannot read or write {file}: {first}",
            temporary.space_hint(
                file, "Free some space, make the folder writable, or name another one with --results DIR."
            ),
        )
    return RequestError(
        f"{file} is damaged: {first}", f"Build it again from the run folders: {command('rebuild')}"
    )


def is_of_the_file(error: Exception) -> bool:
    """Return whether an error comes from an unreadable or unwritable database, not from a wrong query."""
    import duckdb

    of_the_file = (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.FatalException)
    return isinstance(error, of_the_file) or _is_of_the_folder(str(error))


_FOLDER_MESSAGES = (
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


def _is_of_the_folder(message: str) -> bool:
    """Return whether DuckDB's message is about a full or read-only folder; DuckDB has no error codes for these."""
    return any(part in message.lower() for part in _FOLDER_MESSAGES)
