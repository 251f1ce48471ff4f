"""``bench compare A B [C ...]``: compare two runs, or the runs of one experiment on several machines."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchbook.cli import options, table
from benchbook.errors import RequestError
from benchbook.plan.plan import short_labels_of

if TYPE_CHECKING:
    from benchbook.analyse.machines import Finding, Machines, Result
    from benchbook.analyse.run import Run

MEAN = "mean over machines"
"""Stands for a machine in the row of a summary."""


def command(
    a: Annotated[
        str,
        typer.Argument(metavar="A", help=f"The baseline. {options.RUN_HELP}"),
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="The run to compare with it, named in the same way.")],
    others: Annotated[
        list[str] | None,
        typer.Argument(
            metavar=options.optional("C"), help="More runs of the experiment, from other machines."
        ),
    ] = None,
    across: Annotated[
        bool,
        typer.Option(
            "--across", help="Compare the runs even if their data, query sets or configurations differ."
        ),
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Show every metric of which higher or lower is better.")
    ] = False,
    results: options.Results = options.DEFAULT_RESULTS,
    as_json: options.Json = False,
) -> None:
    """Compare two runs, machines or versions.

    Shows how the runs differ (machine, versions, settings). Then shows the ratio B/A with its 95 % CI, for each cell
    and metric. For runs of one experiment on several machines, shows whether an answer depends on the machine.
    """
    from benchbook.analyse import two_runs
    from benchbook.record.opened import opened

    names = [a, b, *(others or [])]
    if others and every:
        raise RequestError(
            "--all shows metrics of two runs, and these are more.", "Leave out --all, or name two runs."
        )
    with opened(results, *names) as runs:
        if others:
            _show_machines(_machines(_named(names, runs.results, runs.run_ids), across), as_json)
            return
        found = two_runs.compare(runs.results, *runs.run_ids, across=across, every=every)
        several = None if as_json else _if_two_machines(_named(names, runs.results, runs.run_ids), across)
    if as_json:
        for note in found.notes:
            print(f"bench: {note}", file=sys.stderr)
        table.show(rows(found), as_json=True)
        return
    print(f"A  {found.a}\nB  {found.b}\n")
    print("How the runs differ:")
    table.show(
        [{"group": each.group, "what": each.what, "A": each.a, "B": each.b} for each in found.differences],
        as_json=False,
        empty="no recorded difference",
    )
    print()
    whys = _show_changes(rows(found))
    print()
    for why, number in whys.items():
        print(f"{number}: {why}")
    for note in found.notes:
        print(note)
    if several:
        print()
        _show_machines(several, as_json=False)


INSTEAD = " → "
"""Joins the cells of the two runs where they differ."""


def _show_changes(changes: list[dict[str, Any]]) -> dict[str, int]:
    """Print a row for each cell and metric, without what all share; return reasons with their numbers in the rows."""
    sides = short_labels_of(side for row in changes for side in row["cell"].split(INSTEAD))
    whys = {
        why: number
        for number, why in enumerate(dict.fromkeys(row["reason"] for row in changes if row["reason"]), 1)
    }
    table.show_differing(
        [
            _shown(
                {
                    **row,
                    "cell": INSTEAD.join(sides[side] for side in row["cell"].split(INSTEAD)),
                    "reason": whys.get(row["reason"], ""),
                }
            )
            for row in changes
        ],
        as_json=False,
        empty="no metric was measured in both runs",
    )
    return whys


def _named(names: list[str], results: Path, run_ids: tuple[str, ...]) -> dict[str, Run]:
    """Return the runs by the name of their machine: that of an exported folder, otherwise the run's id."""
    from benchbook.analyse.run import Run
    from benchbook.record.opened import is_folder

    labels = [
        Path(name).resolve().name if is_folder(name) else one
        for name, one in zip(names, run_ids, strict=True)
    ]
    if len(set(labels)) < len(labels):
        labels = list(run_ids)
    if len(set(labels)) < len(labels):
        raise RequestError(f"A run is named twice: {', '.join(labels)}.", "Name each run once.")
    return {label: Run(results, one) for label, one in zip(labels, run_ids, strict=True)}


def _machines(runs: dict[str, Run], across: bool) -> Machines:
    from benchbook.analyse import machines

    found = machines.of_runs(runs, across=across)
    if found.left_out:
        why = "; ".join(f"{name}: {said}" for name, said in found.left_out.items())
        raise RequestError(
            f"These runs did other work than {next(iter(runs))}: {why}.",
            "Leave them out, or add --across to compare them anyway.",
        )
    return found


