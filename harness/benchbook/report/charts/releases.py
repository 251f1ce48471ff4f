"""Chart of performance by release: what each release of a system measured, relative to the oldest one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from benchbook.analyse import comparison, limits, quantity
from benchbook.analyse.comparison import Estimate, Versus, estimates
from benchbook.analyse.run import Run
from benchbook.analyse.values import Pair
from benchbook.report import reasons, theme
from benchbook.report.charts import lead, marks
from benchbook.report.conclusion import refused
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown, Table, missing

HEIGHT = 260
APART = 0.13
"""Distance between two lines at one release, where releases are 1 apart."""
Line = tuple[str, Estimate, list[Versus]]
"""Its label, the oldest release, and every later release compared with it."""


def chart(run: Run, measured: Mapping[str, Pair], title: str, systems: str = "") -> Figure | Markdown:
    """Draw a line for each of ``measured`` (label → phase and metric) over the releases of a system.

    Their names begin with ``systems``. They are in the order of ``released`` in their declarations, evenly apart.
    """
    if refusal := refused(run, title):
        return refusal
    days = {
        name: str(held["released"])
        for name, held in run.systems.items()
        if held.get("released") and name.startswith(systems)
    }
    lines = [line for label, pair in measured.items() if (line := _line(run, label, pair, days)) is not None]
    if not lines:
        return missing(title, "it needs valid trials of two releases in the same blocks")
    order = sorted({one.cell.system for _, first, rest in lines for one in [first, *(v.above for v in rest)]},
                   key=lambda name: days[name])  # fmt: skip
    first = run.title(order[0])
    pairs = [one for *_, rest in lines for one in rest]
    trials = min(one.ratio.trials for one in pairs)
    return Figure(
        theme.scaled_title(run, f"{title}: {_finding(run, lines, order)}"),
        _draw(run, lines, order, days),
        _alternative(lines, title, first),
        _table(lines, days),
        lead.caveat(run, [one.above for one in pairs]),
        f"Times as good as {first}, logarithmic axis; above 1 is better; bars are 95 % CIs; n = {trials} blocks",
    )


def _line(run: Run, label: str, pair: Pair, days: Mapping[str, str]) -> Line | None:
    """Return one line; None if fewer than two releases were measured."""
    known = [one for one in estimates(run, *pair) if one.value and one.cell.system in days]
    known.sort(key=lambda one: days[one.cell.system])
    pairs = [comparison.versus(run, other, known[0]) for other in known[1:]]
    found = [one for one in pairs if one is not None]
    return (label, known[0], found) if found else None


def _finding(run: Run, lines: Sequence[Line], order: Sequence[str]) -> str:
    """Return how the newest release compares with the oldest, in the words of the verdicts."""
    newest = [one for *_, rest in lines for one in rest if one.cell.system == order[-1]]
    winners = [one.winner for one in comparison.verdicts(newest)]
    better = sum(winner == one.cell.label for winner, one in zip(winners, newest, strict=True))
    worse = sum(winner == one.below.cell.label for winner, one in zip(winners, newest, strict=True))
    return (
        f"{run.title(order[-1])} is better than {run.title(order[0])} in {better} of {len(newest)} measures "
        f"and worse in {worse}"
    )


def _draw(run: Run, lines: Sequence[Line], order: Sequence[str], days: Mapping[str, str]) -> Any:
    import altair as alt

    labels = [label for label, *_ in lines]
    rows: list[dict[str, Any]] = []
    for place, (label, first, rest) in enumerate(lines):
        shift = APART * (place - (len(lines) - 1) / 2)
        rows.append(_row(label, first.cell.system, order, shift) | {"value": 1.0, "text": "baseline"})
        for one in rest:
            brief = {one.cell.name, first.cell.name} & limits.brief(run, one.above.phase).keys()
            made: dict[str, Any] = {
                "value": one.advantage.value,
                "low": one.advantage.low,
                "high": one.advantage.high,
            }
            made |= {"text": _advantage(one), "brief": bool(brief)}
            rows.append(_row(label, one.cell.system, order, shift) | made)
    scale, axis = theme.logarithmic(marks.ends(rows, rows), "Times as good")
    shown = json.dumps([f"{run.systems[name].get('version') or name} ({days[name][:7]})" for name in order])
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[-0.5, len(order) - 0.5], nice=False),
        axis=alt.Axis(
            title="Release", values=list(range(len(order))), tickCount=len(order), grid=False,
            labelExpr=f"{shown}[datum.value]", labelOverlap=False, labelAngle=-45, labelAlign="right",
        ),
    )  # fmt: skip
    y = alt.Y("value:Q", scale=scale, axis=axis)
    paint, shape = theme.by_label("label:N", labels)
    tooltip = [
        alt.Tooltip("label:N"),
        alt.Tooltip("release:N"),
        alt.Tooltip("text:N", title="times as good (95 % CI)"),
    ]

    def data(held: Sequence[Mapping[str, Any]]) -> Any:
        return alt.Chart(alt.InlineData(values=list(held)))

    line = alt.Chart(alt.InlineData(values=[{"value": 1}])).mark_rule(strokeDash=[4, 3], opacity=0.8)
    return alt.layer(
        line.encode(y=y),
        *(
            data(held)
            .mark_rule(strokeWidth=4, opacity=0.28, **style)
            .encode(x=x, y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q", color=paint)
            for held, style in (
                ([row for row in rows if row["low"] and not row["brief"]], {"strokeCap": "round"}),
                ([row for row in rows if row["low"] and row["brief"]], {"strokeDash": [3, 3]}),
            )
            if held
        ),
        data(rows).mark_line(strokeWidth=1.4).encode(x=x, y=y, color=paint),
        data(rows)
        .mark_point(filled=True, size=40)
        .encode(x=x, y=y, color=paint, shape=shape, tooltip=tooltip),
    ).properties(width="container", height=HEIGHT)


def _row(label: str, system: str, order: Sequence[str], shift: float) -> dict[str, Any]:
    place = order.index(system)
    return {"label": label, "release": system, "x": place + shift, "low": None, "high": None}


def _advantage(one: Versus) -> str:
    held = one.advantage
    if held.low is None or held.high is None:
        return f"{quantity.number(held.value)} (no interval: {reasons.of_ratio(one.ratio)})"
    return f"{quantity.number(held.value)} ({quantity.number(held.low)} to {quantity.number(held.high)})"


def _alternative(lines: Sequence[Line], title: str, first: str) -> str:
    parts = [f"{label}: {rest[-1].cell.title} {_advantage(rest[-1])}" for label, _, rest in lines]
    return f"{title} by release, as times as good as {first}, with 95 % CIs. The newest: {'; '.join(parts)}."


def _table(lines: Sequence[Line], days: Mapping[str, str]) -> Table:
    rows = [
        [
            label,
            one.above.cell.title,
            days[one.cell.system],
            one.above.text(),
            _advantage(one),
            str(one.ratio.trials),
        ]
        for label, _, rest in lines
        for one in rest
    ]
    baselines = [
        [label, first.cell.title, days[first.cell.system], first.text(), "baseline", str(len(first.points))]
        for label, first, _ in lines
    ]
    rows = sorted(
        baselines + rows,
        key=lambda row: [list(dict.fromkeys(label for label, *_ in lines)).index(row[0]), row[2]],
    )
    columns = ["Measure", "Release", "Released", "Typical value", "Times as good (95 % CI)", "Trials"]
    return Table(columns, rows, numeric=frozenset({"Trials"}))
