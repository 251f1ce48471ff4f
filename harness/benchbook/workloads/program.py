"""The workload ``program``: run the command of a system again and again, and compare systems by name."""

from __future__ import annotations

import io
import json
import re
import shlex
import string
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from benchbook.declare.duration import Duration, seconds
from benchbook.declare.toml import Positive, Text
from benchbook.declare.workload import Metric, Options, Workload
from benchbook.errors import RequestError, TrialFailed, suggestion
from benchbook.measure.measurement import Event, Measurement

if TYPE_CHECKING:
    from benchbook.declare.catalogue import Catalogue
    from benchbook.declare.dataset import Dataset
    from benchbook.declare.level import Setting
    from benchbook.run.steps import Steps

PLACES = {
    "file": "the file or folder of the dataset",
    "folder": "an empty folder of the trial, in which commands run",
    "experiment": "the folder of the experiment",
    "program": "the program of the system",
    "output": "the output of the last run; only in `check`",
}
"""Placeholders that every command may have."""
ASIDE = ("setup", "prepare", "conclude", "cleanup", "check")
"""Options with an untimed command for bash."""
EMPTY_RUNS, EMPTY_SECONDS = 50, 0.5
"""Runs of the empty command at most, and the time after which no other one begins."""
EXIT_CODE = "exit code"
"""Name of the exit code among what is compared."""
SORTED_BYTES = 64 << 20
"""The lines of a longer output are kept as they were printed."""
KEPT_BYTES = 512 << 10
"""Bytes that a trial keeps of the beginning and of the end of what is compared, so that one can see what differs."""
LEAST_MEMORY = 1.1
"""A peak of memory below this multiple of that of the process that starts commands is inherited from it."""


class ProgramOptions(Options):
    """Options of the workload ``program``: run the command of a system, as hyperfine does."""

    values: dict[str, str] = Field(default_factory=dict)
    """Placeholder → its text, in addition to ``{file}`` (the file or folder of the dataset), ``{folder}`` (the folder
    in which commands run), ``{experiment}`` (the folder of the experiment), ``{program}`` (the program of the system),
    and the settings of the arm."""
    shell: Literal["none", "bash"] = "none"
    """``none`` starts the program itself; ``bash`` runs the command in bash with ``pipefail``."""
    duration: Duration = "2s"
    """How long all timed runs must take together, without what is between them."""
    runs: Positive = 3
    """Fewest timed runs."""
    warmup: Annotated[int, Field(ge=0)] = 1
    """Runs before the timed ones."""
    timeout: Duration = "600s"
    """Longest time of one run."""
    setup: Text | None = None
    """Command for bash before the first run of a trial."""
    prepare: Text | None = None
    """Command for bash before each run, such as one that drops a cache."""
    conclude: Text | None = None
    """Command for bash after each run."""
    cleanup: Text | None = None
    """Command for bash after the last run of a trial."""
    exit_codes: list[Annotated[int, Field(ge=0, le=255)]] = Field(default=[0], min_length=1)
    """Exit codes of a run that count as success."""
    compared: Literal["output", "sorted", "lines", "nothing"] = "output"
    """What must be equal in all runs and systems, beside the exit code: the output, its sorted lines, its number of
    lines, or nothing."""
    check: Text | None = None
    """Command for bash after the last run, whose output is compared in place of the run's: ``gzip -dc {output}``.
    It may name ``{file}`` too."""
    subtract: bool = False
    """Whether the time of an empty command is subtracted from each run's. The results show it in any case."""


