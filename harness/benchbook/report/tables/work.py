"""Tables of the work done: checks, answers, refused writes, trials, and gaps among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from benchbook.analyse import limits, quantity, same_work
from benchbook.analyse.answers import Disagreement
from benchbook.analyse.cells import labelled
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.report import answer, links, typed
from benchbook.report.table import Block, Details, Entry, Link, Markdown, Table, escape_markdown, missing

MOST = 30
"""Most failed checks in the table."""


def checks_table(run: Run) -> Table | Markdown:
    """Return a row for each cell in which a trial, a check or an operation failed, and a caption for the others.

    An operation that was sent again counts as well, although it succeeded in the end.
    """
    trials = run.frame("trials").select("trial_id", "cell")
    errors = trials.join(run.frame("errors"), on="trial_id", how="inner")
    refused, again = run.summed("rows_refused"), run.summed("retries")
    rows, sound = [], 0
    for one in labelled(run):
        passed, wrong = run.checks.get(one.name, (0, 0))
        failed = errors.filter(pl.col("cell") == one.name)["operations"].sum()
        refused_rows = refused.get(one.name)
        retries = again.get(one.name)
        if one.ok == one.trials and not (wrong or failed or refused_rows or retries):
            sound += 1
            continue
        rows.append(
            [
                one.label,
                f"{one.ok} of {one.trials}",
                quantity.count(passed),
                quantity.count(wrong),
                quantity.count(float(failed or 0)),
                quantity.count(float(retries or 0)),
                quantity.count(float(refused_rows or 0)),
            ]
        )
    if not rows and not sound:
        return missing("The checks", "the run has no trials")
    setups = "setup" if sound == 1 else "setups"
    if not rows:
        return Markdown(f"No trial, check or operation failed in any of {sound} {setups}.")
    columns = [
        "System",
        "Valid trials",
        "Passed checks",
        "Failed checks",
        "Failed operations",
        "Operations sent again",
        "Refused rows",
    ]
    caption = f"In the other {sound} {setups}, no trial, check or operation failed" if sound else ""
    return Table(columns, rows, caption, numeric=frozenset(columns[1:]))


def failed(run: Run) -> Table | Markdown:
    """Return the failed checks and operations, or a sentence if there are none."""
    labels = {one.name: one.label for one in labelled(run)}
    trials = run.frame("trials").select("trial_id", "cell")
    rows = [
        [
            row["trial_id"].rpartition("/")[2],
            labels[row["cell"]],
            row["name"],
            quantity.fact_text(row["expected"]),
            quantity.fact_text(row["found"]),
        ]
        for row in run.failed_checks().to_dicts()
    ]
    alike = ("cell", "phase", "kind", "message")
    errors = trials.join(run.frame("errors"), on="trial_id", how="inner").group_by(alike, maintain_order=True)
    rows += [
        [
            _trials(row["trial_id"]),
            labels[row["cell"]],
            f"{row['phase']}: {row['kind']}",
            "no failed operation",
            f"{_operations(row['operations'])}: {quantity.fact_text(row['message'])}",
        ]
        for row in errors.agg(pl.col("trial_id").unique(), pl.col("operations").sum()).to_dicts()
    ]
    if not rows:
        return Markdown("No check failed and no operation failed.")
    caption = f"The first {MOST} of {len(rows)}" if len(rows) > MOST else ""
    return Table(["Trial", "System", "What", "Expected", "Found"], rows[:MOST], caption)


def _trials(ids: Sequence[str]) -> str:
    """Return the number of a trial; of several, how many they are."""
    return f"{len(ids)} trials" if len(ids) > 1 else ids[0].rpartition("/")[2]


def _operations(number: float) -> str:
    return "1 operation" if number == 1 else f"{quantity.count(number)} operations"


def checks(run: Run) -> Markdown | Block:
    """Return one sentence if every check passed and no operation failed or was sent again, else the tables."""
    failing = failed(run)
    if isinstance(failing, Table) or any(run.summed("retries").values()):
        parts = [checks_table(run), failing]
        written = [part.markdown() if isinstance(part, Table) else part.markdown for part in parts]
        return Block("".join(part.html() for part in parts), "\n\n".join(written))
    passed = sum(passed for passed, _ in run.checks.values())
    if not passed:
        return missing("The list of checks", "the run recorded none")
    trials = run.frame("trials").filter(pl.col("status") != "skipped").height
    every = f"{quantity.counted(passed, 'check')} of {quantity.counted(trials, 'trial')}"
    return Markdown(f"All {every} passed, and no operation failed.")


SHOWN = 12
"""Rows of answers in ``side_by_side``."""


def matrix(run: Run) -> Table | Markdown:
    """Return a row for each system and a column for each query type: how many answers agree with most systems."""
    found = same_work.of_run(run).validated
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
            elif one.undecided:
                cells.append(f"undecided, {one.undecided} of {one.queries}")
            else:
                parts = [f"differs, {one.differing} of {one.queries}"] if one.differing else []
                parts += [f"no answer, {one.unanswered} of {one.queries}"] if one.unanswered else []
                cells.append("; ".join(parts))
        rows.append([_named(run, *judged), *cells])
    caption = (
        "Answers that agree with those of most systems: columns and keys are equal, and floats differ by at most "
        f"{quantity.fact_text(same_work.of_run(run).tolerance)} (relative)"
    )
    return Table(["System", *kinds], rows, caption)


def agreement_sentence(run: Run) -> Markdown:
    """Return a sentence or two on how many systems gave the same answers, and which did not."""
    found = same_work.of_run(run).validated
    given = [one for one in _order(run) if any((each.system, each.arm) == one for each in found)]
    if len({system for system, _ in given}) < 2:
        return missing("The validation of answers", "fewer than two systems gave answers")
    others = {
        judged: sum(one.queries - one.same for one in found if (one.system, one.arm) == judged)
        for judged in given
    }
    asked = sum(one.queries for one in found if (one.system, one.arm) == given[0])
    sentences = f"Of {len(given)} systems (counting each configuration), "
    sentences += f"{list(others.values()).count(0)} gave the same answers to all {asked} compared queries."
    for judged, differing in others.items():
        if differing:
            sentences += f" {_named(run, *judged)}: a different answer, or none, to {differing} of them."
    return Markdown(escape_markdown(sentences))


def side_by_side(run: Run) -> Table | Markdown:
    """Return the first rows of the answers to one query, a column for each system."""
    for group in same_work.of_run(run).groups:
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
    return missing("The answers side by side", "no answer with rows was recorded")


def differences(run: Run) -> Table | Markdown:
    """Return the first difference of each system from most systems; a sentence if there is none."""
    rows = []
    for one in same_work.of_run(run).validated:
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
                    _side(place, place.b), f"{run.title(place.a_system)}: {_side(place, place.a)}",
                ]
            )  # fmt: skip
    if rows:
        return Table(["System", "Query type", "Query", "Row", "Its value", "Value of most systems"], rows)
    return answer.table(run)


def _order(run: Run) -> list[tuple[str, str]]:
    """Return systems with their arms in the order of charts."""
    return list(dict.fromkeys((cell.system, cell.arm) for cell in labelled(run)))


def _named(run: Run, system: str, arm: str) -> str:
    """Return a system's title, with the arm if the run has several of the system."""
    title = run.title(system)
    return f"{title}, {arm}" if len({c.arm for c in labelled(run) if c.system == system}) > 1 else title


