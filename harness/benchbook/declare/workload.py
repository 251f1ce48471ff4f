"""Options of each workload: the work that a phase of an experiment does and times."""

from __future__ import annotations

import re
import string
from math import prod
from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from benchbook.declare.duration import Duration
from benchbook.declare.toml import Model, Name, Positive, Text
from benchbook.errors import nearest, suggestion

Read = Literal["short", "long"]
Method = Literal["as-published", "any-stock", "same-bars", "corrected"]

PUBLISHED = "published"
"""Level of ``in_flight`` that selects the published number of each system."""
CLAIMED_IN_FLIGHT = 64
"""Reads in flight that the publication claims for every system; used for a system that it did not measure."""


class LoopOptions(Model):
    """Options of the loop that starts operations."""

    rate: Annotated[float, Field(ge=0)] = 0
    """Operations per second of an open loop; 0 for a closed loop, in which each worker waits for its answer. As a
    factor with several levels, it shows latency against throughput."""
    arrivals: Literal["constant", "poisson"] = "constant"
    """Arrival process of an open loop."""


class KlineOptions(LoopOptions):
    """Options of the workload ``kline``: read ranges of one-minute bars for a fixed time."""

    read: Read
    """``short``: one bar. ``long``: all bars of eight trading days."""
    method: Method = "corrected"
    """Which faults of the published method are corrected; each step includes those before it. ``as-published``: none.
    ``any-stock``: all systems read any stock; the publication's MySQL reader always read the first one.
    ``same-bars``: a short read returns one bar; the publication read a minute before and after it from SQL databases.
    ``corrected``: every answer is decoded and its bars counted; the publication did not for the key-value store."""
    in_flight: Positive | Literal["published"] = CLAIMED_IN_FLIGHT
    """Reads in flight, each on a separate connection; ``published`` uses ``published_in_flight``."""
    published_in_flight: dict[Name, Positive] = Field(default_factory=dict)
    """System → reads in flight according to the raw records of the publication."""
    duration: Duration = "5s"
    """Time for which to repeat the requests, such as ``5s``."""
    requests: Annotated[int, Field(ge=20, le=1_000_000)] = 5000
    """Number of different requests, drawn before the run; the same for every system."""
    warmup: Annotated[int, Field(ge=0)] = 100
    """Reads before the timed ones; the results mark them as warm-up."""
    timeout: Duration = "30s"
    """Longest time for one read."""

    def in_flight_of(self, system: str) -> int:
        """Return the number of reads in flight for a system."""
        if self.in_flight == PUBLISHED:
            return self.published_in_flight.get(system, CLAIMED_IN_FLIGHT)
        return int(self.in_flight)


_PART = re.compile(r"(put|get|delete)=(\d+(?:\.\d+)?)")


def _mix(text: str) -> str:
    parts = [_PART.fullmatch(part) for part in text.split(",")]
    if not all(parts) or not any(float(part[2]) > 0 for part in parts if part):
        raise ValueError(f'"{text}" is not a mix; write parts such as "put=1,get=8,delete=1"')
    return text


def _refuse_two_ends(counted: str, number: int | None, duration: str | None) -> None:
    """Raise ValueError where both a number of operations and a duration end a phase."""
    if number is not None and duration is not None:
        raise ValueError(f'{counted} = {number} and duration = "{duration}" both end the phase; remove one')


class BlobOptions(LoopOptions):
    """Options of the workload ``blob``: put, get and delete the objects of the dataset."""

    do: Literal["put", "get", "delete", "mixed"]
    """Operation: put every object, get or delete the stored ones, or a mix of the three."""
    mix: Annotated[str, AfterValidator(_mix)] = "put=1,get=2,delete=1"
    """Weights of the operations if ``do`` is ``mixed``."""
    operations: Annotated[int, Field(ge=0)] = 0
    """Operations; 0 for one an object."""
    duration: Duration | None = None
    """For how long operations begin, in place of a number of them. A put continues with new objects after those
    of the dataset, a get asks for objects again. A delete ends early when no object is left."""
    batch: Positive = 1
    """Objects of one put: in one transaction, or one after the other in a store without transactions."""
    workers: Positive = 1
    """Operations in flight."""
    sync_limit: bool = False
    """True if fio measures, untimed and before the phase, how many synced writes per second the disk reaches. The
    writes have the mean size of an object, and there are as many jobs as workers. Without fio,
    Benchbook omits the measurement."""
    timeout: Duration = "30s"
    """Longest time for one operation."""

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        _refuse_two_ends("operations", self.operations or None, self.duration)
        return self


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