def _if_two_machines(runs: dict[str, Run], across: bool) -> Machines | None:
    """Return what two runs show as those of two machines; None unless they are of one experiment and two processors."""
    from benchbook.analyse import machines

    one, two = runs.values()
    if (
        one.experiment != two.experiment
        or one.processor is None
        or two.processor is None
        or one.processor.same(two.processor)
    ):
        return None
    if one.against_itself or two.against_itself:
        return None
    found = machines.of_runs(runs, across=across)
    return found if len(found.runs) > 1 else None


def _show_machines(found: Machines, as_json: bool) -> None:
    """Show each answer on each machine, and the mean over machines."""
    from benchbook.report import holding
    from benchbook.report.machines import counted

    by_finding = [(one, _of_machines(one)) for one in found.findings]
    if as_json:
        table.show([row for _, rows in by_finding for row in rows], as_json=True)
        return
    print(found.sentence)
    for one, rows in by_finding:
        print(f"\n{one.statement.rstrip('.')}: {counted(one)}")
        table.show(
            [
                {
                    "machine": row["machine"],
                    "answer": holding.said(said),
                    "ratio": "" if row["ratio"] is None else f"{row['ratio']:.3g}",
                    "95 % CI": _between(row["low"], row["high"]),
                    "new machine": _between(row["predicted_low"], row["predicted_high"]),
                    "I²": "" if row["i_squared"] is None else f"{100 * row['i_squared']:.0f} %",
                }
                for row, said in zip(rows, [*one.said, ""], strict=False)
            ],
            as_json=False,
        )
    for names in found.same_processor:
        print(f"\nOne processor, by the facts of the runs: {', '.join(names)}.")


def _of_machines(one: Finding) -> list[dict[str, Any]]:
    """Return a row for each machine, and one for the mean over them."""
    from benchbook.report import reasons

    empty = {"predicted_low": None, "predicted_high": None, "i_squared": None}
    found: list[dict[str, Any]] = [
        {
            "id": one.id, "statement": one.statement, "machine": result.machine,
            **_answers(result), "verdict": result.verdict,
            "ratio": result.value, "low": result.low, "high": result.high, **empty,
            "reason": reasons.sentence(result.because),
        }
        for result in one.results
    ]  # fmt: skip
    if made := one.summary:
        low, high = map(math.exp, made.fit.interval())
        predicted = made.prediction()
        ends = (None, None) if predicted is None else (math.exp(predicted[0]), math.exp(predicted[1]))
        found.append(
            found[0]
            | {
                "machine": MEAN,
                "holds": None,
                "size": None,
                "verdict": "",
                "ratio": math.exp(made.fit.centre),
                "low": low,
                "high": high,
            }
            | {"predicted_low": ends[0], "predicted_high": ends[1]}
            | {"i_squared": made.i_squared, "reason": ""}
        )
    return found


def _answers(result: Result) -> dict[str, str | None]:
    """Return the answers on a claim as codes; a comparison has none."""
    return {"holds": None, "size": None} if result.answer is None else dict(result.answer._asdict())


def _between(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.3g}-{high:.3g}"


def rows(found: Any) -> list[dict[str, Any]]:
    """Return the rows of ``--json``: one for each cell and metric."""
    from benchbook.report import reasons

    return [
        {
            **asdict(change), "reason": reasons.sentence(change.reasons),
            "reasons": [held.row() for held in change.reasons],
        }
        for change in found.changes
    ]  # fmt: skip


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for display."""
    interval = "" if row["low"] is None else f"{row['low']:.3f}-{row['high']:.3f}"
    return {
        "cell": row["cell"],
        "phase": row["phase"],
        "metric": row["metric"],
        "A": table.shown(None if row["a"] is None else float(f"{row['a']:.4g}")),
        "B": table.shown(None if row["b"] is None else float(f"{row['b']:.4g}")),
        "unit": row["unit"],
        "B/A": "" if row["ratio"] is None else f"{row['ratio']:.3f}",
        "95 % CI": interval,
        "effect": "" if row["effect"] is None else f"{row['effect']:+.1f}",
        "trials": f"{row['a_trials']}, {row['b_trials']}",
        "B is": row["said"],
        "why": row["reason"],
    }
