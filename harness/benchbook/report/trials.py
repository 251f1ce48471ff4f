"""The page of a run's trials: what each one ran, what was checked and measured, and its telemetry.

One page holds all trials of a run as compact data, and ``template/trials.js`` shows one of them at ``#trial-<number>``.
Without scripts, the page is a table of the trials.
"""

from __future__ import annotations

import itertools
import json
import os
import shlex
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.analyse import quantity
from benchbook.analyse.run import Run
from benchbook.analyse.values import TRIAL, Cell
from benchbook.declare.metric import describe
from benchbook.report import links, page, typed
from benchbook.report.charts import telemetry
from benchbook.report.notebook import Document
from benchbook.report.table import escape_html

if TYPE_CHECKING:
    from benchbook.report.colophon import Colophon

LARGEST = 480_000
"""Bytes of a page's data, which leave room below 600 kB for its table."""
DETAILS = ((40, 4), (20, 4), (12, 3), (0, 3), (0, 0))
"""Samples of a chart of telemetry and digits of a measurement: the first that fit are used. Zero leaves them out."""
DIGITS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
"""A sample of telemetry is one of these, in 63 equal steps from zero to the largest sample of its chart."""
Metric = tuple[str, str, str, str, str]
"""Phase, title, unit, noun and name of a metric."""
GAP = "."
"""A time without a sample."""
FACTS = (
    "Setup", "Block", "Position", "Status", "Reason", "Began (UTC)", "Duration", "Start of the system", "Version",
    "Configuration", "Settings", "Durability", "Not measured", "Program", "Caches before the phase", "Limits and cores",
    "Storage", "Load of the machine before", "Digest of the configuration", "Digest of the data",
    "Digest of the queries",
)  # fmt: skip
FOLDED = FACTS.index("Program")
"""The facts from here on are folded."""


def render(run: Run, files: Path, here: Path, navigation: str, colophon: Colophon | None) -> str:
    """Return the page of a run's trials; ``files`` is the run's folder and ``here`` the folder of the page."""
    title = f"Trials: {run.info['title'] or run.experiment}"
    text = f"{_about(run)}{_files(files, here)}{_table(run)}{_data(run)}"
    document = Document(Path(run.run_id), title, f"Every trial of run {run.run_id}", "en", [])
    script = f"<script>{page.part('trials.js')}</script>"
    return page.render(document, "", navigation, "", colophon, text + script)


def _about(run: Run) -> str:
    stated = json.loads(run.info["argv"] or "[]")
    argv = stated if isinstance(stated, list) else []  # of a run of somebody else it may be anything
    command = escape_html(typed.command(run, shlex.join(map(str, argv))))
    rows = typed.command(run, f"sql reports/data/{run.experiment}/{run.run_id}")
    return (
        f"<p>The run was started with this command:</p><pre><code>{command}</code></pre>"
        f'<section id="bb-trial" class="bb-trial" aria-live="polite" data-sql="{escape_html(rows)}"></section>'
    )


def _files(files: Path, here: Path) -> str:
    """Return the links to the files of a run, folded."""
    names = sorted(
        path
        for path in files.rglob("*")
        if path.is_file() and path.suffix in (".json", ".parquet", ".toml", ".csv")
    )
    items = "".join(
        f'<li><a href="{escape_html(Path(os.path.relpath(path, here)).as_posix())}">'
        f"{escape_html(path.relative_to(files).as_posix())}</a> ({quantity.text(float(path.stat().st_size), 'B')})</li>"
        for path in names
    )
    return (
        f'<details class="bb-data"><summary>{len(names)} files of the run</summary><ul class="bb-files">{items}</ul>'
        "</details>"
    )


