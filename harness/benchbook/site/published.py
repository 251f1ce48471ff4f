"""The published runs of a checkout: written by ``bench export --publish``, read for the pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.errors import RequestError
from benchbook.record import archive, database, folder, runs
from benchbook.record.folder import Say, tell
from benchbook.record.private import scrubber
from benchbook.record.tables import BATCH_ROWS, TABLES, literal, quoted
from benchbook.report.charts.telemetry import PANELS

if TYPE_CHECKING:
    import polars as pl

    from benchbook.analyse.run import Run


# The published runs of a checkout, and a results folder made from them for the pages to read.

# ruff: noqa: S608 - names of tables come from record.tables, paths are quoted


DATA = Path("reports") / "data"


@dataclass(frozen=True)
class Published:
    """One published run."""

    experiment: str
    run_id: str
    profile: str
    folder: Path
    manifest: dict[str, Any]
    against_itself: bool = False
    """Whether it is an A/A run: it has no page, and gives the noise floor of the others."""


def all_published(root: Path) -> list[Published]:
    """Return the published runs under ``root``, by experiment, each checked against its digests.

    Raises RequestError where one is damaged or of a newer schema.
    """
    found = []
    for path in sorted((root / DATA).glob(f"*/{archive.FILE}")):
        stated = archive.read(path.parent)
        found.append(
            Published(
                str(stated["experiment"]),
                str(stated["run_id"]),
                str(stated["profile"]),
                path.parent,
                stated,
                bool(stated.get("against_itself")),
            )
        )
    return found


def results(published: list[Published], target: Path) -> Path:
    """Make a results folder with these runs in its database; return it."""
    target.mkdir(parents=True, exist_ok=True)
    connection = database.make(target / database.FILE)
    try:
        for one in published:
            place = target / "runs" / one.run_id
            place.mkdir(parents=True)
            for name in (folder.RUN_FILE, folder.PLAN_FILE):
                shutil.copyfile(one.folder / name, place / name)
            shutil.copytree(one.folder / "declared", place / "declared")
            for table in TABLES:
                path = one.folder / "tables" / f"{table.name}.parquet"
                if table.name != "schema_version" and path.is_file():
                    # By name: what an older table lacked is NULL.
                    connection.execute(
                        f"INSERT INTO {quoted(table.name)} BY NAME SELECT * FROM read_parquet({literal(str(path))})"
                    )
    finally:
        connection.close()
    return target


def opened(root: Path) -> list[Run]:
    """Return the published runs that answer a question, opened for a page.

    They come from the results folder that the site's rendering names.
    """
    from benchbook.analyse.run import RESULTS_VARIABLE, open_run

    given = os.environ.get(RESULTS_VARIABLE)
    return [
        open_run(Path(given) if given else None, one.run_id)
        for one in all_published(root)
        if not one.against_itself
    ]


# Publishing a run: its tables as small Parquet files under ``reports/data/<experiment>/``, without private names.
#
# Kept is what the pages show. Left out are logs, configurations and samples of telemetry that no chart draws;
# samples and intervals are thinned to what a chart can show (histograms of neighbouring intervals are merged,
# which loses no operation).

# ruff: noqa: S608 - names of tables and columns are our own, values are quoted


LARGEST_BYTES = 2_000_000
"""Bytes of a published run: the repository carries them for ever."""
SAMPLES = 60
"""Samples kept of one series of telemetry of a trial."""
INTERVALS = 60
"""Intervals kept of one phase of a trial."""
FEWEST = 8
"""Samples and intervals below which a run that is too large is refused instead of thinned further."""
AGAINST_ITSELF = "-aa"
"""Ends the name of the folder of an A/A run: it stands beside that of the experiment's run, for its noise floor."""
LEFT_OUT = (
    "names of user and host, and private paths",
    "configuration files and logs of the systems",
    "samples of telemetry that no chart draws",
    "single operations",
)


