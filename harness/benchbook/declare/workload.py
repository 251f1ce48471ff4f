"""Workloads: what an experiment does to a system and times, and the options of each."""

from __future__ import annotations

import re
import string
from math import prod
from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from benchbook.declare.duration import Duration
from benchbook.declare.toml import Model, Name, Positive, Text
from benchbook.errors import nearest, suggestion

# Options of the workload ``kline``: ranges of one-minute bars, read again and again for a while.

Read = Literal["short", "long"]
Method = Literal["as-published", "any-stock", "same-bars", "corrected"]

PUBLISHED = "published"
"""Level of ``in_flight`` that stands for what the publication had of each system."""
CLAIMED_IN_FLIGHT = 64
"""What the publication says of every system; used for a system that it did not measure."""


class KlineOptions(Model):
    """Options of the workload ``kline``."""

    read: Read
    """``short``: one bar. ``long``: all bars of eight trading days."""
    method: Method = "corrected"
    """What of the published method is put right, each step with those before it. ``as-published``: nothing.
    ``any-stock``: every system is asked for any stock; the published reader of MySQL asked for the first, always.
    ``same-bars``: a short read asks every system for one bar; SQL databases were asked for a minute before and
    after it too. ``corrected``: every answer is decoded and its bars are counted; the key-value store's were not."""
    in_flight: Positive | Literal["published"] = CLAIMED_IN_FLIGHT
    """Reads on their way at once, a connection each; ``published`` takes those of ``published_in_flight``."""
    published_in_flight: dict[Name, Positive] = Field(default_factory=dict)
    """System → reads on their way in the publication, by its own records."""
    duration: Duration = "5s"
    """For how long the requests are asked, again and again."""
    requests: Annotated[int, Field(ge=20, le=1_000_000)] = 5000
    """Different requests, drawn before the run: the same for every system."""
    warmup: Annotated[int, Field(ge=0)] = 100
    """Reads before the clock is started; kept and tagged."""
    timeout: Duration = "30s"

    def in_flight_of(self, system: str) -> int:
        """Return how many reads are on their way at once to a system."""
        if self.in_flight == PUBLISHED:
            return self.published_in_flight.get(system, CLAIMED_IN_FLIGHT)
        return int(self.in_flight)


# Options of the workload ``blob``: objects put, got and deleted one by one, or in transactions.

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


class BlobOptions(Model):
    """Options of the workload ``blob``: what is done with the objects of the dataset, and how fast."""

    do: Literal["put", "get", "delete", "mixed"]
    """Put every object, get or delete those that are there, or a mix of the three."""
    mix: Annotated[str, AfterValidator(_mix)] = "put=1,get=2,delete=1"
    """Parts of a mix."""
    operations: Annotated[int, Field(ge=0)] = 0
    """Operations; 0 for one an object."""
    duration: Duration | None = None
    """For how long operations begin, in place of a number of them. A put continues with new objects after those
    of the dataset, a get asks for objects again. A delete ends early when no object is left."""
    batch: Positive = 1
    """Objects of a put: one transaction, or one after the other in a store that has none over several objects."""
    workers: Positive = 1
    """Operations in flight: the concurrency."""
    rate: Annotated[float, Field(ge=0)] = 0
    """Operations a second of an open loop; 0 for a closed one, in which each worker waits for its answer."""
    arrivals: Literal["constant", "poisson"] = "constant"
    """How operations of an open loop are spread over time."""
    sync_limit: bool = False
    """Whether fio measures before the phase, untimed, how many writes of the mean size of an object the disk
    syncs one by one, with as many jobs as there are workers; once a block for cells that ask the same of it.
    Without fio it is left out."""
    timeout: Duration = "30s"
    """How long one operation may take."""

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        _refuse_two_ends("operations", self.operations or None, self.duration)
        return self


# Options of the workload ``command``: a tool's own command, timed by hyperfine.

PLACES = {
    "benchload": "the path of Benchbook's load tool",
    "url": "the address of the server, with http://",
    "host": "host and port of the server",
    "database": "a name for the database",
    "input": "the path of the file with the dataset, where the option input asks for one",
    "sized": "the same file, with a last line dataset-size:ROWS,VALUES as bulk_data_gen writes it",
    "dataset": "the dataset as benchload is asked for it: generator and flags",
    "seed": "the seed of the dataset",
    "scale": "its parameter of this name",
    "start": "its parameter of this name",
    "end": "its parameter of this name",
    "interval": "its parameter of this name",
    "workers": "the option of this name",
}
"""What a command may name in braces."""


