"""Datasets from a file: fetch it, count it, and keep its rows in Arrow, which every client reads."""

from __future__ import annotations

import hashlib
import http.client
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, cast

from benchbook.declare import data_file
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.data_file import SQL_TYPES
from benchbook.declare.dataset import CountedTable, Dataset, Digested
from benchbook.declare.sql_text import quoted
from benchbook.declare.workload import Options, having, workload
from benchbook.errors import RequestError, TrialInvalid
from benchbook.plan.plan import Plan
from benchbook.record.folder import write_json
from benchbook.run.exact import require_exact
from benchbook.systems.driver import driver_class

if TYPE_CHECKING:
    from collections.abc import Callable


BATCH_ROWS = 122_880
ANSWER_SECONDS = 60.0
"""Time that the server of a file may leave a request without a byte."""
PART_BYTES = 1 << 20
PARTIAL, NO_SUCH_PART = 206, 416
"""HTTP statuses of an answer to a request for a part of a file."""


def prepared(catalogue: Catalogue, dataset: Dataset, results: Path, note: Callable[[str], None]) -> Digested:
    """Return rows, values and counts of a dataset from a file, and write its rows in Arrow; both once.

    Raise RequestError if the file is another one than that of the plan.
    """
    declaration, source = catalogue.path("dataset", dataset.name), dataset.source
    assert source is not None
    try:
        return _prepared(dataset, declaration.parent, arrow_file(results, dataset), note)
    except RequestError as error:
        raise RequestError(f"datasets/{declaration.name}: {error.message}", error.hint) from None


def _prepared(dataset: Dataset, folder: Path, rows: Path, note: Callable[[str], None]) -> Digested:
    source = dataset.source
    assert source is not None
    path = source.place(folder)
    if source.remote and not path.exists():
        note(f"fetching {source.file}")
        fetch(source.file, path, str(source.sha256))
    if path.is_dir() and rows.resolve().is_relative_to(path.resolve()):
        raise RequestError(
            f"source.file: {path} contains the folder of results, so each run changes it.",
            "Name a folder that nothing is written to, or other results: --results DIR",
        )
    if (found := data_file.digest(path)) != source.sha256:
        raise RequestError(
            f"source.file: {path} changed since the plan: its sha256 was {source.sha256}, and is {found} now.",
            "Put back what was there, or start a new run.",
        )
    kept = rows.with_suffix(".json")
    if rows.exists() and kept.exists():
        try:
            made: Digested = json.loads(kept.read_text(encoding="utf-8"))
            return made
        except ValueError:
            kept.unlink()
    if not source.has_rows:
        return _digested(dataset, found, {}, data_file.size_bytes(path))
    note(f"reading {source.file}")
    made = write_rows(dataset, folder, rows)
    write_json(kept, made)
    return made


def require_same(catalogue: Catalogue, dataset: Dataset) -> Path:
    """Return the dataset's file; raise TrialInvalid if it changed since the plan."""
    source = dataset.source
    assert source is not None
    path = source.place(catalogue.path("dataset", dataset.name).parent)
    try:
        found = data_file.digest(path)
    except RequestError as error:
        raise TrialInvalid(error.message, error.hint) from None
    if found != source.sha256:
        raise TrialInvalid(
            f"{source.file} changed during the run: its sha256 was {source.sha256}, and is {found} now.",
            "Start a new run.",
        )
    return path


def arrow_file(results: Path, dataset: Dataset) -> Path:
    """Return the path of the rows in Arrow."""
    key = hashlib.sha256("\0".join(dataset.flags()).encode()).hexdigest()[:16]
    return results / "datasets" / f"{dataset.name}-{key}.arrow"


def write_rows(dataset: Dataset, folder: Path, file: Path) -> Digested:
    """Write the rows of a dataset's file in Arrow, and return their counts."""
    import pyarrow as pa

    source = dataset.source
    assert source is not None
    columns = data_file.columns(source, dataset.columns, folder)
    read = data_file.relation(source, dataset.columns, folder)
    casts = {plain: f"CAST({quoted(name)} AS {SQL_TYPES[kind]})" for plain, (name, kind) in columns.items()}
    part = file.with_suffix(".part")
    part.parent.mkdir(parents=True, exist_ok=True)
    with data_file.reading(source) as run:
        require_exact(dataset, folder, columns, run)
        rows, *counted = run(
            f"SELECT count(*), {', '.join(_counts(casts[name], kind) for name, (_, kind) in columns.items())} "  # noqa: S608
            f"FROM {read}"
        ).fetchone()
        fields = dict(zip(columns, counted[::2], strict=True))
        fractions = dict(zip(columns, counted[1::2], strict=True))
        for name, (_, kind) in columns.items():
            if kind == "timestamp" and not fractions[name]:
                casts[name] += "::TIMESTAMP_S"  # texts of times in SQLite then have no fraction
        wanted = ", ".join(f"{cast} AS {quoted(name)}" for name, cast in casts.items())
        batches = run(f"SELECT {wanted} FROM {read}").to_arrow_reader(BATCH_ROWS)  # noqa: S608
        schema = batches.schema.with_metadata({"table": dataset.table})
        with pa.ipc.new_file(part, schema) as written:
            for batch in batches:
                written.write_batch(batch.replace_schema_metadata(schema.metadata))
    if not rows:
        raise RequestError(f"source.file: {source.file} has no rows.", "Use a file with at least one row.")
    part.replace(file)
    tables: dict[str, CountedTable] = {dataset.table: {"rows": rows, "fields": fields}}
    return _digested(dataset, data_file.digest(source.place(folder)), tables, file.stat().st_size)