def run(results: Path, run_id: str, data: Path, say: Say = tell) -> Path:
    """Write the published form of a run to ``data/<experiment>`` in place of what was there; return the folder.

    An A/A run goes to ``data/<experiment>-aa``. The same run gives the same bytes. Raises RequestError where the
    run does not exist or is not finished, or where it stays larger than 2 MB.
    """
    found = runs.find(results, run_id, say)
    if not found.whole or found.finished_at is None:
        raise RequestError(
            f"Run {found.run_id} has not come to its end: {found.done} of {found.planned} trials are there.",
            f"Finish it with bench resume {found.run_id}, then publish it.",
        )
    target = data / (found.experiment + AGAINST_ITSELF if found.against_itself else found.experiment)
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        copied = beside / "copied"
        copied.mkdir(parents=True)
        archive.copy(found.path, copied, scrubber())
        made = beside / "made"
        (made / "tables").mkdir(parents=True)
        with archive.staged(copied, found.run_id, say) as stage:
            kept = _fitting(stage, found.run_id, made)
        for name in (folder.RUN_FILE, folder.PLAN_FILE):
            shutil.copyfile(copied / name, made / name)
        shutil.copytree(copied / "declared", made / "declared")
        _manifest(found, made, kept)
        shutil.rmtree(target, ignore_errors=True)
        made.rename(target)
    except OSError as error:
        raise folder.cannot_write(target, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return target


def _manifest(found: runs.Run, made: Path, kept: dict[str, Any]) -> None:
    facts = folder.read_object(made / folder.RUN_FILE)
    provenance = facts.get("provenance") or {}
    names = ("benchbook_version", "git_revision", "git_dirty", "source_digest", "lock_digest")
    about = {
        "run_id": found.run_id,
        "experiment": found.experiment,
        "profile": found.profile,
        "published": True,
        "against_itself": found.against_itself,
        "provenance": {name: provenance.get(name) for name in names},
        "left_out": list(LEFT_OUT),
        **kept,
    }
    archive.write(made, about)


def _fitting(stage: Path, run_id: str, made: Path) -> dict[str, Any]:
    """Write the tables, with fewer samples and intervals until they fit; return what was kept."""
    samples = intervals = SAMPLES
    while True:
        rows = _tables(stage, run_id, made / "tables", samples, intervals)
        sizes = {path.stem: path.stat().st_size for path in (made / "tables").iterdir()}
        if sum(sizes.values()) <= LARGEST_BYTES * 0.95:  # the rest is for JSON and declarations
            return {"rows": rows, "samples_a_series": samples, "intervals_a_phase": intervals}
        if samples <= FEWEST:
            worst = sorted(sizes.items(), key=lambda one: -one[1])[:3]
            shown = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in worst)
            raise RequestError(
                f"Run {run_id} is too large to be published: {sum(sizes.values()) / 1e6:.1f} MB, and"
                f" {LARGEST_BYTES / 1e6:.0f} MB are allowed. The largest tables are {shown}.",
                "Publish a run of a smaller profile, or of fewer cells; bench export keeps a run whole.",
            )
        samples //= 2
        intervals //= 2


def _tables(stage: Path, run_id: str, output: Path, samples: int, intervals: int) -> dict[str, int]:
    rows = {}
    with database.open(stage, read_only=True) as connection:
        for table in TABLES:
            chosen = f"SELECT * FROM {table.name} {archive.of_run(table, run_id)}"
            if table.name == "operations":
                chosen = f"SELECT * FROM {table.name} WHERE false"
            elif table.name == "telemetry":
                chosen = telemetry(chosen, samples)
            elif table.name == "intervals":
                whole = connection.execute(chosen).pl(BATCH_ROWS)
                connection.register("merged_intervals", merged(whole, intervals))
                chosen = "SELECT * FROM merged_intervals"
            path = output / f"{table.name}.parquet"
            rows[table.name] = archive.parquet(connection, chosen, path)
    return rows


def telemetry(chosen: str, samples: int) -> str:
    """Return the SQL that keeps the samples which charts draw, at most about ``samples`` of a series."""
    drawn = sorted({(panel.scope, metric) for panel in PANELS for metric in panel.metrics})
    pairs = ", ".join(f"({literal(scope)}, {literal(metric)})" for scope, metric in drawn)
    series = "PARTITION BY trial_id, scope, metric"
    return (
        f"SELECT * FROM ({chosen}) WHERE (scope, metric) IN ({pairs})"
        f" QUALIFY (row_number() OVER ({series} ORDER BY seconds, phase) - 1)"
        f" % greatest(1, ceil(count(*) OVER ({series}) / {samples}.0)::BIGINT) = 0"
    )


def merged(rows: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return intervals with neighbours merged, so that a phase of a trial keeps at most ``most`` of a kind.

    Durations and counts add up, and histograms are merged without loss.
    """
    import polars as pl

    from benchbook.measure import histogram

    keys = ["trial_id", "phase", "operation", "warmup"]
    counts = ["duration_seconds", "operations", "rows", "values", "bytes", "errors"]
    made: list[dict[str, Any]] = []
    for group in rows.sort(*keys, "started_seconds", maintain_order=True).partition_by(
        keys, maintain_order=True
    ):
        held = group.to_dicts()
        step = -(-len(held) // most)
        for start in range(0, len(held), step):
            part = held[start : start + step]
            encoded = [one["histogram"] for one in part if one["histogram"]]
            together = dict(part[0])
            if len(part) > 1:
                together |= {name: _sum(one[name] for one in part) for name in counts}
                together["histogram"] = histogram.merge(encoded).encode() if encoded else None
            made.append(together)
    return pl.DataFrame(made, schema=rows.schema) if made else rows


def _sum(values: Iterable[Any]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
