"""Datasets from a file, such as Parquet or CSV, or from a folder: on this machine or fetched once, known by SHA-256."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from benchbook.declare import line_protocol
from benchbook.declare.line_protocol import Precision
from benchbook.declare.sql_text import literal
from benchbook.declare.toml import Model, Text
from benchbook.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""A SHA-256 in lower-case hexadecimal digits."""
Format = Literal["parquet", "csv", "ndjson", "line-protocol", "other", "folder"]
UNREAD: tuple[Format, ...] = ("other", "folder")
"""Formats without rows."""
Kind = Literal["integer", "float", "text", "boolean", "date", "timestamp"]
"""Type of a column that every system can hold."""
Columns = dict[str, Kind]

ENDINGS: dict[str, Format] = {
    ".parquet": "parquet", ".csv": "csv", ".csv.gz": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson",
    ".lp": "line-protocol", ".lp.gz": "line-protocol",
}  # fmt: skip
"""End of a file's name → its format."""
TABLE = re.compile(r"[a-z_][a-z0-9_]*")


class FileSource(Model):
    """The file that a dataset consists of."""

    file: Text
    """Path of the file, relative to the declaration or absolute; or an https address, which needs ``sha256``."""
    sha256: Digest | None = None
    """SHA-256 of the file; of a folder, that of the names and contents in it. Default: that when a run is planned."""
    format: Format | None = None
    """Format of the file. Default: by the end of its name, such as ``.parquet``, ``.csv``, ``.ndjson`` or ``.lp``.
    ``other`` is any file and ``folder`` a folder with all that is in it. Both have no rows, and are for commands
    (workload ``program``)."""
    measurement: Text | None = None
    """Measurement of a file in line protocol. Default: its only one."""
    precision: Precision | None = None
    """Unit of the times in line protocol: ``ns``, ``us``, ``ms`` or ``s``. Default: ``ns``."""
    table: Annotated[str, Field(pattern=f"^{TABLE.pattern}$", max_length=60)] | None = None
    """Name of the table in questions. Default: the name of the dataset, with underscores."""

    @field_validator("file")
    @classmethod
    def _fetchable(cls, file: str) -> str:
        if file.startswith("doi:") or re.match(r"https?://(dx\.)?doi\.org/", file):
            raise ValueError(
                f'"{file}" names a page and not a file; write the https address of the file itself, and its sha256'
            )
        if "://" in file and not file.startswith("https://"):
            raise ValueError(f'"{file}" is neither a path nor an https address')
        return file

    @model_validator(mode="after")
    def _known(self) -> FileSource:
        if self.remote and self.sha256 is None:
            raise ValueError(f'"{self.file}" is fetched, so it needs sha256; `sha256sum FILE` prints it')
        if self.format is None and self.stated is None:
            raise ValueError(
                f'the name of "{self.file}" does not show its format; add format = "parquet", "csv", "ndjson", '
                '"line-protocol", "other" or "folder"'
            )
        if self.remote and self.stated == "folder":
            raise ValueError(
                f'"{self.file}" is fetched, so it is no folder; fetch an archive with format = "other"'
            )
        if (self.measurement or self.precision) and self.stated != "line-protocol":
            raise ValueError("measurement and precision are for line protocol alone; remove them")
        return self

    @property
    def remote(self) -> bool:
        """True if the file is fetched."""
        return self.file.startswith("https://")

    @property
    def stated(self) -> Format | None:
        """The format, declared or by the end of the name."""
        ending = next((end for end in ENDINGS if self.file.lower().partition("?")[0].endswith(end)), None)
        return self.format or (ENDINGS[ending] if ending else None)

    @property
    def has_rows(self) -> bool:
        """True if systems can load it as a table."""
        return self.stated not in UNREAD

    @property
    def typed(self) -> bool:
        """True if the file states the types of its columns, and is read as Parquet."""
        return self.stated in ("parquet", "line-protocol")

    def place(self, folder: Path) -> Path:
        """Return where the file is, if ``folder`` holds the declaration; a fetched one is in the cache."""
        if not self.remote:
            return folder / self.file
        from benchbook.host.filesystem import cache_folder

        # Programs choose by the end of a name, such as .csv.gz.
        name = re.sub(r"[^A-Za-z0-9._-]", "_", self.file.partition("?")[0].rpartition("/")[2])[-60:]
        return cache_folder(os.environ) / "files" / f"{self.sha256}-{name}"


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of all that is in a folder; raise RequestError if it cannot be read."""
    try:
        return _of_folder(path) if path.is_dir() else _of_file(path)
    except OSError as error:
        raise RequestError(
            f"source.file: {error.filename or path} cannot be read: {error.strerror}.",
            "A path is relative to the folder of the declaration.",
        ) from None


def _of_file(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _of_folder(folder: Path) -> str:
    """Return the digest of the names below a folder, the contents of its files, and where its links lead."""
    found = hashlib.sha256()
    for path in inside(folder):
        kind, content = "file", ""
        mode = path.lstat().st_mode  # one that vanished meanwhile is an error of its own
        if stat.S_ISLNK(mode):
            kind, content = "link", os.readlink(path)  # noqa: PTH115 - a Path would lose a slash at its end
        elif stat.S_ISDIR(mode):
            kind = "folder"
        elif stat.S_ISREG(mode):
            content = _of_file(path)
        else:
            raise RequestError(
                f"source.file: {path} is neither a file nor a folder nor a link.",
                "Remove it from the folder of the dataset.",
            )
        for part in (kind, str(path.relative_to(folder)), content):
            found.update(os.fsencode(part) + b"\0")
    return found.hexdigest()


def inside(folder: Path) -> list[Path]:
    """Return all that is below a folder, in the order of the names; no link is followed. Raise OSError."""

    def refuse(error: OSError) -> None:
        raise error

    return sorted(
        Path(above, name)
        for above, folders, files in os.walk(folder, onerror=refuse)
        for name in (*folders, *files)
    )


def size_bytes(path: Path) -> int:
    """Return the bytes of a file, or of all files below a folder."""
    found = inside(path) if path.is_dir() else [path]
    return sum(one.stat().st_size for one in found if one.is_file() and not one.is_symlink())


def pinned(source: FileSource, folder: Path) -> FileSource:
    """Return the source with the digest of its file; raise RequestError if the file is missing or another one.

    A file that is to be fetched is pinned by its declaration.
    """
    path = source.place(folder)
    if source.remote and not path.exists():
        return source
    if path.exists() and path.is_dir() != (source.stated == "folder"):
        is_a, wanted = ("a folder", "folder") if path.is_dir() else ("no folder", "other")
        raise RequestError(
            f'source.file: {path} is {is_a}, but format is "{source.stated}".',
            f'Name a {"file" if path.is_dir() else "folder"}, or write format = "{wanted}".',
        )
    found = digest(path)
    if source.sha256 not in (None, found):
        raise RequestError(
            f"source.file: {path} has the sha256 {found}, but sha256 is {source.sha256}.",
            "Use the file with the declared digest, or correct sha256.",
        )
    return source.model_copy(update={"sha256": found})


def columns(source: FileSource, declared: Columns, folder: Path) -> dict[str, tuple[str, Kind]]:
    """Return name of a column in systems → its name in the file and its type; raise RequestError for an unusable one.

    Names are lower-case letters, digits and underscores, so that questions need no quotes in any system.
    """
    types = described(source, declared, folder)
    for name in declared:
        if name not in types:
            raise RequestError(f'columns: the file has no column "{name}"; it has: {", ".join(types)}.', None)
    found: dict[str, tuple[str, Kind]] = {}
    for name, sql_type in types.items():
        kind = declared.get(name) or _kind(sql_type)
        if kind is None:
            raise RequestError(
                f'source.file: the column "{name}" has the type {sql_type}, which not all systems can hold.',
                f'Declare the type to convert it to, such as: [columns] {name} = "float" or "text".',
            )
        plain = re.sub(r"[^a-z0-9_]", "_", name.lower())
        plain = plain if TABLE.fullmatch(plain) else f"_{plain}"
        if plain in found:
            raise RequestError(
                f'source.file: the columns "{found[plain][0]}" and "{name}" would both be named {plain} in systems.',
                "Rename one of them in the file.",
            )
        found[plain] = name, kind
    return found


SQL_TYPES: dict[Kind, str] = {
    "integer": "BIGINT", "float": "DOUBLE", "text": "VARCHAR", "boolean": "BOOLEAN", "date": "DATE",
    "timestamp": "TIMESTAMP",
}  # fmt: skip
"""Type of a column → its type in DuckDB, which reads the files."""
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"), "integer"
    ),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "float"),
    **dict.fromkeys(("VARCHAR", "UUID"), "text"),
    "BOOLEAN": "boolean",
    "DATE": "date",
    **dict.fromkeys(
        ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"), "timestamp"
    ),
}  # fmt: skip
"""Type of DuckDB → the type of a column."""


def _kind(sql_type: str) -> Kind | None:
    return "text" if sql_type.startswith("ENUM(") else _KINDS.get(sql_type)


def relation(source: FileSource, declared: Columns, folder: Path) -> str:
    """Return DuckDB's call that reads the file."""
    place = source.place(folder)
    if source.stated == "line-protocol":
        place = line_protocol.parquet(place, source.measurement, source.precision or "ns")
    # DuckDB reads brackets, stars and question marks in a path as a pattern.
    path = literal(re.sub(r"[\[*?]", r"[\g<0>]", str(place)))
    if source.typed:
        return f"read_parquet({path})"
    if source.stated == "ndjson":
        return f"read_json({path}, format = 'newline_delimited', sample_size = -1)"
    # A text such as 007 must not be read as a number first.
    types = ", ".join(f"{literal(name)}: {literal(SQL_TYPES[kind])}" for name, kind in declared.items())
    return f"read_csv({path}, sample_size = -1{f', types = {{{types}}}' if types else ''})"


