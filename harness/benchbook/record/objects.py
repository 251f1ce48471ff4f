"""Results on object storage: one Parquet object for each trial and table, written by many machines without a lock.

Objects are named after their trial, so no two machines write the same one. The row of table ``trials`` is written
last: a join with it ignores a trial that is not whole yet. DuckDB reads the objects in place. A run in progress is
in a folder of this machine's cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from benchbook.declare.names import is_run_id
from benchbook.errors import RequestError
from benchbook.host.filesystem import cache_folder
from benchbook.record import check
from benchbook.record.tables import BATCH_ROWS, OF_RUN, OF_TRIAL, TABLES, Table, arrow_types

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

SCHEME = "s3://"
MARKER = "remote.json"
"""In a folder of the cache: the address of the object storage that it belongs to."""
ELSEWHERE = "elsewhere.json"
"""In a run's folder: another machine carries out this run, and its trials are on the object storage."""
PLACE = "place"
"""Column of every object: the row's place among the rows of its trial."""
ORDERED = "ordered"
"""Schema whose tables have a ``rowid`` with the order of rows, as tables of a file have."""


@dataclass(frozen=True)
class Objects:
    """A prefix of a bucket."""

    url: str

    @property
    def prefix(self) -> str:
        """Bucket and key, in the form of pyarrow's file systems."""
        return self.url.removeprefix(SCHEME).rstrip("/")

    def files(self) -> Any:
        """Return the file system; keys and endpoint come from the usual AWS_ variables."""
        from pyarrow import fs

        where = urlsplit(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or "")
        own = {"endpoint_override": where.netloc, "scheme": where.scheme} if where.netloc else {}
        return fs.S3FileSystem(**own, allow_bucket_creation=False)

    def put(self, name: str, content: bytes) -> None:
        """Write an object as a whole; raise RequestError if that is not possible."""
        try:
            with self.files().open_output_stream(f"{self.prefix}/{name}") as out:
                out.write(content)
        except OSError as error:
            raise self._failure(error) from error

    def put_table(self, table: str, owner: str, rows: pa.Table) -> None:
        """Write the rows of a trial or run as one object of a table."""
        import io

        import pyarrow.parquet as pq

        made = io.BytesIO()
        pq.write_table(rows, made, compression="zstd")
        self.put(f"tables/{table}/{owner.replace('/', '-')}.parquet", made.getvalue())

    def names(self, folder: str, ending: str) -> list[str]:
        """Return the names of the objects below a folder."""
        from pyarrow import fs

        bucket = self.prefix.partition("/")[0]
        try:
            if self.files().get_file_info(bucket).type == fs.FileType.NotFound:
                raise FileNotFoundError(f"there is no bucket {bucket}")
            found = self.files().get_file_info(
                fs.FileSelector(f"{self.prefix}/{folder}", recursive=True, allow_not_found=True)
            )
        except OSError as error:
            raise self._failure(error) from error
        return [str(one.path) for one in found if one.path.endswith(ending)]

    def read(self, path: str) -> bytes:
        """Return the content of an object."""
        try:
            with self.files().open_input_stream(path) as stream:
                return bytes(stream.read())
        except OSError as error:
            raise self._failure(error) from error

    def connection(self, here: Path, *, files: bool) -> DuckDBPyConnection:
        """Return a DuckDB in memory whose tables are views of the objects, read in place by each query.

        Large results spill into the folder ``here``. Without ``files``, queries reach nothing but the tables.
        """
        import duckdb
        import pyarrow.dataset as ds

        from benchbook.record.duckdb_file import CLOSED

        made = duckdb.connect(
            ":memory:",
            config={"temp_directory": str(here / "spilled"), "autoinstall_known_extensions": False},
        )
        made.execute(f"CREATE SCHEMA {ORDERED}")
        for table in TABLES:
            schema = arrow_schema(table)
            paths = self.names(f"tables/{table.name}", ".parquet")
            source = (
                ds.dataset(paths, filesystem=self.files(), format="parquet", schema=schema)
                if paths
                else schema.empty_table()
            )
            whole = check.completed(table.name)
            made.register(f"objects_{table.name}", source)
            made.execute(
                f"CREATE VIEW {ORDERED}.{table.name} AS "  # noqa: S608 - names of ours
                f"SELECT * {whole}, {PLACE} AS rowid FROM objects_{table.name}"
            )
            made.execute(
                f"CREATE VIEW {table.name} AS "  # noqa: S608
                f"SELECT * EXCLUDE ({PLACE}) {whole} FROM objects_{table.name}"
            )
        if not files:
            for name, value in CLOSED.items():  # the last one locks the others
                made.execute(f"SET {name} = {str(value).lower()}")
        return made

    def _failure(self, error: OSError) -> RequestError:
        return RequestError(
            f"Cannot read or write {self.url}: {str(error).splitlines()[0][:300]}",
            "Check that the bucket exists, and AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL.",
        )


