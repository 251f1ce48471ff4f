"""Charts, tables and sentences for the comparison of packed days and tables.

Each step corrects one defect of the published method; the last step compares the same work.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.analyse import claims, interval, order, quantity
from benchbook.analyse.cells import labelled
from benchbook.analyse.comparison import Estimate, Versus, estimates, versus
from benchbook.analyse.order import LittlesLaw
from benchbook.analyse.run import Run
from benchbook.declare import used
from benchbook.declare.catalogue import Catalogue
from benchbook.report import theme
from benchbook.report import theme as axes
from benchbook.report.charts import marks
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown, Table, missing
from benchbook.report.theme import PALETTE, SHAPES

SLUG = "kline-mysql-vs-kv"
STEPS = {
    ("as-published", "published"): "as published",
    ("as-published", "equal"): "equal reads in flight",
    ("any-stock", "equal"): "any stock",
    ("same-bars", "equal"): "the same bars",
    ("corrected", "equal"): "all bars decoded",
}
"""(method, reads in flight) → what the step corrects."""

MANY_VOLUMES = 3
"""Volumes from which on the ratios are drawn along them."""
APART = 0.14
"""Distance between two lines at one volume, where volumes are 1 apart."""
VOLUMES_HEIGHT = 260
STORES = ("kvrocks-2.8.0", "redis-7")
TABLES = ("mysql-8", "mysql-9", "mariadb-10.11")
ARMS = {
    "published": "direct access",
    "service": "behind a service in Go",
    "service-python": "behind a service in Python",
}
PAYLOADS = {"short": "100B", "long": "100KB"}
BARS_OF_STOCK = 120_000
"""Bars of a stock in the publication: 500 days of 240 bars."""


@dataclass(frozen=True)
class Step:
    """The result of one step at one volume and with one way of access to the store."""

    phase: str
    stocks: int
    label: str
    """The defect that the step corrects."""
    store: str
    """The store and the way of access."""
    over: str
    """The database with tables that it is compared with."""
    versus: Versus
    published: float | None
    """The published ratio at this volume; only for the first step."""

    @property
    def row(self) -> str:
        """Label of the row in a chart."""
        return f"{self.stocks} stocks, {self.label}"

    def text(self) -> str:
        """Return the ratio with its 95 % CI, if it has one."""
        ratio, value = self.versus.ratio, quantity.number(self.versus.value)
        if ratio.low is None or ratio.high is None:
            return value
        return f"{value} ({quantity.number(ratio.low)} to {quantity.number(ratio.high)})"


def steps(run: Run, phase: str, metric: str) -> list[Step]:
    """Return the steps that a run measured in a phase, ordered by volume, step and way of access."""
    cells = _levels(run)
    found = [(cells[one.cell.name], one) for one in estimates(run, phase, metric) if one.points]
    made = []
    for levels, above in found:
        label = STEPS.get((levels.get("method", ""), _flight(levels)))
        if levels["system"] not in STORES or levels["arm"] not in ARMS or label is None:
            continue
        below = _steps_table(found, levels)
        compared = versus(run, above, below) if below is not None else None
        if below is None or compared is None:
            continue
        stocks = int(levels["stocks"])
        made.append(
            Step(
                phase, stocks, label, f"{_title(above)}, {ARMS[levels['arm']]}", _title(below), compared,
                _published(phase, _volume(run, stocks))
                if label == "as published" and metric == "reads_per_second"
                else None,
            )
        )  # fmt: skip
    order = list(STEPS.values())
    return sorted(made, key=lambda one: (one.stocks, order.index(one.label), one.store))


def _steps_table(found: list[tuple[dict[str, str], Estimate]], levels: dict[str, str]) -> Estimate | None:
    """Return the database with tables at the same levels: the published one, else its substitute."""
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


def _volume(run: Run, stocks: int) -> int:
    """Return the published number of stocks that a run measures with ``stocks`` stocks."""
    scaled = claims.in_place(run).get("stocks", {})
    return next((int(there) for there, here in scaled.items() if str(here) == str(stocks)), stocks)


def most(run: Run) -> str:
    """Return the largest number of stocks in a run."""
    return max((levels["stocks"] for levels in _levels(run).values()), key=int)


def _published(phase: str, stocks: int) -> float | None:
    """Return the published ratio of QData over MySQL at a volume; None if it was not published."""
    catalogue = Catalogue()
    rows = {
        row["system"]: float(row["value"])
        for row in used.drawn(catalogue.publication(SLUG), "steps", catalogue.published(SLUG))
        if row["payload"] == PAYLOADS.get(phase) and int(row["rows_actual"]) == stocks * BARS_OF_STOCK
    }
    return rows["qdata"] / rows["mysql"] if {"qdata", "mysql"} <= rows.keys() else None


FIRST, LAST = next(iter(STEPS.values())), list(STEPS.values())[-1]


def _place(order: list[str], one: Step) -> int:
    return next(place for place, access in enumerate(order) if one.store.endswith(access))


PUBLISHED_COLOUR = "published (QData over MySQL)"
METRICS = {
    "reads_per_second": "Reads per second",
    "latency_mean": "Mean latency",
    "latency_max": "Longest latency",
}


def steps_chart(run: Run, phase: str, metric: str = "reads_per_second") -> Figure | Markdown:
    """Draw the steps of a phase: along the volumes if there are three or more, else a row for each step.

    A point is a ratio, the pale bar its 95 % CI, and the hollow mark the published ratio at the same number of stocks.
    Rows also show the ratio of each block.
    """
    title = f"{METRICS[metric]} of {phase} reads, packed days over tables"
    found = steps(run, phase, metric)
    if not found:
        return missing(title, "this run has no comparable setups of both")
    along = len({one.stocks for one in found}) >= MANY_VOLUMES
    return Figure(
        theme.scaled_title(
            run, f"{METRICS[metric]} of {phase} reads, packed days over {found[0].over}: {_finding(found)}"
        ),
        (_volumes_draw if along else _kline_steps_draw)(found, f"Times {found[0].over}"),
        _kline_steps_alternative(found, title),
        _kline_steps_table(found),
        subtitle=f"Ratio, logarithmic axis, line at 1; {'less' if metric.startswith('latency') else 'more'} is better; "
        f"n = {min(len(_points(one)) for one in found)} blocks, bars are 95 % CIs; hollow marks were published",
    )


def _finding(found: list[Step]) -> str:
    """Return the ratios of the first and the last step at the largest volume that has both."""
    parts, volume = [], 0
    for label, words in ((FIRST, "with the published method"), (LAST, "with the same work")):
        held = [one for one in found if one.label == label]
        if held:
            pick = max if label == FIRST else min
            one = pick(
                (one for one in held if one.stocks == max(other.stocks for other in held)),
                key=lambda one: _place(list(ARMS.values()), one),
            )
            parts.append(f"{quantity.number(one.versus.value)} {words}")
            volume = one.stocks
    return f"{', '.join(parts)}, at {volume} stocks" if parts else ""


def _kline_steps_draw(found: list[Step], title: str) -> Any:
    import altair as alt

    order = list(dict.fromkeys(one.row for one in found))
    kinds = [*dict.fromkeys(one.store for one in sorted(found, key=lambda one: one.store))]
    means = [
        {
            "row": one.row, "kind": one.store, "value": one.versus.value, "low": one.versus.ratio.low,
            "high": one.versus.ratio.high, "text": one.text(),
        }
        for one in found
    ]  # fmt: skip
    points = [
        {"row": one.row, "kind": one.store, "value": ratio, "block": block + 1}
        for one in found
        for block, ratio in _points(one)
    ]
    published = [
        {"row": row, "kind": PUBLISHED_COLOUR, "value": ratio}
        for row, ratio in dict.fromkeys((one.row, one.published) for one in found)
        if ratio
    ]
    scale, axis = axes.logarithmic([1.0, *marks.ends(means, points + published)], title)
    named = [*kinds, *([PUBLISHED_COLOUR] if published else [])]
    y = alt.Y(
        "row:N", title=None, sort=None, scale=alt.Scale(domain=order, padding=0.15),
        # Lines between rows, because rows have different numbers of marks.
        axis=alt.Axis(
            grid=True, ticks=False, tickBand="extent", labelExpr="split(datum.label, ', ')", labelLineHeight=13
        ),
    )  # fmt: skip
    offset = alt.YOffset("kind:N", sort=None, scale=alt.Scale(domain=named, padding=0.6))
    legend = alt.Legend(title=None, orient="top", columns=1, labelLimit=360)
    colours, shapes = list(PALETTE.values())[: len(named)], list(SHAPES[: len(named)])
    colour = alt.Color("kind:N", scale=alt.Scale(domain=named, range=colours), legend=legend)
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=named, range=shapes), legend=legend)
    names = [alt.Tooltip("row:N"), alt.Tooltip("kind:N")]
    layers = marks.rows(
        means, points, scale, axis, y=y, offset=offset, paint=colour, shape=shape, names=names, tick=14
    )
    was = alt.Chart(alt.InlineData(values=published)).mark_point(filled=False, strokeWidth=2, size=110)
    x = alt.X("value:Q", scale=scale, axis=axis)
    layers.append(
        was.encode(y=y, yOffset=offset, x=x, color=colour, shape=shape, tooltip=[*names, "value:Q"])
    )
    height = max(theme.ROW_HEIGHT, 18 * len(named)) * len(order)
    return alt.layer(marks.one(scale, axis), *layers).properties(width="container", height=height)


def _volumes_draw(found: list[Step], title: str) -> Any:
    """Draw the ratios along the number of stocks, a line for each step and way of access."""
    import altair as alt

    places = sorted({one.stocks for one in found})
    found = sorted(found, key=lambda one: (one.label != FIRST, one.store, one.stocks))
    lines = _lines(found)
    names = list(dict.fromkeys(lines))
    rows = [
        {
            "series": line, "stocks": f"{one.stocks:,}",
            "x": places.index(one.stocks) + APART * (names.index(line) - (len(names) - 1) / 2),
            "value": one.versus.value, "low": one.versus.ratio.low, "high": one.versus.ratio.high, "text": one.text(),
        }
        for one, line in zip(found, lines, strict=True)
    ]  # fmt: skip
    was = [
        {"series": PUBLISHED_COLOUR, "stocks": f"{stocks:,}", "x": places.index(stocks), "value": ratio}
        for stocks, ratio in dict.fromkeys((one.stocks, one.published) for one in found)
        if ratio
    ]
    ends = [1.0, *(one.published for one in found if one.published)]
    for one in found:
        ends += [end for end in (one.versus.value, one.versus.ratio.low, one.versus.ratio.high) if end]
    scale, axis = axes.logarithmic(ends, title)
    labels = json.dumps([f"{stocks:,}" for stocks in places])
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[-0.4, len(places) - 0.6], nice=False),
        axis=alt.Axis(
            title="Number of stocks", values=list(range(len(places))), grid=False, labelExpr=f"{labels}[datum.value]"
        ),
    )  # fmt: skip
    named = [*names, *([PUBLISHED_COLOUR] if was else [])]
    colours, shapes = list(PALETTE.values())[: len(named)], list(SHAPES[: len(named)])
    legend = alt.Legend(title=None, orient="top", columns=1, labelLimit=360)
    colour = alt.Color("series:N", scale=alt.Scale(domain=named, range=colours), legend=legend)
    shape = alt.Shape("series:N", scale=alt.Scale(domain=named, range=shapes), legend=legend)
    y = alt.Y("value:Q", scale=scale, axis=axis)
    tips = [alt.Tooltip("series:N"), alt.Tooltip("stocks:N"), alt.Tooltip("text:N", title="ratio (95 % CI)")]
    base, old = alt.Chart(alt.InlineData(values=rows)), alt.Chart(alt.InlineData(values=was))
    return alt.layer(
        alt.Chart(alt.InlineData(values=[{"one": 1}]))
        .mark_rule(strokeDash=[4, 3])
        .encode(y=alt.Y("one:Q", scale=scale, axis=axis)),
        base.mark_rule(strokeWidth=6, opacity=0.28, strokeCap="round").encode(
            x=x, y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q", color=colour
        ),
        base.mark_line(strokeWidth=1.6).encode(x=x, y=y, color=colour),
        base.mark_point(filled=True, size=55).encode(x=x, y=y, color=colour, shape=shape, tooltip=tips),
        old.mark_line(strokeWidth=1.2, strokeDash=[3, 3], opacity=0.8).encode(x=x, y=y, color=colour),
        old.mark_point(filled=False, strokeWidth=2, size=90).encode(
            x=x, y=y, color=colour, shape=shape, tooltip=[*tips[:2], alt.Tooltip("value:Q", format=".3~g")]
        ),
    ).properties(width="container", height=VOLUMES_HEIGHT)


def _lines(found: list[Step]) -> list[str]:
    """Return the line of each step: what it corrects and the access to the store, and its name if there are several."""
    stores = {one.store.partition(", ")[0] for one in found}
    return [f"{one.label}, {one.store if len(stores) > 1 else one.store.partition(', ')[2]}" for one in found]


def _points(one: Step) -> list[tuple[int, float]]:
    above, below = one.versus.above.by_block, one.versus.below.by_block
    return [(block, above[block] / below[block]) for block in sorted(above.keys() & below.keys())]


def _kline_steps_alternative(found: list[Step], title: str) -> str:
    parts = [
        f"{one.row}, {one.store}: {one.text()}"
        + (f", published {quantity.number(one.published)}" if one.published else "")
        for one in found
    ]
    return f"{title}, with 95 % CIs and a line at 1. {'; '.join(parts)}."


def _kline_steps_table(found: list[Step]) -> Table:
    rows = [
        [
            str(one.stocks), one.label, one.store, one.text(), str(len(_points(one))),
            quantity.number(one.published) if one.published else quantity.MISSING,
        ]
        for one in found
    ]  # fmt: skip
    return Table(
        [
            "Stocks",
            "Step",
            "Packed days",
            "Ratio to rows in a table (95 % CI)",
            "Blocks",
            "Published",
        ],
        rows,
        numeric=frozenset({"Stocks", "Blocks", "Published"}),
    )


def reads_table(run: Run, phase: str) -> Table | Markdown:
    """Return a row for each cell with means of its trials: reads in flight, bars, bytes read from disk."""
    names = (
        "reads_per_second",
        "in_flight",
        "latency_mean",
        "latency_max",
        "rows_per_read",
        "rows_decoded_per_read",
        "server_read_bytes",
        "errors",
    )
    of = {name: {one.cell.name: one for one in estimates(run, phase, name)} for name in names}
    rows = []
    for cell in labelled(run):
        rate, latency = (
            of["reads_per_second"][cell.name].value,
            of["latency_mean"][cell.name].value,
        )
        if rate is None:
            continue
        rows.append(
            [
                cell.label,
                _text(of["in_flight"][cell.name]),
                quantity.number(rate * latency) if latency is not None else quantity.MISSING,
                quantity.number(rate),
                of["latency_mean"][cell.name].text(),
                of["latency_max"][cell.name].text(),
                _text(of["rows_per_read"][cell.name]),
                _text(of["rows_decoded_per_read"][cell.name]),
                of["server_read_bytes"][cell.name].text(),
                _text(of["errors"][cell.name]),
            ]
        )
    if not rows:
        return missing(f"The table of {phase} reads", "no valid trial of this run has such a phase")
    columns = [
        "Setup", "Declared in flight", "In flight by Little's law", "Reads/s", "Mean latency", "Longest latency",
        "Received bars per read", "Decoded bars per read", "Bytes read from disk", "Failed reads",
    ]  # fmt: skip
    return Table(
        columns,
        rows,
        f"{phase.capitalize()} reads: means of trials",
        frozenset(columns[1:]),
    )


def _text(estimate: Estimate) -> str:
    return quantity.MISSING if estimate.value is None else quantity.number(estimate.value)


# The raw data of the publication: intervals over its repeats, and Little's law.

FILE = "kline-raw-summary.csv"
"""Summary of the published records of every operation: a line for each file, which is one repeat."""
STATED_CLIENTS = 64
"""Clients that the publication states for each of these files."""
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
    """The repeats of one system, payload and volume, according to the names of the files."""

    system: str
    payload: str
    rows: int
    throughputs: tuple[float, ...]
    """Operations per second of each repeat."""
    value: float
    """Typical value of the repeats, 1/s."""
    low: float | None
    high: float | None
    """95 % CI over the repeats; None for fewer than 3."""
    in_flight: float
    """Mean operations in flight, from the start and end of each operation."""
    latency_seconds: float
    """Mean of the repeats' mean latencies, s."""
    rows_returned: float

    @property
    def expected(self) -> float:
        """Rate times mean latency, operations."""
        return self.value * self.latency_seconds

    @property
    def measured(self) -> LittlesLaw:
        """Little's law with the recorded operations in flight."""
        return order.littles_law(self.value, self.latency_seconds, self.in_flight)

    @property
    def stated(self) -> LittlesLaw:
        """Little's law with the 64 clients that the publication states."""
        return order.littles_law(self.value, self.latency_seconds, STATED_CLIENTS)

    @property
    def title(self) -> str:
        """The system's name."""
        return TITLES.get(self.system, self.system)

    @property
    def mislabelled(self) -> bool:
        """True if the returned rows are those of the other payload; QData records the length of an envelope."""
        many = self.rows_returned > 100
        return self.system != "qdata" and many != (self.payload == "100KB")


