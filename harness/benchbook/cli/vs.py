"""``bench vs 'A' 'B'``: which of these commands is faster? Measured in turn within blocks, in about ten seconds."""

from __future__ import annotations

import math
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from benchbook.cli import options, table
from benchbook.errors import RequestError, TrialFailed

if TYPE_CHECKING:
    from benchbook.analyse.ratio import Ratio
    from benchbook.run.interleaved import Asked, Measured

SHELLS = ("none", "bash")
FINE = 0.05
"""Width of an interval below which its ends have three decimals."""


def command(
    commands: Annotated[
        list[str],
        typer.Argument(metavar="'COMMAND' 'COMMAND'…", help="Two or more; each is compared with the first."),
    ],
    budget: Annotated[
        str, typer.Option("--budget", metavar="10s", help="Time for all runs, with what is between them.")
    ] = "10s",
    shell: Annotated[
        str,
        typer.Option(
            "--shell",
            metavar="|".join(SHELLS),
            help="none starts the programs themselves; bash runs the commands in bash with pipefail, and subtracts the"
            " time that bash needs to start.",
        ),
    ] = "none",
    prepare: Annotated[
        list[str] | None,
        typer.Option(
            "--prepare",
            metavar="COMMAND",
            help="Run this in bash before each run, untimed. Give it once for all commands, or once for each.",
        ),
    ] = None,
    conclude: Annotated[
        str, typer.Option("--conclude", metavar="COMMAND", help="Run this in bash after each run, untimed.")
    ] = "",
    setup: Annotated[
        str, typer.Option("--setup", metavar="COMMAND", help="Run this in bash before the first run.")
    ] = "",
    cleanup: Annotated[
        str, typer.Option("--cleanup", metavar="COMMAND", help="Run this in bash after the last run.")
    ] = "",
    compared: Annotated[
        str,
        typer.Option(
            "--compared",
            metavar="output|sorted|lines|nothing",
            help="What must be equal: the output, its sorted lines, its number of lines, or nothing.",
        ),
    ] = "output",
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Compare this file, which the commands write."),
    ] = None,
    check: Annotated[
        str,
        typer.Option(
            "--check",
            metavar="COMMAND",
            help="Compare the output of this command in bash, which reads that of a run from stdin: 'gzip -dc'.",
        ),
    ] = "",
    exit_codes: Annotated[
        list[int] | None,
        typer.Option("--exit-code", metavar="N", help="Exit code that is success; by default 0. Repeatable."),
    ] = None,
    warmup: Annotated[
        int, typer.Option("--warmup", metavar="N", min=0, help="Runs of each command before the timed ones.")
    ] = 1,
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="10m", help="Longest time of one run.")
    ] = "10m",
    order_seed: options.OrderSeed = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: a list of commands with the value of each block.")
    ] = False,
) -> None:
    """Compare commands that you type, and say which is faster.

    Runs the commands in turn, in random order within blocks, so that a slow time of the machine affects all alike.
    Prints a sentence with the ratio and its 95 % CI. No file is needed, and the commands run in the current folder.
    Exit codes: 0 if the commands were compared; 2 if the request was refused; 4 if a command failed or their outputs
    differ; 130 if interrupted.
    """
    from benchbook.process import interrupt
    from benchbook.run import interleaved

    seed = {} if order_seed is None else {"order_seed": order_seed}
    asked = request(
        commands, budget=budget, shell=shell, prepare=prepare or [], compared=compared, timeout=timeout, check=check,
        output=output, setup=_in_bash(setup), conclude=_in_bash(conclude), cleanup=_in_bash(cleanup),
        exit_codes=exit_codes or [0], warmup=warmup, **seed,
    )  # fmt: skip
    with interrupt.interruptible():
        found = interleaved.measure(asked, lambda text: print(f"bench: {text}", file=sys.stderr))
    names = short([one.text for one in asked.commands])
    require_same(asked, found, names)
    require_long(found, names)
    ratios = compare(found)
    if as_json:
        table.show(_rows(asked, found, ratios), as_json=True)
        return
    table.show(
        [
            {"command": name, "median of a run": _time(row["seconds"]), "runs": row["runs"]}
            for name, row in zip(names, _rows(asked, found, ratios), strict=True)
        ],
        as_json=False,
    )
    print()
    for place, (one, differs) in enumerate(ratios, start=1):
        print(sentence(names[place], names[0], one, differs, found))
    if len(ratios) > 1:
        print(f"Each sentence allows for {len(ratios)} comparisons (Holm's correction).")


