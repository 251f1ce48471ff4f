"""The fifth phase of the suite: which systems gave the same answers, and side by side where they did not."""

from __future__ import annotations

from benchbook.analyse.answers import Difference
from benchbook.report import answer, fact
from benchbook.report import cell as cells_of
from benchbook.report.markup import escape_markdown
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing

SHOWN = 12
"""Rows of answers that are put side by side."""


def matrix(run: Run) -> Table | Words:
    """Return one row a system and one column a query type: how many of its answers are those of most systems."""
    found = answer.validated(run)
    if not found or len({one.system for one in found}) < 2:
        return missing("The validation of answers", "fewer than two systems gave answers")
    kinds = sorted({one.query_type for one in found})
    rows = []
    for judged in _order(run):
        held = {one.query_type: one for one in found if (one.system, one.arm) == judged}
        if not held:
            continue
        cells = []
        for kind in kinds:
            one = held.get(kind)
            if one is None:
                cells.append("not asked")
            elif one.ok:
                cells.append(f"same, {one.same} of {one.queries}")
            elif one.alone:
                cells.append(f"undecided, {one.alone} of {one.queries}")
            else:
                said = [f"differs, {one.differing} of {one.queries}"] if one.differing else []
                said += [f"no answer, {one.unanswered} of {one.queries}"] if one.unanswered else []
                cells.append("; ".join(said))
        rows.append([_named(run, *judged), *cells])
    caption = (
        "Answers that are the same as those of most systems: columns and keys equal, floats within a relative "
        f"difference of {fact.text(answer.tolerance(run))}"
    )
    return Table(["System", *kinds], rows, caption)


def words(run: Run) -> Words:
    """Say in a sentence or two how many systems gave the same answers, and which did not."""
    found = answer.validated(run)
    given = [one for one in _order(run) if any((each.system, each.arm) == one for each in found)]
    if len({system for system, _ in given}) < 2:
        return missing("The validation of answers", "fewer than two systems gave answers")
    others = {
        judged: sum(one.queries - one.same for one in found if (one.system, one.arm) == judged)
        for judged in given
    }
    asked = sum(one.queries for one in found if (one.system, one.arm) == given[0])
    said = f"Of {len(given)} systems, each of their arms counted, "
    said += (
        f"{list(others.values()).count(0)} gave the same answers to all {asked} queries that were compared."
    )
    for judged, differing in others.items():
        if differing:
            said += f" {_named(run, *judged)} gave others, or none, to {differing}."
    return Words(escape_markdown(said))


def side_by_side(run: Run) -> Table | Words:
    """Return the first rows of one query's answers, one column a system, as the suite prints them side by side."""
    for group in answer.groups(run):
        asked = min(((one.query_type, one.query_id) for one in group.answers if one.rows), default=None)
        if asked is None:
            continue
        first = {
            (one.system, one.arm): one for one in group.answers if (one.query_type, one.query_id) == asked
        }
        held = {_named(run, *judged): first[judged] for judged in _order(run) if judged in first}
        columns = {
            name: {(row[0], row[1]): row[2] for row in one.rows if len(row) > 2} for name, one in held.items()
        }
        keys = sorted({key for one in columns.values() for key in one}, key=repr)[:SHOWN]
        rows = [
            [_moment(key), *(_value(column.get(key, "no row")) for column in columns.values())]
            for key in keys
        ]
        heads = list(columns)
        caption = f"The answers to query {asked[1]} of type {asked[0]}: the first {len(rows)} rows"
        return Table(["Bucket (UTC)", *heads], rows, caption, frozenset(heads))
    return missing("Answers side by side", "no answer with rows was recorded")


def differences(run: Run) -> Table | Words:
    """Return where each system first differs from most; a sentence where none does."""
    rows = []
    for one in answer.validated(run):
        if one.example is not None:
            place = one.example
            key = (
                _moment((place.row["time_ns"], place.row.get("host")))
                if "time_ns" in place.row
                else place.what
            )
            rows.append(
                [
                    _named(run, one.system, one.arm), one.query_type, str(place.query_id), key,
                    _side(place, place.b), f"{cells_of.title(run, place.a_system)}: {_side(place, place.a)}",
                ]
            )  # fmt: skip
    if rows:
        return Table(["System", "Query type", "Query", "Row", "Its value", "The value of most"], rows)
    return answer.table(run)


def _order(run: Run) -> list[tuple[str, str]]:
    """Return systems with their arms in the order that they have in every chart."""
    return list(dict.fromkeys((cell.system, cell.arm) for cell in cells_of.cells(run)))


def _named(run: Run, system: str, arm: str) -> str:
    """Return a system's title, with the arm where the run has several of it."""
    title = cells_of.title(run, system)
    return f"{title}, {arm}" if len({c.arm for c in cells_of.cells(run) if c.system == system}) > 1 else title


def _moment(key: tuple[object, object]) -> str:
    from datetime import UTC, datetime

    time_ns, host = key
    shown = datetime.fromtimestamp(int(str(time_ns)) / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return f"{shown} {host}" if host else shown


def _side(place: Difference, side: object) -> str:
    """Return one side of a difference; of a row that only one has, what stands beside its key."""
    if place.what != "row":
        return _value(side)
    if not isinstance(side, list):
        return "no row"
    beside = [value for value in side if value is not None and value not in place.row.values()]
    return ", ".join(_value(value) for value in beside)


def _value(value: object) -> str:
    return repr(value) if isinstance(value, float) else fact.text(value)