def texts(source: FileSource, names: Iterable[str], folder: Path) -> str:
    """Return DuckDB's call that reads the values of a CSV or NDJSON file as the texts that they are there."""
    read = relation(source, dict.fromkeys(names, "text"), folder)
    if source.stated == "csv":
        return read
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    return f"{read.removesuffix(')')}, columns = {{{columns}}})"


@contextmanager
def reading(source: FileSource) -> Iterator[Callable[[str], Any]]:
    """Yield a function that runs a statement in DuckDB; raise RequestError if the file is not of its format."""
    import duckdb

    with duckdb.connect() as connection:
        try:
            connection.execute("SET TimeZone = 'UTC'")
            yield connection.execute
        except duckdb.Error as error:
            raise RequestError(
                f"source.file: {source.file} cannot be read as {source.stated}: {str(error).splitlines()[0]}",
                "Correct the file, or declare its format and the types of its [columns].",
            ) from None


def described(source: FileSource, declared: Columns, folder: Path) -> dict[str, str]:
    """Return name → DuckDB's type of each column of the file."""
    with reading(source) as run:
        rows = run(f"DESCRIBE SELECT * FROM {relation(source, declared, folder)}").fetchall()  # noqa: S608
    return {str(name): str(sql_type) for name, sql_type, *_ in rows}
