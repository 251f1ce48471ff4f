"""The verdict on a claim, in one of six words, from what each of its cells shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from benchbook.analyse.expectation import Evidence
from benchbook.analyse.holm import adjusted

Word = Literal["reproduced", "direction only", "contradicted", "inconclusive", "underspecified", "not run"]
Share = Literal["all", "most", "any"]

ALPHA = 0.05


def word(found: Evidence) -> Word:
    """Return what one cell shows; contradicted comes first, so that no margin hides a reversal."""
    if found.contradicted <= ALPHA:
        return "contradicted"
    if found.reproduced <= ALPHA:
        return "reproduced"
    return "direction only" if found.direction <= ALPHA else "inconclusive"


def words(found: Sequence[Evidence]) -> list[Word]:
    """Return what each of many cells shows, by one joint test with Holm's correction.

    The chance that any cell is called what it is not stays below 5 % for each of the three words.
    """
    reproduced = adjusted([one.reproduced for one in found])
    direction = adjusted([one.direction for one in found])
    contradicted = adjusted([one.contradicted for one in found])
    return [word(Evidence(*each)) for each in zip(reproduced, direction, contradicted, strict=True)]


def joint(cells: Sequence[Word], share: Share, missing: int = 0) -> Word:
    """Return the verdict over all cells; ``missing`` cells were published and are not in the run.

    A missing cell counts as undecided: what is said of all cells cannot be confirmed on some of them.

    >>> joint(["reproduced", "direction only"], "all"), joint(["reproduced"], "all", missing=1)
    ('direction only', 'inconclusive')
    """
    total = len(cells) + missing
    needed = {"all": total, "most": total // 2 + 1, "any": 1}[share]
    reproduced, against = cells.count("reproduced"), cells.count("contradicted")
    directed = reproduced + cells.count("direction only")
    if total - against < needed:
        return "contradicted"
    if reproduced >= needed:
        return "reproduced"
    return "direction only" if directed >= needed else "inconclusive"
