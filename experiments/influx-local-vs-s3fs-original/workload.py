"""The workload ``original``: run a publication's own tool from PATH, unchanged, and parse its output.

The tool's numbers are kept as reported. Benchbook adds the check that the tools omit: whether the server has the
points that they claim to have written.
"""

from __future__ import annotations

import re
import shlex
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from benchbook.declare.duration import Duration, seconds
from benchbook.declare.toml import Text
from benchbook.declare.workload import Metric, Options, Workload
from benchbook.errors import TrialFailed, Unavailable
from benchbook.measure.measurement import Measurement

if TYPE_CHECKING:
    from benchbook.run.steps import Steps

Tool = Literal["inch", "influx-stress", "bulk_load_influx", "query_benchmarker_influxdb"]

Program = Literal[
    "inch",
    "influx-stress",
    "bulk_data_gen",
    "bulk_load_influx",
    "bulk_query_gen",
    "query_benchmarker_influxdb",
]


class OriginalOptions(Options):
    """Options of the workload ``original``: run the unchanged tool of a publication and parse its output."""

    tool: Tool
    """The tool. ``bulk_data_gen`` feeds ``bulk_load_influx``; ``bulk_query_gen`` feeds
    ``query_benchmarker_influxdb``."""
    arguments: dict[Program, list[Text]] = Field(default_factory=dict)
    """Program → its arguments, except the server's address. Default: the defaults of the program."""
    limit: Duration = "2h"
    """Longest time for the tool."""


_NUMBER = r"([0-9.]+(?:e[+-]?[0-9]+)?)"


@dataclass(frozen=True)
class Adapter:
    """The command of one tool and the parser of its output. ``{url}`` is replaced by the server's address."""

    command: tuple[str, ...]
    feed: tuple[str, ...]
    """Program whose output is piped into it; empty for none."""
    database: str
    """The database that it writes by default."""
    parse: Callable[[str], dict[str, float] | None]
    """Its output → metrics; None if the output lacks them."""
    loads_first: bool = False
    """True if it needs the data that ``bulk_load_influx`` loads."""

    def programs(self) -> list[str]:
        """Return the programs that must be on PATH."""
        return [*self.feed[:1], self.command[0]]


def _found(text: str, patterns: dict[str, str]) -> dict[str, float] | None:
    """Return the first group of the last match of each pattern; None if a pattern does not match."""
    found = {name: re.findall(pattern, text) for name, pattern in patterns.items()}
    if not all(found.values()):
        return None
    return {name: float(matches[-1]) for name, matches in found.items()}


def parse_inch(text: str) -> dict[str, float] | None:
    """Parse the output of inch.

    >>> parse_inch("Total time: 3013.7 seconds")
    {'seconds': 3013.7}
    """
    return _found(text, {"seconds": rf"Total time: {_NUMBER} seconds"})


def parse_stress(text: str) -> dict[str, float] | None:
    """Parse the output of influx-stress.

    >>> parse_stress("Write Throughput: 117084 Points Written: 7260000")
    {'rows_per_second': 117084.0, 'rows': 7260000.0}
    """
    return _found(
        text, {"rows_per_second": rf"Write Throughput: {_NUMBER}", "rows": rf"Points Written: {_NUMBER}"}
    )


def parse_load(text: str) -> dict[str, float] | None:
    """Parse the output of bulk_load_influx.

    >>> parse_load("loaded 60 items in 6.0sec with 1 workers (mean point rate 10.0/sec, mean value rate 99.5/s, …")
    {'rows': 60.0, 'seconds': 6.0, 'rows_per_second': 10.0, 'values_per_second': 99.5}
    """
    return _found(
        text,
        {
            "rows": rf"loaded {_NUMBER} items",
            "seconds": rf"items in {_NUMBER}sec",
            "rows_per_second": rf"mean point rate {_NUMBER}/sec",
            "values_per_second": rf"mean value rate {_NUMBER}/s",
        },
    )


def parse_queries(text: str) -> dict[str, float] | None:
    """Parse the output of query_benchmarker_influxdb, whose latencies are milliseconds.

    >>> parse_queries("all queries : min: 0.40ms (…), mean: 2.00ms (…), max: 57.00ms (…), count: 1000, sum: 2.0sec")
    {'latency_min': 0.0004, 'latency_mean': 0.002, 'latency_max': 0.057, 'queries': 1000.0}
    """
    line = "\n".join(one for one in text.splitlines() if "all queries" in one)
    found = _found(
        line,
        {
            "latency_min": rf"min: *{_NUMBER}ms",
            "latency_mean": rf"mean: *{_NUMBER}ms",
            "latency_max": rf"max: *{_NUMBER}ms",
            "queries": rf"count: *{_NUMBER}",
        },
    )
    if found is None:
        return None
    wall = re.findall(rf"wall clock time: {_NUMBER}sec", text)
    scaled = {name: value / 1e3 if name.startswith("latency") else value for name, value in found.items()}
    return {**scaled, "seconds": float(wall[-1])} if wall else scaled


ADAPTERS = {
    "inch": Adapter(("inch", "-host", "{url}"), (), "stress", parse_inch),
    "influx-stress": Adapter(("influx-stress", "insert", "--host", "{url}"), (), "stress", parse_stress),
    "bulk_load_influx": Adapter(
        ("bulk_load_influx", "-urls", "{url}", "-do-abort-on-exist=false"),
        ("bulk_data_gen",),
        "benchmark_db",
        parse_load,
    ),
    "query_benchmarker_influxdb": Adapter(
        ("query_benchmarker_influxdb", "-urls", "{url}"),
        ("bulk_query_gen",),
        "benchmark_db",
        parse_queries,
        True,
    ),
}


