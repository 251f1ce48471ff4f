"""Summarise a finished run on one screen: verdicts, noise floors or a comparison of sources; then next steps."""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.cli import table
from benchbook.declare.catalogue import Catalogue, root
from benchbook.declare.program_origin import FORMS, lacks_origin
from benchbook.errors import BenchbookError, command
from benchbook.plan.factors import FROM, SOURCE
from benchbook.plan.plan import Plan
from benchbook.record import folder, ledger
from benchbook.record.argv import parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchbook.analyse.run import Run
    from benchbook.site.outcome import Outcome

MOST_ROWS = 12
"""Number of verdicts to list; the report lists all of them."""
WIDEST = 72
"""Characters of a line of a statement."""


def show(made: Plan, results: Path) -> None:
    """Print the results of a finished run, and commands that show more."""
    if made.against_itself:
        _show_floors(results, made.run_id)
    elif SOURCE in made.trials[0].levels:
        _show_sources(results, made.run_id)
    else:
        _show_verdicts(results, made)
    print()
    steps = _next_steps(made, results)
    width = max(len(typed) for typed, _ in steps)
    for typed, purpose in steps:
        print(f"  {typed:<{width}}  {purpose}")
    print()


def show_missing_origins(made: Plan, results: Path) -> None:
    """Report the programs given by their paths of which the run does not state where they come from."""
    from benchbook.analyse.wording import listing

    programs = _facts(made, results).get("programs") or {}
    lacking = [name for name, program in programs.items() if program and lacks_origin(program)]
    if lacking:
        example = f"--origin '{lacking[0].partition(FROM)[0]}={FORMS[0]}'"
        print(
            f"bench: nothing states where the program of {listing(lacking)} comes from, so others cannot get it.\n"
            f"  State it in the next run: {example} (docs/pinning.md)",
            file=sys.stderr,
        )


def _show_verdicts(results: Path, made: Plan) -> None:
    """Print the claims of a run with their verdicts; for a run without claims, its comparisons."""
    from benchbook.analyse import comparison
    from benchbook.analyse.run import open_run
    from benchbook.report import limits
    from benchbook.site.outcome import outcomes

    try:
        run = open_run(results, made.run_id)
        found = outcomes(run)
    except BenchbookError as error:
        print(error)
        return
    if not found:
        none = "no claim could be judged" if run.declared.get("claims") else "the run has no claims"
        print(f"No answer: {none}, and no two systems gave comparable results.")
        return
    if looks := limits.looks(run):
        print(looks)
    claimed = any(one.word for one in found)
    if run.declared.get("claims") and not claimed:
        print("None of the claims is about the setups of this run, so its comparisons follow.")
    unfit = [] if claimed else [one.pair.unfit for one in comparison.judged(run) if one.pair.unfit]
    if short := sum(one.code == "short-phase" for one in unfit):
        others = f"; `{command(f'run {made.experiment}')}` has longer ones" if made.profile == "smoke" else ""
        without = "1 comparison has" if short == 1 else f"{short} comparisons have"
        print(f"{without} no verdict, because of a phase that lasted under 1 s{others}.")
    counts = Counter(one.word or one.verdict for one in found)
    head = "Answers" if claimed else "Verdicts"
    print(f"{head}: {'; '.join(f'{count} {said}' for said, count in counts.items())}\n")
    show_rows(found[:MOST_ROWS], claimed=claimed, level="CI" if made.sequential else "95 % CI")
    if len(found) > MOST_ROWS:
        print(f"… and {len(found) - MOST_ROWS} more in the report")
    if claimed:
        _show_how_to_know_more(run, made, results)
    elif counts[comparison.UNDECIDED]:
        _show_how_to_decide(run, made, results, counts[comparison.UNDECIDED])
    tested = ("better", "worse", comparison.UNDECIDED, comparison.NO_DIFFERENCE)
    family = sum(one.verdict in tested for one in found)
    if family > 1:
        correction = f"Each verdict allows for {family} comparisons (Holm's correction)"
        print(f"{correction}, so it is stricter than its interval.")


def _show_how_to_know_more(run: Run, made: Plan, results: Path) -> None:
    """Print what a run with claims needs: other processors, and trials enough for an interval."""
    from benchbook.analyse import same_work
    from benchbook.analyse.model import FEWEST

    if here := _resting_here(run):
        rests = "1 of these answers rests" if here == 1 else f"{here} of these answers rest"
        print(f"{rests} on runs of this processor. More trials do not show what holds on others;")
        again = f"run {made.experiment} --again"
        there = again if _published(made.experiment) else _repeated("run", made, results)
        print(f"a run there does: {command(there)}")
    if made.trials_per_cell < FEWEST and not same_work.faults(run):  # more trials do not make answers equal
        smoke = made.profile == "smoke"
        enough = f"run {made.experiment}" if smoke else f"{_repeated('run', made, results)} --trials {FEWEST}"
        print(f"A setup needs {FEWEST} trials for an interval, and so for most answers:\n  {command(enough)}")


def show_rows(found: Sequence[Outcome], *, claimed: bool, level: str) -> None:
    """Print a row for each answer on a claim, or for each comparison of a run without claims."""
    # A comparison without a claim is shown so that above 1 is better, as on its page.
    interval = f"{'ratio' if claimed else 'times as good'} ({level})"
    rows = [
        {
            "what": lines(one.brief or one.statement),
            "answer" if claimed else "verdict": one.word or one.verdict,
            interval: one.ratio(),
        }
        for one in found
    ]
    table.show(rows, as_json=False)