def _table(run: Run) -> str:
    """Return the table of all trials, whose rows are the targets of links."""
    labels = {cell.name: cell.label for cell in run.cells}
    columns = ("Trial", "Setup", "Block", "Position", "Status", "Duration", "Reason")
    rows = ""
    for row in run.frame("trials").to_dicts():
        name = links.anchor(row["trial_id"])
        texts = (
            labels[row["cell"]], str(row["block"] + 1), str(row["position"] + 1), row["status"],
            quantity.text(row["duration_seconds"], "s"), row["reason"] or "",
        )  # fmt: skip
        cells = "".join(f"<td>{escape_html(text)}</td>" for text in texts)
        number = row["trial_id"].rpartition("/")[2]
        rows += f'<tr id="{name}"><td><a href="#{name}">{escape_html(number)}</a></td>{cells}</tr>'
    head = "".join(f'<th scope="col">{name}</th>' for name in columns)
    return (
        '<h2 id="trials">All trials in order</h2><div class="bb-table" role="region" tabindex="0" '
        f'aria-label="All trials"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _data(run: Run) -> str:
    """Return the data of all trials as JSON, in as much detail as fits."""
    recorded = Recorded.of(run)
    for samples, digits in DETAILS:
        made = json.dumps(data(recorded, samples, digits), separators=(",", ":"), ensure_ascii=False)
        if len(made.encode()) <= LARGEST:
            break
    safe = made.replace("<", "\\u003c")
    return f'<script type="application/json" id="bb-trials">{safe}</script>'


class Texts:
    """Texts that many trials share, each kept once."""

    def __init__(self) -> None:
        self.held: dict[Any, int] = {}

    def of(self, text: Any) -> int:
        """Return the place of a text."""
        return self.held.setdefault(text, len(self.held))


@dataclass(frozen=True)
class Recorded:
    """What a run recorded of its trials, read once for all levels of detail."""

    run: Run
    trials: list[dict[str, Any]]
    """Their rows in order."""
    facts: list[list[str | None]]
    checks: list[dict[str, Any]]
    errors: list[dict[str, Any]]
    measurements: list[tuple[str, Metric, float | None]]
    """Trial, metric and value."""
    series: list[Series]

    @classmethod
    def of(cls, run: Run) -> Recorded:
        """Read a run."""
        trials = run.frame("trials").to_dicts()
        cells = {cell.name: cell for cell in run.cells}
        return cls(
            run,
            trials,
            [_facts(run, row, cells[row["cell"]]) for row in trials],
            run.frame("checks").to_dicts(),
            run.frame("errors").to_dicts(),
            _measurements(run),
            _telemetry(run, [row["trial_id"] for row in trials]),
        )


def data(recorded: Recorded, samples: int, digits: int) -> dict[str, Any]:
    """Return what the page shows of all trials.

    A trial refers by places to ``texts``, ``checks``, ``panels``, and ``columns``, which are the metrics of its
    measurements. ``samples`` is the number of samples of a chart, ``digits`` that of a measurement; with zero, they
    are left out.
    """
    texts, checks, metrics, columns = Texts(), Texts(), Texts(), Texts()
    made: dict[str, dict[str, Any]] = {
        row["trial_id"]: {
            "n": row["trial_id"].rpartition("/")[2],
            "f": [None if fact is None else texts.of(fact) for fact in facts],
            "c": [],
            "k": 0,
            "m": [],
            "t": [],
        }
        for row, facts in zip(recorded.trials, recorded.facts, strict=True)
    }
    for row in recorded.checks:
        check = (
            f"{row['kind']}: {row['name']}",
            _word(row["expected"]),
            _word(row["found"]),
            bool(row["ok"]),
        )
        made[row["trial_id"]]["c"].append(checks.of(check))
    for row in recorded.errors:
        check = (
            f"error in {row['phase']}: {row['kind']}",
            "none",
            f"{row['operations']} times: {row['message']}",
            False,
        )
        made[row["trial_id"]]["c"].append(checks.of(check))
    numbers: dict[str, dict[int, float | None]] = {}
    for trial, metric, value in recorded.measurements if digits else ():
        numbers.setdefault(trial, {})[metrics.of(metric)] = value
    for trial, values in numbers.items():
        made[trial]["k"] = columns.of(tuple(values))
        made[trial]["m"] = [None if one is None else _short(one, digits) for one in values.values()]
    for one in recorded.series if samples else ():
        trial = recorded.trials[one.place]["trial_id"]
        made[trial]["t"].append([one.panel, one.seconds, one.mean, one.largest, one.text(samples)])
    return {
        "run": recorded.run.run_id,
        "facts": FACTS,
        "folded": FOLDED,
        "trial": TRIAL,
        "digits": DIGITS,
        "texts": list(texts.held),
        "checks": list(checks.held),
        "metrics": list(metrics.held),
        "columns": list(columns.held),
        "panels": [panel.title for panel in telemetry.PANELS],
        "left": {"telemetry": not samples, "measurements": not digits},
        "trials": list(made.values()),
    }


def _short(value: float, digits: int) -> float | int:
    """Return a number with so many significant digits, whole where it is."""
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() else short


def _word(value: object) -> str:
    return "" if value is None else str(value)


def _facts(run: Run, row: Mapping[str, Any], cell: Cell) -> list[str | None]:
    """Return the facts of a trial in the order of ``FACTS``; None for those that it lacks."""
    declared = (run.systems.get(cell.system, {}).get("arms") or {}).get(cell.arm) or {}
    began = row["started_at"]
    return [
        cell.label,
        str(row["block"] + 1),
        str(row["position"] + 1),
        row["status"],
        row["reason"],
        f"{began:%Y-%m-%d %H:%M:%S}" if began else None,
        quantity.text(row["duration_seconds"], "s"),
        quantity.text(row["start_seconds"], "s"),
        row["version_reported"],
        ": ".join(filter(None, (cell.arm, declared.get("description")))) or None,
        _lines(declared.get("settings")),
        _lines(declared.get("durability")),
        _lines(row["unmeasured"]),
        _lines(row["program"]),
        row["cache_state"],
        _lines(row["confinement"]),
        _lines(row["storage_facts"]),
        _lines(row["load_before"]),
        row["config_digest"],
        row["dataset_digest"],
        row["queries_digest"],
    ]


def _lines(facts: Any) -> str | None:
    """Return a mapping, or its JSON, as a line for each known fact."""
    held = json.loads(facts) if isinstance(facts, str) and facts else facts
    if not isinstance(held, dict):
        return None
    known = {key: value for key, value in held.items() if value not in (None, {}, [])}
    return "\n".join(f"{name}: {text}" for name, text in quantity.lines(known)) or None


def _measurements(run: Run) -> list[tuple[str, Metric, float | None]]:
    rows = run.frame("measurements").select("trial_id", "phase", "metric", "unit", "value").rows()
    named = {metric: describe(metric) for metric in {row[2] for row in rows}}
    return [
        (trial, (phase, named[metric].title, unit, named[metric].noun, metric), value)
        for trial, phase, metric, unit, value in rows
    ]


@dataclass(frozen=True)
class Series:
    """The telemetry of a panel in one trial."""

    place: int
    """That of the trial."""
    panel: int
    own: telemetry.Samples
    seconds: float
    mean: str
    largest: str

    def text(self, count: int) -> str:
        """Return ``count`` samples, each as one of ``DIGITS``."""
        import numpy as np

        end, largest = float(self.own.seconds[-1]), float(self.own.values.max())
        bins = np.minimum((self.own.seconds / end * count).astype(np.int64), count - 1)
        sums, numbers = np.bincount(bins, self.own.values, count), np.bincount(bins, minlength=count)
        means = sums / np.maximum(numbers, 1)
        steps = np.round(means / largest * (len(DIGITS) - 1)).astype(np.int64).tolist()
        found = (
            DIGITS[step] if number else GAP for step, number in zip(steps, numbers.tolist(), strict=True)
        )
        return "".join(found).rstrip(GAP)


def _telemetry(run: Run, ids: Sequence[str]) -> list[Series]:
    """Return the series of each trial and panel that has two samples or more."""
    import numpy as np
    import polars as pl

    order = pl.DataFrame({"trial_id": ids, "place": range(len(ids))})
    held = run.frame("telemetry").filter(pl.col("value").is_finite())
    made: list[Series] = []
    for number, panel in enumerate(telemetry.PANELS):
        rows = (
            held.filter((pl.col("scope") == panel.scope) & pl.col("metric").is_in(panel.metrics))
            .unique(["trial_id", "metric", "seconds"], keep="first", maintain_order=True)
            .group_by("trial_id", "seconds")
            .agg(pl.col("value").sum())
            .join(order, on="trial_id")
            .sort("place", "seconds")
        )
        found = telemetry.Samples(*(rows[name].to_numpy() for name in ("place", "seconds", "value")))
        if panel.cumulative and len(rows):
            found = telemetry.rates(found, telemetry.cores(run) if panel.unit == "cores" else None)
        found = found.at(found.seconds >= 0)
        for begin, end in itertools.pairwise([*found.begins().tolist(), len(found.places)]):
            own = found.at(np.arange(begin, end))
            if end - begin > 1 and own.seconds[-1] > 0 and own.values.min() >= 0 and own.values.any():
                seconds = round(float(own.seconds[-1]), 1)
                mean, largest = (telemetry.text(one, panel) for one in (own.mean(), float(own.values.max())))
                made.append(Series(int(own.places[0]), number, own, seconds, mean, largest))
    return made