def groups(file: Path | None = None) -> list[Group]:
    """Read the summary and return its groups, by payload, volume and system."""
    with (file or Catalogue().published(SLUG) / FILE).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    found: dict[tuple[str, int, str], list[dict[str, str]]] = {}
    for row in rows:
        found.setdefault((row["payload"], int(row["rows"]), row["system"]), []).append(row)
    return [_group(*key, held) for key, held in sorted(found.items())]


def _group(payload: str, volume: int, system: str, held: list[dict[str, str]]) -> Group:
    rates = [float(row["throughput_per_s"]) for row in held]
    found = interval.mean_log(rates)
    assert found.value is not None
    return Group(
        system,
        payload,
        volume,
        tuple(rates),
        found.value,
        found.low,
        found.high,
        _mean(held, "in_flight_mean"),
        _mean(held, "latency_mean_ms") / 1e3,
        _mean(held, "rows_returned_mean"),
    )


def _mean(held: list[dict[str, str]], column: str) -> float:
    return sum(float(row[column]) for row in held) / len(held)


def raw_chart(file: Path | None = None) -> Figure:
    """Draw the published throughput against the recorded operations in flight."""
    found = groups(file)
    title = "Published throughput against operations in flight, all stated as 64 clients"
    return Figure(title, _kline_draw(found), _kline_alternative(found), raw_table(file))


