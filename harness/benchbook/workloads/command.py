"""The workload ``command``: time a tool's command with hyperfine."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import string
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from benchbook.declare.dataset import Dataset, Digested
from benchbook.declare.toml import Name, Positive, Text
from benchbook.declare.workload import Metric, Options, Workload
from benchbook.errors import TrialFailed, Unavailable, nearest, suggestion
from benchbook.measure.measurement import Measurement

if TYPE_CHECKING:
    from benchbook.run.steps import Steps
    from benchbook.systems.driver import Driver

PLACEHOLDERS = {
    "benchload": "the path of benchload",
    "url": "the address of the server, with http://",
    "host": "host and port of the server",
    "database": "a name for the database",
    "input": "the path of the file with the dataset; needs the option input",
    "sized": "the same file, with a last line dataset-size:ROWS,VALUES as bulk_data_gen writes it",
    "dataset": "benchload's arguments for the dataset: generator and flags",
    "seed": "the seed of the dataset",
    "scale": "the dataset's parameter of this name",
    "start": "the dataset's parameter of this name",
    "end": "the dataset's parameter of this name",
    "interval": "the dataset's parameter of this name",
    "workers": "the option of this name",
}
"""Placeholders that a command may contain in braces."""


class CommandOptions(Options):
    """Options of the workload ``command``: time the command of a tool with hyperfine."""

    tool: Name
    """The tool of this cell; usually a factor."""
    commands: dict[Name, Text] = Field(min_length=1)
    """Tool → its command, for bash with ``pipefail``. The report shows a tool that is not on PATH as missing."""
    runs: Annotated[int, Field(ge=2)] = 5
    """Timed runs of the command in one trial."""
    warmup: Annotated[int, Field(ge=0)] = 1
    """Runs before the timed ones."""
    workers: Positive = 1
    """Number of connections: the value of ``{workers}``."""
    input: Literal["influx", "none"] = "none"
    """``influx`` writes the dataset to a file first, as line protocol; ``{input}`` is its path."""
    counts: Literal["rows", "lines", "nothing"] = "rows"
    """The unit of rates: the rows of the dataset; the lines that the command prints, counted in a separate untimed
    run; or nothing."""
    received: bool = False
    """True if the server must have received every row of every run; for servers that count rows."""

    output: Literal["ends", "all", "none"] = "ends"
    """What the trial's folder keeps of what the timed runs print: the first and last 64 KiB, all of it, or
    nothing of the standard output."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.tool not in self.commands:
            guess = suggestion(self.tool, self.commands)
            raise ValueError(
                f'tool "{self.tool}" has no command; commands has {", ".join(self.commands)}{guess}'
            )
        for tool, command in self.commands.items():
            for placeholder in _placeholders(tool, command):
                if placeholder not in PLACEHOLDERS:
                    found = nearest(placeholder, PLACEHOLDERS)
                    guess = f'; did you mean "{{{found}}}"?' if found else ""
                    raise ValueError(
                        f'the command of "{tool}" contains the unknown placeholder {{{placeholder}}};'
                        f" allowed: {', '.join(PLACEHOLDERS)}{guess}"
                    )
        return self


def has_placeholder(command: str, placeholder: str) -> bool:
    """Return whether a command contains a placeholder.

    >>> has_placeholder("cat {input}", "input")
    True
    """
    return any(name == placeholder for _, name, _, _ in string.Formatter().parse(command))


def _placeholders(tool: str, command: str) -> list[str]:
    """Return the placeholders of a command."""
    try:
        return [name for _, name, _, _ in string.Formatter().parse(command) if name is not None]
    except ValueError as error:
        raise ValueError(
            f'the command of "{tool}" has unmatched braces ({error}); write {{{{ for a literal brace'
        ) from None


HYPERFINE = "hyperfine"
KEPT_BYTES = 64 << 10
"""Bytes that are kept of the beginning and of the end of what all runs of a command print."""
PIPEFAIL = "set -o pipefail"
"""A pipe fails if any of its programs does; the status of the last alone would hide that nothing was generated."""

