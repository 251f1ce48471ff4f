"""Whether a run meets the preconditions of a claim (``requires``), so that the claim can be tested on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from benchbook.analyse.claim_evidence import JudgedCell
from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.declare.claim import Choice, Claim, Precondition
from benchbook.declare.level import amount, listed, same
from benchbook.host.facts import known_virtual


def unmet(claim: Claim, run: Run, cells: Sequence[JudgedCell]) -> dict[int, Reason]:
    """Return place of a case → why the run cannot test the claim there, of the cases that miss a precondition."""
    found: dict[int, Reason] = {}
    for place, cell in enumerate(cells):
        if first := next(_missed(claim, run, cell), None):
            found[place] = first
    return found


def _missed(claim: Claim, run: Run, judged: JudgedCell) -> Iterator[Reason]:
    claim = claim.at_case(judged.sides.levels)
    over, of = judged.sides.cells[0], judged.sides.cells[-1]
    for asked in claim.requires:
        if not all(_has(of, factor, levels) for factor, levels in asked.where.items()):
            continue
        if asked.machine is not None:
            known = known_virtual(run.facts("host"))
            if known is not False:
                yield because("virtual-machine", known=known is True, why=asked.why)
            continue
        for cell in dict.fromkeys({"both": (of, over), "of": (of,), "over": (over,)}[asked.side]):
            found = (_otherwise if asked.error is not None else _outside)(claim, run, cell, asked)
            if found is not None:
                yield found


def _has(cell: Cell, factor: str, levels: Choice) -> bool:
    return any(same(cell.levels.get(factor, ""), level) for level in listed(levels))


def _outside(claim: Claim, run: Run, cell: Cell, asked: Precondition) -> Reason | None:
    """Return that a metric or a level of a setup misses its bound."""
    value, unit = _value(claim, run, cell, asked)
    if value is not None and asked.keeps(value):
        return None
    return because(
        "out-of-reach", setup=cell.label, what=asked.metric or asked.factor, factor=asked.factor is not None,
        measured=value, unit=unit, at_least=asked.at_least, at_most=asked.at_most, why=asked.why,
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


def _otherwise(claim: Claim, run: Run, cell: Cell, asked: Precondition) -> Reason | None:
    """Return that operations of a setup failed with another error."""
    failed = run.failures(cell, claim.phase, claim.validity)
    others = {message: count for message, count in failed.items() if str(asked.error) not in message}
    if not others:
        return None
    return because(
        "other-errors", setup=cell.label, error=asked.error, operations=sum(others.values()),
        messages=sorted(others), why=asked.why,
    )  # fmt: skip