def _kline_draw(found: list[Group]) -> Any:
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
        [*(one.in_flight for one in found), STATED_CLIENTS],
        "Operations in flight (mean)",
    )
    y_scale, y_axis = axes.logarithmic([one.value for one in found], "Operations per second")
    colour = alt.Color(
        "system:N",
        scale=alt.Scale(domain=labels, range=[COLOURS[name] for name in names]),
    )
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
                alt.Tooltip("interval:N", title="95 % CI"),
                alt.Tooltip("in_flight:Q", title="in flight"),
            ],
        ),
    ).properties(width="container", height=260)


def _interval(one: Group) -> str:
    if one.low is None or one.high is None:
        return f"none: {len(one.throughputs)} repeats"
    return f"{quantity.number(one.low)} to {quantity.number(one.high)}"


def _kline_alternative(found: list[Group]) -> str:
    parts = []
    for system, title in TITLES.items():
        held = [one for one in found if one.system == system]
        if held:
            low, high = (
                min(one.in_flight for one in held),
                max(one.in_flight for one in held),
            )
            fastest = max(one.value for one in held)
            flight = f"{low:.0f}" if f"{low:.0f}" == f"{high:.0f}" else f"{low:.0f} to {high:.0f}"
            parts.append(
                f"{title} had {flight} operations in flight and at most"
                f" {quantity.number(fastest)} operations per second"
            )
    return f"One point per system, payload and volume; a line at the stated 64 clients. {'; '.join(parts)}."


def raw_table(file: Path | None = None) -> Table:
    """Return a row for each system, payload and volume: throughput with its interval, and Little's law."""
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
            f"{quantity.number(one.in_flight)}{'' if one.measured.ok else ', disagrees'}",
            "agrees" if one.stated.ok else f"{one.expected / STATED_CLIENTS:.2f} times as many",
        ]
        for one in found_in_order(file)
    ]
    columns = [
        "System",
        "Payload",
        "Rows in the table",
        "Repeats",
        "Operations/s",
        "95 % CI",
        "Mean latency",
        "Rate × latency",  # noqa: RUF001
        "Recorded in flight",
        "Compared with 64 clients",
    ]
    return Table(columns, rows, numeric=frozenset(columns[2:5] + columns[6:8]))


def found_in_order(file: Path | None = None) -> list[Group]:
    """Return the groups in the order of the table: by system, payload and volume."""
    order = list(TITLES)
    return sorted(groups(file), key=lambda one: (order.index(one.system), one.payload, one.rows))