def _digested(dataset: Dataset, sha256: str, tables: dict[str, CountedTable], size: int) -> Digested:
    return {
        "name": dataset.name,
        "rows": sum(one["rows"] for one in tables.values()),
        "values": sum(sum(one["fields"].values()) for one in tables.values()),
        "bytes": size,
        "sha256": sha256,
        "tables": tables,
    }


def _counts(cast: str, kind: str) -> str:
    """Return the number of values of a column, and of those with a fraction of a second."""
    fraction = f"epoch_us({cast}) % 1000000 <> 0" if kind == "timestamp" else "false"
    return f"count({cast}), count(*) FILTER ({fraction})"


def require_possible(plan: Plan, catalogue: Catalogue, *, cluster: bool = False) -> None:
    """Raise RequestError if a phase or a system of a plan cannot use the dataset: its trials would fail."""
    dataset = plan.dataset
    if dataset.source and cluster:
        raise RequestError(
            f"The dataset {dataset.name} is a file of this machine, which the machines of a cluster do not have.",
            "Leave --cluster out, or use a dataset that a generator makes.",
        )
    for phase in plan.phases:
        traits = workload(phase.workload)
        where = f'{plan.experiment}: phase "{phase.name}": '
        if dataset.source and not traits.files and not traits.own_data:
            raise RequestError(
                f"{where}the workload {traits.name} needs data of a generator, but {dataset.name} is a file.",
                f"Use {', '.join(having(lambda one: one.files))}, or another dataset.",
            )
        if traits.only_files and not dataset.source:
            raise RequestError(
                f"{where}the workload {traits.name} needs a dataset from a file, and a generator makes {dataset.name}.",
                "Use a dataset with [source], or the workload query.",
            )
        for levels in {trial.cell: trial.levels for trial in plan.trials}.values():
            if not phase.done_at(levels):
                continue
            options = phase.replaced(levels)
            if dataset.source and (traits.loads or traits.only_files):
                _require_table(where, dataset)
                _require_dialect(where, catalogue, options, str(levels["system"]))
            try:
                traits.refuse(catalogue, dataset, options, levels)
            except RequestError as error:
                raise RequestError(f"{where}{error.message}", error.hint) from None


def _require_table(where: str, dataset: Dataset) -> None:
    """Raise RequestError if a dataset's file has no rows for a system to load."""
    if dataset.source and not dataset.source.has_rows:
        raise RequestError(
            f"{where}no system can load the dataset {dataset.name}, whose format is {dataset.source.stated}.",
            "Use the workload program, or a file in Parquet, CSV, NDJSON or line protocol.",
        )


def _require_dialect(where: str, catalogue: Catalogue, options: Options, system: str) -> None:
    """Raise RequestError if a system cannot hold a table from a file, or a question has no text for it."""
    dialect = getattr(driver_class(catalogue.system(system).driver), "dialect", "")
    if not dialect:
        raise RequestError(
            f"{where}{system} cannot load a dataset from a file.",
            f"Leave {system} out: --set system=A,B. docs/adding-a-dataset.md lists the systems that can.",
        )
    statements = getattr(options, "statements", None)
    duration = getattr(options, "duration", None)
    if statements is None and duration:
        raise RequestError(
            f'{where}duration = "{duration}", but no rows follow those of a file.',
            'Remove duration, or keep a profile and --set from changing it: fixed = ["duration"] in the phase.',
        )
    if statements and not statements.keys() & {"", dialect}:
        name = getattr(options, "type", "")
        raise RequestError(
            f"{where}the question {name} has no text for {system}, only for {', '.join(statements)}.",
            f"Write {name}.sql or {name}.{dialect}.sql, or leave {system} out with `without`.",
        )


def fetch(address: str, file: Path, sha256: str) -> None:
    """Fetch a file with this digest; continue where an earlier attempt ended. Raise RequestError with the reason."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    held = part.stat().st_size if part.exists() else 0
    try:
        with (
            _answer(address, held) as answer,
            part.open("ab" if answer.status == PARTIAL else "wb") as written,
        ):
            while content := answer.read(PART_BYTES):
                written.write(content)
            if answer.length:  # bytes that the server announced and did not send
                raise http.client.IncompleteRead(b"", answer.length)
    except (OSError, http.client.HTTPException) as error:
        kept = part.stat().st_size if part.exists() else 0
        more = f" {kept:,} bytes are kept, and the next attempt continues there." if kept else ""
        raise RequestError(
            f"source.file: {address} could not be fetched: {getattr(error, 'reason', None) or error}.{more}",
            "Check the address and the network, or download the file and declare its path.",
        ) from None
    if (found := data_file.digest(part)) != sha256:
        part.unlink()
        raise RequestError(
            f"source.file: {address} has the sha256 {found}, but sha256 is {sha256}.",
            "The file at this address is another one; correct the address or sha256.",
        )
    part.replace(file)


def _answer(address: str, held: int) -> http.client.HTTPResponse:
    """Ask for the part of a file after the first ``held`` bytes, or for all of it if the server has no such part."""
    asked = urllib.request.Request(address, headers={"Range": f"bytes={held}-"} if held else {})  # noqa: S310
    try:
        answer = urllib.request.urlopen(asked, timeout=ANSWER_SECONDS)  # noqa: S310 - https, and http in tests
    except urllib.error.HTTPError as error:
        if error.code != NO_SUCH_PART:
            raise
        answer = urllib.request.urlopen(address, timeout=ANSWER_SECONDS)  # noqa: S310
    return cast("http.client.HTTPResponse", answer)
