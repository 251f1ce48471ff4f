"""Chart and sentences of where the variance of a ratio comes from (``analyse.variance``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchbook.analyse import interval, learned, variance
from benchbook.analyse.model import ALPHA
from benchbook.analyse.run import Run
from benchbook.analyse.values import Pair
from benchbook.analyse.variance import BLOCK, ORDER, REST, Source
from benchbook.analyse.wording import factor_words, listing
from benchbook.report import theme
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown, Table, escape_markdown, missing

TITLE = "Where the variance of the ratio comes from"
NAMES = {
    BLOCK: "time (block)", ORDER: "order of the two systems", REST: "scatter between trials",
    "storage": "file system", "core": "core", "environment_bytes": "size of the environment",
}  # fmt: skip
ANOTHER = "another processor"
TOO_LITTLE = "it needs two systems, and enough trials beside what was varied"
ROW = 34


def name_of(source: str) -> str:
    """Return a source for readers."""
    return NAMES.get(source, factor_words(source))


def _sources(run: Run, measured: Mapping[str, Pair]) -> dict[str, list[Source]]:
    found = {label: variance.sources(run, pair) for label, pair in measured.items()}
    return {label: held for label, held in found.items() if held}


def finding(run: Run, measured: Mapping[str, Pair]) -> Markdown:
    """Return in sentences what moves the ratio of each of ``measured`` (label → phase and metric)."""
    found = _sources(run, measured)
    if not found:
        return missing(TITLE, TOO_LITTLE)
    said, clear = [], _clear(found)
    for label, held in found.items():
        *sources, rest = held
        moving = sorted(
            (one for one in sources if (label, one.name) in clear), key=lambda one: -one.deviation
        )
        moved = (
            f"clearly moved by {listing([f'the {name_of(one.name)}, {_text(one)}' for one in moving])}"
            if moving
            else f"not clearly moved by any of {len(sources)} sources"
        )
        said.append(
            f"{label[:1].upper()}{label[1:]}: the ratio is {moved}. Beside that, it varies by {_text(rest)} from trial "
            "to trial."
        )
    said.append(f"{_tests(found)} effects were tested together (Holm's correction).")
    return Markdown("\n\n".join(map(escape_markdown, said)))


def _tests(found: Mapping[str, Sequence[Source]]) -> int:
    return sum(len(held) - 1 for held in found.values())


def _clear(found: Mapping[str, Sequence[Source]]) -> set[tuple[str, str]]:
    """Return what moves which ratio for certain, as one family of tests."""
    tested = [(label, one) for label, held in found.items() for one in held if one.chance is not None]
    corrected = interval.adjusted([one.chance or 0.0 for _, one in tested])
    return {
        (label, one.name) for (label, one), chance in zip(tested, corrected, strict=True) if chance <= ALPHA
    }


def chart(run: Run, measured: Mapping[str, Pair]) -> Figure | Markdown:
    """Draw the size of each source of variance, with its interval, for each of ``measured``."""
    found = _sources(run, measured)
    if not found:
        return missing(TITLE, TOO_LITTLE)
    labels = list(found)
    clear = {name for _, name in _clear(found)}
    every = {one.name for held in found.values() for one in held[:-1]}
    first = theme.scaled_title(
        run, f"{len(clear)} of {len(every)} things that should not matter clearly move a ratio"
    )
    said = [
        f"{label}: {', '.join(f'{name_of(one.name)} {_text(one)}' for one in held)}"
        for label, held in found.items()
    ]
    return Figure(
        first,
        _draw(found, labels),
        f"{TITLE}, as standard deviations with 95 % intervals. {'; '.join(said)}.",
        _table(found),
        "Another processor: the scale of the prior of its class of metric, from all published runs.",
        subtitle="Standard deviation of the ratio, linear axis; bars are 95 % CIs",
    )


def _draw(found: Mapping[str, Sequence[Source]], labels: Sequence[str]) -> Any:
    import altair as alt

    rows: list[dict[str, Any]] = [
        {"source": name_of(one.name), "of": label, "percent": 100 * one.deviation, "low": 100 * one.low,
         "high": 100 * one.high, "text": _text(one)}
        for label, held in found.items()
        for one in held
    ]  # fmt: skip
    if prior := learned.priors().get("speed"):
        other = {
            "source": ANOTHER,
            "percent": 100 * prior.scale,
            "low": None,
            "high": None,
            "text": _percent(prior.scale),
        }
        rows += [{**other, "of": label} for label in labels]
    names = list(dict.fromkeys(row["source"] for row in rows))
    y = alt.Y(
        "source:N", title=None, sort=None, scale=alt.Scale(domain=names, padding=0.25),
        axis=alt.Axis(
            grid=False, labelExpr=theme.expression(names), labelLineHeight=theme.LINE_HEIGHT, labelOverlap=False
        ),
    )  # fmt: skip
    x = alt.X("percent:Q", title="Standard deviation of the ratio (%)", scale=alt.Scale(domainMin=0))
    paint, shape = theme.by_label("of:N", labels)
    apart = alt.YOffset("of:N", sort=None, scale=alt.Scale(domain=labels))
    tooltip = [
        alt.Tooltip("source:N"),
        alt.Tooltip("of:N", title="ratio of"),
        alt.Tooltip("text:N", title="SD (95 % CI)"),
    ]
    known = [row for row in rows if row["low"] is not None]
    return alt.layer(
        alt.Chart(alt.InlineData(values=known))
        .mark_rule(strokeWidth=4, opacity=0.3, strokeCap="round")
        .encode(y=y, x=alt.X("low:Q", title=None), x2="high:Q", yOffset=apart, color=paint),
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=50)
        .encode(y=y, x=x, yOffset=apart, color=paint, shape=shape, tooltip=tooltip),
    ).properties(width="container", height=theme.height(names, ROW) * len(names))  # fmt: skip


def _table(found: Mapping[str, Sequence[Source]]) -> Table:
    rows = [
        [
            name_of(one.name),
            label,
            str(one.levels),
            _text(one),
            "" if one.chance is None else f"{one.chance:.2g}",
        ]
        for label, held in found.items()
        for one in held
    ]
    return Table(["Source", "Ratio of", "Levels", "Standard deviation (95 % CI)", "p"], rows)


def _text(one: Source) -> str:
    return f"{_percent(one.deviation)} ({100 * one.low:.2g}-{100 * one.high:.2g} %)"


def _percent(value: float) -> str:
    return f"{100 * value:.2g} %"
