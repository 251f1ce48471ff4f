"""Table of rows in which systems' answers differ, or a sentence that they agree."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.analyse import quantity, same_work
from benchbook.analyse.answers import Value
from benchbook.analyse.run import Run
from benchbook.report import reasons
from benchbook.report.table import Details, Markdown, Table, escape_markdown, missing

SHOWN = 30
"""Most rows of the table."""
FIRST_TIME_NS = 10**12
"""A key below it is the number of a row: no dataset begins in the first quarter of an hour of 1970."""


def refusal(run: Run) -> Details | None:
    """Return the differing rows, folded, if they rule out a comparison; None, which shows nothing, if they do not."""
    return Details("The answers that differ", table(run)) if same_work.faults(run) else None


def place(row: Mapping[str, Value]) -> str:
    """Return the place of a value in an answer; a time that is only the number of a row is shown as such.

    >>> place({"time_ns": 0, "host": "column 2"}), place({"time_ns": 1451606400000000000, "host": "host_1"})
    ('row 1, column 2', 'time_ns 1451606400000000000, host host_1')
    """
    time_ns = row.get("time_ns")
    if isinstance(time_ns, int) and 0 <= time_ns < FIRST_TIME_NS:
        return ", ".join([f"row {time_ns + 1}", *(str(row[key]) for key in ("host",) if row.get(key))])
    return ", ".join(f"{key} {value}" for key, value in row.items())


def table(run: Run) -> Table | Markdown:
    """Return the differing rows, or the sentence that the answers agree."""
    if not run.phases_having(lambda one: one.reads):
        return missing("The comparison of answers", "this run has no queries")
    work = same_work.of_run(run)
    found = work.comparisons
    rows = []
    for one in found:
        for difference in one.differences:
            sides = ((difference.a_system, difference.a), (difference.b_system, difference.b))
            rows.append(
                [
                    f"{difference.query_type} ({difference.query_id})",
                    place(difference.row) or difference.what,
                    difference.column or "the whole row",
                    *(
                        f"{run.title(system)}, trial {trial.rpartition('/')[2]}: {quantity.fact_text(value)}"
                        for (system, value), trial in zip(sides, difference.trials, strict=True)
                    ),
                ]
            )
    if rows:
        caption = (
            f"The first {SHOWN} of {sum(one.differing for one in found)} differences"
            if len(rows) > SHOWN
            else ""
        )
        return Table(["Query", "Row", "Column", "One answer", "Another"], rows[:SHOWN], caption)
    if faults := same_work.faults(run):
        return Markdown(escape_markdown(f"The answers cannot be compared: {reasons.sentence(faults)}."))
    queries = sum(one.queries for one in found)
    compared = sum(one.compared for one in found)
    if not compared:
        return missing("The comparison of answers", "only one answer to each query was recorded")
    few = sorted({name for one in found for name in one.too_few})
    note = f" Fewer than 20 queries were compared for {escape_markdown(', '.join(few))}." if few else ""
    agree = f"The answers to {quantity.counted(queries, 'query', 'queries')} agree."
    return Markdown(
        f"{agree} For each query, the answers of all other trials were compared with the answer of the first trial "
        f"({compared} comparisons): columns and keys are equal, and floats differ by at most "
        f"{quantity.fact_text(work.tolerance)} (relative).{note}"
    )
