"""Which system answers differently: every answer to a query held against the one that most systems gave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from benchbook.analyse.answers import ABSOLUTE, RELATIVE, Answer, Difference, differences


@dataclass(frozen=True)
class Validated:
    """How the answers of one system in one arm to the queries of one type compare."""

    system: str
    arm: str
    query_type: str
    queries: int
    """Queries of the type that any system answered."""
    same: int
    """Of them: answered as most systems did."""
    differing: int
    unanswered: int
    alone: int
    """Queries to which there is no answer that more than half of the systems gave."""
    example: Difference | None
    """The first place where it differs."""

    @property
    def ok(self) -> bool:
        """Whether it answered every query, and as most did."""
        return self.same == self.queries


def validate(
    answers: Sequence[Answer], relative: float = RELATIVE, absolute: float = ABSOLUTE
) -> list[Validated]:
    """Return one entry for each system, arm and query type.

    Answers are the same when columns and keys are, and floats agree within either tolerance. A system that gave
    several answers to a query (in several trials) gave the one in which it differs from most, if there is any.
    Each arm is judged alone, for one that loses rows answers otherwise; systems decide, however many arms they have.
    """
    by_query: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for answer in answers:
        by_query[answer.query_type, answer.query_id].append(answer)
    judged = sorted({(answer.system, answer.arm) for answer in answers})
    systems = len({system for system, _ in judged})
    tally: dict[tuple[str, str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    examples: dict[tuple[str, str, str], Difference] = {}
    for (kind, _), held in sorted(by_query.items()):
        reference = _most(held, systems, relative, absolute)
        for system, arm in judged:
            counted, key = tally[system, arm, kind], (system, arm, kind)
            counted["queries"] += 1
            own = [answer for answer in held if (answer.system, answer.arm) == (system, arm)]
            if not own:
                counted["unanswered"] += 1
            elif reference is None:
                counted["alone"] += 1
            else:
                found = [one for answer in own for one in differences(reference, answer, relative, absolute)]
                counted["differing" if found else "same"] += 1
                if found:
                    examples.setdefault(key, found[0])
    return [
        Validated(
            system, arm, kind, counted["queries"], counted["same"], counted["differing"], counted["unanswered"],
            counted["alone"], examples.get((system, arm, kind)),
        )
        for (system, arm, kind), counted in sorted(tally.items())
    ]  # fmt: skip


def _most(held: Sequence[Answer], systems: int, relative: float, absolute: float) -> Answer | None:
    """Return an answer that more than half of the systems gave; with two systems there is none where they differ."""
    groups: list[tuple[Answer, set[str]]] = []
    for answer in held:
        for first, members in groups:
            if not differences(first, answer, relative, absolute):
                members.add(answer.system)
                break
        else:
            groups.append((answer, {answer.system}))
    best = max(groups, key=lambda group: len(group[1]))
    return best[0] if 2 * len(best[1]) > systems else None
