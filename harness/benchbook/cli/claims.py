"""``bench claims [RUN]``: the verdict of a run on each published statement that its experiment declares."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

from benchbook.cli import options, table

if TYPE_CHECKING:
    from benchbook.analyse.claims import Judgement

WIDTH = 100
"""Longest line, in a pipe too: a reason is several sentences."""


def command(
    run: options.Run = "latest",
    results: options.Results = options.DEFAULT_RESULTS,
    as_json: options.Json = False,
) -> None:
    """Show a run's verdicts on published claims.

    A verdict is one of: reproduced, different size, direction only, contradicted, inconclusive, underspecified,
    substitute only, not run. docs/claims.md explains them.
    The claims are those that experiment.toml had when the run began.
    """
    from benchbook.analyse import claims
    from benchbook.declare.catalogue import Catalogue
    from benchbook.record.opened import opened

    with opened(results, run, answering=True) as found:
        judged = claims.judge_run(found.results, found.run_id, Catalogue().published)
    if as_json:
        table.show([one.row() for one in judged], as_json=True)
        return
    if not judged:
        print(f"{found.run_id} declared no claims (docs/claims.md)")
        return
    screen = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
    blocks = [_block(one, min(screen, WIDTH)) for one in judged]
    print("\n\n".join([found.run_id, *blocks]))


def _block(one: Judgement, width: int) -> str:
    """Return a verdict as lines of at most ``width`` characters: the name and verdict, then what they mean."""
    lines = [f"{one.id}: {one.verdict}"]
    for text in (one.statement, _numbers(one), one.reason, f"Source: {one.source}"):
        lines += textwrap.wrap(
            text, width, initial_indent="  ", subsequent_indent="  ",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    return "\n".join(lines)


def _numbers(one: Judgement) -> str:
    """Return the published and the measured ratio, to three digits; empty if neither exists."""
    if one.test == "agree" or (one.published is None and one.measured is None):
        return ""
    shown = [f"published {one.published:.3g}" if one.published is not None else "no published number"]
    if one.measured is not None:
        interval = "no interval"
        if one.low is not None and one.high is not None:
            interval = f"95 % CI {one.low:.3g}-{one.high:.3g}"
        shown.append(f"measured {one.measured:.3g} ({interval})")
    return ", ".join([*shown, f"margin {100 * one.margin:g} %" if one.margin else "no margin"])
