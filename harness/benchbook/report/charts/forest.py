"""Forest plot of all claims of a run: a row each with the statement, the published and measured ratio, and the answer.

It is HTML with positions in per cent, so that statements wrap on a phone and the plot needs no script. All rows share
one logarithmic axis. The cases of a claim are folded below its row.
"""

from __future__ import annotations

import html
import json
import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from benchbook.analyse import grade, quantity
from benchbook.declare.claim import PHASE
from benchbook.declare.metric import describe
from benchbook.report import backing, claim, holding, links, reasons, theme, typed
from benchbook.report.table import Block, Markdown, escape_html, missing
from benchbook.report.tables import verdicts

if TYPE_CHECKING:
    from benchbook.analyse.claims import Judgement
    from benchbook.analyse.over_runs import Over
    from benchbook.analyse.run import Run

FARTHEST = 200.0
"""A ratio farther from 1 is an arrow with its value at the edge, so that it does not squeeze the other rows."""
WIDER = 1.6
"""The axis shows intervals up to so many times beyond the outermost ratio."""
SHARED = 3
"""A caveat of more rows is said once."""
MANY = 8
"""With more rows, the axis is also above them and stays in view."""
CAPTION = (
    "Each row shows the ratio that its statement is about, on a logarithmic axis. Dot and bar: the ratio over all runs "
    "of the same work, with its {}. Ring: one run. Thin line: the ratio to expect on another processor. Diamond: the "
    "{} ratio; with ≥ or ≤ it is a bound. The dashed line is at 1, no difference."
)
"""Below the chart; the places are for the name of the intervals, and for "published" or "claimed"."""
FAR = "An arrow with a number is a ratio beyond the axis."
"""Below the chart, if a row has one."""
ASKED = "Upright line with ≥ or ≤: the bound of a question that was not published."
"""Below the chart, if a row has one."""
CASES = "A claim with several cases has a dot for each, and one answer on all of them."


FILTERS = (
    '<form class="bb-filter" hidden aria-label="Filter the claims"></form>'
    '<p class="bb-note bb-filtered" role="status" hidden></p>'
)
"""The place of the filters, which ``template/claims.js`` fills and shows."""


OWN_RUN = (
    '<details class="bb-data bb-own" hidden><summary>Compare a run of yours</summary><p class="bb-note">Drop the folder'
    " that <code>{command}</code> wrote onto this table, or choose the file values.json in it, or name the address of"
    " the folder. Your browser computes the ratios; nothing is sent.</p>"
    '<form><label>File <input type="file" accept=".json"></label> <label>Address <input type="url" required'
    ' placeholder="https://"></label> <button>Show</button></form><p class="bb-note" role="status"></p></details>'
)
"""The place where readers name a run of theirs, which ``template/own-run.js`` shows; ``command`` exports it."""


class Session(NamedTuple):
    """The ratio of one run, as a small dot that leads to the page of its trials."""

    run_id: str
    ratio: float
    address: str
    """Empty if the page links none."""


@dataclass(frozen=True)
class Scale:
    """The shared logarithmic axis."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Return the place of a value in per cent of the width."""
        inside = min(max(value, self.low), self.high)
        return 100 * math.log(inside / self.low) / math.log(self.high / self.low)


def chart(run: Run) -> Block | Markdown:
    """Draw all claims of a run; those without a ratio come last, with their answer in words."""
    from benchbook.analyse import claims

    if run.against_itself:
        return missing("The chart of claims", verdicts.JUDGES_NONE)
    if not (found := claims.over(run)):
        return missing("The chart of claims", "the run declared none")
    order = sorted(found, key=lambda one: not claim.has_ratio(one))
    ratios = [one for one in order if claim.has_ratio(one)]
    bounds = [bound[1] for one in ratios if (bound := claim.asked_bound(one))]
    marked = [*(claim.stated(one).value for one in ratios), *bounds]
    scale = scale_of([claim.shown(one) for one in ratios], marked)
    counted = Counter(note for one in order for note in claim.caveats(one))
    shared = {note: rows for note, rows in counted.items() if rows > SHARED}
    specific, common = verdicts.reasons_of(order)
    rows = "".join(_row(run, one, why, scale, shared) for one, why in zip(order, specific, strict=True))
    table = verdicts.table(run)
    cases = [CASES] if any(len(one.cells) > 1 for one in order) else []
    said = [
        CAPTION.format(claim.interval_name(order), _stated_by(order[0])),
        *cases,
        *(f"{rows} of {len(order)} claims: {note}." for note, rows in shared.items()),
    ]
    if len({one.level for one in order}) > 1:
        said.append("The level of these CIs is above 95 %, because the claims were judged after each block.")
    said += [ASKED] if any(map(claim.asked_bound, ratios)) else []
    said += [FAR] if is_beyond(rows) else []
    said += [common] if common else []
    head = f'{verdicts.counts(run).html()}<p class="bb-note">{escape_html(" ".join(said))}</p>'
    own = OWN_RUN.format(command=typed.command(run, "export RUN")) if ratios else ""
    place = f'data-experiment="{escape_html(run.experiment)}" data-axis="{scale.low:.6g} {scale.high:.6g}"'
    drawn = plot(rows, scale, above=len(order) > MANY)
    return Block(
        f'<div class="bb-forest bb-claim-table" {place}>{head}{FILTERS}{drawn}{own}</div>',
        table.markdown if isinstance(table, Markdown) else table.markdown(),
    )


