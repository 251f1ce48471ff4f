"""The workload ``sql``: ask questions in SQL about a dataset from a file, each from a file of the experiment."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, FiniteFloat, model_validator

from benchbook.declare.dataset import Dataset
from benchbook.declare.duration import Duration, seconds
from benchbook.declare.matching import matching
from benchbook.declare.names import NAME_RULE, is_name
from benchbook.declare.sql_text import literal
from benchbook.declare.toml import Model, Name, Positive, check
from benchbook.declare.workload import Workload
from benchbook.errors import RequestError, suggestion, unknown
from benchbook.workloads import query
from benchbook.workloads.query import AskOptions

if TYPE_CHECKING:
    from benchbook.run.context import Context
    from benchbook.run.steps import Steps

DIALECTS = ("duckdb", "sqlite", "postgresql", "mysql", "polars", "datafusion", "chdb")
"""Names of dialects in the names of files: ``q1.sqlite.sql``. A system's driver states its dialect."""
ESCAPING = ("chdb",)
"""Dialects in which a backslash in a text begins an escape."""
PARAMETER = re.compile(r"\{\{ *([a-z_][a-z0-9_]*) *\}\}")
LASTS = "2s"
DIFFERENT = 100
"""Different instances of a question with parameters that is asked for a time."""


class Range(Model):
    """Numbers from which a parameter is drawn, both ends included."""

    least: int | FiniteFloat
    """Smallest value; if it and ``most`` are whole numbers, all values are."""
    most: int | FiniteFloat
    """Largest value."""

    @model_validator(mode="after")
    def _forward(self) -> Self:
        if self.most < self.least:
            raise ValueError(f"most ({self.most}) is below least ({self.least})")
        return self


Values = Range | list[str | int | FiniteFloat]
"""What a parameter is drawn from."""


class SqlOptions(AskOptions):
    """Options of the workload ``sql``: questions in SQL about a dataset from a file.

    A phase stands for one phase of each question, with the name of the question.
    """

    questions: str | None = None
    """Files of the questions, relative to the experiment's folder, such as ``questions/*.sql``. ``q1.sql`` is the text
    of the question ``q1``, and ``q1.sqlite.sql`` its text for SQLite."""
    ordered: list[Name] = Field(default_factory=list)
    """Questions whose answers are compared row by row. The rows of other answers may have any order."""
    parameters: dict[str, Values] = Field(default_factory=dict)
    """Parameter → its values: a list, or ``{ least = 1, most = 9 }``. ``{{name}}`` in a text becomes a value, drawn
    before the run; all systems get the same ones."""
    seed: int = Field(default=0, ge=0)
    """Seed of the draws."""
    type: str = ""
    """The question; its file names it."""
    statements: dict[str, str] = Field(default_factory=dict)
    """Dialect → text of the question, as its files have it; "" is the text of all other dialects."""
    queries: Positive | None = None
    """Timed queries, each asked once; in place of a duration."""
    duration: Duration | None = None
    """For how long queries begin; 2s if there is no number of queries either. A question with parameters has 100
    different instances, which are asked again and again."""
    digest: str = ""
    """Digest of the texts, parameters and seed, by which plans of the same questions are recognised."""

    @property
    def varied(self) -> bool:
        """Whether a text has parameters."""
        return any(PARAMETER.search(text) for text in self.statements.values())

    @property
    def different(self) -> int:
        """The number of its instances."""
        return (self.queries or DIFFERENT) if self.varied else 1

    @property
    def identity(self) -> str:
        """What its instances are drawn from."""
        return self.model_dump_json(include={"type", "statements", "parameters", "seed", "ordered"})

    @property
    def lasts_seconds(self) -> float | None:
        """For how long queries begin; None until each was asked once."""
        return None if self.queries else seconds(self.duration or LASTS)

    @model_validator(mode="after")
    def _repeatable(self) -> Self:
        if self.statements and self.queries and self.queries > 1 and not self.varied:
            raise ValueError(f"queries = {self.queries}, but {self.type} has no parameters; give a duration")
        return self