def _moment(key: tuple[object, object]) -> str:
    from datetime import UTC, datetime

    time_ns, host = key
    shown = datetime.fromtimestamp(int(str(time_ns)) / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return f"{shown} {host}" if host else shown


def _side(place: Disagreement, side: object) -> str:
    """Return the text of one side of a difference; for a row that one side lacks, the values next to its key."""
    if place.what != "row":
        return _value(side)
    if not isinstance(side, list):
        return "no row"
    beside = [value for value in side if value is not None and value not in place.row.values()]
    return ", ".join(_value(value) for value in beside)


def _value(value: object) -> str:
    return repr(value) if isinstance(value, float) else quantity.fact_text(value)


def refusals_table(run: Run, phase: str = "load") -> Table | Markdown:
    """Return a row for each cell and kind of refused write; a sentence if every write was acknowledged."""
    import polars as pl

    named = run.frame("trials").select("trial_id", "cell", "status")
    found = run.frame("errors").filter(pl.col("phase") == phase).join(named, on="trial_id", how="inner")
    if found.is_empty():
        return Markdown("Every write of every trial was acknowledged.")
    sent = _sent(run, phase)
    lines = []
    for cell in labelled(run):
        own = found.filter(pl.col("cell") == cell.name)
        for (kind, status, message), group in own.group_by("kind", "status", "message", maintain_order=True):
            trials = group["trial_id"].unique().to_list()
            rows = int(group["rows"].sum())
            whole = sum(sent.get(trial, 0.0) for trial in trials)
            answer = f" ({status})" if status not in (None, "0", "None") else ""
            lines.append(
                [
                    cell.label, str(len(trials)), f"{kind}{answer}", str(message),
                    f"{int(group['operations'].sum()):,}",
                    f"{rows:,}", quantity.percent(rows / whole) if whole else quantity.MISSING,
                ]
            )  # fmt: skip
    columns = ["System", "Trials", "Kind", "Server's message", "Writes", "Rows", "Share of sent rows"]
    return Table(columns, lines, numeric=frozenset({"Trials", "Writes", "Rows", "Share of sent rows"}))


def _sent(run: Run, phase: str) -> dict[str, float]:
    """Return trial → rows sent, acknowledged or not."""
    found: dict[str, float] = {}
    for metric in ("rows", "rows_refused"):
        for trial, value in run.by_trial(phase, metric).items():
            found[trial] = found.get(trial, 0.0) + value
    return found


def gaps_table(run: Run) -> Table | Markdown:
    """Return a row for each failed or invalid trial, and for each reason why trials of a system were skipped.

    The last row counts trials that did not run. Returns a sentence if every trial is valid.
    """
    trials = run.frame("trials")
    bad = trials.filter(pl.col("status") != "ok")
    planned = run.info["planned_trials"]
    undone = (planned or trials.height) - trials.height
    if bad.is_empty() and undone <= 0:
        return Markdown(f"Valid: all {quantity.counted(trials.height, 'trial')} of the run.")
    labels = {one.name: one for one in labelled(run)}
    together: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in bad.to_dicts():
        alone = () if row["status"] == "skipped" else (row["trial_id"],)
        reason = row["reason"] or "no reason recorded"
        together.setdefault((labels[row["cell"]].system, row["status"], reason, *alone), []).append(row)
    rows = [
        _row(run, labels[held[0]["cell"]], held, status, reason)
        for (_, status, reason, *_), held in together.items()
    ]
    if undone > 0:
        rows.append(
            [
                f"{undone} more",
                "",
                "",
                "not run",
                f"the run is not finished; continue it with: {typed.command(run, 'resume')}",
            ]
        )
    return Table(
        ["Trial", "System", "Block", "Status", "Reason"], rows, numeric=frozenset({"Block"}), stacked=True
    )


def _row(run: Run, one: Cell, held: list[dict[str, Any]], status: str, reason: str) -> list[Entry]:
    if len(held) == 1:
        number = Link(held[0]["trial_id"].rpartition("/")[2], links.address(held[0]["trial_id"]))
        return [number, one.label, str(held[0]["block"] + 1), status, reason]
    blocks = sorted({int(row["block"]) + 1 for row in held})
    shown = f"{blocks[0]} to {blocks[-1]}" if len(blocks) > 1 else str(blocks[0])
    return [f"{len(held)} trials", run.title(one.system), shown, status, reason]


MOST_TRIALS = 1000
"""Most rows of the list of trials: a browser takes seconds for more."""


def trials_table(run: Run) -> Details | Markdown:
    """Return a row for each of the first trials, in order: its position, status and times."""
    count = run.frame("trials").height
    trials = run.frame("trials").head(MOST_TRIALS).to_dicts()
    if not trials:
        return missing("The list of trials", "the run has no trials")
    labels = {one.name: one.label for one in labelled(run)}
    rows: list[list[Entry]] = [
        [
            Link(row["trial_id"].rpartition("/")[2], links.address(row["trial_id"])),
            str(row["block"] + 1),
            str(row["position"] + 1),
            labels[row["cell"]],
            row["status"],
            quantity.text(row["duration_seconds"], "s"),
            quantity.text(row["start_seconds"], "s"),
            quantity.text(row["overhead_seconds"], "s"),
            row["cache_state"] or "unknown",
            limits.pace_of_trial(run, row["trial_id"]) or quantity.MISSING,
        ]
        for row in trials
    ]
    columns = [
        "Trial", "Block", "Position", "System", "Status", "Duration", "Start", "Harness", "Caches", "Pace",
    ]  # fmt: skip
    numeric = frozenset({"Block", "Position", "Duration", "Start", "Harness"})
    which = f"All {count}" if count == len(rows) else f"The first {len(rows):,} of {count:,}"
    return Details(f"{which} trials in order", Table(columns, rows, numeric=numeric))
