"""Check claims against the published numbers, before a run.

A claim that an exact rerun would not reproduce is stricter than what was published, or the publication contradicts
itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from benchbook.declare.claim import ONE_SIDED, Claim, least
from benchbook.declare.expectation import expectation
from benchbook.declare.level import ordered
from benchbook.declare.published import PublishedRatio, ratios
from benchbook.errors import RequestError

ROUNDING = 1e-9
"""Share by which a ratio of rounded numbers may miss the end of its band."""


def check(claims: Sequence[Claim], folder: Path) -> None:
    """Read the published numbers of every claim, to find mistakes before a run and not after it.

    Raises RequestError for a claim that a rerun with exactly the published numbers would not reproduce.
    """
    for claim in claims:
        held = ratios(claim, folder)
        known = [one for one in held if one.ratio is not None]
        if held and not known:
            raise RequestError(
                f'claims "{claim.id}": the published numbers have no cell with a value for both `of` and `over`.',
                "Check `select`, `of_rows` and `over_rows`: each side needs a row in the file of published numbers.",
            )
        if claim.test in ONE_SIDED and claim.margin and known:
            _check_margin(claim, [one.ratio for one in known if one.ratio is not None])
        if known and claim.test != "agree" and claim.underspecified is None:
            _check_met(claim, known)


def _check_margin(claim: Claim, known: Sequence[float]) -> None:
    """Refuse a margin that a ratio of 1 lies within: noise alone would then meet "faster"."""
    effect = min(max(ratio, 1 / ratio) - 1 for ratio in known)
    if claim.margin >= effect - 1e-9:
        raise RequestError(
            f'claims "{claim.id}": margin = {claim.margin:g} is too large: it must be below the claimed effect, '
            f"{effect:.3g}, or a ratio of 1 (no difference) would meet the claim.",
            "Choose a smaller margin, or leave it out: at-least and at-most have none by default.",
        )


def _check_met(claim: Claim, known: Sequence[PublishedRatio]) -> None:
    """Refuse a claim that the published numbers themselves do not meet in as many cells as it must hold in."""
    failing = [one for one in known if not met(claim, one)]
    needed = least(claim.in_cells, len(known))
    if len(known) - len(failing) >= needed:
        return
    first = failing[0]
    cell = ", ".join(f"{name} {level}" for name, level in first.levels.items())
    low, high = expectation(claim, first).band
    claimed = f"{low:.3g} to {high:.3g}" if high < math.inf else f"{low:.3g} or more"
    raise RequestError(
        f'claims "{claim.id}": a rerun that measures exactly what was published would not reproduce it: '
        f'{len(failing)} of {len(known)} published ratios do not meet it (in_cells = "{claim.in_cells}"). '
        f"One is {first.ratio:.3g}{f' ({cell})' if cell else ''}; the claim expects {claimed}"
        f"{', and every step the same way' if claim.monotonic else ''}.",
        "Claim what the publication says of its own numbers (test, words, in_cells, monotonic). If it contradicts "
        "itself, state that in `underspecified`.",
    )


def met(claim: Claim, number: PublishedRatio) -> bool:
    """Return whether a published ratio, measured exactly, would reproduce the claim."""
    assert number.ratio is not None
    low, high = expectation(claim, number).band
    if claim.monotonic:
        values = [number.by_level[level] for level in ordered(list(number.by_level))]
        sign = 1 if claim.test == "rises" else -1
        if not all(sign * (after - before) > 0 for before, after in pairwise(values)):
            return False
    return low * (1 - ROUNDING) <= number.ratio <= high * (1 + ROUNDING)
