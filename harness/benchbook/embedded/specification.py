"""One query of a query set, and its SQL."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

AGGREGATES = {"max": "max", "mean": "avg"}
"""Aggregate of a specification → SQL function."""


@dataclass(frozen=True)
class Specification:
    """An aggregate of one field in buckets of time, for some hosts or all: a line of ``queries.jsonl``."""

    id: int
    type: str
    table: str
    field: str
    aggregate: str
    bucket_ns: int
    hosts: tuple[str, ...]
    """Empty for all hosts."""
    start_ns: int
    """First nanosecond since 1970."""
    end_ns: int
    """First nanosecond that is no part of it."""
    group_by_host: bool


@dataclass(frozen=True)
class Dialect:
    """How one SQL dialect writes times."""

    time_to_ns: str
    """Expression of the column ``time`` as nanoseconds."""
    ns_to_time: str
    """Expression of a bound number of nanoseconds as a value of the column ``time``."""
    divide: str
    """Operator of whole division."""


@dataclass(frozen=True)
class QuerySet:
    """The queries of a file, in their order, and the sha256 of its bytes."""

    specifications: list[Specification]
    digest: str


def read(file: Path) -> QuerySet:
    """Return the query set of a file; raise ValueError naming the line that is no specification."""
    found = []
    content = file.read_bytes()
    for number, line in enumerate(content.decode().splitlines(), 1):
        if line.strip():
            try:
                found.append(_parse(json.loads(line)))
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError(f"{file.name}, line {number}: {error}") from error
    return QuerySet(found, hashlib.sha256(content).hexdigest())


def render(specification: Specification, dialect: Dialect) -> tuple[str, list[Any]]:
    """Return a specification as SQL with its bound parameters.

    Buckets begin at whole multiples of their length since 1970; those without rows are absent. Rows come in
    the order of host and time.
    """
    one = specification
    bucket = f"{dialect.time_to_ns} {dialect.divide} {one.bucket_ns} * {one.bucket_ns}"
    host = quoted("hostname") if one.group_by_host else "NULL"
    where = f"{quoted('time')} >= {dialect.ns_to_time} AND {quoted('time')} < {dialect.ns_to_time}"
    parameters: list[Any] = [one.start_ns, one.end_ns]
    if one.hosts:
        where += f" AND {quoted('hostname')} IN ({', '.join('?' * len(one.hosts))})"
        parameters += one.hosts
    value = f"{AGGREGATES[one.aggregate]}({quoted(one.field)})"
    groups = "1, 2" if one.group_by_host else "1"
    order = "2, 1" if one.group_by_host else "1"
    text = (
        f"SELECT {bucket} AS bucket, {host} AS host, {value} AS value "  # noqa: S608
        f"FROM {quoted(one.table)} WHERE {where} GROUP BY {groups} ORDER BY {order}"
    )
    return text, parameters


def quoted(name: str) -> str:
    """Return a name as SQL writes it, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


def _parse(line: Any) -> Specification:
    missing = [field.name for field in fields(Specification) if field.name not in line]
    if missing:
        raise ValueError(f"the query specification lacks {', '.join(missing)}")
    values = {field.name: line[field.name] for field in fields(Specification)}
    values["hosts"] = tuple(values["hosts"] or ())
    found = Specification(**values)
    if found.aggregate not in AGGREGATES:
        raise ValueError(f'aggregate "{found.aggregate}"; allowed: {", ".join(AGGREGATES)}')
    if not isinstance(found.bucket_ns, int) or found.bucket_ns <= 0 or found.start_ns < 0:
        raise ValueError("bucket_ns must be a positive integer and start_ns at least 0")
    return found