def folder_of(text: str | Path) -> Path:
    """Return the results folder that ``--results`` names; for object storage, its folder in the cache."""
    if not str(text).startswith(SCHEME):
        return Path(text)
    if not urlsplit(str(text)).netloc or "?" in str(text):
        raise RequestError(
            f"--results {text}: the address lacks a bucket.", "Write it as s3://BUCKET/PREFIX."
        )
    objects = Objects(str(text).rstrip("/"))
    key = hashlib.sha256(f"{objects.url} {os.environ.get('AWS_ENDPOINT_URL', '')}".encode()).hexdigest()[:16]
    folder = cache_folder(os.environ) / "results" / key
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).write_text(json.dumps({"url": objects.url}) + "\n")
    _refresh(objects, folder)
    return folder


def of(results: Path) -> Objects | None:
    """Return the object storage that a results folder belongs to; None for an ordinary folder."""
    try:
        return Objects(str(json.loads((results / MARKER).read_text())["url"]))
    except (OSError, ValueError, KeyError):
        return None


def arrow_schema(table: Table) -> pa.Schema:
    """Return the schema of a table's objects."""
    import pyarrow as pa

    return pa.schema([*arrow_types(table).items(), (PLACE, pa.int64())])


def is_elsewhere(run: Path) -> bool:
    """Return whether another machine carries out a run."""
    return (run / ELSEWHERE).exists()


def push(objects: Objects, run: Path, trials: list[Path]) -> int:
    """Append a run's facts and some of its trials; return how many trials were whole.

    A run that has tables in place of trials is appended as a whole.
    """
    import duckdb

    from benchbook.record import folder, ingest, tables

    connection = duckdb.connect(":memory:")
    try:
        connection.execute(tables.script())
        if folder.from_tables(run):
            entered = ingest.run(connection, run, folder.tell)
            if not entered:
                return 0  # refused: none of its rows may reach the others'
            for table in (*reversed(OF_TRIAL), *OF_RUN):  # the first tables last: they make the rest visible
                objects.put_table(table.name, run.name, _rows(connection, table))
        else:
            ingest.run_facts(connection, run, folder.tell)
            for table in OF_RUN:
                objects.put_table(table.name, run.name, _rows(connection, table, run.name))
            entered = 0
            for place in trials:
                if not ingest.trials(connection, [place], folder.tell):
                    continue
                entered += 1
                owner = f"{run.name}/{place.name}"
                for table in reversed(OF_TRIAL):  # the trial's own row is in the first table
                    objects.put_table(table.name, owner, _rows(connection, table, owner))
    finally:
        connection.close()
    for name in (folder.PLAN_FILE, folder.RUN_FILE):
        if (run / name).exists():
            objects.put(f"runs/{run.name}/{name}", (run / name).read_bytes())
    return entered


def _rows(connection: DuckDBPyConnection, table: Table, owner: str | None = None) -> pa.Table:
    """Return the rows of one trial or run, or all rows, with their place."""
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    chosen = "" if owner is None else f"WHERE {table.owner} = ?"
    text = f"SELECT {columns}, rowid AS {PLACE} FROM {table.name} {chosen} ORDER BY rowid"  # noqa: S608
    found = connection.execute(text, [] if owner is None else [owner])
    return found.to_arrow_table(BATCH_ROWS).cast(arrow_schema(table))


def _refresh(objects: Objects, results: Path) -> None:
    """Copy the plans and facts of other machines' runs into the cache, so that commands find them."""
    from benchbook.record.folder import PLAN_FILE, RUN_FILE, write_whole

    for path in objects.names("runs", ".json"):
        run, name = path.rsplit("/", 2)[1:]
        if not is_run_id(run) or name not in (PLAN_FILE, RUN_FILE):
            continue  # Benchbook wrote no other: others may write into the bucket
        here = results / "runs" / run
        if (
            not here.exists()
        ):  # it gets its name with the mark inside, so that a kill leaves no folder without it
            made = results / f".{run}.{os.getpid()}"
            write_whole(made / ELSEWHERE, b"{}\n")
            here.parent.mkdir(parents=True, exist_ok=True)
            try:
                made.rename(here)
            except OSError:  # another command was faster
                shutil.rmtree(made)
        if (here / ELSEWHERE).exists():  # else this machine carries it out
            write_whole(here / name, objects.read(path))
