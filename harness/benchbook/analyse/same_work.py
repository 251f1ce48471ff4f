"""Check that systems did the same work, so that their speeds are comparable (rules 9 and 14 of docs/methods.md)."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from benchbook.analyse import answers
from benchbook.analyse.answers import Agreement, Answer, Validated
from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell

TOLERANCE = 1e-9
"""Largest relative difference of equal floats if the run has no declaration of its dataset."""


@dataclass(frozen=True)
class Group:
    """Answers to the queries of one dataset of a run."""

    dataset: str
    """Digest of the data."""
    recorded: int
    """Number of answers of all trials."""
    answers: tuple[Answer, ...]
    """Each different answer of a system and arm once; answers with equal digests are equal."""


class SameWork:
    """The answers of a run's systems and their comparison; each part is computed once."""

    def __init__(
        self,
        groups: Sequence[Group],
        asked: bool,
        tolerance: float = TOLERANCE,
        unrecorded: Mapping[tuple[str, str], tuple[int, int]] | None = None,
    ) -> None:
        self.groups = tuple(groups)
        """One for each dataset of the run."""
        self.asked = asked
        """True if the run has queries."""
        self.tolerance = tolerance
        self.unrecorded = dict(unrecorded or {})
        """System and arm → its trials without a recorded answer, and its trials: what these answered is unknown."""
        self._faults: dict[frozenset[tuple[str, str]] | None, list[Reason]] = {}

    @functools.cached_property
    def comparisons(self) -> tuple[Agreement, ...]:
        """The comparison of all answers, one entry for each dataset."""
        made = []
        for group in self.groups:
            found = answers.compare(group.answers, self.tolerance)
            # All answers to a query are compared with the first one, at least by their digest.
            made.append(replace(found, compared=group.recorded - found.queries))
        return tuple(made)

    @functools.cached_property
    def validated(self) -> tuple[Validated, ...]:
        """The agreement of each system and arm with most systems, by query type."""
        return tuple(one for group in self.groups for one in answers.validate(group.answers, self.tolerance))

    @functools.cached_property
    def flagged(self) -> frozenset[tuple[str, str]]:
        """The systems, each with its arm, whose answers differ from those of a majority."""
        return frozenset((one.system, one.arm) for one in self.validated if one.differing or one.unanswered)

    @property
    def undecided(self) -> bool:
        """True if systems differ and no answer has a majority, or if a system's answers are unknown."""
        return bool(self.unrecorded) or any(one.undecided for one in self.validated)

    def faults(self, among: Iterable[tuple[str, str]] | None = None) -> list[Reason]:
        """Return the reasons why the answers do not show the same work; empty if they do.

        ``among`` limits the comparison to some systems, each in an arm: an arm that loses rows gives other answers
        and belongs to another cell.
        """
        key = None if among is None else frozenset(among)
        if key not in self._faults:
            self._faults[key] = self._compare(key)
        return self._faults[key]

    def _compare(self, among: frozenset[tuple[str, str]] | None) -> list[Reason]:
        if not self.asked or (among is not None and len({system for system, _ in among}) < 2):
            return []
        found = self.comparisons
        if among is not None:
            chosen = [
                [one for one in group.answers if (one.system, one.arm) in among] for group in self.groups
            ]
            found = tuple(answers.compare(held, self.tolerance) for held in chosen)
            found = tuple(one for one in found if one.queries)
        if not found:
            return [because("answers-missing-all")]
        reasons = [
            because("answers-missing-of", system=system, arm=arm, number=number, of=of)
            for (system, arm), (number, of) in self.unrecorded.items()
            if among is None or (system, arm) in among
        ]
        if differing := sum(one.differing for one in found):
            types = sorted({name for one in found for name in one.differing_types})
            reasons.append(because("answers-differ", query_types=types, number=differing))
        if empty := [name for one in found for name in one.empty_everywhere]:
            reasons.append(because("answers-empty", queries=empty))
        if unanswered := [name for one in found for name in one.unanswered]:
            reasons.append(because("answers-missing", queries=unanswered))
        return reasons


@functools.cache
def of_run(run: Run) -> SameWork:
    """Return the answers of a run; they are read once."""
    if not run.phases_having(lambda one: one.reads):
        return SameWork([], asked=False)
    groups = [
        Group(
            str(one["dataset_digest"][0]),
            int(one["recorded"].sum()),
            tuple(answers.from_rows(one.to_dicts())),
        )
        for one in run.answers().partition_by("dataset_digest", maintain_order=True)
    ]
    return SameWork(groups, asked=True, tolerance=tolerance(run), unrecorded=run.unrecorded())


def faults(run: Run) -> list[Reason]:
    """Return the reasons why the answers of all systems do not show the same work; empty if they do."""
    return of_run(run).faults() if run.ok["system"].n_unique() > 1 else []


def tolerance(run: Run) -> float:
    """Return the relative float tolerance that the run's dataset declares."""
    dataset = run.facts("planned").get("dataset") or {}
    return float(dataset.get("float_tolerance", TOLERANCE))


def mixture(sides: Sequence[Cell], *, data_differ: bool = False) -> list[Reason]:
    """Return the differences that forbid comparing cells.

    With ``data_differ``, the cells may have different data, because the comparison is about a dataset parameter.
    """
    found = []
    for what, digests in (("dataset", "datasets"), ("query set", "queries")):
        held = {digest for cell in sides for digest in getattr(cell, digests)}
        if len(held) > 1 and not data_differ:
            found.append(because("versions-differ", what=what, number=len(held)))
    for cell in sides:
        if len(cell.configurations) > 1:
            found.append(because("configurations-differ", cell=cell.name, number=len(cell.configurations)))
    return found