def request(
    commands: Sequence[str], *, budget: str = "10s", shell: str = "none", prepare: Sequence[str] = (),
    compared: str = "output", timeout: str = "10m", check: str = "", output: Path | None = None, **rest: Any,
) -> Asked:  # fmt: skip
    """Return what to measure; raise RequestError for a mistake that can be seen before anything runs."""
    from benchbook.run.interleaved import Asked, Command
    from benchbook.workloads.program import ProgramOptions

    if len(commands) < 2:
        raise RequestError(
            f"vs compares at least two commands, and this is one: `{commands[0]}`.",
            "Write each command in quotes: vs 'gzip -k FILE' 'pigz -k FILE'",
        )
    options.require_one_of("--shell", shell, SHELLS)
    options.require_one_of(
        "--compared", compared, get_args(ProgramOptions.model_fields["compared"].annotation)
    )
    if len(prepare) not in (0, 1, len(commands)):
        raise RequestError(
            f"--prepare was given {len(prepare)} times for {len(commands)} commands.",
            "Give it once for all commands, or once for each of them in their order.",
        )
    if output is not None and check:
        raise RequestError("--output and --check both say what is compared.", "Give one of them.")
    before = prepare if len(prepare) == len(commands) else [*prepare, ""][:1] * len(commands)
    made = [
        Command(text, argv(text, shell), _in_bash(first))
        for text, first in zip(commands, before, strict=True)
    ]
    return Asked(
        commands=made, budget_seconds=_seconds("--budget", budget), timeout_seconds=_seconds("--timeout", timeout),
        empty=_in_bash(":") if shell == "bash" else (), compared=compared, check=check, output=output,
        **rest,
    )  # fmt: skip


