"""``bench gate X --base A --head B``: is the head slower? An answer with a known error."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchbook.cli import gate_of_commands as of_commands
from benchbook.cli import options, vs
from benchbook.errors import RequestError, suggestion, unknown
from benchbook.errors import command as typed

if TYPE_CHECKING:
    from benchbook.declare.catalogue import Catalogue
    from benchbook.plan.gating import Gate
    from benchbook.plan.plan import Plan
    from benchbook.report.gate import Result

SLOWER, OPEN = 5, 6
"""Exit codes."""
TIMES = 3
"""Planned blocks, as a multiple of those that the expected time of a block leaves room for."""
FEWEST_PLANNED = 30
SIDES = ("base", "head")
BETWEEN_SECONDS = 0.5
"""What passes between two trials on a machine with 2 cores; the budget counts it."""


def command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="EXPERIMENT", help="Name of an experiment; or two commands in quotes, base and head."
        ),
    ],
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="NAME[=VERSION|PATH|URL|docker://IMAGE]",
            help="What the head is compared with: a system; a version, program, image or running server of it.",
        ),
    ] = None,
    head: Annotated[
        str | None,
        typer.Option("--head", metavar="NAME[=…]", help="What may be slower, named in the same way."),
    ] = None,
    margin: Annotated[
        str, typer.Option("--margin", metavar="3%", help="The largest loss that is tolerated.")
    ] = "3%",
    budget: Annotated[
        str,
        typer.Option(
            "--budget", metavar="10m", help="Time that all blocks may take, with what is between trials."
        ),
    ] = "10m",
    build: Annotated[
        str | None,
        typer.Option(
            "--build",
            metavar="COMMAND",
            help="Build base and head from git revisions (NAME=REVISION), each twice, with this command for bash.",
        ),
    ] = None,
    program: Annotated[
        str | None,
        typer.Option(
            "--program", metavar="PATH", help="With --build: the program that it makes, in the repository."
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="Metric to judge, such as latency_p99, in every phase that has it. By default, the main metric of each"
            " phase. Repeatable.",
        ),
    ] = None,
    compared: Annotated[
        str | None,
        typer.Option(
            "--compared",
            metavar="output|sorted|lines|nothing",
            help="Of two commands: what must be equal. By default, the output.",
        ),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(
            "--check",
            metavar="COMMAND",
            help="Of two commands: compare the output of this command in bash, which reads that of a run from stdin.",
        ),
    ] = None,
    prepare: Annotated[
        str | None,
        typer.Option(
            "--prepare", metavar="COMMAND", help="Of two commands: run this in bash before each run, untimed."
        ),
    ] = None,
    shell: Annotated[
        str | None,
        typer.Option(
            "--shell", metavar="none|bash", help="Of two commands: start them without a shell, or in bash."
        ),
    ] = None,
    profile: options.Profile = "quick",
    sets: options.Set = None,
    order_seed: options.OrderSeed = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            metavar="FORM=FILE",
            help="Also write the answer to a file; FORM is markdown, junit, bmf (Bencher), github-action-benchmark or"
            " json. Repeatable.",
        ),
    ] = None,
    results: options.Results = options.DEFAULT_RESULTS,
    yes: options.Yes = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Decide whether a head is slower than its base.

    Runs the phases of an experiment, or two commands, with both, block by block, until each metric is decided or the
    budget is spent.
    Not slower: the interval of the loss excludes a loss above the margin. Slower: it excludes that nothing is lost, and
    the estimate is above the margin. Both are wrong in at most 5 % of gates, over all metrics and looks (docs/gate.md).
    Exit codes: 0 not slower; 5 slower; 6 open when the budget was spent; 2 if the request was refused; 3 if a trial was
    skipped; 4 if one failed or is invalid, or if base and head gave different answers; 130 if interrupted.
    """
    from benchbook.cli.carry_out import confirm, store
    from benchbook.declare.catalogue import Catalogue

    files = list(map(_file, output or []))
    stated = {"compared": compared, "check": check, "prepare": [prepare] if prepare else None, "shell": shell}
    around: dict[str, Any] = {name: value for name, value in stated.items() if value is not None}
    if len(words) == 2:
        if base or head:
            raise RequestError(
                "Two commands are base and head themselves.",
                "Leave out --base and --head, or name one experiment.",
            )
        asked = vs.request(words, budget=budget, **around)
        return answered(of_commands.decide(asked, _margin(margin)), files, as_json=as_json)
    if len(words) != 1 or base is None or head is None:
        raise RequestError(
            "A gate needs an experiment with --base and --head, or two commands in quotes.",
            f"{typed('gate EXPERIMENT --base NAME --head NAME')}, or {typed('gate [OPTIONS]')} -- 'COMMAND' 'COMMAND'",
        )
    if around:
        raise RequestError(
            f"--{next(iter(around))} is for a gate on two commands, and {words[0]} is an experiment.",
            "Leave it out: the experiment declares what is run and compared.",
        )
    slug = words[0]
    catalogue = Catalogue()
    made = planned(
        catalogue,
        slug,
        (base, head),
        profile,
        sets,
        order_seed,
        _margin(margin),
        budget,
        metric or [],
        results,
        _built(build, program),
    )
    confirm(results, made, yes)
    store(made, results)
    _show_power(made, results)
    return carry_out(made, results, files, as_json=as_json)