ENV_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
"""A word before a program that sets an environment variable for it."""


@dataclass(frozen=True)
class Timed:
    """Results of hyperfine: the time of each run and mean CPU times."""

    seconds: list[float]
    """Wall time of each run."""
    user_seconds: float
    """Mean CPU time in user mode, of the command and its children."""
    system_seconds: float
    """Mean CPU time in system mode."""


def places(
    benchload: Path, driver: Driver, dataset: Dataset, folder: Path, options: CommandOptions
) -> dict[str, str]:
    """Return the values of the placeholders that a command may contain."""
    url = str(getattr(driver, "url", ""))
    return {
        "benchload": shlex.quote(str(benchload)),
        "url": url,
        "host": url.partition("://")[2],
        "database": "benchbook",
        "input": str(folder / "input"),
        "sized": str(folder / "input"),
        "dataset": shlex.join([dataset.generator, *dataset.flags()]),
        "workers": str(options.workers),
        "seed": str(dataset.seed),
        **{name: str(value) for name, value in dataset.parameters.items() if name in PLACEHOLDERS},
    }


def prepare(benchload: Path, dataset: Dataset, digest: Digested, file: Path, options: CommandOptions) -> None:
    """Write the file that the chosen command reads."""
    if options.input == "none":
        return
    asked = [str(benchload), "generate", dataset.generator, *dataset.flags(), f"--format={options.input}"]
    with file.open("wb") as out:
        done = subprocess.run(asked, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise TrialFailed(f"benchload could not write the dataset to {file}: {done.stderr.strip()}")
    if has_placeholder(options.commands[options.tool], "sized"):
        with file.open("ab") as end:
            end.write(f"dataset-size:{digest['rows']},{digest['values']}\n".encode())


def received(driver: Driver) -> int:
    """Return the rows that a server has received."""
    counted = getattr(driver, "received", None)
    if counted is None:
        raise TrialFailed(
            "The phase has the option received = true, but this system does not count the rows that it receives.",
            "Remove the option, or use the system null-server, which counts them.",
        )
    return int(counted())


def command(options: CommandOptions, places: Mapping[str, object]) -> str:
    """Return the command of the chosen tool with placeholders filled; raise Unavailable if it cannot run here."""
    text = options.commands[options.tool].format(**places)
    for program in programs(text):
        if shutil.which(program) is None:
            raise Unavailable(
                f"{options.tool} is unavailable here: {program} is not on PATH.",
                f"Put {program} on PATH, or name only other tools: --set tool=A,B.",
            )
    if shutil.which(HYPERFINE) is None:
        raise Unavailable(
            "hyperfine, which times the commands, is not on PATH.",
            "Install it with: apt-get install hyperfine",
        )
    return text


def programs(text: str) -> list[str]:
    """Return the programs that a command starts: the first word of each part of a pipe.

    >>> programs("GOMAXPROCS=1 generate --seed 1 | load --workers 2")
    ['generate', 'load']
    """
    found, first = [], True
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;")
    lexer.whitespace_split = True
    for word in lexer:
        if set(word) <= set("|&;"):
            first = True
        elif first and not ENV_ASSIGNMENT.match(word):
            found.append(word)
            first = False
    return found


def time_runs(text: str, options: CommandOptions, name: str, folder: Path, registry: Path | None) -> Timed:
    """Time a command whose output goes to ``folder``; raise TrialFailed if a run exits with another code than 0."""
    from benchbook.process import spawn
    from benchbook.run.long_logs import shorten

    stem = re.sub(r"[^\w.-]+", "-", name)
    export, log = folder / f"{stem}.hyperfine.json", folder / f"{stem}.log"
    running = spawn.start(
        [
            HYPERFINE, "--style=basic", "--shell=bash", f"--runs={options.runs}", f"--warmup={options.warmup}",
            f"--export-json={export}",
            f"{PIPEFAIL}; exec 2>>{shlex.quote(str(log))}; {{ {text}; }} {_output(options)}",
        ],
        name=name, log=folder / f"{stem}.hyperfine.log", registry=registry,
    )  # fmt: skip
    ended, end = running.finish(), spawn.log_end(log)
    if log.exists() and options.output != "all":
        shorten(log, KEPT_BYTES)
    if ended != "exited with code 0":
        raise TrialFailed(f"{name} failed ({text}). The end of its log: {end}", f"The output is {log}.")
    return read(json.loads(export.read_text(encoding="utf-8")))


def lines(text: str) -> int:
    """Run a command once and return the number of lines that it prints."""
    counted = 0
    with subprocess.Popen(
        ["bash", "-c", f"{PIPEFAIL}; {text}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as running:
        assert running.stdout is not None
        while part := running.stdout.read(1 << 20):
            counted += part.count(b"\n")
    if running.returncode != 0:
        raise TrialFailed(f"The command exited with code {running.returncode}: {text}")
    return counted


def _output(options: CommandOptions) -> str:
    """Return where the timed command's stdout goes: to the log, unless it is the data or not wanted."""
    discarded = options.output == "none" or (options.counts == "lines" and options.output == "ends")
    return ">/dev/null" if discarded else ">&2"


def read(exported: Mapping[str, Any]) -> Timed:
    """Parse hyperfine's JSON export."""
    result = exported["results"][0]
    return Timed([float(one) for one in result["times"]], float(result["user"]), float(result["system"]))


def measurements(phase: str, timed: Timed, rows: int | None) -> list[Measurement]:
    """Return the metrics of a command; rates refer to the median of its runs."""
    seconds, cpu = median(timed.seconds), timed.user_seconds + timed.system_seconds
    found = [
        Measurement(phase, "command_seconds", seconds),
        Measurement(phase, "command_seconds_min", min(timed.seconds)),
        Measurement(phase, "command_seconds_max", max(timed.seconds)),
        Measurement(phase, "client_cpu_seconds", cpu),
        Measurement(phase, "command_runs", float(len(timed.seconds))),
    ]
    if rows is not None:
        found.append(Measurement(phase, "rows", float(rows)))
        if seconds > 0:
            found.append(Measurement(phase, "rows_per_second", rows / seconds))
        if cpu > 0:
            found.append(Measurement(phase, "rows_per_cpu_second", rows / cpu))
    return found


def run(steps: Steps, phase: str, options: CommandOptions) -> None:
    """Time a tool's command; its input file is removed afterwards."""
    benchload, driver = steps.context.benchload, steps.driver
    rows = int(steps.digest["rows"])
    with tempfile.TemporaryDirectory(dir=steps.context.scratch) as folder:
        filled = places(benchload, driver, steps.dataset, Path(folder), options)
        text = command(options, filled)
        with steps.timeline.phase("input"):
            prepare(benchload, steps.dataset, steps.digest, Path(filled["input"]), options)
        counted = {"rows": rows, "nothing": None}.get(options.counts)
        if options.counts == "lines":
            with steps.timeline.phase("count"):
                counted = lines(text)
        before = received(driver) if options.received else 0
        with steps.timeline.phase(phase, workload.name):
            name, registry = f"{phase} {options.tool}", steps.context.results / "processes"
            timed = time_runs(text, options, name, steps.folder, registry)
    if options.received:
        expected = rows * (options.runs + options.warmup)
        steps.findings.check("rows", f"rows received in {phase}", expected, received(driver) - before)
    steps.findings.measurements += measurements(phase, timed, counted)


workload = Workload(
    name="command",
    files=True,
    options=CommandOptions,
    run=run,
    metrics=(
        "rows_per_second",
        "rows",
        Metric(
            "rows_per_cpu_second", "1/s", "higher", "Rows per second of processor time", "rows", "rows/CPU-s"
        ),
        "command_seconds",
        "command_seconds_min",
        "command_seconds_max",
        "command_runs",
    ),
    compared=("rows_per_second", "rows_per_cpu_second"),
)