def argv(text: str, shell: str) -> list[str]:
    """Return the words that start a command; raise RequestError if there is no such program."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise RequestError(f"`{text}`: {str(error).lower()}.", "Close each quote of the command.") from None
    if not words:
        raise RequestError("A command is empty.", "Write a program and its arguments in quotes.")
    if shell == "bash":
        return _in_bash(text)
    if special := for_a_shell(text):
        raise RequestError(
            f"`{text}` has `{special[0]}`, which only a shell understands, and the programs start without one.",
            "Add --shell bash; or quote it within the command, if the program shall get it as it is.",
        )
    if shutil.which(words[0]) is None:
        raise RequestError(
            f"`{text}`: there is no program `{words[0]}` on PATH.",
            "Install it or give its path. A command of the shell needs --shell bash.",
        )
    return words


def for_a_shell(text: str) -> list[str]:
    """Return what a shell alone would understand in a command: variables, operators, patterns that match files.

    >>> for_a_shell("cat $HOME/a"), for_a_shell("awk '{print $NF}' a"), for_a_shell("grep a.*b x"), for_a_shell("a;b")
    (['$HOME'], [], [], [';'])
    """
    from benchbook.workloads import program

    return program.for_a_shell(text) + [word for word in program.unquoted(text).split() if matches(word)]


def matches(word: str) -> bool:
    """Return whether a word is a pattern for which a shell would give the names of files."""
    import glob

    return glob.has_magic(word) and next(glob.iglob(word), None) is not None  # noqa: PTH207 - may be absolute


def _in_bash(text: str) -> list[str]:
    return ["bash", "-c", f"set -o pipefail; {text}"] if text else []


def _seconds(option: str, text: str) -> float:
    from benchbook.declare import duration

    try:
        return duration.seconds(text)
    except ValueError as error:
        raise RequestError(f"{option}: {error}.") from None


def require_same(asked: Asked, found: Measured, names: list[str], further: str = "--output FILE, ") -> None:
    """Raise TrialFailed if a command or two commands gave different output: they did not do the same work."""
    kinds = (
        f"If they differ by nature, compare what must be equal: --compared sorted or lines, {further}or --check"
        " 'COMMAND'. --compared nothing compares no output."
    )
    for place, given in enumerate(found.answers):
        if len(given) > 1:
            raise TrialFailed(
                f"Runs of {names[place]} gave different output, so no speeds are compared.",
                f"{_in_what(asked, place, place)}{kinds}",
            )
    if not found.same:
        other = next(place for place, given in enumerate(found.answers) if given != found.answers[0])
        raise TrialFailed(
            f"{names[0]} and {names[other]} gave different output, so no speeds are compared.",
            f"{_in_what(asked, 0, other)}{kinds}",
        )


def _in_what(asked: Asked, one: int, other: int) -> str:
    """Return the command that shows in what the outputs of two commands differ, as a sentence; empty for files."""
    if asked.output is not None:
        return ""
    further = f" | {asked.check}" if asked.check else " | sort" if asked.compared == "sorted" else ""
    sides = [f"<({asked.commands[place].text}{further})" for place in (one, other)]
    return f"This shows the difference in bash: diff {' '.join(sides)} (for binary output, cmp in place of diff). "


def require_long(found: Measured, names: list[str]) -> None:
    """Raise TrialFailed if a command takes no longer than the shell in which it runs."""
    for name, seconds in zip(names, found.seconds, strict=True):
        if min(seconds.values()) <= 0:
            raise TrialFailed(
                f"{name} takes no longer than bash needs to start, {_time(found.empty_seconds)}.",
                "Leave out --shell bash, or give the command more work.",
            )


def compare(found: Measured) -> list[tuple[Ratio, bool]]:
    """Return how many times as fast each other command is as the first one, and whether they differ (Holm, 5 %)."""
    from benchbook.analyse.interval import ALPHA, adjusted
    from benchbook.analyse.ratio import ratio

    ratios = [ratio(found.seconds[0], other) for other in found.seconds[1:]]
    return list(zip(ratios, (p <= ALPHA for p in adjusted([one.differs for one in ratios])), strict=True))


def sentence(other: str, first: str, one: Ratio, differs: bool, found: Measured) -> str:
    """Return the answer on two commands as a sentence; the faster one is its subject."""
    if one.value is not None and one.value < 1 and differs:
        other, first, one = first, other, one.inverse()
    value, low, high = _numbers(one)
    evidence = f"(95 % CI {low} to {high}, {one.trials} blocks in {found.took_seconds:.0f} s)."
    if differs:
        return f"{other} is {value} times as fast as {first} {evidence}"
    return f"No difference was found between {other} and {first}: the ratio of their speeds is {value} {evidence}"


def _numbers(one: Ratio) -> list[str]:
    """Return a ratio and its ends with as many decimals as show how wide the interval is."""
    ends = (one.low or 0.0, one.high or math.inf)
    decimals = 3 if ends[1] - ends[0] < FINE else 2
    return [f"{held:.{decimals}f}" for held in (one.value or math.nan, *ends)]


def short(texts: list[str]) -> list[str]:
    """Return a name for each command: its program if no other has it, otherwise the command as it was given.

    >>> short(["gzip -k a", "/usr/bin/pigz -k a"]), short(["sleep 1", "sleep 2"])
    (['gzip', 'pigz'], ['`sleep 1`', '`sleep 2`'])
    """
    programs = [Path(text.split()[0]).name for text in texts]
    if len(set(programs)) == len(programs):
        return programs
    if len(set(texts)) == len(texts):
        return [f"`{text}`" for text in texts]
    return [f"`{text}` ({place})" for place, text in enumerate(texts, start=1)]


def _time(seconds: float) -> str:
    """Return a time with its unit.

    >>> _time(0.00123), _time(2.5)
    ('1.23 ms', '2.5 s')
    """
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _rows(asked: Asked, found: Measured, ratios: list[tuple[Ratio, bool]]) -> list[dict[str, Any]]:
    """Return a row for each command, with its ratio to the first one; that of the first is empty."""
    from statistics import median

    none = {"times_as_fast": None, "low": None, "high": None, "differs": None}
    compared = [none] + [
        {"times_as_fast": one.value, "low": one.low, "high": one.high, "differs": differs}
        for one, differs in ratios
    ]
    return [
        {
            "command": one.text, "seconds": median(held.values()), "runs": runs, **against,
            "order_seed": asked.order_seed, "took_seconds": found.took_seconds,
            "empty_seconds": found.empty_seconds, "blocks": list(held.values()),
        }
        for one, held, runs, against in zip(asked.commands, found.seconds, found.runs, compared, strict=True)
    ]  # fmt: skip
