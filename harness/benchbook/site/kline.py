"""The raw data of the kline publication, read again: intervals over its repeats, and Little's law.

The publication left a record of every operation; datasets/published/kline-raw-summary.csv has one line a file.
Each repeat is one value here, as a trial would be.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.analyse import order
from benchbook.analyse.order import Little
from benchbook.declare.catalogue import root
from benchbook.report import quantity, versus
from benchbook.report import theme as axes
from benchbook.report.figure import Figure
from benchbook.report.table import Table

FILE = Path("datasets") / "published" / "kline-raw-summary.csv"
STATED_CLIENTS = 64
"""Clients that the publication states for every one of these files."""
TITLES = {
    "mysql": "MySQL",
    "postgresql": "PostgreSQL",
    "dolphindb-olap": "DolphinDB (OLAP)",
    "dolphindb-tsdb": "DolphinDB (TSDB)",
    "oracle": "Oracle",
    "qdata": "QData",
}
COLOURS = {
    "mysql": "#D55E00",
    "postgresql": "#7733FF",
    "dolphindb-olap": "#009E73",
    "dolphindb-tsdb": "#CC79A7",
    "oracle": "#9B4B80",
    "qdata": "#0072B2",
}


@dataclass(frozen=True)
class Group:
    """The repeats of one system, payload and volume, as the files are named."""

    system: str
    payload: str
    rows: int
    throughputs: tuple[float, ...]
    """Operations a second of each repeat."""
    value: float
    """Geometric mean of the throughputs, 1/s."""
    low: float | None
    high: float | None
    """95 % interval over the repeats; None below 3."""
    in_flight: float
    """Mean operations in flight, from start and end of each operation."""
    latency_seconds: float
    """Mean over the repeats of the mean latency, s."""
    rows_returned: float

    @property
    def expected(self) -> float:
        """Rate times mean latency, operations."""
        return self.value * self.latency_seconds

    @property
    def measured(self) -> Little:
        """Little's law against the operations in flight that were recorded."""
        return order.check(self.value, self.latency_seconds, self.in_flight)

    @property
    def stated(self) -> Little:
        """Little's law against the 64 clients that the publication states."""
        return order.check(self.value, self.latency_seconds, STATED_CLIENTS)

    @property
    def title(self) -> str:
        """The system's name."""
        return TITLES.get(self.system, self.system)

    @property
    def mislabelled(self) -> bool:
        """Whether the rows returned are those of the other payload; QData's are the length of an envelope."""
        many = self.rows_returned > 100
        return self.system != "qdata" and many != (self.payload == "100KB")


def groups(file: Path | None = None) -> list[Group]:
    """Read the summary and return its groups: by payload, volume, system."""
    with (file or root() / FILE).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    found: dict[tuple[str, int, str], list[dict[str, str]]] = {}
    for row in rows:
        found.setdefault((row["payload"], int(row["rows"]), row["system"]), []).append(row)
    return [_group(*key, held) for key, held in sorted(found.items())]


def _group(payload: str, volume: int, system: str, held: list[dict[str, str]]) -> Group:
    rates = [float(row["throughput_per_s"]) for row in held]
    value, low, high = versus.mean(rates)
    assert value is not None
    return Group(
        system,
        payload,
        volume,
        tuple(rates),
        value,
        low,
        high,
        _mean(held, "in_flight_mean"),
        _mean(held, "latency_mean_ms") / 1e3,
        _mean(held, "rows_returned_mean"),
    )


def _mean(held: list[dict[str, str]], column: str) -> float:
    return sum(float(row[column]) for row in held) / len(held)


def chart(file: Path | None = None) -> Figure:
    """Draw throughput against operations in flight: what was compared as 64 clients."""
    found = groups(file)
    title = "Throughput against operations in flight: what was compared as 64 clients"
    return Figure(title, _draw(found), _alternative(found), table(file))


