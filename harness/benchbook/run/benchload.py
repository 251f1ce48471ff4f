"""Call benchload for digests, query sets, requests and the client's ceiling."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from benchbook.declare.dataset import Dataset, Digested
from benchbook.errors import BenchbookError, RequestError, Unavailable
from benchbook.host import exhausted
from benchbook.host.provenance import sha256_of
from benchbook.record.folder import write_json, write_whole
from benchbook.systems.driver import DatasetRequest, TableCount


def go_command() -> Path | None:
    """Return the Go toolchain that ``./bench`` set up, or None to use the one on PATH."""
    configured = os.environ.get("BENCHBOOK_GO")
    return Path(configured) if configured else None


def load_client(experiment: str) -> Path:
    """Return the program that loads and measures for an experiment on this machine."""
    from benchbook.provision import client
    from benchbook.provision.request import Request

    return client.find(experiment, Request(go=go_command()))


def identity(binary: Path) -> dict[str, str]:
    """Return the binary's version and sha256."""
    stated = json.loads(output(binary, "version"))
    return {"version": str(stated.get("version")), "digest": sha256_of(binary)}


def digest(binary: Path, dataset: Dataset, results: Path) -> Digested:
    """Return rows, values, bytes and sha256 of a dataset, and its counts per table.

    The dataset is generated once for this. The answer is cached in the results folder under the declaration and the
    digest of the binary, so that a different generator never inherits an old digest.
    """
    key = hashlib.sha256(
        "\0".join([dataset.generator, *dataset.flags(), identity(binary)["digest"]]).encode()
    )
    kept = results / "datasets" / f"{dataset.name}-{key.hexdigest()[:16]}.json"
    if kept.exists():
        try:
            found: Digested = json.loads(kept.read_text(encoding="utf-8"))
            return found
        except ValueError:
            kept.unlink()
    line = json.loads(output(binary, "generate", dataset.generator, *dataset.flags(), "--digest"))
    if "objects" in line:  # a dataset of objects has no tables
        line |= {"rows": line["objects"], "values": line["objects"], "tables": {}}
    made = cast("Digested", {"name": dataset.name, **line})
    write_json(kept, made)
    return made


def request(dataset: Dataset, digested: Digested, file: Path | None = None) -> DatasetRequest:
    """Return the dataset in the form that clients take; ``file`` has the rows of one from a file."""
    tables = {
        name: TableCount(int(table["rows"]), {field: int(n) for field, n in table["fields"].items()})
        for name, table in digested["tables"].items()
    }
    model = dataset.model
    return DatasetRequest(
        dataset.generator, dataset.flags(), tables, model.by_worker, model.load_command, file
    )


def queries(binary: Path, dataset: Dataset, kind: str, count: int, folder: Path) -> Path:
    """Write the query set of one type into ``folder`` and return its file; the same arguments give the same bytes."""
    text = output(
        binary, "queries", dataset.generator, *dataset.flags(),
        f"--query-seed={dataset.seed}", f"--types={kind}", f"--count={count}",
    )  # fmt: skip
    name = hashlib.sha256(text.encode()).hexdigest()[:12]
    return keep(text, folder / f"{kind}-{name}.jsonl")


def keep(text: str, path: Path) -> Path:
    """Write ``text`` to a file unless it exists, because the name identifies the content; return the file."""
    if not path.exists():
        write_whole(path, text.encode())
    return path


@dataclass(frozen=True)
class Calibration:
    """A load into a null server: the batches and workers of a cell."""

    batch_rows: int
    workers: int
    gzip: bool
    lasts_seconds: float | None
    """None: load the dataset once."""

    def flags(self) -> list[str]:
        """Return the flags of benchload."""
        lasts = [f"--duration={self.lasts_seconds:g}s"] if self.lasts_seconds else []
        packed = ["--gzip"] if self.gzip else []
        return [f"--batch-rows={self.batch_rows}", f"--workers={self.workers}", *packed, *lasts]


def calibrate(experiment: str, dataset: Dataset, asked: Calibration) -> list[dict[str, Any]]:
    """Return the summaries of a load into a null server by the client of this machine, a worker of a cluster."""
    text = output(load_client(experiment), "calibrate", dataset.generator, *dataset.flags(), *asked.flags())
    events = [json.loads(line) for line in text.splitlines() if line.strip()]
    return [event for event in events if event.get("type") == "summary"]


def output(binary: Path, *arguments: str) -> str:
    """Run the binary and return its output; raise an error with its message if it fails."""
    try:
        done = subprocess.run([binary, *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        if lacked := exhausted.explain(error):
            raise RequestError(*lacked) from None
        raise Unavailable(f"{binary} cannot be started: {error.strerror}.") from None
    if done.returncode == 0:
        return done.stdout
    if exhausted.refused_threads(done.stderr):
        raise RequestError(*exhausted.PROCESSES)
    messages = done.stderr.strip().splitlines()
    sentence = messages[-1] if messages else f"benchload {arguments[0]} ended with code {done.returncode}."
    error_class = RequestError if done.returncode == 2 else BenchbookError
    raise error_class(f"benchload {arguments[0]}: {sentence.removeprefix('benchload: ')}")
