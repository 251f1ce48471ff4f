"""``bench gate -- 'A' 'B'``: the gate of two commands, which keeps no run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from statistics import median
from typing import TYPE_CHECKING

from benchbook.cli import vs

if TYPE_CHECKING:
    from benchbook.analyse.gate import Look
    from benchbook.analyse.gated import Row
    from benchbook.report.gate import Result
    from benchbook.run.interleaved import Asked, Measured

BLOCK_SECONDS = 0.5
"""Length of a block of short commands at most."""
METRIC = "command_seconds"


def decide(asked: Asked, margin: float) -> Result:
    """Run two commands in turn until one answer is certain; raise TrialFailed if one fails or they differ."""
    from benchbook.analyse.gate import Look, due, overall
    from benchbook.plan.gating import Gate
    from benchbook.process import interrupt
    from benchbook.report.gate import Result
    from benchbook.run import interleaved

    seconds = asked.budget_seconds
    looks: list[Look] = []

    def decided(found: Measured, share: float) -> bool:
        if share < 1 and not due(found.blocks, looks):
            return False
        looks.append(Look(found.blocks, share))
        return overall([_row(found, looks, margin).answer]) != "open"

    asked = replace(asked, decided=decided, block_seconds=min(BLOCK_SECONDS, seconds / interleaved.WANTED))
    print(f"bench: {power(asked, margin)}", file=sys.stderr)
    with interrupt.interruptible():
        found = interleaved.measure(asked, lambda text: print(f"bench: {text}", file=sys.stderr))
    base, head = (one.text for one in asked.commands)
    names = [f"`{base}`", f"`{head}`"] if base != head else vs.short([base, head])
    vs.require_same(asked, found, names, further="")
    vs.require_long(found, names)
    design = Gate("command", (base,), (head,), margin, seconds, (METRIC,), (names[0], names[1]))
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return Result("", "commands", design, [_row(found, looks, margin)], found.blocks, found.took_seconds, now)


def power(asked: Asked, margin: float) -> str:
    """Return the chance of the right answers within the budget, if commands vary as they usually do."""
    from benchbook.analyse.gate import chances
    from benchbook.analyse.prospect import SPREADS
    from benchbook.report.gate import chance, duration

    block = asked.block_seconds or BLOCK_SECONDS
    blocks, spread = int(asked.budget_seconds / block), SPREADS["speed"]
    return (
        f"{duration(asked.budget_seconds)} have room for about {blocks} blocks of commands that take less than "
        f"{duration(block / len(asked.commands))}, and fewer of longer ones. Ratios of blocks usually vary by "
        f"{100 * spread:.2g} %. {chance(chances(blocks, spread, margin), margin)}"
    )


def _row(found: Measured, looks: Sequence[Look], margin: float) -> Row:
    from benchbook.analyse.gate import Series, losses
    from benchbook.analyse.gate import decide as answers
    from benchbook.analyse.gated import Row

    base, head = found.seconds
    [answer] = answers([Series(losses(base, head, "lower"))], looks, margin)
    typical = [median(one.values()) for one in (base, head)]
    return Row("command", METRIC, "s", "lower", "", typical[0], typical[1], answer)
