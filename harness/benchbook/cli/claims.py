"""``bench claims [RUN]``: the verdict of a run on each published statement that its experiment declares."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchbook.analyse import quantity
from benchbook.cli import options, table
from benchbook.errors import command as typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchbook.analyse.claims import Judgement
    from benchbook.analyse.run import Run

WIDTH = 100
"""Longest line, in a pipe too: a reason is several sentences."""


def command(
    run: options.Run = "latest",
    power: Annotated[
        bool, typer.Option("--power", help="Show the chance of each verdict in another run like this one.")
    ] = False,
    results: options.Results = options.DEFAULT_RESULTS,
    as_json: options.Json = False,
) -> None:
    """Show a run's verdicts on published claims.

    A verdict is one of: reproduced, different size, direction only, contradicted, inconclusive, underspecified,
    out of reach here, substitute only, not run. docs/claims.md explains them.
    The claims are those that experiment.toml had when the run began.

    Each verdict rests on all runs that did the same work: the published ones, and yours in this results folder. "here"
    after it means that these are of one processor. docs/replication.md explains the estimate.

    --power shows what another run like this one can decide, if the true ratio and the spread are as measured: the
    chance of each verdict, and the trials and minutes for a verdict with 80 % chance.
    """
    from benchbook.analyse import claims, prospect
    from benchbook.analyse.run import Run
    from benchbook.declare.catalogue import Catalogue
    from benchbook.record.opened import opened
    from benchbook.report import limits

    with opened(results, run, answering=True) as found:
        read = Run(found.results, found.run_id)
        published = Catalogue().published(read.experiment)
        judged = (claims.of_run if power else claims.over)(read, published)
        chances = prospect.of_run(read, published) if power else []
        looks = limits.looks(read)
        others = [] if power else [_others(read, judged), *limits.absent(read)]
    if as_json:
        table.show([one.row() for one in chances] if power else [_row(one) for one in judged], as_json=True)
        return
    if not judged:
        print(f"{found.run_id} declared no claims (docs/claims.md)")
        return
    if power:
        empty = "No claim has a measured ratio, so none has a power."
        table.show([one.shown() for one in chances], as_json=False, empty=empty)
        return
    screen = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
    blocks = [_block(one, min(screen, WIDTH)) for one in judged]
    said = [textwrap.fill(one, WIDTH) for one in others if one]
    print("\n\n".join([found.run_id, *filter(None, [looks]), *blocks, *said]))
    if any(one.verdict == "inconclusive" and one.cells for one in judged):
        print(f"\nTrials that would decide the inconclusive claims: {typed(f'claims {run} --power')}")


def _others(run: Run, judged: Sequence[Judgement]) -> str:
    """Return how many published runs of the experiment no verdict rests on; empty if there are none."""
    from benchbook.analyse import beside

    used = {member.run_id for one in judged for over in one.by_case if over for member in over.members}
    if not used:
        return ""
    others = beside.published_ids(run) - {run.run_id}
    left = others - used
    if not left:
        return ""
    runs = "1 other published run" if len(others) == 1 else f"{len(others)} other published runs"
    return (
        f"{len(left)} of {runs} of this experiment (A/A runs apart) do not count here: each did other work (profile,"
        " setups, data, versions or configurations) or allows no verdict. docs/published-runs.md lists them."
    )


FIELDS = (
    "id", "statement", "source", "published", "measured", "low", "high", "margin", "verdict", "scope", "runs",
    "processors", "expect",
)  # fmt: skip
"""Fields of a judgement that ``--json`` prints; its other scopes and its reasons follow, in words and as codes."""
IN_SCOPE = ("measured", "low", "high", "verdict", "runs")
"""Fields of what the run shows alone, and of what the runs on its processor show."""


def _row(one: Judgement) -> dict[str, Any]:
    """Return what ``--json`` prints of a verdict."""
    from benchbook.report import reasons

    fields = {name: getattr(one, name) for name in FIELDS}
    scopes = {
        name: None if held is None else {field: getattr(held, field) for field in IN_SCOPE}
        for name, held in (("alone", one.alone), ("here", one.here))
    }
    return {
        **fields, **scopes, "reason": reasons.sentence(one.reasons), "reasons": [held.row() for held in one.reasons],
    }  # fmt: skip


def _block(one: Judgement, width: int) -> str:
    """Return a verdict as lines of at most ``width`` characters: the name and verdict, then what they mean."""
    from benchbook.report import claim, reasons

    lines = [f"{one.id}: {claim.word(one)}"]
    why = reasons.sentence(one.reasons)
    for text in (one.statement, _numbers(one), *_scopes(one), why, f"Source: {one.source}"):
        lines += textwrap.wrap(
            text, width, initial_indent="  ", subsequent_indent="  ",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    return "\n".join(lines)


def _scopes(one: Judgement) -> list[str]:
    """Return a sentence on what the verdict rests on; empty where nothing was measured, or a count has no estimate."""
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