def _draw(found: list[Group]) -> Any:
    import altair as alt

    rows = [
        {
            "system": one.title,
            "in_flight": round(one.in_flight, 2),
            "throughput": round(one.value, 3),
            "payload": one.payload,
            "rows": quantity.count(one.rows),
            "interval": _interval(one),
        }
        for one in found
    ]
    names = [system for system in TITLES if any(one.system == system for one in found)]
    labels = [TITLES[name] for name in names]
    x_scale, x_axis = axes.logarithmic(
        [*(one.in_flight for one in found), STATED_CLIENTS], "Operations in flight (mean)"
    )
    y_scale, y_axis = axes.logarithmic([one.value for one in found], "Operations per second")
    colour = alt.Color("system:N", scale=alt.Scale(domain=labels, range=[COLOURS[name] for name in names]))
    shapes = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"][: len(names)]
    mark = alt.Chart(alt.InlineData(values=[{"stated": STATED_CLIENTS}])).mark_rule(strokeDash=[4, 3])
    return alt.layer(
        mark.encode(x=alt.X("stated:Q", scale=x_scale, axis=x_axis)),
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=False, strokeWidth=1.7, size=60)
        .encode(
            x=alt.X("in_flight:Q", scale=x_scale, axis=x_axis),
            y=alt.Y("throughput:Q", scale=y_scale, axis=y_axis),
            color=colour,
            shape=alt.Shape("system:N", scale=alt.Scale(domain=labels, range=shapes)),
            tooltip=[
                alt.Tooltip("system:N"),
                alt.Tooltip("payload:N"),
                alt.Tooltip("rows:N", title="rows in the table"),
                alt.Tooltip("throughput:Q", title="operations/s"),
                alt.Tooltip("interval:N", title="95 % interval"),
                alt.Tooltip("in_flight:Q", title="in flight"),
            ],
        ),
    ).properties(width="container", height=260)


def _interval(one: Group) -> str:
    if one.low is None or one.high is None:
        return f"none: {len(one.throughputs)} repeats"
    return f"{quantity.number(one.low)} to {quantity.number(one.high)}"


def _alternative(found: list[Group]) -> str:
    parts = []
    for system, title in TITLES.items():
        held = [one for one in found if one.system == system]
        if held:
            low, high = min(one.in_flight for one in held), max(one.in_flight for one in held)
            fastest = max(one.value for one in held)
            flight = f"{low:.0f}" if f"{low:.0f}" == f"{high:.0f}" else f"{low:.0f} to {high:.0f}"
            parts.append(
                f"{title} had {flight} operations in flight and at most"
                f" {quantity.number(fastest)} operations per second"
            )
    return f"One point a system, payload and volume; a line at the 64 clients that were stated. {'; '.join(parts)}."


def table(file: Path | None = None) -> Table:
    """Return one row a system, payload and volume: throughput with its interval, and Little's law twice."""
    rows = [
        [
            one.title + (" (returned the other payload's rows)" if one.mislabelled else ""),
            one.payload,
            quantity.count(one.rows),
            str(len(one.throughputs)),
            quantity.number(one.value),
            _interval(one),
            quantity.text(one.latency_seconds, "s"),
            quantity.number(one.expected),
            f"{quantity.number(one.in_flight)}{'' if one.measured.ok else ', does not agree'}",
            "agrees" if one.stated.ok else f"{one.expected / STATED_CLIENTS:.2f} of them",
        ]
        for one in found_in_order(file)
    ]
    columns = [
        "System",
        "Payload",
        "Rows in the table",
        "Repeats",
        "Operations/s",
        "95 % interval",
        "Mean latency",
        "Rate × latency",  # noqa: RUF001 - the sign of multiplication is meant
        "In flight, recorded",
        "Against 64 clients",
    ]
    return Table(columns, rows, numeric=frozenset(columns[2:5] + columns[6:8]))


def found_in_order(file: Path | None = None) -> list[Group]:
    """Return the groups as the table lists them: by system, payload and volume."""
    order = list(TITLES)
    return sorted(groups(file), key=lambda one: (order.index(one.system), one.payload, one.rows))