class CommandOptions(Model):
    """Options of the workload ``command``: time the command of a tool with hyperfine."""

    tool: Name
    """The tool of this cell; usually a factor."""
    commands: dict[Name, Text] = Field(min_length=1)
    """Tool → its shell command. The report shows a tool that is not on PATH as missing."""
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


Size = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*[kmgt]?$"), Field(examples=["256k", "4g"])]
"""A size as fio writes it: bytes, or with k, m, g, t the number of KiB, MiB, GiB, TiB."""


class FioOptions(Model):
    """Options of the workload ``fio``: run one job in the data folder. Names and defaults are those of fio."""

    rw: Literal["read", "write", "randread", "randwrite", "rw", "randrw"]
    """Access pattern: sequential or random reads, writes, or both."""
    block_size: Size = "4k"
    """Size of one operation."""
    size: Size = "1g"
    """Size of the file of each job."""
    jobs: Annotated[int, Field(ge=1, le=256)] = 1
    """Number of processes, each with a separate file."""
    io_engine: Literal["psync", "sync", "libaio", "mmap", "pvsync2"] = "psync"
    """System calls that fio uses."""
    io_depth: Positive = 1
    """Operations in flight of each job; more than 1 needs an asynchronous engine."""
    direct: bool = False
    """Bypass the page cache; FUSE may refuse it."""
    fsync: Annotated[int, Field(ge=0)] = 0
    """Number of writes between syncs of the file; 0 for no sync."""
    end_fsync: bool = False
    """Sync the file once at the end; without it, writes may remain in memory."""
    invalidate: bool = True
    """Drop the file's pages from the page cache before the job."""
    refill_buffers: bool = False
    """True if every write has new contents."""
    runs_for: Duration | None = None
    """Time for which to repeat the job, such as ``30s``; by default it ends with the file."""
    read_percent: Annotated[int, Field(ge=0, le=100)] = 50
    """Share of reads in ``rw`` and ``randrw``, in percent."""


Tool = Literal["inch", "influx-stress", "bulk_load_influx", "query_benchmarker_influxdb"]

Program = Literal[
    "inch",
    "influx-stress",
    "bulk_data_gen",
    "bulk_load_influx",
    "bulk_query_gen",
    "query_benchmarker_influxdb",
]


class OriginalOptions(Model):
    """Options of the workload ``original``: run the unchanged tool of a publication and parse its output."""

    tool: Tool
    """The tool. ``bulk_data_gen`` feeds ``bulk_load_influx``; ``bulk_query_gen`` feeds
    ``query_benchmarker_influxdb``."""
    arguments: dict[Program, list[Text]] = Field(default_factory=dict)
    """Program → its arguments, except the server's address. Default: the defaults of the program."""
    limit: Duration = "2h"
    """Longest time for the tool."""


class InchOptions(Model):
    """Options of the workload ``inch``: write points of every combination of tag values into a separate table."""

    tags: Annotated[list[Positive], Field(min_length=1, max_length=16)] = Field(default=[10, 10, 10])
    """Number of values of each tag; every combination is a series."""
    points: Positive = 100
    """Points of each series."""
    fields: Annotated[int, Field(ge=1, le=1000)] = 1
    """Fields of a point."""
    batch_size: Positive = 5000
    """Points per write."""
    workers: Positive = 1
    """Writes in flight."""
    gzip: bool = False
    """Compress the body of a write."""
    timeout: Duration = "30s"
    """Longest time for one write."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 5
    """Number of retries of a write that fails with status 429 or 5xx."""

    @property
    def series(self) -> int:
        """Number of series."""
        return prod(self.tags)


class StressOptions(Model):
    """Options of the workload ``stress``: write points for a fixed time into a separate table.

    Workers write one series after the other, so the number of series grows to its maximum.
    """

    lasts: Duration = "60s"
    """Time for which to write."""
    tick: Duration | None = None
    """Each worker begins at most one write in each interval of this length; influx-stress has 1s. None: as fast as
    possible."""
    series: Positive = 100_000
    """Largest number of series."""
    batch_size: Positive = 10_000
    """Points per write."""
    workers: Positive = 20
    """Writes in flight."""
    gzip: bool = False
    """Compress the body of a write."""
    timeout: Duration = "30s"
    """Longest time for one write."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 5
    """Number of retries of a write that fails with status 429 or 5xx."""