QUOTED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.""", re.DOTALL)
ESCAPED = re.compile(r"\\.", re.DOTALL)
VARIABLE = re.compile(r"\$(?:\w+|[({?$!#@*])|`")
SHELL = re.compile(r"\d?>>?|\|\|?|&&?|;|<|(?<!\S)~\w*(?=/|\s|$)|\{[^\s{}]*,[^\s{}]*\}")
"""Signs that mean something to a shell alone, outside quotes: operators, home folders, lists in braces."""


def for_a_shell(text: str) -> list[str]:
    """Return what a shell alone would understand in a command: variables and operators.

    >>> for_a_shell("cat $HOME/a"), for_a_shell("awk '{print $NF}' a"), for_a_shell("grep a.*b x"), for_a_shell("a;b")
    (['$HOME'], [], [], [';'])
    """
    bare = unquoted(text)
    return VARIABLE.findall(bare) + SHELL.findall(bare)


def unquoted(text: str) -> str:
    """Return a command with each quoted part replaced; within double quotes, variables alone keep their meaning."""

    def bare(one: re.Match[str]) -> str:
        return "".join(VARIABLE.findall(ESCAPED.sub("", one[0]))) if one[0][0] == '"' else "_"

    return QUOTED.sub(bare, text)


def filled(command: str, values: Mapping[str, object], shell: str) -> list[str]:
    """Return the words that start a command with its placeholders filled.

    >>> filled("rg {pattern} {file}", {"pattern": "a b", "file": "/f"}, "none")
    ['rg', 'a b', '/f']
    >>> filled("rg {pattern} | wc", {"pattern": "a b"}, "bash")
    ['bash', '-c', "set -o pipefail; rg 'a b' | wc"]
    """
    if shell == "bash":
        quoted = {name: shlex.quote(str(value)) for name, value in values.items()}
        return ["bash", "-c", f"set -o pipefail; {command.format(**quoted)}"]
    return [part.format(**values) for part in shlex.split(command)]


def placeholders(command: str, where: str, shell: str) -> list[str]:
    """Return the names of a command's placeholders.

    Raise RequestError for unmatched braces or quotes, and for a placeholder inside quotes of bash: its text has quotes.
    """
    try:
        shlex.split(command)
        parsed = list(string.Formatter().parse(command))
    except ValueError as error:
        raise RequestError(
            f"{where} = {command!r}: {str(error).lower()}.", "Write {{ and }} for literal braces."
        ) from None
    opened: list[str] = []
    for literal, name, form, conversion in parsed:
        _follow(literal, opened)
        if form or conversion:
            raise RequestError(
                f"{where}: the placeholder {{{name}}} has more than a name: {command!r}.",
                "Write {NAME} alone, and {{ and }} for literal braces.",
            )
        if name is not None and shell == "bash" and opened and opened[-1] in QUOTES:
            raise RequestError(
                f"{where}: the placeholder {{{name}}} is inside quotes, but its text gets quotes itself: {command!r}.",
                f'End the quotes before it: "a "{{{name}}}" b"',
            )
    return [name for _, name, _, _ in parsed if name is not None]


QUOTES = ("'", '"')
CLOSES = {"'": "'", '"': '"', "(": ")"}
"""What opens a quote or a substitution in bash → what closes it."""


def _follow(text: str, opened: list[str]) -> None:
    """Add the quotes and substitutions of bash that a text opens, and remove those that it closes."""
    before = ""
    for sign in text:
        inside = opened[-1] if opened else ""
        if before == "\\" and inside != "'":
            before = ""
            continue
        if sign == CLOSES.get(inside):
            opened.pop()
        elif inside != "'" and (
            sign == '"'
            or (sign == "'" and inside != '"')
            or (sign == "(" and (before == "$" or inside == "("))
        ):
            opened.append(sign)
        before = sign


def kept_output(trial: Path, phase: str) -> Path:
    """Return the file in which the folder of a trial keeps what is compared of a phase."""
    return trial / "logs" / f"{phase}-output.txt"


def own(command: str) -> str:
    """Return a command with ``{program}`` in place of its first word.

    >>> own("'my rg' {pattern} {file}"), own("ls")
    ('{program} {pattern} {file}', '{program} ')
    """
    rest = io.StringIO(command)
    words = shlex.shlex(rest, posix=True)
    words.whitespace_split, words.commenters = True, ""
    words.get_token()
    return f"{{program}} {rest.read()}"


def refuse(
    catalogue: Catalogue, dataset: Dataset, options: ProgramOptions, levels: Mapping[str, Setting]
) -> None:
    """Raise RequestError if a cell's system has no command, or a command an unknown placeholder."""
    system = catalogue.system(str(levels["system"]))
    if system.source.command is None:
        raise RequestError(
            f"{system.name} has no command to run.",
            f'Add command = "…" to [source] of systems/{system.name}.toml, or leave the system out.',
        )
    if given := sorted(options.values.keys() & PLACES.keys()):
        raise RequestError(
            f"values has {given[0]}, but {{{given[0]}}} is {PLACES[given[0]]}.", "Rename it in values."
        )
    known = {*options.values, *system.arms[str(levels["arm"])].settings, *PLACES} - {"output"}
    known -= set() if dataset.source else {"file"}
    commands = {f"systems/{system.name}.toml: source.command": system.source.command}
    commands |= {name: getattr(options, name) or "" for name in ASIDE}
    for where, command in commands.items():
        allowed = known | ({"output"} if where == "check" else set())
        shell = "bash" if where in ASIDE else options.shell
        for name in placeholders(command, where, shell):
            if name not in allowed:
                needs = "; it needs a dataset with [source]" if name == "file" else ""
                raise RequestError(
                    f"{where} has the unknown placeholder {{{name}}}{needs}; allowed: {', '.join(sorted(allowed))}"
                    f"{suggestion(name, allowed) or '.'}",
                    f'Give its text: [phases.options.values] {name} = "…"',
                )
    if options.shell == "none" and (special := for_a_shell(system.source.command)):
        raise RequestError(
            f"systems/{system.name}.toml: source.command has `{special[0]}`, which only a shell understands, and the"
            f" program starts without one: {system.source.command!r}.",
            'Write shell = "bash" in the options of the phase; or quote it within the command, if the program shall get'
            " it as it is.",
        )


