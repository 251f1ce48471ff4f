"""Whether a run meets the preconditions of a claim (``requires``), so that the claim can be tested on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from benchbook.analyse.claim_evidence import JudgedCell
from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.declare.claim import Claim, Precondition
from benchbook.declare.level import amount


def unmet(claim: Claim, run: Run, cells: Sequence[JudgedCell]) -> dict[int, Reason]:
    """Return place of a case → why the run cannot test the claim there, of the cases that miss a precondition."""
    found: dict[int, Reason] = {}
    for place, cell in enumerate(cells):
        if first := next(_missed(claim, run, cell), None):
            found[place] = first
    return found


def _missed(claim: Claim, run: Run, judged: JudgedCell) -> Iterator[Reason]:
    for asked in claim.requires:
        over, of = judged.sides.cells[0], judged.sides.cells[-1]
        sides = {"both": (of, over), "of": (of,), "over": (over,)}[asked.side]
        for cell in dict.fromkeys(sides):
            value, unit = _value(claim, run, cell, asked)
            if value is None or not asked.keeps(value):
                yield because(
                    "out-of-reach", setup=cell.label, what=asked.metric or asked.factor,
                    factor=asked.factor is not None, measured=value, unit=unit, at_least=asked.at_least,
                    at_most=asked.at_most, why=asked.why,
                )  # fmt: skip


def _value(claim: Claim, run: Run, cell: Cell, asked: Precondition) -> tuple[float | None, str | None]:
    """Return the value that a setup has, and its unit; None where it was not measured."""
    if asked.factor is not None:
        level = cell.levels.get(asked.factor)
        return (None if level is None else amount(level)), None
    assert asked.metric is not None
    found = run.values(cell, (asked.phase or claim.phase, asked.metric), claim.validity)
    values = list(found.by_block.values())
    return (median(values) if values else None), found.unit