def scale_of(seen: Sequence[claim.Shown], stated: Sequence[float | None]) -> Scale:
    """Return the scale on which measured and published ratios fit."""
    points = [1.0, *(value for one in seen for value in one.values if value), *filter(None, stated)]
    low, high = max(min(points), 1 / FARTHEST), min(max(points), FARTHEST)
    # A wide interval ends at the edge, so that it does not squeeze the others.
    ends = [end for one in seen for end in (one.low, one.high) if end]
    near = [low, high, *(min(max(end, low / WIDER), high * WIDER) for end in ends)]
    room = max((max(near) / min(near)) ** 0.04, 1.05)
    return Scale(min(near) / room, max(near) * room)


def is_beyond(rows: str) -> bool:
    """Return whether a row has a mark beyond the axis."""
    return 'class="far ' in rows


def plot(rows: str, scale: Scale, *, above: bool = False) -> str:
    """Return rows with their axis in HTML; with ``above``, also above them, where it stays in view."""
    ticks = "".join(_tick(scale, value) for value in theme.ticks(scale.low, scale.high))
    axis = f'<div class="bb-axis" aria-hidden="true"><span class="bb-lane">{ticks}</span></div>'
    return f"{axis if above else ''}<ul>{rows}</ul>{axis}"


def _tick(scale: Scale, value: float) -> str:
    return f'<i style="left:{scale.at(value):.1f}%">{value:g}</i>'


def _row(run: Run, one: Judgement, why: str, scale: Scale, shared: Collection[str]) -> str:
    """Return the row of a claim: the statement with its caveats, the lane, the answer with its numbers, its backing."""
    notes = "; ".join(note for note in claim.caveats(one) if note not in shared)
    said = escape_html(claim.statement(one))
    said += f"<small>{escape_html(notes[:1].upper() + notes[1:])}.</small>" if notes else ""
    found = grade.reading(one)
    answer = holding.marked(claim.word(one), found)
    named, behind = filters(run, one), backing.html(run, one, why)
    if not claim.has_ratio(one):
        brief = f'<small class="bb-why">{escape_html(_why(one))}</small>'
        return parts(found.holds, said, brief, answer, fold=behind, named=named)
    stated = claim.stated(one)
    seen = claim.shown(one)
    numbers = (
        f"<b>{escape_html(seen.text)}</b><small>{escape_html(claim.was(one))}</small>"
        f"<small>{escape_html(claim.rests(one))}</small>"
    )
    sessions = sessions_of(one.by_case[0]) if len(one.by_case) == 1 else ()
    drawn = lane(
        scale,
        seen,
        stated.value,
        stated.kind,
        one.expect,
        sessions,
        asked=claim.asked_bound(one),
        by=_stated_by(one),
    )
    named += compared(one)
    return parts(found.holds, said, drawn, answer, numbers, _cases(one, scale) + behind, named)


def filters(run: Run, one: Judgement) -> str:
    """Return the attribute of a row with its systems, metric, answers and configurations, by which readers filter."""
    cells = [cell for held in one.cells for cell in held.sides.cells]
    found, metrics = grade.reading(one), (one.metric, *filter(None, [one.over_metric]))
    held = {
        "system": [run.title(cell.system) for cell in cells],
        "metric": [describe(name).title for name in metrics],
        "answer": [holding.HOLDS[found.holds][0], holding.words(found._replace(factor=None, here=False))],
        "configuration": [claim.arm_words(run, cell.arm) for cell in cells if cell.arm],
    }
    unique = {name: list(dict.fromkeys(values)) for name, values in held.items()}
    return f' data-claim="{escape_html(json.dumps(unique, ensure_ascii=False))}"'


def compared(one: Judgement) -> str:
    """Return the attribute of a row with what the ratio of each case divides: two setups, phase and metrics."""
    held = [
        [
            cell.sides.cells[0].name, cell.sides.cells[-1].name, cell.sides.levels.get(PHASE, one.phase),
            one.over_metric or one.metric, one.metric,
        ]
        for cell in one.cells
    ]  # fmt: skip
    text = json.dumps(held, ensure_ascii=False, separators=(",", ":"))
    return f" data-cases='{html.escape(text, quote=False).replace(chr(39), '&#39;')}'"


def parts(
    holds: str, said: str, drawn: str, answer: str, numbers: str = "", fold: str = "", named: str = ""
) -> str:
    """Return a row of its parts in HTML, in the colour of its answer; ``named`` are more attributes."""
    under = f'<div class="bb-under">{fold}</div>' if fold else ""
    return (
        f'<li class="bb-row"{named} style="--answer: {theme.answer_colour(holds)}"><span class="bb-said">{said}</span>'
        f'{drawn}<div class="bb-verdict">{answer}{numbers}</div>{under}</li>'
    )


