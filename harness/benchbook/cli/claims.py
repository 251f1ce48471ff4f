"""``bench claims [RUN]``: the answers of a run on each published statement that its experiment declares."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchbook.analyse import quantity
from benchbook.cli import options, summary, table
from benchbook.errors import command as typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchbook.analyse.claim_evidence import JudgedCell
    from benchbook.analyse.claims import Judgement
    from benchbook.analyse.run import Run

WIDTH = 100
"""Longest line, in a pipe too: a reason is several sentences."""


def command(
    run: options.Run = "latest",
    power: Annotated[
        bool, typer.Option("--power", help="Show the chance of each answer in another run like this one.")
    ] = False,
    results: options.Results = options.DEFAULT_RESULTS,
    as_json: options.Json = False,
) -> None:
    """Show whether published claims hold, and how large the differences are.

    Does it hold? holds, no difference, reversed, fails (a bound or an equality is missed), open, out of reach here, or
    not comparable. How large? as published, smaller, larger or open, if it holds and a size was published.
    docs/claims.md explains the answers. The claims are those that experiment.toml had when the run began. Of a run
    without claims, its comparisons are shown.

    Each answer rests on all runs that did the same work: the published ones, and yours in this results folder. "here"
    after it means that these are of one processor. docs/replication.md explains the estimate.

    --power shows what another run like this one can decide, if the true ratio and the spread are as measured: the
    chance of each answer, and the trials and minutes for an answer with 80 % chance.
    """
    from benchbook.analyse import claims, grade, prospect
    from benchbook.analyse.run import Run
    from benchbook.declare.catalogue import Catalogue
    from benchbook.record.opened import opened
    from benchbook.report import limits
    from benchbook.site.outcome import outcomes

    with opened(results, run, answering=True) as found:
        read = Run(found.results, found.run_id)
        published = Catalogue().published(read.experiment)
        judged = (claims.of_run if power else claims.over)(read, published)
        chances = prospect.of_run(read, published) if power else []
        looks = limits.looks(read)
        left = _others(read, judged) if judged else ""
        others = [] if power else [one for one in (left, *limits.chosen(read)) if one]
        compared = [] if judged or as_json else outcomes(read)
    if as_json:
        rows = [one.row() for one in chances] if power else [{**_row(one), "notes": others} for one in judged]
        table.show(rows, as_json=True)
        return
    if not judged:
        print(f"{found.run_id} declared no claims (docs/claims.md){'; its comparisons:' if compared else ''}")
        if compared:
            print()
            summary.show_rows(compared, claimed=False, level="95 % CI")
        for one in others:
            print(f"\n{textwrap.fill(one, WIDTH, break_on_hyphens=False)}")
        return
    if power:
        empty = "No claim has a measured ratio, so none has a power."
        table.show([one.shown() for one in chances], as_json=False, empty=empty)
        return
    screen = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
    blocks = [_block(one, min(screen, WIDTH)) for one in judged]
    said = [textwrap.fill(one, WIDTH, break_on_hyphens=False) for one in others]
    print("\n\n".join([found.run_id, *filter(None, [looks]), *blocks, *said]))
    if any(grade.reading(one).holds == "open" and one.cells for one in judged):
        print(f"\nTrials that would decide the open claims: {typed(f'claims {run} --power')}")


def _others(run: Run, judged: Sequence[Judgement]) -> str:
    """Return how many runs of the experiment, published or beside this one, no answer rests on; empty if none."""
    from benchbook.analyse import beside

    used = {member.run_id for one in judged for over in one.by_case if over for member in over.members}
    made_here = {one.run_id for group in beside.of(run) for one in group}
    others = (beside.published_ids(run) | made_here) - {run.run_id}
    left = others - used
    if not left:
        return ""
    runs = "1 other run" if len(others) == 1 else f"{len(others)} other runs"
    return (
        f"{len(left)} of {runs} of this experiment (A/A runs apart)"
        f" {'does' if len(left) == 1 else 'do'} not count here: each did other work (profile,"
        " setups, data, versions or configurations), allows no answer, or measured what is judged in each run alone."
        " docs/published-runs.md lists the published ones."
    )


BEFORE = ("id", "statement", "source", "published", "measured", "low", "high", "margin")
ANSWER = ("holds", "size", "verdict")
"""The two answers as codes, and for one release the word in their place before."""
AFTER = ("scope", "runs", "processors", "expect")
"""Fields of a judgement that ``--json`` prints around them; its other scopes and its reasons follow."""
IN_SCOPE = ("measured", "low", "high", *ANSWER, "runs")
"""Fields of what the run shows alone, and of what the runs on its processor show."""


def _row(one: Judgement) -> dict[str, Any]:
    """Return what ``--json`` prints of a claim."""
    from benchbook.report import reasons

    return {
        **_fields(one, (*BEFORE, *ANSWER, *AFTER)),
        **{
            name: None if held is None else _fields(held, IN_SCOPE)
            for name, held in (("alone", one.alone), ("here", one.here))
        },
        "cases": [_case(cell) for cell in one.cells],
        "reason": reasons.sentence(one.reasons), "reasons": [held.row() for held in one.reasons],
    }  # fmt: skip


def _case(cell: JudgedCell) -> dict[str, Any]:
    """Return what ``--json`` prints of a case of a claim."""
    return {
        "levels": dict(cell.sides.levels), "published": cell.published,
        "measured": cell.measured, "low": cell.low, "high": cell.high, **cell.answer._asdict(),
        "trials": cell.trials, "unfit": None if cell.unfit is None else cell.unfit.row(),
    }  # fmt: skip


def _fields(one: Judgement, names: Sequence[str]) -> dict[str, Any]:
    from benchbook.analyse import grade

    found = grade.reading(one)
    answers = {"holds": found.holds, "size": found.size}
    return {name: answers[name] if name in answers else getattr(one, name) for name in names}


def _block(one: Judgement, width: int) -> str:
    """Return a claim as lines of at most ``width`` characters: its name and the answers, then what they mean."""
    from benchbook.report import claim, reasons

    lines = textwrap.wrap(
        f"{one.id}: {claim.answer(one)}", width, subsequent_indent="  ", break_on_hyphens=False
    )
    why = reasons.sentence(one.reasons)
    for text in (one.statement, _numbers(one), *_scopes(one), why, f"Source: {one.source}"):
        lines += textwrap.wrap(
            text, width, initial_indent="  ", subsequent_indent="  ",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    return "\n".join(lines)


def _scopes(one: Judgement) -> list[str]:
    """Return a sentence on what the answer rests on; empty where nothing was measured, or a count has no estimate."""
    from benchbook.report import claim

    if not one.by_case:
        return []
    said = "; ".join(f"{name}: {text}" for name, text in claim.scopes(one).items())
    return [f"{said[:1].upper()}{said[1:]}"]


def _numbers(one: Judgement) -> str:
    """Return what was published and the measured ratio, to three digits; empty if neither exists."""
    from benchbook.analyse.claims import ends
    from benchbook.report import claim

    if one.test == "agree" or (one.published is None and one.measured is None):
        return ""
    shown = [claim.was(one)]
    if ends(one):
        shown.append(f"measured {claim.measured_words(one)} in {len(one.cells)} cases")
    elif one.measured is not None:
        interval = "no interval"
        if one.low is not None and one.high is not None:
            interval = f"{claim.interval_name([one])} {claim.interval(one.low, one.high)}"
        shown.append(f"measured {quantity.number(one.measured)} ({interval})")
    return ", ".join([*shown, f"margin {100 * one.margin:g} %" if one.margin else "no margin"])