@dataclass(frozen=True)
class Side:
    """Base or head: a system, and the program or server that replaces its own."""

    system: str
    given: str | None = None


def side(text: str, flag: str, catalogue: Catalogue, *, revision: bool = False) -> Side:
    """Return what ``--base`` or ``--head`` names; raise RequestError with the nearest name if there is none."""
    from benchbook.declare.system import ANY

    name, equals, value = text.partition("=")
    if not equals:
        catalogue.path("system", name)
        return Side(name)
    if revision or "://" in value or "/" in value or Path(value).is_file():
        catalogue.path("system", name)
        return Side(name, value)
    systems = {
        one: catalogue.system(one)
        for one in catalogue.names("system")
        if one == name or one.startswith(f"{name}-")
    }
    if not systems:
        catalogue.path("system", name)  # names the nearest one
    versions = {one.version: system for system, one in reversed(systems.items()) if one.version != ANY}
    if value not in versions:
        declared = (
            f"declared are {', '.join(sorted(versions))}" if versions else "none is declared with a version"
        )
        raise RequestError(
            f"{flag} {text}: no declared system of {name} has version {value};"
            f" {declared}{suggestion(value, versions) or '.'}",
            f"Give a program or an image: {flag} {name}=./PATH or {name}=docker://IMAGE.",
        )
    return Side(versions[value])