DevopsQuery = Literal["1-host-1-hr", "1-host-12-hr", "8-host-1-hr", "groupby", "groupby-max"]
IotQuery = Literal[
    "last-loc", "low-fuel", "high-load", "stationary-trucks", "long-driving-sessions", "avg-load"
]
Question = Literal[
    "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11", "q12", "q13", "q14", "q15", "q16", "q17",
    "q18", "q19", "q20", "q21", "q22", "q23", "q24", "q25", "q26", "q27", "q28", "q29", "q30", "q31", "q32", "q33",
    "q34", "q35", "q36", "q37", "q38", "q39", "q40", "q41", "q42", "q43",
    "small-inner", "medium-inner", "medium-left", "medium-inner-text", "big-inner",
]  # fmt: skip
"""A question without parameters: q1 to q43 of the dataset ``hits``, q1 to q10 of ``frames``, the others of
``join-frames``."""


class LoadOptions(Model):
    """Options of the workload ``load``: the dataset into an empty database, whole or for a time."""

    duration: Duration | None = None
    """For how long writes begin; None loads the dataset once. The load ends before the dataset does, or continues
    with rows that follow it in time. If a later phase of the trial reads the dataset, the load continues after the
    duration until the dataset is complete; rates leave that part out."""
    batch_size: Positive = 5000
    """Rows per write."""
    workers: Positive = 1
    """Writes in flight of each client."""
    clients: Annotated[int, Field(ge=1, le=64)] = 1
    """Client processes; each loads the whole dataset into a separate database at the same time."""
    gzip: bool = False
    """Compress the body of a write; embedded systems ignore it."""
    timeout: Duration = "30s"
    """Longest time for one write."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 5
    """Number of retries of a write that fails with status 429 or 5xx."""
    expects: list[Annotated[str, Field(min_length=1)]] = Field(default_factory=list)
    """Texts in error messages of expected refusals. The report counts and shows these, and the load continues; any
    other refusal fails the trial. Example: ``["partial write"]``."""


CacheState = Literal["warm", "cold"]

QUERIES = 100
"""Timed queries of a phase that gives neither a number nor a duration."""
QUERIES_OF_DURATION = 1000
"""Different queries of a phase with a duration, which asks them again and again."""


class QueryOptions(LoopOptions):
    """Options of the workload ``query``: run queries of one type, the same for every system."""

    type: DevopsQuery | IotQuery | Question
    queries: Positive | None = None
    """Timed queries, each asked once; 100 if there is no duration either."""
    duration: Duration | None = None
    """For how long queries begin, in place of a number of them: 1000 different ones, again and again."""
    workers: Positive = 1
    """Queries in flight."""
    warmup: Annotated[int, Field(ge=0)] = 0
    """Queries before the timed ones; the results mark them as warm-up."""
    timeout: Duration = "30s"
    """Longest time for one query."""
    cache: CacheState = "warm"
    """``cold``: before the first query, Benchbook stops the system, drops all caches of the storage and starts the
    system again. The report says "lukewarm" if it could not drop a cache."""

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        _refuse_two_ends("queries", self.queries, self.duration)
        if self.type in get_args(Question) and self.duration is None:
            raise ValueError(f"type {self.type} is one question, which is repeated; give a duration")
        return self

    @property
    def different(self) -> int:
        """The number of different queries: one question without parameters, or many."""
        if self.type in get_args(Question):
            return 1
        return self.queries or (QUERIES if self.duration is None else QUERIES_OF_DURATION)


Options = (
    LoadOptions
    | QueryOptions
    | CommandOptions
    | FioOptions
    | InchOptions
    | StressOptions
    | OriginalOptions
    | KlineOptions
    | BlobOptions
)
"""Options of a workload."""

WORKLOADS: dict[str, type[Options]] = {
    "load": LoadOptions,
    "query": QueryOptions,
    "command": CommandOptions,
    "kline": KlineOptions,
    "fio": FioOptions,
    "inch": InchOptions,
    "stress": StressOptions,
    "original": OriginalOptions,
    "blob": BlobOptions,
}
"""Option model of each workload; a new workload adds an entry and a module in ``benchbook/run/workloads``."""