def lines(statement: str) -> str:
    """Return a statement whole, in lines that fit the table."""
    return textwrap.fill(statement, WIDEST)


def _show_how_to_decide(run: Run, made: Plan, results: Path, number: int) -> None:
    """Print the command with which the undecided comparisons would be decided, and how long it takes."""
    from benchbook.analyse import comparison
    from benchbook.plan.budget import estimate_seconds

    found = comparison.trials_to_decide(run)
    if found is None:
        return
    trials, decided = found
    minutes = estimate_seconds(results, made) / made.trials_per_cell * trials / 60
    which = "what is undecided" if number == 1 else f"{decided} of the {number} undecided"
    print(f"To decide {which}, if the ratios are as measured (about {minutes:.0f} min):")
    print(f"  {command(_repeated('run', made, results))} --trials {trials}")


KEPT = ("--set", "--system", "--origin", "--results", "--cluster")
"""Options that say what a run does; one that is suggested does the same."""


def _facts(made: Plan, results: Path) -> dict[str, Any]:
    """Return what ``run.json`` holds; nothing of a run that was removed meanwhile."""
    try:
        return folder.read_object(results / "runs" / made.run_id / folder.RUN_FILE)
    except (BenchbookError, ValueError):
        return {}


def _given(facts: dict[str, Any]) -> list[str]:
    """Return the words of the command that made a run."""
    argv = facts.get("argv")
    return list(map(str, argv)) if isinstance(argv, list) else []


def _published(slug: str) -> list[ledger.Entry]:
    """Return the published runs of an experiment on the machine of the project."""
    return [one for one in ledger.entries(root() / ledger.DATA / slug)[0] if one.export.machine is None]


def _repeated(verb: str, made: Plan, results: Path) -> str:
    """Return a command on the experiment of a run, with the options that the run was given."""
    given = _given(_facts(made, results))
    if "--again" in given and (published := ledger.shown(_published(made.experiment))):
        given += _given(folder.read_object(published.export.folder / folder.RUN_FILE))
    words = [verb, made.experiment]
    if made.profile != "quick":
        words += ["--profile", made.profile]
    for one in parts(given, KEPT):
        if one.option and (verb, one.option) != ("aa", "--cluster"):  # an A/A run is of one machine
            words += one.words
    return shlex.join(words)


def _resting_here(run: Run) -> int:
    """Return the number of claims whose answer rests on runs of one processor."""
    from benchbook.analyse import claims, grade

    return sum(grade.reading(one).here for one in claims.over(run))


def _show_floors(results: Path, run_id: str) -> None:
    """Print the noise floors of the main metrics of an A/A run."""
    from benchbook.analyse import noise
    from benchbook.analyse.run import Run
    from benchbook.declare.metric import is_main
    from benchbook.report import reasons

    rows = [
        {
            "cell": row["cell"],
            "phase": row["phase"],
            "metric": row["metric"],
            "trials": row["trials"],
            "A/B": row["ratio"],
            "noise floor": f"{row['percent']:.1f} %"
            if row["percent"] is not None
            else reasons.text(row["reason"]),
        }
        for row in noise.rows(noise.measured(Run(results, run_id)))
        if is_main(row["metric"])
    ]
    table.show(rows, as_json=False, empty="No noise floor: no trial of this run counts.")


def _show_sources(results: Path, run_id: str) -> None:
    """Compare a system from one source, such as a container, with the same system from another."""
    from benchbook.analyse import two_runs
    from benchbook.analyse.reason import Reason
    from benchbook.analyse.run import Run
    from benchbook.report import reasons

    rows = [
        {name: reasons.text(held) if isinstance(held, Reason) else held for name, held in row.items()}
        for row in two_runs.rows(Run(results, run_id))
    ]
    table.show(rows, as_json=False, empty="No cell ran from two sources.")


def _next_steps(made: Plan, results: Path) -> list[tuple[str, str]]:
    """Return the commands that show more of a run, each with its purpose."""
    from benchbook.record import runs, trial

    steps = []
    faulty = (
        one
        for one in trial.read_all(results / "runs" / made.run_id, lambda _: None)
        if one["status"] in ("failed", "invalid")
    )
    if (first := next(faulty, None)) is not None:
        steps.append((command(f"show {first['trial_id']}"), f"the first trial that is {first['status']}"))
    if made.against_itself:
        steps.append(
            (
                command(_repeated("run", made, results)),
                "a run whose verdicts include this noise, if it is more than chance",
            )
        )
    else:
        if Catalogue().experiment(made.experiment).claims:
            steps.append((command(f"claims {made.run_id}"), "each claim with its reason"))
        else:
            steps.append((command(f"report {made.run_id}"), "the report again, with every comparison"))
        if not any(
            one.against_itself and (one.experiment, one.profile) == (made.experiment, made.profile)
            for one in runs.all_runs(results)
        ):
            floor = command(_repeated("aa", made, results))
            steps.append(
                (floor, "how much equal setups differ here; verdicts include it if it is more than chance")
            )
    steps.append((command(f"export {made.run_id}"), "the run as files, to keep or to give to others"))
    return steps
