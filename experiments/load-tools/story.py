"""Chart and findings for the comparison of one load tool with each of the others, by phase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.analyse import comparison, quantity
from benchbook.analyse.cells import labelled
from benchbook.analyse.comparison import Versus
from benchbook.analyse.run import Run
from benchbook.declare.metric import describe
from benchbook.report import figure, reasons, theme
from benchbook.report import theme as axes
from benchbook.report.charts import lead, marks
from benchbook.report.conclusion import refused
from benchbook.report.figure import Figure, Figures
from benchbook.report.table import Markdown, Table, escape_markdown, missing

ROW_HEIGHT = 58
SHAPES = ["circle", "square", "triangle-up"]
"""Shapes of the metrics; all rows belong to one system and have its colour."""
TITLE = "How many times as good {of} is as each other tool"


@dataclass(frozen=True)
class ToolComparison:
    """The comparison of the tool with another one, in one metric of one phase."""

    other: str
    """The other tool and the levels that vary."""
    pair: Versus

    @property
    def metric(self) -> str:
        """Short name of the metric."""
        return describe(self.pair.above.metric).short


def chart(run: Run, of: str, factor: str = "tool") -> Figures | Markdown:
    """Draw a figure for each phase: the level ``of`` of ``factor`` compared with each other level."""
    title = TITLE.format(of=of)
    if refusal := refused(run, title):
        return refusal
    found = {phase: comparisons(run, phase, of, factor) for phase in run.phases("command")}
    figures = [_figure(run, of, phase, rows) for phase, rows in found.items() if rows]
    if not figures:
        return missing(title, f"{of} and another tool were not measured in the same blocks")
    return Figures(
        figures,
        figure.note(one.pair.ratio.trials for rows in found.values() for one in rows),
    )


def findings(run: Run, of: str, factor: str = "tool") -> Markdown:
    """Return a line for each phase and metric: how many times as good ``of`` is as each other level."""
    if refusal := refused(run, TITLE.format(of=of)):
        return refusal
    rows = [(phase, one) for phase in run.phases("command") for one in comparisons(run, phase, of, factor)]
    verdicts = comparison.verdicts([one.pair for _, one in rows])
    lines: dict[str, list[str]] = {}
    for (phase, one), judged in zip(rows, verdicts, strict=True):
        lines.setdefault(f"{phase}, {one.metric}", []).append(
            _finding(one, claimed=judged.winner is not None)
        )
    if not lines:
        return missing(
            "The list of findings",
            f"{of} and another tool were not measured in the same blocks",
        )
    written = (f"- {name}: {escape_markdown('; '.join(parts))}." for name, parts in lines.items())
    return Markdown(f"{of} compared with the others, with 95 % CIs over blocks:\n\n" + "\n".join(written))


def answer(run: Run, of: str, factor: str = "tool") -> Markdown:
    """Return the range of ratios of rows per second for each phase, in one sentence."""
    parts = []
    for phase in run.phases("command"):
        pairs = [
            one.pair
            for one in comparisons(run, phase, of, factor)
            if one.pair.above.metric == "rows_per_second"
        ]
        if pairs:
            values = [pair.advantage.value or 0.0 for pair in pairs]
            clear = sum(
                judged.winner == pair.above.cell.label
                for pair, judged in zip(pairs, comparison.verdicts(pairs), strict=True)
            )
            parts.append(
                f"{quantity.number(min(values))} to {quantity.number(max(values))} times as many at {phase} "
                f"(clear for {clear} of {len(pairs)})"
            )
    if not parts:
        return missing("The answer", f"{of} and another tool were not measured in the same blocks")
    return Markdown(
        escape_markdown(f"Rows per second of {of} compared with the other tools: {', '.join(parts)}.")
    )


def _finding(one: ToolComparison, *, claimed: bool) -> str:
    found = one.pair.advantage
    if one.pair.unfit or found.low is None or found.high is None:
        return f"no verdict for {one.other}"
    if not claimed:
        return f"no difference from {one.other} ({_range(one)})"
    return f"{quantity.number(found.value)} times as good as {one.other} ({_range(one)})"


def _range(one: ToolComparison) -> str:
    return f"{quantity.number(one.pair.advantage.low)} to {quantity.number(one.pair.advantage.high)}"


def comparisons(run: Run, phase: str, of: str, factor: str) -> list[ToolComparison]:
    """Compare each cell of another level with the cell of ``of`` that has the same other levels."""
    levels = levels_of(run)
    metrics = [metric for name, metric in comparison.metrics(run) if name == phase]
    varying = [
        name for name in dict.fromkeys(name for known in levels.values() for name in known)
        if name != factor and len({known.get(name) for known in levels.values()}) > 1
    ]  # fmt: skip
    made = []
    for below in labelled(run):
        known = levels.get(below.name, {})
        above = next(
            (name for name, other in levels.items() if {**known, factor: of} == other and known != other),
            None,
        )
        if above is None:
            continue
        label = ", ".join(
            [
                known[factor],
                *(f"{name.replace('_', ' ')} {known[name]}" for name in varying),
            ]
        )
        for metric in metrics:
            pairs = comparison.against(run, phase, metric, below)
            made += [ToolComparison(label, pair) for pair in pairs if pair.cell.name == above]
    return made


def levels_of(run: Run) -> dict[str, dict[str, str]]:
    """Return cell → factor → level."""
    joined = (
        run.frame("trials").select("trial_id", "cell").join(run.frame("levels"), on="trial_id", how="inner")
    )
    made: dict[str, dict[str, str]] = {}
    for cell, factor, level in (
        joined.select("cell", "factor", "level").unique(maintain_order=True).iter_rows()
    ):
        made.setdefault(cell, {})[factor] = str(level)
    return made


def _figure(run: Run, of: str, phase: str, rows: list[ToolComparison]) -> Figure:
    title = f"{TITLE.format(of=of)}: {phase}"
    results = "; ".join(f"{one.other}, {one.metric}: {_advantage(one)}" for one in rows)
    values = [one.pair.advantage.value or 0.0 for one in rows]
    times = f"{quantity.number(min(values))} to {quantity.number(max(values))} times"
    finding = f"{of} at {phase}: {times} as good as the others"
    return Figure(
        theme.scaled_title(run, finding),
        _draw(rows),
        f"{title}, with 95 % CIs and a line at 1. {results}.",
        _table(rows),
        subtitle=f"{lead.RATIO}; n = {min(one.pair.ratio.trials for one in rows)} blocks",
        width=theme.HALF_WIDTH,
    )


def _draw(rows: list[ToolComparison]) -> Any:
    import altair as alt

    others = list(dict.fromkeys(one.other for one in rows))
    metrics = list(dict.fromkeys(one.metric for one in rows))
    points: list[dict[str, Any]] = [
        {"other": one.other, "metric": one.metric, "value": ratio, "block": block + 1}
        for one in rows
        for block, ratio in figure.evenly(one.pair.points)
    ]
    means: list[dict[str, Any]] = [
        {
            "other": one.other, "metric": one.metric, "value": one.pair.advantage.value,
            "low": one.pair.advantage.low, "high": one.pair.advantage.high, "text": _advantage(one),
        }
        for one in rows
    ]  # fmt: skip
    y = alt.Y(
        "other:N",
        title=None,
        sort=None,
        scale=alt.Scale(domain=others, padding=0.2),
        axis=alt.Axis(grid=False),
    )
    offset = alt.YOffset("metric:N", sort=None, scale=alt.Scale(domain=metrics, padding=0.3))
    paint = alt.value(theme.colour(rows[0].pair.cell.system))
    shape = alt.Shape(
        "metric:N",
        title=None,
        scale=alt.Scale(domain=metrics, range=SHAPES[: len(metrics)]),
    )
    scale, axis = axes.logarithmic([1.0, *marks.ends(means, points)], "Times as good: right of 1 is better")
    layers = marks.rows(
        means, points, scale, axis, y=y, offset=offset, paint=paint, shape=shape,
        names=[alt.Tooltip("other:N", title="compared with"), alt.Tooltip("metric:N")],
    )  # fmt: skip
    height = len(others) * ROW_HEIGHT
    return alt.layer(marks.one(scale, axis), *layers).properties(width="container", height=height)


def _advantage(one: ToolComparison) -> str:
    found = one.pair.advantage
    if found.low is None or found.high is None:
        return f"{quantity.number(found.value)} (no interval: {reasons.of_ratio(one.pair.ratio)})"
    return f"{quantity.number(found.value)} ({_range(one)})"


def _table(rows: list[ToolComparison]) -> Table:
    columns = [
        "Compared with",
        "Metric",
        "Times as good",
        "Paired trials",
        "This tool",
        "Other tool",
    ]
    shown = [
        [
            one.other,
            one.metric,
            _advantage(one),
            str(one.pair.ratio.trials),
            one.pair.above.text(),
            one.pair.below.text(),
        ]
        for one in rows
    ]
    return Table(columns, shown, numeric=frozenset({"Paired trials", "This tool", "Other tool"}))
