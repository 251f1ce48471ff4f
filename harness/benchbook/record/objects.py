"""Results on object storage: one Parquet object a trial and table, appended by many machines without a lock.

A trial's rows are objects of its own, named after it, so no two machines ever write the same one; the row of
table ``trials`` is written last, and what it does not name yet is not seen by a join with it. DuckDB reads the
objects where they are. What is being carried out stands in a folder of this machine's cache until then.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from benchbook.errors import RequestError
from benchbook.host.filesystem import cache_folder
from benchbook.record.tables import BATCH_ROWS, OF_RUN, OF_TRIAL, TABLES, Table, arrow_types

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

SCHEME = "s3://"
MARKER = "remote.json"
"""In a folder of the cache: the address whose results it works for."""
ELSEWHERE = "elsewhere.json"
"""In a run's folder: its trials are on the object storage, and nothing of it is to be done here."""
PLACE = "place"
"""Column of every object: the row's place among those of its trial."""
ORDERED = "ordered"
"""Schema in which a table has its order of rows as ``rowid``, as a table of a file has."""


@dataclass(frozen=True)
class Objects:
    """A prefix of a bucket."""

    url: str

    @property
    def prefix(self) -> str:
        """Bucket and key, as pyarrow's file systems take them."""
        return self.url.removeprefix(SCHEME).rstrip("/")

    def files(self) -> Any:
        """Return the file system; keys and endpoint come from the usual AWS_ variables."""
        from pyarrow import fs

        where = urlsplit(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or "")
        own = {"endpoint_override": where.netloc, "scheme": where.scheme} if where.netloc else {}
        return fs.S3FileSystem(**own, allow_bucket_creation=False)

    def put(self, name: str, content: bytes) -> None:
        """Write an object, whole; raise RequestError in words where that is not possible."""
        try:
            with self.files().open_output_stream(f"{self.prefix}/{name}") as out:
                out.write(content)
        except OSError as error:
            raise self._failure(error) from error

    def put_table(self, table: str, owner: str, rows: pa.Table) -> None:
        """Write the rows of a trial or run as the object of a table."""
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
        """Return an object that ``names`` named."""
        with self.files().open_input_stream(path) as stream:
            return bytes(stream.read())

    def connection(self) -> DuckDBPyConnection:
        """Return a DuckDB in memory in which every table is the objects, read in place when it is asked."""
        import duckdb
        import pyarrow.dataset as ds

        made = duckdb.connect(":memory:")
        made.execute(f"CREATE SCHEMA {ORDERED}")
        for table in TABLES:
            schema = arrow_schema(table)
            paths = self.names(f"tables/{table.name}", ".parquet")
            source = (
                ds.dataset(paths, filesystem=self.files(), format="parquet", schema=schema)
                if paths
                else schema.empty_table()
            )
            made.register(f"objects_{table.name}", source)
            made.execute(f"CREATE VIEW {table.name} AS SELECT * EXCLUDE ({PLACE}) FROM objects_{table.name}")  # noqa: S608 - names of ours
            made.execute(
                f"CREATE VIEW {ORDERED}.{table.name} AS SELECT *, {PLACE} AS rowid FROM objects_{table.name}"  # noqa: S608
            )
        return made

    def _failure(self, error: OSError) -> RequestError:
        return RequestError(
            f"{self.url} cannot be read or written: {str(error).splitlines()[0][:300]}",
            "See that the bucket exists, and AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL.",
        )


def folder_of(text: str | Path) -> Path:
    """Return the results folder that ``--results`` names; for object storage, that of the cache which works for it."""
    if not str(text).startswith(SCHEME):
        return Path(text)
    if not urlsplit(str(text)).netloc or "?" in str(text):
        raise RequestError(f"--results {text}: this names no bucket.", "Write it as s3://BUCKET/PREFIX.")
    objects = Objects(str(text).rstrip("/"))
    key = hashlib.sha256(f"{objects.url} {os.environ.get('AWS_ENDPOINT_URL', '')}".encode()).hexdigest()[:16]
    folder = cache_folder(os.environ) / "results" / key
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).write_text(json.dumps({"url": objects.url}) + "\n")
    _refresh(objects, folder)
    return folder


def of(results: Path) -> Objects | None:
    """Return the object storage that a results folder works for; None for an ordinary one."""
    try:
        return Objects(str(json.loads((results / MARKER).read_text())["url"]))
    except (OSError, ValueError, KeyError):
        return None


def arrow_schema(table: Table) -> pa.Schema:
    """Return the schema of a table's objects."""
    import pyarrow as pa

    return pa.schema([*arrow_types(table).items(), (PLACE, pa.int64())])


def push(objects: Objects, run: Path, trials: list[Path]) -> int:
    """Append a run's facts and some of its trials; return how many trials were whole."""
    import duckdb

    from benchbook.record import folder, ingest, tables

    connection = duckdb.connect(":memory:")
    try:
        for statement in tables.statements():
            connection.execute(statement)
        ingest.run_facts(connection, run, folder.tell)
        for table in OF_RUN:
            objects.put_table(table.name, run.name, _rows(connection, table, run.name))
        entered = 0
        for place in trials:
            if not ingest.trials(connection, [place], folder.tell):
                continue
            entered += 1
            owner = f"{run.name}/{place.name}"
            for table in reversed(OF_TRIAL):  # the trial's own row is the first table's, so it comes last
                objects.put_table(table.name, owner, _rows(connection, table, owner))
    finally:
        connection.close()
    for name in (folder.PLAN_FILE, folder.RUN_FILE):
        if (run / name).exists():
            objects.put(f"runs/{run.name}/{name}", (run / name).read_bytes())
    return entered


def _rows(connection: DuckDBPyConnection, table: Table, owner: str) -> pa.Table:
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    text = f"SELECT {columns}, rowid AS {PLACE} FROM {table.name} WHERE {table.owner} = ? ORDER BY rowid"  # noqa: S608
    found = connection.execute(text, [owner])
    return found.to_arrow_table(BATCH_ROWS).cast(arrow_schema(table))


def _refresh(objects: Objects, results: Path) -> None:
    """Bring the plans and facts of runs of other machines here, so that they can be named and reported."""
    for path in objects.names("runs", ".json"):
        run, name = path.rsplit("/", 2)[1:]
        here = results / "runs" / run
        if here.exists() and not (here / ELSEWHERE).exists():
            continue  # it is carried out here
        here.mkdir(parents=True, exist_ok=True)
        (here / ELSEWHERE).write_text("{}\n")
        (here / name).write_bytes(objects.read(path))