class CommandOptions(Model):
    """Options of the workload ``command``: which tool is timed, and the command of each tool."""

    tool: Name
    """The tool of this cell; usually a factor."""
    commands: dict[Name, Text] = Field(min_length=1)
    """Tool → its command for the shell. A tool that is not on PATH is shown as missing."""
    runs: Annotated[int, Field(ge=2)] = 5
    """Timed runs of the command in one trial."""
    warmup: Annotated[int, Field(ge=0)] = 1
    """Runs before the timed ones."""
    workers: Positive = 1
    """Connections, where a command names ``{workers}``."""
    input: Literal["influx", "none"] = "none"
    """Whether the dataset is written to a file first, which a command names as ``{input}``."""
    counts: Literal["rows", "lines", "nothing"] = "rows"
    """What a run gets through: the rows of the dataset; the lines that it prints, counted in a run of their own
    and thrown away in the timed ones; or nothing that could be counted."""
    received: bool = False
    """Whether the server has to have received every row of every run: for servers that count what they are sent."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.tool not in self.commands:
            guess = suggestion(self.tool, self.commands)
            raise ValueError(
                f'tool "{self.tool}" has no command; commands has {", ".join(self.commands)}{guess}'
            )
        for tool, command in self.commands.items():
            for place in _places(tool, command):
                if place not in PLACES:
                    found = nearest(place, PLACES)
                    guess = f'; did you mean "{{{found}}}"?' if found else ""
                    raise ValueError(
                        f'the command of "{tool}" names {{{place}}}, which is none of {", ".join(PLACES)}{guess}'
                    )
        return self


def names(command: str, place: str) -> bool:
    """Say whether a command names a place.

    >>> names("cat {input}", "input")
    True
    """
    return any(name == place for _, name, _, _ in string.Formatter().parse(command))


def _places(tool: str, command: str) -> list[str]:
    """Return what a command names in braces."""
    try:
        return [name for _, name, _, _ in string.Formatter().parse(command) if name is not None]
    except ValueError as error:
        raise ValueError(
            f'the command of "{tool}" has braces that do not fit ({error}); write {{{{ for one'
        ) from None


# Options of the workload ``fio``: one job of fio in the data folder. Names and defaults are fio's own.

Size = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*[kmgt]?$")]
"""Bytes, or with k, m, g, t so many KiB, MiB, GiB, TiB."""


class FioOptions(Model):
    """Options of the workload ``fio``."""

    rw: Literal["read", "write", "randread", "randwrite", "rw", "randrw"]
    """What the job does, one after the other or at random places."""
    block_size: Size = "4k"
    size: Size = "1g"
    """Size of the file of each job."""
    jobs: Annotated[int, Field(ge=1, le=256)] = 1
    io_engine: Literal["psync", "sync", "libaio", "mmap", "pvsync2"] = "psync"
    io_depth: Positive = 1
    """Operations in flight of each job; more than 1 needs an asynchronous engine."""
    direct: bool = False
    """Whether the page cache is passed by; FUSE may refuse it."""
    fsync: Annotated[int, Field(ge=0)] = 0
    """After how many writes the file is synced; 0 never."""
    end_fsync: bool = False
    """Whether the file is synced once at the end; without it writes may rest in memory."""
    invalidate: bool = True
    """Whether the pages of the file are given up before the job begins."""
    refill_buffers: bool = False
    """Whether every write has new contents."""
    runs_for: Duration | None = None
    """Goes on for so long, over and over the file; None ends with the file."""
    read_percent: Annotated[int, Field(ge=0, le=100)] = 50
    """Share of reads of rw and randrw."""


# Options of the workload ``original``: the very tool of a publication, driven unchanged, its output parsed.

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
    """Options of the workload ``original``."""

    tool: Tool
    """``bulk_load_influx`` is fed by ``bulk_data_gen``, ``query_benchmarker_influxdb`` by ``bulk_query_gen``."""
    arguments: dict[Program, list[Text]] = Field(default_factory=dict)
    """Program → its arguments, besides where the server is; one that is not named has its own defaults."""
    limit: Duration = "2h"
    """How long it may take."""


# Options of the workloads ``inch`` and ``stress``: rows whose trait is how many series they are of.


class InchOptions(Model):
    """Options of the workload ``inch``: every combination of tags, so many points of each, into its own table."""

    tags: Annotated[list[Positive], Field(min_length=1, max_length=16)] = Field(default=[10, 10, 10])
    """How many values each tag has; every combination is a series."""
    points: Positive = 100
    """Points of each series."""
    fields: Annotated[int, Field(ge=1, le=1000)] = 1
    """Fields of a point."""
    batch_size: Positive = 5000
    """Points a write."""
    workers: Positive = 1
    """Writes in flight."""
    gzip: bool = False
    timeout: Duration = "30s"
    """How long one write may take."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 5
    """How often a write is sent again that the server could not do then (429, 5xx)."""

    @property
    def series(self) -> int:
        """How many series there are."""
        return prod(self.tags)