def several(phase: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    """Return a phase for each question of a declared phase, in the order of their numbers."""
    options = phase.get("options") or {}
    if "statements" in options or "type" in options:
        raise RequestError("options: Benchbook reads type and statements from the files of questions.")
    declared = check(options, SqlOptions, "options")
    if not declared.questions:
        raise RequestError(
            "options: questions is missing.", 'Name the files: options = { questions = "questions/*.sql" }'
        )
    texts = read(folder, declared.questions)
    for name in declared.ordered:
        if name not in texts:
            raise unknown("question", name, texts, "options.ordered")
    used = {found for held in texts.values() for text in held.values() for found in PARAMETER.findall(text)}
    for name in sorted(used - declared.parameters.keys()):
        raise RequestError(
            f"a question has the parameter {{{{{name}}}}}, which parameters lacks"
            f"{suggestion(name, declared.parameters) or '.'}",
            f'Give its values: [phases.options.parameters] {name} = ["a", "b"] or {{ least = 1, most = 9 }}',
        )
    for name in sorted(declared.parameters.keys() - used):
        raise RequestError(
            f"parameters has {name}, but no question has {{{{{name}}}}}{suggestion(name, used) or '.'}"
        )
    return [
        {
            **phase,
            "name": name,
            "options": {**options, "type": name, "statements": held, "digest": _digest(held, declared)},
        }
        for name, held in texts.items()
    ]


def _digest(statements: Mapping[str, str], options: SqlOptions) -> str:
    stated = options.model_dump(mode="json", include={"parameters", "seed"}) | {"statements": statements}
    return hashlib.sha256(json.dumps(stated, sort_keys=True).encode()).hexdigest()


def read(folder: Path, pattern: str) -> dict[str, dict[str, str]]:
    """Return question → dialect → text of the files that a pattern matches below a folder."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(matching(folder, pattern, "options.questions"), key=_natural):
        shown = path.relative_to(folder)
        name, _, dialect = path.name.removesuffix(".sql").partition(".")
        if not path.name.endswith(".sql") or not is_name(name):
            raise RequestError(
                f"{shown}: is not called as a question is.", f"Name it NAME.sql; NAME may have {NAME_RULE}."
            )
        if dialect and dialect not in DIALECTS:
            raise unknown("dialect", dialect, DIALECTS, str(shown))
        try:
            text = path.read_text(encoding="utf-8-sig").strip().rstrip(";").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise RequestError(f"{shown}: cannot be read: {error}.") from None
        if not text:
            raise RequestError(f"{shown}: has no question.", "Write a statement of SQL, or remove the file.")
        if dialect in found.setdefault(name, {}):
            raise RequestError(f"{shown}: another file has the question {name} too.", "Rename one of them.")
        found[name][dialect] = text
    return found


def _natural(path: Path) -> list[tuple[int, str]]:
    """Return the key by which q2 comes before q10, and the text of all dialects before that of one."""
    parts = re.findall(r"\d+|\D+", path.name.removesuffix(".sql"))
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def instances(options: SqlOptions) -> Iterator[dict[str, str]]:
    """Yield dialect → text of each instance of a question, with its parameters drawn."""
    for number in range(options.different):
        draw = random.Random(f"{options.seed} {options.type} {number}")
        drawn = {name: _drawn(draw, values) for name, values in sorted(options.parameters.items())}
        texts = options.statements
        if any("\\" in str(value) for value in drawn.values()) and "" in texts:
            texts = dict.fromkeys(ESCAPING, texts[""]) | texts
        yield {dialect: _filled(text, drawn, dialect) for dialect, text in texts.items()}


def _filled(text: str, drawn: Mapping[str, str | float], dialect: str) -> str:
    return PARAMETER.sub(lambda found: _in_sql(drawn[found[1]], dialect), text)


def _drawn(draw: random.Random, values: Values) -> str | float:
    if isinstance(values, list):
        return draw.choice(values)
    if isinstance(values.least, int) and isinstance(values.most, int):
        return draw.randint(values.least, values.most)
    return draw.uniform(values.least, values.most)


def _in_sql(value: str | float, dialect: str) -> str:
    """Return a value in SQL; a negative number has parentheses, since two minus signs begin a comment."""
    if isinstance(value, str):
        return literal(value.replace("\\", "\\\\") if dialect in ESCAPING else value)
    # Polars reads no exponent without a point.
    number = re.sub(r"^(-?\d+)e", r"\1.0e", repr(value))
    return f"({number})" if value < 0 else number


def prepare(context: Context, dataset: Dataset, options: SqlOptions) -> None:
    """Write the query set of a question, before the first trial."""
    from benchbook.run.benchload import keep

    key = query.set_key(dataset, options)
    if key in context.query_files:
        return
    lines = [
        json.dumps(_line(number, dataset.table, options, statements))
        for number, statements in enumerate(instances(options))
    ]
    text = "\n".join(lines) + "\n"
    name = hashlib.sha256(text.encode()).hexdigest()[:12]
    context.query_files[key] = keep(text, context.folder / "queries" / f"{options.type}-{name}.jsonl")


def _line(number: int, table: str, options: SqlOptions, statements: Mapping[str, str]) -> dict[str, Any]:
    """Return a line of a query set, in which a question needs none of the parts of an aggregate."""
    unused = {"field": "", "aggregate": "", "bucket_ns": 0, "hosts": [], "start_ns": 0, "end_ns": 0}
    return {
        "id": number, "type": options.type, "table": table, **unused, "group_by_host": False, "form": options.type,
        "statements": dict(statements), "ordered": options.type in options.ordered,
    }  # fmt: skip


def run(steps: Steps, phase: str, options: SqlOptions) -> None:
    """Ask a question."""
    query.ask(steps, phase, options, workload.name)


workload = Workload(
    name="sql",
    options=SqlOptions,
    run=run,
    metrics=query.METRICS,
    compared=("latency_p50",),
    rate=query.RATE,
    prepare=prepare,
    after=query.keep_answers,
    queries=True,
    reads=True,
    paced=True,
    files=True,
    only_files=True,
    several=several,
)
