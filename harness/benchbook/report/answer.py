"""Whether the systems of a run gave the same answers, and the rows where they did not."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchbook.report import quantity
from benchbook.report.results import Run
from benchbook.report.table import Table, Words, escape_markdown, missing

if TYPE_CHECKING:
    from benchbook.analyse.answers import Answer, Comparison, Validated

DEFAULT_TOLERANCE = 1e-9
"""Largest relative difference of equal floats where the dataset's declaration is not with the run."""
SHOWN = 30
"""Differing rows that a table shows."""


def tolerance(run: Run) -> float:
    """Return the float tolerance that the run's dataset declares, a relative difference."""
    folder = run.results / "runs" / run.run_id / "declared"
    for file in sorted(folder.glob("dataset*.toml")):
        try:
            return float(tomllib.loads(file.read_text(encoding="utf-8"))["float_tolerance"])
        except (OSError, ValueError, KeyError):
            continue
    return DEFAULT_TOLERANCE


@dataclass(frozen=True)
class Group:
    """The answers to the queries of one dataset of a run."""

    recorded: int
    """How many answers trials gave."""
    answers: tuple[Answer, ...]
    """Each different answer of a system and arm once: those with the same digest are the same."""


@functools.cache
def _groups(run: Run) -> tuple[Group, ...]:
    from benchbook.analyse import answers

    return tuple(
        Group(int(one["recorded"].sum()), tuple(answers.from_rows(one.to_dicts())))
        for one in run.answers().partition_by("dataset_digest", maintain_order=True)
    )


def groups(run: Run) -> tuple[Group, ...]:
    """Return the answers of a run, one group for each of its datasets; worked out once."""
    return _groups(run)


@functools.cache
def _compared(run: Run) -> tuple[Comparison, ...]:
    from benchbook.analyse import answers

    made = []
    for group in _groups(run):
        found = answers.compare(group.answers, tolerance(run))
        # To each query one answer is the first; all others were held against it, be it by their digest.
        made.append(replace(found, compared=group.recorded - found.queries))
    return tuple(made)


@functools.cache
def _validated(run: Run) -> tuple[Validated, ...]:
    from benchbook.analyse import answers

    return tuple(one for group in _groups(run) for one in answers.validate(group.answers, tolerance(run)))


def validated(run: Run) -> list[Validated]:
    """Return how the answers of each system and arm to each type of query compare with those of most systems."""
    return list(_validated(run))


def flagged(run: Run) -> set[tuple[str, str]]:
    """Return the systems, each with its arm, that answer otherwise than most do, where it can be said which."""
    return {(one.system, one.arm) for one in _validated(run) if one.differing or one.unanswered}


def undecided(run: Run) -> bool:
    """Say whether systems differ, and no answer is that of more than half of them."""
    return any(one.alone for one in _validated(run))


def comparisons(run: Run) -> tuple[Comparison, ...]:
    """Return what came of comparing all answers, one entry for each dataset of the run; worked out once."""
    return _compared(run)


def faults(run: Run) -> list[str]:
    """Return in words why the answers do not show that the systems did the same work; empty where they do."""
    if run.ok["system"].n_unique() < 2 or not (run.phases("query") or run.phases("kline")):
        return []
    found = comparisons(run)
    if not found:
        return ["no answers were recorded, so nobody knows whether the systems did the same work"]
    words = []
    if differing := sum(one.differing for one in found):
        types = sorted({difference.query_type for one in found for difference in one.differences})
        words.append(f"the systems answered {', '.join(types)} differently in {differing} places")
    if empty := [name for one in found for name in one.empty_everywhere]:
        words.append(f"every system answered {_some(empty)} with no rows, which proves nothing")
    if unanswered := [name for one in found for name in one.unanswered]:
        words.append(f"no answer was given to {_some(unanswered)}")
    return words


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def refusal(run: Run) -> Table | Words | None:
    """Return the rows for which the comparison is refused; None, which shows nothing, where it is not."""
    return table(run) if faults(run) else None


def table(run: Run) -> Table | Words:
    """Return the differing rows, or the sentence that the answers agree."""
    if not (run.phases("query") or run.phases("kline")):
        return missing("The comparison of answers", "this run has no queries")
    found = comparisons(run)
    rows = []
    for one in found:
        for difference in one.differences:
            where = ", ".join(f"{key} {value}" for key, value in difference.row.items())
            rows.append(
                [
                    difference.query_id,
                    where or difference.what,
                    difference.column or "the whole row",
                    f"{difference.a_system}: {quantity.fact_text(difference.a)}",
                    f"{difference.b_system}: {quantity.fact_text(difference.b)}",
                ]
            )
    if rows:
        caption = (
            f"The first {SHOWN} of {sum(one.differing for one in found)} differences"
            if len(rows) > SHOWN
            else ""
        )
        return Table(["Query", "Row", "Column", "One answer", "Another"], rows[:SHOWN], caption)
    words = faults(run)
    if words:
        return Words(escape_markdown(f"The answers cannot be held against each other: {'; '.join(words)}."))
    queries = sum(one.queries for one in found)
    compared = sum(one.compared for one in found)
    if not compared:
        return missing("The comparison of answers", "only one answer to each query was recorded")
    few = sorted({name for one in found for name in one.too_few})
    note = f" Fewer than 20 queries were compared of {escape_markdown(', '.join(few))}." if few else ""
    return Words(
        f"The answers agree: {queries} queries, {compared} answers held against the first one, columns and keys "
        f"the same, floats within a relative difference of {quantity.fact_text(tolerance(run))}.{note}"
    )