class StressOptions(Model):
    """Options of the workload ``stress``: points as fast as they are taken, for a time, into its own table.

    Series are written one after the other, so their number grows until all are known.
    """

    lasts: Duration = "60s"
    """How long to write."""
    series: Positive = 100_000
    """Series at most."""
    batch_size: Positive = 10_000
    """Points a write."""
    workers: Positive = 20
    """Writes in flight."""
    gzip: bool = False
    timeout: Duration = "30s"
    """How long one write may take."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 5
    """How often a write is sent again that the server could not do then (429, 5xx)."""


# Workloads: what is done to a system and timed, and the options each takes.

DevopsQuery = Literal["1-host-1-hr", "1-host-12-hr", "8-host-1-hr", "groupby", "groupby-max"]
IotQuery = Literal[
    "last-loc", "low-fuel", "high-load", "stationary-trucks", "long-driving-sessions", "avg-load"
]
QUERY_TYPES: tuple[str, ...] = (*get_args(DevopsQuery), *get_args(IotQuery))


class LoadOptions(Model):
    """Options of the workload ``load``: the dataset into an empty database, whole or for a time."""

    duration: Duration | None = None
    """For how long writes begin; None loads the dataset once. The load ends before the dataset does, or continues
    with rows that follow it in time. If a later phase of the trial reads the dataset, the load continues after the
    duration until the dataset is complete; rates leave that part out."""
    batch_size: Positive = 5000
    """Rows a write."""
    workers: Positive = 1
    """Writes in flight, of each client."""
    clients: Annotated[int, Field(ge=1, le=64)] = 1
    """Clients that load the whole dataset at once, each a process of its own into a database of its own."""
    gzip: bool = False
    """Whether the body of a write is compressed; embedded systems have no body."""
    timeout: Duration = "30s"
    """How long one write may take."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 5
    """How often a write is sent again that the server could not do then (429, 5xx)."""
    expects: list[Annotated[str, Field(min_length=1)]] = Field(default_factory=list)
    """Words of refusals that the experiment expects. They are counted and shown, and the load goes on; a
    refusal in other words still fails the trial."""


CacheState = Literal["warm", "cold"]

QUERIES = 100
"""Timed queries of a phase that gives neither a number nor a duration."""
QUERIES_OF_DURATION = 1000
"""Different queries of a phase with a duration, which asks them again and again."""


class QueryOptions(Model):
    """Options of the workload ``query``: queries of one type, the same for every system."""

    type: DevopsQuery | IotQuery
    queries: Positive | None = None
    """Timed queries, each asked once; 100 if there is no duration either."""
    duration: Duration | None = None
    """For how long queries begin, in place of a number of them: 1000 different ones, again and again."""
    workers: Positive = 1
    """Queries in flight."""
    warmup: Annotated[int, Field(ge=0)] = 0
    """Queries before the timed ones; kept and tagged."""
    timeout: Duration = "30s"
    cache: CacheState = "warm"
    """``cold``: before the first query the system is stopped, all caches of the storage are dropped, and it is
    started again. What could not be made cold is told as lukewarm."""

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        _refuse_two_ends("queries", self.queries, self.duration)
        return self

    @property
    def different(self) -> int:
        """How many different queries are asked."""
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
"""Option model of each workload; a new workload adds one entry and a module in ``benchbook/workloads``."""
