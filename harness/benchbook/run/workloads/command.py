"""The workload ``command``: time a tool's command with hyperfine."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchbook.declare.dataset import Dataset
from benchbook.declare.workload import PLACEHOLDERS, CommandOptions, has_placeholder
from benchbook.errors import TrialFailed, Unavailable
from benchbook.measure.measurement import Measurement
from benchbook.process import spawn
from benchbook.systems.driver import Driver

HYPERFINE = "hyperfine"

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


def prepare(
    benchload: Path, dataset: Dataset, digest: Mapping[str, Any], file: Path, options: CommandOptions
) -> None:
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


def run(text: str, options: CommandOptions, name: str, folder: Path, registry: Path | None) -> Timed:
    """Time a command whose output goes to ``folder``; raise TrialFailed if a run exits with another code than 0."""
    stem = re.sub(r"[^\w.-]+", "-", name)
    export, log = folder / f"{stem}.hyperfine.json", folder / f"{stem}.log"
    running = spawn.start(
        [
            HYPERFINE, "--style=basic", "--shell=sh", f"--runs={options.runs}", f"--warmup={options.warmup}",
            f"--export-json={export}", f"exec 2>>{shlex.quote(str(log))}; {{ {text}; }} {_output(options)}",
        ],
        name=name, log=folder / f"{stem}.hyperfine.log", registry=registry,
    )  # fmt: skip
    if running.finish() != "exited with code 0":
        raise TrialFailed(
            f"{name} failed ({text}). The end of its log: {spawn.log_end(log)}", f"The whole output is {log}."
        )
    return read(json.loads(export.read_text(encoding="utf-8")))


def lines(text: str) -> int:
    """Run a command once and return the number of lines that it prints."""
    counted = 0
    with subprocess.Popen(["sh", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        assert running.stdout is not None
        while part := running.stdout.read(1 << 20):
            counted += part.count(b"\n")
    if running.returncode != 0:
        raise TrialFailed(f"The command exited with code {running.returncode}: {text}")
    return counted


def _output(options: CommandOptions) -> str:
    """Return where the timed command's stdout goes: to the log, unless it is the data."""
    return ">/dev/null" if options.counts == "lines" else ">&2"


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