def run(steps: Steps, phase: str, options: ProgramOptions) -> None:
    """Run the system's command until all runs took long enough; check and keep what they gave."""
    from benchbook.run import content, long_logs
    from benchbook.workers.command_loop import in_order

    context, system = steps.context, steps.context.system(str(steps.planned.levels["system"]))
    program, command = context.program(steps.planned.program), system.source.command
    if command is None or program.path is None:
        raise TrialFailed(f"{system.name} has no command to run.", "Add command = … to [source] of its file.")
    folder = steps.data / phase
    folder.mkdir()
    values: dict[str, object] = {
        **system.arms[str(steps.planned.levels["arm"])].settings_at(steps.planned.levels),
        **options.values,
        "folder": folder,
        "experiment": context.catalogue.path("experiment", context.plan.experiment).parent,
        "program": program.path,
    }
    if steps.dataset.source:
        values["file"] = content.require_same(context.catalogue, steps.dataset)
    output, errors = folder.with_name(f"{phase}.output"), steps.folder / "logs" / f"{phase}.log"
    values["output"] = output
    aside = {
        name: filled(text, values, "bash") if (text := getattr(options, name)) else None for name in ASIDE
    }
    nothing = ":" if options.shell == "bash" else "true"
    request = {
        "command": filled(own(command), values, options.shell), "empty": filled(nothing, {}, options.shell),
        "empty_runs": EMPTY_RUNS, "empty_seconds": EMPTY_SECONDS, "prepare": aside["prepare"],
        "conclude": aside["conclude"], "seconds": seconds(options.duration), "runs": options.runs,
        "warmup": options.warmup, "timeout": seconds(options.timeout), "exit_codes": options.exit_codes,
        "output": str(output), "errors": str(errors), "compared": "nothing" if options.check else options.compared,
    }  # fmt: skip
    _aside(steps, "setup", aside["setup"], folder)
    with steps.timeline.phase(phase, workload.name):
        found = list(_runs(steps, phase, request, folder, errors))
    timed = [one for one in found if one["type"] == "run"]
    empty = [one for one in found if one["type"] == "empty"]
    answer: object = timed[-1]["answer"]
    if aside["check"]:
        output = folder.with_name("check.output")
        answer = _checked(steps, aside["check"], output, folder, options.compared)
    else:
        steps.findings.check(
            "timed",
            f"outputs of {phase} that are alike",
            len(timed),
            sum(one["answer"] == answer for one in timed),
        )
    if options.compared != "nothing" and output.exists():
        if options.compared == "sorted" and output.stat().st_size <= SORTED_BYTES:
            lines = in_order(output)
            output.write_bytes(lines and lines + b"\n")  # without it, diff shows the last line of each side
        long_logs.excerpt(output, kept_output(steps.folder, phase), KEPT_BYTES)
    _aside(steps, "cleanup", aside["cleanup"], folder)
    rows = [[0, EXIT_CODE, timed[-1]["code"]], [0, options.compared, answer]]
    event = {"id": 0, "query_type": phase, "columns": ["time_ns", "host", "value"], "rows": rows}
    steps.events.take("answers", iter([{"v": 1, "type": "answer", **event}]))
    steps.events.take(phase, iter(map(_event, timed)))
    steps.findings.measurements += measurements(phase, timed, empty, subtract=options.subtract)
    if not _memory(timed):
        steps.findings.unmeasured[f"command_memory_bytes of {phase}"] = (
            "the command used less memory than the process that starts it"
        )


def _event(one: Mapping[str, Any]) -> Event:
    """Return a run as an event."""
    return {"v": 1, "type": "command", **{name: value for name, value in one.items() if name != "type"}}