def _why(one: Judgement) -> str:
    """Return the first part of a reason, which is that of the answer."""
    first = next(iter(reasons.all_parts(one.reasons)), "")
    return first if len(first) <= 150 else first[:150].rpartition(" ")[0] + " …"


def lane(
    scale: Scale,
    seen: claim.Shown,
    stated: float | None,
    kind: str,
    expect: tuple[float, float] | None = None,
    sessions: Sequence[Session] = (),
    asked: tuple[str, float] | None = None,
    by: str = "published",
) -> str:
    """Return the marks of a row: the line at 1, the intervals, a dot for each case, and the published ratio.

    ``expect`` is the interval of the ratio on another processor, ``sessions`` are the ratios of single runs, and
    ``asked`` the sign and value of the bound of a question of our own. ``by`` says what ``stated`` is.
    """
    marks = [f'<i class="one" style="left:{scale.at(1):.1f}%"></i>']
    for name, low, high in (("expect", *(expect or (None, None))), ("bar", seen.low, seen.high)):
        if low is not None and high is not None:
            left, right = scale.at(low), scale.at(high)
            marks.append(
                f'<i class="{name}" style="left:{left:.1f}%;width:{max(right - left, 0.4):.1f}%"></i>'
            )
    marks += [_mark("dot", scale, value) for value in seen.values]
    marks += [_session(scale, one) for one in sessions]
    label = f"rerun {seen.text}"
    if stated:
        sign = "" if kind == "=" else kind
        mark = f"<b>{sign}</b>" if sign else ""
        marks.append(_mark("was", scale, stated, mark, f"{by} {sign}"))
        label += f", {by} {sign}{quantity.number(stated)}"
    if asked:
        marks.append(_mark("asked", scale, asked[1], f"<b>{asked[0]}</b>", f"asked {asked[0]}"))
        label += f", asked {asked[0]}{quantity.number(asked[1])}"
    if expect:
        label += f", on another processor expect {claim.interval(*expect)}"
    # Links inside an image would be hidden from readers who hear the page.
    role = "group" if any(one.address for one in sessions) else "img"
    return f'<span class="bb-lane" role="{role}" aria-label="{escape_html(label)}">{"".join(marks)}</span>'


def _stated_by(one: Judgement) -> str:
    """Return what the statement of a claim is: published, or claimed where no publication is rerun."""
    return "published" if one.from_publication else "claimed"


def sessions_of(over: Over | None) -> tuple[Session, ...]:
    """Return the ratio of each run that a case rests on, if there are several."""
    members = over.members if over is not None and len(over.members) > 1 else ()
    return tuple(Session(one.run_id, math.exp(one.fit.centre), links.of_run(one.run_id)) for one in members)


def _session(scale: Scale, one: Session) -> str:
    """Return the small dot of a run, which leads to the page of its trials."""
    place = f'class="run" style="left:{scale.at(one.ratio):.1f}%"'
    said = escape_html(f"Run {one.run_id}: {quantity.number(one.ratio)}")
    if not one.address:
        return f'<i {place} title="{said}"></i>'
    return f'<a {place} href="{escape_html(one.address)}" title="{said}" aria-label="{said}"></a>'


def _mark(name: str, scale: Scale, value: float, inside: str = "", what: str = "") -> str:
    """Return a mark at a value; beyond the axis, an arrow with the value in its place."""
    if scale.low <= value <= scale.high:
        return f'<i class="{name}" style="left:{scale.at(value):.1f}%">{inside}</i>'
    text = escape_html(f"{what}{quantity.number(value)}")
    if value > scale.high:
        return f'<i class="far far-{name}" style="right:0">{text} →</i>'
    return f'<i class="far far-{name}" style="left:0">← {text}</i>'


def _cases(one: Judgement, scale: Scale) -> str:
    """Return the folded rows of the cases; empty for a claim with one case."""
    cells = [cell for cell in one.cells if cell.measured]
    if len(cells) < 2:
        return ""
    factors = claim.differing_factors(cells)
    kind = claim.stated(one).kind
    rows = ""
    by_case = one.by_case or [None] * len(one.cells)
    for place, (cell, over) in enumerate(zip(one.cells, by_case, strict=True)):
        if not cell.measured:
            continue
        seen, stated = claim.shown_case(cell), None if one.own else cell.published
        found = grade.Reading(*cell.answer)
        drawn = lane(scale, seen, stated, kind, sessions=sessions_of(over), by=_stated_by(one))
        rows += parts(
            found.holds, escape_html(claim.case(cell.sides.levels, factors)), drawn,
            holding.marked(holding.words(found), found),
            f"<b>{escape_html(seen.text)}</b>{_was(stated, _stated_by(one), kind)}", named=f' data-case="{place}"',
        )  # fmt: skip
    return f'<details class="bb-data"><summary>{len(cells)} cases</summary><ul>{rows}</ul></details>'


def _was(stated: float | None, by: str, kind: str) -> str:
    """Return what was stated of a case; a bound is claimed."""
    text = f"{by} " if kind == "=" else f"claimed {kind} "
    return f"<small>{text}{quantity.number(stated)}</small>" if stated else ""
