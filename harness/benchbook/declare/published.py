"""Published numbers of claims: what a declaration says, or the rows of ``datasets/published`` that it selects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchbook.declare.claim import Claim
from benchbook.declare.claim_numbers import Published
from benchbook.declare.level import texts
from benchbook.declare.published_ratio import PublishedRatio, ends
from benchbook.declare.published_rows import Selection, read
from benchbook.errors import RequestError

FOLDER = Path("datasets") / "published"


def ratios(claim: Claim, folder: Path) -> list[PublishedRatio]:
    """Return the published ratios of a claim, one for each of its cells; none where it publishes no number.

    ``folder`` holds the CSV files. Raises RequestError that names the claim, and the file and the column at fault.
    """
    stated = claim.published
    if stated is None:
        return []
    if stated.ratio is not None:
        return [PublishedRatio({}, stated.ratio)]
    if stated.of is not None and stated.over is not None:
        return [PublishedRatio({}, stated.of / stated.over, stated.of, stated.over, stated.unit)]
    try:
        if stated.file is not None:
            return Selection(claim, stated, read(folder, stated.file)).ratios()
        return _cells(claim, stated)
    except RequestError as error:
        raise RequestError(f'claims "{claim.id}": {error.message}', error.hint) from None


def check(claims: Sequence[Claim], folder: Path) -> None:
    """Read the published numbers of every claim, so that a mistake is met before a run and not after it."""
    for claim in claims:
        if claim.published is not None and all(one.ratio is None for one in ratios(claim, folder)):
            raise RequestError(
                f'claims "{claim.id}": published: no cell has the published values of both sides.'
            )


def files(claims: Sequence[Claim]) -> list[str]:
    """Return the files of published results that claims rest on, each once."""
    named = [claim.published.file for claim in claims if claim.published and claim.published.file]
    return list(dict.fromkeys(named))


def _cells(claim: Claim, stated: Published) -> list[PublishedRatio]:
    needed = {*claim.across, *([claim.along] if claim.along else [])}
    found = []
    for cell in stated.cells:
        shown = ", ".join(f"{name} {level}" for name, level in cell.levels.items())
        if set(cell.levels) != needed:
            raise RequestError(
                f"published: the cell {shown or 'without levels'} must have a level of each of"
                f" {', '.join(sorted(needed)) or 'no factor'}.",
                "Those are the factors in across and along.",
            )
        both = cell.of / cell.over if cell.of is not None and cell.over is not None else None
        ratio = cell.ratio if cell.ratio is not None else both
        if ratio is None and not (claim.trend and cell.of is not None):
            raise RequestError(f"published: the cell {shown} has neither ratio nor of and over.")
        found.append(PublishedRatio(texts(cell.levels), ratio, cell.of, cell.over, stated.unit))
    if claim.along is not None:
        return ends(claim.along, [(one.levels, one.of) for one in found], stated.unit)
    return found