def _runs(
    steps: Steps, phase: str, request: Mapping[str, Any], folder: Path, errors: Path
) -> Iterator[dict[str, Any]]:
    """Yield each run of the loop; raise TrialFailed if one does not end as it must."""
    from benchbook.process import spawn
    from benchbook.workers import command_loop
    from benchbook.workers.command_loop import TOO_MUCH

    running = spawn.start(
        [sys.executable, "-I", "-S", str(command_loop.__file__)],
        name=f"the commands of {phase}", log=steps.folder / "logs" / f"{phase}-loop.log", cwd=folder,
        registry=steps.context.results / "processes", pipes=True,
    )  # fmt: skip
    number = 0
    try:
        stdin = running.process.stdin
        assert stdin is not None
        stdin.write((json.dumps(request) + "\n").encode())
        stdin.close()
        for line in running.lines():
            one = json.loads(line)
            kind = one["type"]
            shown = shlex.join(request["command" if kind in ("run", "warmup") else kind])
            if one["stopped"]:
                why = f"took longer than {request['timeout']:g} s" if one["stopped"] == "time" else TOO_MUCH
                raise TrialFailed(f"{phase}: a run {why}: {shown}")
            if one["code"] not in (request["exit_codes"] if kind in ("run", "warmup") else [0]):
                code = one["code"]
                accept = f"If that is success, write in the phase's options: exit_codes = [0, {code}]"
                raise TrialFailed(
                    f"{phase}: the {kind} {spawn.ending_text(code)}: {shown}. The end of its errors: "
                    f"{spawn.log_end(errors)}",
                    accept if code > 0 and kind in ("run", "warmup") else None,
                )
            number += kind == "run"
            yield one
        if number < request["runs"]:
            running.check()
            raise TrialFailed(f"{phase}: the commands ended early.", f"The log is {running.log}.")
    finally:
        running.stop()


def _aside(steps: Steps, name: str, command: list[str] | None, folder: Path) -> bytes:
    """Run an untimed command to its end and return its output; raise TrialFailed if it fails."""
    from benchbook.process import spawn

    if command is None:
        return b""
    with steps.timeline.phase(name):
        log = steps.folder / "logs" / f"{name}.log"
        running = spawn.start(
            command, name=name, log=log, cwd=folder, registry=steps.context.results / "processes", pipes=True
        )
        try:
            output = b"".join(running.lines())
            ended = running.finish()
        finally:
            running.stop()
    if ended != "exited with code 0":
        raise TrialFailed(f"The command `{name}` {ended}. The end of its log: {spawn.log_end(log)}")
    return output


def _checked(steps: Steps, command: list[str], output: Path, folder: Path, compared: str) -> object:
    """Write the output of the command `check` to a file, and return what is compared of it."""
    from benchbook.workers.command_loop import answer

    output.write_bytes(_aside(steps, "check", command, folder))
    return answer(output, compared)


def _memory(timed: list[dict[str, Any]]) -> float:
    """Return the peak of memory of a run; 0 if it is that of the process that starts commands, which runs inherit."""
    peak, floor = max(one["memory_bytes"] for one in timed), max(one["floor_bytes"] for one in timed)
    return float(peak) if peak > LEAST_MEMORY * floor else 0.0


def measurements(
    phase: str, timed: list[dict[str, Any]], empty: list[dict[str, Any]], *, subtract: bool = False
) -> list[Measurement]:
    """Return the metrics of the runs of a command; ``empty`` has those of an empty one."""
    overhead = median(one["seconds"] for one in empty)
    took = [max(one["seconds"] - (overhead if subtract else 0.0), 0.0) for one in timed]
    cpu = [one["user_seconds"] + one["system_seconds"] for one in timed]
    numbers = {
        "command_seconds": median(took),
        "command_seconds_mean": mean(took),
        "command_seconds_min": min(took),
        "command_seconds_max": max(took),
        "command_runs": float(len(took)),
        "command_cpu_seconds": mean(cpu),
        "empty_command_seconds": overhead,
    }
    if memory := _memory(timed):
        numbers["command_memory_bytes"] = memory
    return [Measurement(phase, name, value) for name, value in numbers.items()]


workload = Workload(
    name="program",
    options=ProgramOptions,
    run=run,
    metrics=(
        "command_seconds",
        Metric("command_seconds_mean", "s", "lower", "Mean run time of the command"),
        "command_seconds_min",
        "command_seconds_max",
        "command_runs",
        Metric("command_cpu_seconds", "s", "lower", "Processor time of a run of the command"),
        Metric("command_memory_bytes", "B", "lower", "Peak memory of the command"),
        Metric("empty_command_seconds", "s", "none", "Run time of an empty command"),
    ),
    compared=("command_seconds",),
    reads=True,
    files=True,
    refuse=refuse,
    client="each command does its own work",
)
