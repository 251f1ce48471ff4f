"""How many times as fast the store of packed days is as MySQL, one step of the method after the other.

The first step is what the publication did; each later one puts one thing right, and the last compares the same
work. Steps that a run did not measure are left out.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass

from benchbook.analyse.run import Run
from benchbook.declare.catalogue import root
from benchbook.report import quantity
from benchbook.report.versus import Estimate, Versus, estimates, versus

STEPS = {
    ("as-published", "published"): "as published",
    ("as-published", "equal"): "equal reads in flight",
    ("any-stock", "equal"): "any stock",
    ("same-bars", "equal"): "the same bars",
    ("corrected", "equal"): "all bars decoded",
}
"""(method, reads in flight) → what the step puts right."""

STORES = ("kvrocks-2.8.0", "redis-7")
TABLES = ("mysql-8", "mariadb-10.11")
ARMS = {
    "published": "asked directly",
    "service": "behind a service in Go",
    "service-python": "behind a service in Python",
}
PUBLISHED = "kline-mysql-vs-kv.csv"
PAYLOADS = {"short": "100B", "long": "100KB"}
BARS_OF_STOCK = 120_000
"""In the publication: 500 days of 240 bars."""


@dataclass(frozen=True)
class Step:
    """One step at one volume and with one way of asking the store."""

    phase: str
    stocks: int
    label: str
    """What the step puts right."""
    asked: str
    """The store and how it is asked."""
    over: str
    """The database of tables that it is compared with."""
    versus: Versus
    published: float | None
    """The publication's ratio at this volume, at the first step of a read."""

    @property
    def row(self) -> str:
        """Its row in a chart."""
        return f"{self.stocks} stocks, {self.label}"

    def text(self) -> str:
        """Return its ratio with the 95 % interval, where there is one."""
        ratio, value = self.versus.ratio, quantity.number(self.versus.value)
        if ratio.low is None or ratio.high is None:
            return value
        return f"{value} ({quantity.number(ratio.low)} to {quantity.number(ratio.high)})"


def steps(run: Run, phase: str, metric: str) -> list[Step]:
    """Return the steps of a phase in order: by volume, then by step, then by the way of asking."""
    cells = _levels(run)
    found = [(cells[one.cell.name], one) for one in estimates(run, phase, metric) if one.points]
    made = []
    for levels, above in found:
        label = STEPS.get((levels.get("method", ""), _flight(levels)))
        if levels["system"] not in STORES or levels["arm"] not in ARMS or label is None:
            continue
        below = _table(found, levels)
        compared = versus(run, above, below) if below is not None else None
        if below is None or compared is None:
            continue
        stocks = int(levels["stocks"])
        made.append(
            Step(
                phase, stocks, label, f"{_title(above)}, {ARMS[levels['arm']]}", _title(below), compared,
                _published(phase, stocks) if label == "as published" and metric == "reads_per_second" else None,
            )
        )  # fmt: skip
    order = list(STEPS.values())
    return sorted(made, key=lambda one: (one.stocks, order.index(one.label), one.asked))


def _table(found: list[tuple[dict[str, str], Estimate]], levels: dict[str, str]) -> Estimate | None:
    """Return the database of tables at the same levels: the one that was published, else its substitute."""
    alike = {name: level for name, level in levels.items() if name not in ("system", "arm")}
    for system in TABLES:
        for other, estimate in found:
            if other["system"] == system and all(other.get(name) == level for name, level in alike.items()):
                return estimate
    return None


def _levels(run: Run) -> dict[str, dict[str, str]]:
    """Return the levels of each cell."""
    of_trial: dict[str, dict[str, str]] = {}
    for trial, factor, level in run.frame("levels").select("trial_id", "factor", "level").iter_rows():
        of_trial.setdefault(trial, {})[factor] = level
    trials = run.frame("trials").select("trial_id", "cell").iter_rows()
    return {cell: of_trial.get(trial, {}) for trial, cell in trials}


def _flight(levels: dict[str, str]) -> str:
    return "published" if levels.get("in_flight") == "published" else "equal"


def _title(estimate: Estimate) -> str:
    return estimate.cell.title


def _published(phase: str, stocks: int) -> float | None:
    """Return the published ratio of QData over MySQL at a volume; None where it was not published."""
    rows = {}
    with (root() / "datasets" / "published" / PUBLISHED).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if (
                row["payload"] == PAYLOADS.get(phase)
                and row["metric"] == "throughput"
                and row["source"] == "statistics"
                and int(row["rows_actual"]) == stocks * BARS_OF_STOCK
            ):
                rows[row["system"]] = float(row["value"])
    return rows["qdata"] / rows["mysql"] if {"qdata", "mysql"} <= rows.keys() else None