def run(steps: Steps, phase: str, options: OriginalOptions) -> None:
    """Run the tool against the server, keep its numbers, and count what it wrote."""
    adapter = ADAPTERS[options.tool]
    needed = [*adapter.programs(), *(ADAPTERS["bulk_load_influx"].programs() if adapter.loads_first else ())]
    for program in needed:
        if shutil.which(program) is None:
            raise Unavailable(
                f"{program} is not on PATH.",
                "Install this tool, which the publication used. To do without it, leave"
                f" {options.tool} out of --set tool=….",
            )
    if adapter.loads_first:
        with steps.timeline.phase("data"):
            _run(steps, "data", ADAPTERS["bulk_load_influx"], options)
        with steps.timeline.phase("settle"):
            steps.driver.settle()
    with steps.timeline.phase(phase, workload.name):
        stated = _run(steps, phase, adapter, options)
    with steps.timeline.phase("check"):
        stated = _checked(steps, options, adapter, stated)
    steps.findings.measurements += [Measurement(phase, name, value) for name, value in stated.items()]


def _run(steps: Steps, phase: str, adapter: Adapter, options: OriginalOptions) -> dict[str, float]:
    """Run a tool to its end and return its numbers; raise TrialFailed with the end of its log."""
    from benchbook.process import spawn

    url = getattr(steps.driver, "url", "")
    if not url:
        raise TrialFailed(
            f"{adapter.command[0]} needs a server with InfluxDB's HTTP interface.",
            "Use it with an InfluxDB system.",
        )
    given = options.arguments
    parts = (*adapter.command, *given.get(adapter.command[0], ()))  # type: ignore[call-overload]
    command = shlex.join([part.replace("{url}", url) for part in parts])
    for feed in adapter.feed:
        command = f"{shlex.join([feed, *given.get(feed, ())])} | {command}"  # type: ignore[call-overload]
    name, log = f"{phase} {options.tool}", Path(steps.folder / "logs" / f"original-{phase}.log")
    running = spawn.start(
        ["sh", "-c", command], name=name, log=log, registry=steps.context.results / "processes"
    )
    deadline = time.monotonic() + seconds(options.limit)

    def check() -> None:
        steps.storage.check()
        steps.driver.ready()  # inch retries forever when a server is gone
        if time.monotonic() > deadline:
            raise TrialFailed(f"{name} did not end within {options.limit} ({command}).")

    ending = running.finish(check)
    output = log.read_text(encoding="utf-8", errors="replace")
    stated = adapter.parse(output)
    if ending != "exited with code 0" or stated is None:
        raise TrialFailed(
            f"{name} {ending} ({command}). The end of its log: {spawn.log_end(log)}",
            f"The whole output is {log}.",
        )
    return stated


def _checked(
    steps: Steps, options: OriginalOptions, adapter: Adapter, stated: dict[str, float]
) -> dict[str, float]:
    """Compare the points that a tool claims with those in the server; add the rate that inch does not report."""
    from benchbook.systems.driver import SeveralDatabases

    if "queries" in stated or not isinstance(steps.driver, SeveralDatabases):
        return stated
    counted = steps.driver.count_in(adapter.database)
    found = sum(table.rows for table in counted.values())
    expected = (
        inch_points(options.arguments.get("inch", [])) if options.tool == "inch" else int(stated["rows"])
    )
    if options.tool == "influx-stress":
        # It counts refused points, and repeats timestamps of earlier ones, so the points found are only reported.
        return {**stated, "rows_found": float(found)}
    steps.findings.check("points", f"points of {options.tool} in {adapter.database}", expected, found)
    return with_rate(stated, expected)


def with_rate(stated: dict[str, float], rows: int) -> dict[str, float]:
    """Add the points and, if the reported time is long enough, their rate.

    inch reports tenths of a second. A load shorter than 0.05 s is reported as 0.0, and has no rate.

    >>> with_rate({"seconds": 0.0}, 100)
    {'seconds': 0.0, 'rows': 100.0}
    """
    if "rows_per_second" in stated:
        return stated
    rate = {"rows_per_second": rows / stated["seconds"]} if stated["seconds"] > 0 else {}
    return {**stated, "rows": float(rows), **rate}


def inch_points(arguments: list[str]) -> int:
    """Return how many points inch writes with these arguments and its defaults.

    >>> inch_points(["-t", "100,10,10", "-p", "10000"])
    100000000
    """

    def after(flag: str, default: str) -> str:
        return arguments[arguments.index(flag) + 1] if flag in arguments else default

    return prod(int(one) for one in after("-t", "10,10,10").split(",")) * int(after("-p", "100"))


workload = Workload(
    name="original",
    options=OriginalOptions,
    run=run,
    metrics=(
        "rows_per_second",
        "values_per_second",
        "rows",
        "seconds",
        "queries_per_second",
        "queries",
        "latency_mean",
        "latency_max",
        Metric("latency_min", "s", "lower", "Shortest latency"),
    ),
    compared=("rows_per_second", "queries_per_second"),
    own_data=True,
)

workloads = {workload.name: workload}