def planned(
    catalogue: Catalogue, slug: str, texts: tuple[str, str], profile: str, sets: list[str] | None,
    order_seed: int | None, margin: float, budget: str, metrics: list[str], results: Path,
    build: tuple[str, str] | None = None,
) -> Plan:  # fmt: skip
    """Return the plan of a gate; raise RequestError for an invalid request."""
    from benchbook.plan.budget import estimate_seconds
    from benchbook.plan.factors import AA, AA_LABELS, BUILD, FROM, parse_set
    from benchbook.plan.gating import Gate
    from benchbook.plan.plan import MOST_TRIALS, plan
    from benchbook.plan.sequential import FIRST
    from benchbook.plan.sequential import budget as seconds_of
    from benchbook.provision.find import preview
    from benchbook.provision.request import Request
    from benchbook.run.benchload import go_command
    from benchbook.run.content import require_possible

    chosen = parse_set(sets or [])
    if "system" in chosen:
        raise RequestError(
            "--set system=…: a gate compares --base with --head.",
            "Leave it out, and name both systems there.",
        )
    base, head = (
        side(text, flag, catalogue, revision=build is not None)
        for text, flag in zip(texts, ("--base", "--head"), strict=True)
    )
    chosen["system"] = list(dict.fromkeys((base.system, head.system)))
    builds: tuple[str, ...] = ()
    levels: tuple[tuple[str, ...], tuple[str, ...]]
    held = {one.system: one.given for one in (base, head) if one.given is not None}
    if base.system != head.system:
        factor, levels = "system", ((base.system,), (head.system,))
    elif base == head:
        factor, levels = AA, (AA_LABELS[:1], AA_LABELS[1:])
    else:
        factor, levels = BUILD, (SIDES[:1], SIDES[1:])
        builds = SIDES
        held = {
            f"{one.system}{FROM}{name}": one.given
            for name, one in zip(SIDES, (base, head), strict=True)
            if one.given is not None
        }
    seconds = seconds_of(budget)
    if build is not None:
        factor, held = BUILD, _revisions(base, head, build)
        builds = tuple(name.partition(FROM)[2] for name in held)
        levels = (builds[: len(builds) // 2], builds[len(builds) // 2 :])
    for flag, one in () if build else (("--base", base), ("--head", head)):
        given = {} if one.given is None else {one.system: one.given}
        # A gate that lacks a side could only skip its trials, so nothing is stored.
        preview(catalogue.system(one.system), Request(given=given, flag=flag, go=go_command()))
    gate = Gate(factor, *levels, margin, seconds, _metrics(metrics), texts)

    def of(blocks: int) -> Plan:
        return plan(
            catalogue, slug, profile, chosen, trials=blocks, order_seed=order_seed, given=held,
            against_itself=factor == AA, builds=builds,
        )  # fmt: skip

    single = of(1)
    require_possible(single, catalogue, cluster=False)
    most = MOST_TRIALS // len(single.trials)
    wanted = TIMES * seconds / (estimate_seconds(results, single) + BETWEEN_SECONDS * len(single.trials))
    blocks = min(most, max(FEWEST_PLANNED, int(wanted)))
    if most < FIRST:
        raise RequestError(
            f"{slug}: a block of this gate has {len(single.trials):,} trials, and a run at most {MOST_TRIALS:,}.",
            "Choose fewer levels with --set FACTOR=A,B.",
        )
    return replace(of(blocks), gate=gate.stored())


def _built(build: str | None, program: str | None) -> tuple[str, str] | None:
    if (build is None) != (program is None):
        raise RequestError(
            "--build and --program belong together.",
            "For example: --build 'make -j2' --program build/mystore",
        )
    return None if build is None or program is None else (build, program)


def _revisions(base: Side, head: Side, build: tuple[str, str]) -> dict[str, str]:
    """Build both sides from git and return program → path, those of the base first."""
    from benchbook.plan.factors import FROM
    from benchbook.provision import revision
    from benchbook.provision.request import Request

    request = Request(progress=lambda text: print(f"bench: {text}", file=sys.stderr))
    if base.system != head.system or base.given is None or head.given is None:
        raise RequestError(
            "--build compares two revisions of one system.",
            "Write both as NAME=REVISION: --base mystore=v1.2 --head mystore=HEAD",
        )
    commits = [revision.commit(flag, one.given or "") for flag, one in (("--base", base), ("--head", head))]
    return {
        f"{base.system}{FROM}{name}-{number}": str(revision.built(commit, number, *build, request))
        for name, commit in zip(SIDES, commits, strict=True)
        for number in range(1, revision.BUILDS + 1)
    }


def _metrics(named: list[str]) -> tuple[str, ...]:
    from benchbook.declare.metric import table

    for name in named:
        if name not in table():
            raise unknown("metric", name, table(), "--metric")
    return tuple(named)


def _margin(text: str) -> float:
    """Return the share that ``--margin`` states.

    >>> _margin("3%"), _margin("0.5 %")
    (0.03, 0.005)
    """
    number, percent = text.removesuffix("%").strip(), text.endswith("%")
    with contextlib.suppress(ValueError):
        share = float(number) / 100
        if percent and 0.001 <= share <= 1:
            return share
    raise RequestError(
        f"--margin {text}: expected per cent, from 0.1% to 100%.",
        "Write the largest tolerated loss as 3%.",
    )


def _file(text: str) -> tuple[str, Path]:
    from benchbook.report.gate import FORMS

    form, equals, name = text.partition("=")
    if not equals or not name:
        raise RequestError(f"--output {text}: expected FORM=FILE.", "For example: --output markdown=gate.md")
    if form not in FORMS:
        raise unknown("form", form, list(FORMS), "--output")
    path = Path(name)
    if not path.parent.is_dir():
        raise RequestError(
            f"--output {text}: there is no folder {path.parent}.", "Make it, or name another one."
        )
    return form, path


def carry_out(
    made: Plan, results: Path, files: Iterable[tuple[str, Path]] = (), *, as_json: bool = False
) -> int:
    """Carry out the rest of a gate, show its answer and write the files; return the exit code."""
    from benchbook.cli.carry_out import carried_out

    with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
        outcome = carried_out(made, results)
    code = answered(result(made, results), files, as_json=as_json)
    return outcome.exit_code or code


def answered(found: Result, files: Iterable[tuple[str, Path]], *, as_json: bool) -> int:
    """Show an answer and write the files; return the exit code."""
    from benchbook.cli import table
    from benchbook.report import gate

    for form, path in files:
        path.write_text(gate.FORMS[form](found), encoding="utf-8")
    if as_json:
        print(gate.FORMS["json"](found), end="")
    else:
        table.show(gate.table(found), as_json=False, empty="no metric was measured")
        print(f"\n{gate.sentence(found)}")
        for fault in found.faults:
            print(fault)
        if found.run_id:
            print(f"Run {found.run_id}; all of it: {typed(f'report {found.run_id}')}")
    if found.faults:
        return 4
    return {"not slower": 0, "slower": SLOWER, "open": OPEN}[found.word]


def result(made: Plan, results: Path) -> Result:
    """Return what the looks of a gate found."""
    from benchbook.analyse.run import Run
    from benchbook.report import gate

    run = Run(results, made.run_id)
    with run.connected():
        found = gate.of_run(run)
    assert found is not None  # the plan is that of a gate
    return found


def _show_power(made: Plan, results: Path) -> None:
    """Print the chance of the right answers within the budget, for the metric that varies most."""
    from benchbook.analyse.gate import chances
    from benchbook.plan.budget import estimate_seconds
    from benchbook.plan.gating import Gate
    from benchbook.plan.sequential import FIRST
    from benchbook.report.gate import chance, duration

    gate = Gate.parse(made.gate or {})
    block = estimate_seconds(results, made) / made.trials_per_cell + BETWEEN_SECONDS * len(made.cells())
    blocks = min(int(gate.budget_seconds / max(block, 1e-9)), made.trials_per_cell)
    spreads, origin = _spreads(made, gate, results)
    cells = len(made.cells()) // (len(gate.base) + len(gate.head))
    name, spread = max(spreads.items(), key=lambda one: one[1])
    found = chances(blocks, spread, gate.margin, cells * len(spreads))
    room = f"{duration(gate.budget_seconds)} have room for about {blocks} blocks of {duration(block)}"
    if blocks < FIRST:
        print(f"bench: {room}, and an answer needs {FIRST}", file=sys.stderr)
        return
    varies = f"{name} varies most: by {100 * spread:.2g} % ({origin})"
    print(f"bench: {room}. {varies}. {chance(found, gate.margin)}", file=sys.stderr)


def _spreads(made: Plan, gate: Gate, results: Path) -> tuple[dict[str, float], str]:
    """Return metric → the spread of a block's ratio, of the latest run at the profile, else the usual one."""
    from benchbook.analyse import gated
    from benchbook.analyse.alike import kind_of
    from benchbook.analyse.prospect import SPREADS
    from benchbook.analyse.run import Run
    from benchbook.declare.workload import workload
    from benchbook.record import database, runs

    held = [
        one
        for one in runs.all_runs(results, lambda _: None)
        if (one.experiment, one.profile) == (made.experiment, made.profile) and one.done
    ]
    if held:
        database.catch_up(results)
        found = gated.spreads(Run(results, held[-1].run_id), gate.metrics)
        if found:
            return {f"{phase}: {metric}": spread for (phase, metric), spread in found.items()}, "latest run"
    usual = {}
    for phase in made.phases:
        for metric in gate.metrics or workload(phase.workload).compared[:1]:
            kind = kind_of(metric)
            usual[f"{phase.name}: {metric}"] = SPREADS[kind or "speed"]
    return usual, "usual"
