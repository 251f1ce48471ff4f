"""Sets of questions without parameters: their tables, their text in each dialect, and what is compared of answers.

A set is the attribute ``questions`` of a module that ``SETS`` names. Engines ask the set of a table; they know none.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from benchbook.workers.engine import Count, Engine, FailedError, Found, Large, Row, Specification

if TYPE_CHECKING:
    import pyarrow as pa

SETS = ("hits", "frames")
"""Modules of this package with a set; a new set adds its name."""


@dataclass(frozen=True)
class QuestionSet:
    """The questions about the tables of one dataset."""

    tables: tuple[str, ...]
    dialects: frozenset[str]
    """Dialects in which ``text`` has the questions; empty for all of them."""
    text: Callable[[Specification, str], str]
    """The statement of a question in a dialect. If its answer is compared, its order is complete."""
    compared: Callable[[Specification, Any], list[Row]]
    """What is compared of the answer to a question: of its rows, or of a table in Arrow if answers are ``large``."""
    large: bool = False
    """True if an answer may be as large as the data, so that engines keep it as a table."""
    columns: str = ""
    """The columns in SQL, with their types; empty for those of benchload's batches."""
    key: str = ""
    """The key in SQL, for engines whose tables have one."""
    numbers: tuple[str, ...] = ()
    """Columns whose values are counted, if ``columns`` declares them."""
    quotes: bool = False
    """True if ``columns`` has the names in quotes, because some may be words of SQL."""
    convert: Callable[[pa.RecordBatch], pa.RecordBatch] | None = None
    """Gives a batch of benchload the declared columns and types."""
    enumerated: tuple[str, ...] = ()
    """Columns of text with few values, for engines with a type for them."""

    def speaks(self, dialect: str) -> bool:
        """Return whether the questions have a text in a dialect."""
        return not self.dialects or dialect in self.dialects

    def ask(
        self, specification: Specification, dialect: str, run: Callable[[str], Sequence[Sequence[Any]]]
    ) -> Found:
        """Ask a question through ``run``, which returns all rows."""
        answer = run(self.statement(specification, dialect))
        return Large(len(answer), lambda: self.compared(specification, answer))

    def statement(self, specification: Specification, dialect: str) -> str:
        """Return a question in a dialect; raise FailedError if it has no text there."""
        if not self.speaks(dialect):
            raise FailedError(f"the questions about {', '.join(self.tables)} have no text for {dialect}")
        return self.text(specification, dialect)


_added: dict[str, QuestionSet] = {}


def add(questions: QuestionSet) -> None:
    """Make a set known that a file or its questions declare; its table is that of no other set."""
    _added.update(dict.fromkeys(questions.tables, questions))


@functools.cache
def sets() -> tuple[QuestionSet, ...]:
    """Return every set."""
    return tuple(import_module(f"benchbook.workers.{name}").questions for name in SETS)


def of_table(table: str) -> QuestionSet | None:
    """Return the set of a table; None if its queries have parameters."""
    return _added.get(table) or next((one for one in sets() if table in one.tables), None)


def declared(table: str) -> QuestionSet | None:
    """Return the set that declares the columns of a table."""
    found = of_table(table)
    return found if found is not None and found.columns else None


def converted(batch: pa.RecordBatch) -> pa.RecordBatch | None:
    """Return a batch with the columns that a set declares; None if none does."""
    found = of_table((batch.schema.metadata or {}).get(b"table", b"").decode())
    return None if found is None or found.convert is None else found.convert(batch)


class QuestionEngine(Engine):
    """An engine that holds only tables that a set declares, and answers only questions."""

    title: ClassVar[str]
    """Its name in messages."""
    dialect: ClassVar[str]
    keyed: ClassVar[bool] = False
    """True if its tables have the declared key."""
    suffix: ClassVar[str] = ""
    """What follows the definition of a table."""
    quote: ClassVar[str] = '"'
    """Begin and end of a quoted name."""
    types: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Type of a declared column → its name in this system, each after a space."""

    @abstractmethod
    def rows(self, text: str) -> Sequence[Sequence[Any]]:
        """Run a statement and return all rows of its answer, none if it has no answer."""

    def create(self, table: str, schema: pa.Schema) -> None:  # noqa: ARG002 - the set declares the columns
        found = self._known(table, f"the table {table}")
        columns = f"{found.columns}, {found.key}" if self.keyed and found.key else found.columns
        for stated, own in self.types.items():
            columns = columns.replace(stated, own)
        columns = columns.replace('"', self.quote)
        self.rows(f"CREATE TABLE IF NOT EXISTS {table} ({columns}){self.suffix}")

    def query(self, specification: Specification) -> Found:
        found = self._known(specification.table, f"questions of the type {specification.type}")
        return found.ask(specification, self.dialect, self.rows)

    def _known(self, table: str, what: str) -> QuestionSet:
        found = declared(table)
        if found is None:
            known = ", ".join(name for one in sets() if one.columns for name in one.tables)
            raise FailedError(f"{self.title} knows only questions about {known}, not {what}")
        return found

    def count(self) -> dict[str, Count]:
        counts = {}
        for table in self.tables():
            found = self._known(table, f"the table {table}")
            names = found.numbers
            columns = [f"{self.quote}{name}{self.quote}" for name in names] if found.quotes else names
            wanted = ", ".join(["count(*)", *(f"count({name})" for name in columns)])
            number, *values = self.rows(f"SELECT {wanted} FROM {table}")[0]  # noqa: S608 - the name of our table
            counts[table] = Count(number, dict(zip(names, values, strict=True)))
        return counts
