"""How well the published runs foresee each other: the cases of a checkout, and the parts of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from benchbook.analyse import alike, priors, replication
from benchbook.analyse.foresight import CONFIDENCE, Row
from benchbook.analyse.replication import Case
from benchbook.analyse.run import Run
from benchbook.record import ledger
from benchbook.report import theme
from benchbook.report.figure import Figure
from benchbook.report.table import Details, Markdown, Table
from benchbook.site import published


def cases(root: Path, scratch: Path, note: Callable[[str], None] = lambda _: None) -> list[Case]:
    """Return the published comparisons of a checkout, opened in a new folder; ``note`` gets a line per experiment."""
    ledgers, _ = published.ledgers(root)
    # Priors hold for all experiments, and whoever contributes a run chose what it says.
    found = {name: [one for one in held if one.export.machine is None] for name, held in ledgers.items()}
    note("reading the published runs")
    results = published.results([one.export for held in found.values() for one in held], scratch / "results")
    made: list[Case] = []
    for experiment, held in found.items():
        runs = [
            (processor, Run(results, one.export.run_id))
            for processor, group in enumerate(ledger.by_processor(held))
            for one in group
        ]
        made += replication.cases(experiment, runs)
        note(f"compared the runs of {experiment}")
    return made


# Parts of the page


ONE, ALL = "one run", "all other runs"
COLOURS = {ONE: theme.PALETTE["vermilion"], ALL: theme.PALETTE["blue"]}
SHAPES = {ONE: "diamond", ALL: "circle"}
ROW = 34
"""Height in pixels of a row of the chart."""
STATED = 100 * CONFIDENCE
KINDS: dict[str, str] = {str(kind): words for kind, words in alike.KINDS.items()}
HELD = "Intervals that agree with the ratio (%)"


def _rows(left_out: str, group: str) -> list[Row]:
    found = [one for one in priors.recorded().rows if (one.left_out, one.group) == (left_out, group)]
    return sorted(found, key=lambda one: [*KINDS].index(one.name)) if group == "class" else found


def finding() -> Markdown:
    """Return what was found, in sentences."""
    [every], [claims] = _rows("processor", "all"), _rows("processor", "claims")
    runs = len(priors.recorded().runs)
    return Markdown(
        f"From {runs} published runs, a processor was left out of a comparison {every.checks:,} times. "
        f"{_percent(every.holds_before)} of the 95 % intervals of one run contain the ratio of a run on another "
        f"processor; {_percent(every.agrees_before)} agree with it if both have an error. Of the intervals for another "
        f"processor, {_percent(every.agrees_after)} agree with its ratio.\n\n"
        f"For claims, two runs on different processors gave opposite answers in {_percent(claims.opposite_before, 1)} "
        f"of cases; with the estimate over processors, it is {_percent(claims.opposite_after, 1)}. The price: "
        f"{_percent(claims.decided_after)} of cases are decided, in place of {_percent(claims.decided_before)}."
    )


def chart() -> Figure:
    """Draw how many intervals agree with the ratio of a processor that was left out, by class of metric."""
    import altair as alt

    [every], found = _rows("processor", "all"), _rows("processor", "class")
    labels = [KINDS[one.name] for one in found]
    points = [
        {"class": KINDS[one.name], "from": who, "share": 100 * share, "comparisons": one.checks}
        for one in found
        for who, share in ((ONE, one.agrees_before), (ALL, one.agrees_after))
    ]
    y = alt.Y(
        "class:N", title=None, sort=None, scale=alt.Scale(domain=labels, padding=0.3),
        axis=alt.Axis(
            grid=False, labelExpr=theme.expression(labels), labelLineHeight=theme.LINE_HEIGHT, labelOverlap=False
        ),
    )  # fmt: skip
    low = 10 * math.floor(10 * min(one.agrees_before for one in found))
    x = alt.X("share:Q", title=HELD, scale=alt.Scale(domain=[low, 100], nice=False))
    legend = theme.legend([ONE, ALL], lines=False)
    paint, shape = (
        channel("from:N", scale=alt.Scale(domain=list(held), range=list(held.values())), legend=legend)
        for channel, held in ((alt.Color, COLOURS), (alt.Shape, SHAPES))
    )  # fmt: skip
    drawn = alt.layer(
        alt.Chart(alt.InlineData(values=[{"share": STATED}])).mark_rule(strokeDash=[4, 3]).encode(x=x),
        alt.Chart(alt.InlineData(values=points))
        .mark_point(filled=True, size=80)
        .encode(
            y=y, x=x, color=paint, shape=shape,
            tooltip=[alt.Tooltip(f"{name}:N") for name in ("class", "from", "comparisons")]
            + [alt.Tooltip("share:Q", format=".1f")],
        ),
    ).properties(width="container", height=theme.height(labels, ROW) * len(labels))  # fmt: skip
    said = [
        f"{label} {_percent(one.agrees_before)} and {_percent(one.agrees_after)}"
        for label, one in zip(labels, found, strict=True)
    ]
    return Figure(
        f"{_percent(every.agrees_after)} of intervals for another processor agree with its ratio; of intervals of one "
        f"run, {_percent(every.agrees_before)}",
        drawn,
        f"Intervals that agree with the ratio of a processor that was left out, from one run and from all other runs: "
        f"{'; '.join(said)}.",
        _table(found),
        subtitle="Share of 95 % intervals, linear axis; the dashed line is at 95 %",
    )


def processors() -> Details:
    """Return what was foreseen of each processor that was left out, by experiment."""
    found = [*_rows("processor", "experiment"), *_rows("processor", "claims")]
    return Details("A processor left out: by experiment", _table(found))


def runs() -> Details:
    """Return what was foreseen of each run that was left out, on its processor."""
    found = [one for group in ("all", "claims", "class", "experiment") for one in _rows("run", group)]
    return Details("A run left out, on its processor", _table(found))


def scales() -> Table:
    """Return the prior of each class of metric."""
    held = priors.recorded()
    rows = [
        [KINDS[kind], f"{prior.scale:.3f}", f"{prior.freedom:g}", f"{held.comparisons[kind]:,}"]
        for kind, prior in held.priors.items()
    ]
    columns = ["Class of metric", "Scale", "Degrees of freedom", "Comparisons"]
    return Table(columns, rows, numeric=frozenset(columns[1:]))


def _table(found: Sequence[Row]) -> Table:
    """Return a row for each group: what single runs foresee, then the estimate over all others."""
    rows = [
        [
            str(KINDS.get(one.name, one.name)),
            f"{one.checks:,}",
            _percent(one.holds_before),
            _both(one.agrees_before, one.agrees_after),
            f"{one.factor_before:.2f}, {one.factor_after:.2f}",
            _both(one.same_before, one.same_after),
            _both(one.opposite_before, one.opposite_after, 1),
            _both(one.decided_before, one.decided_after),
        ]
        for one in found
    ]
    columns = [
        "What", "Checks", "CI of a run contains the ratio", "Agree with both errors",
        "Factor to the end of the interval", "Same answer", "Opposite answers", "Decided",
    ]  # fmt: skip
    return Table(columns, rows, "Pairs: one run, then all other runs", frozenset(columns[1:]))


def _both(before: float, after: float, digits: int = 0) -> str:
    return f"{_percent(before, digits)}, {_percent(after, digits)}"


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"
