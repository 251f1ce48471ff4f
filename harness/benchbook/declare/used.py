"""Account for the published numbers of an experiment: which are compared or drawn, and why the others are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from benchbook.declare.claim import Claim
from benchbook.declare.publication import Numbers, Publication
from benchbook.declare.published import Row, Selection, check_columns, chosen, read
from benchbook.errors import RequestError, suggestion

if TYPE_CHECKING:
    from benchbook.declare.experiment import Experiment

Use = Literal["compared", "drawn", "explained", "unexplained"]


@dataclass(frozen=True)
class Number:
    """One number of a file of published results."""

    file: str
    column: str
    row: Row
    claims: tuple[str, ...] = ()
    """Ids of the claims whose published ratios are made of it."""
    charts: tuple[str, ...] = ()
    """Charts of the experiment's story that draw it."""
    because: str | None = None
    """Why it is neither compared nor drawn."""

    @property
    def use(self) -> Use:
        """What becomes of the number; a claim counts before a chart, and both before a reason."""
        if self.claims:
            return "compared"
        if self.charts:
            return "drawn"
        return "unexplained" if self.because is None else "explained"


@dataclass(frozen=True)
class Account:
    """The published numbers of an experiment."""

    numbers: tuple[Number, ...]
    """Those in files, in the order of the files."""
    missing: tuple[Numbers, ...] = ()
    """Those in no file: how many, and why."""

    def of(self, use: Use) -> list[Number]:
        """Return the numbers with this use."""
        return [one for one in self.numbers if one.use == use]

    @property
    def used(self) -> int:
        """How many numbers are compared or drawn."""
        return len(self.of("compared")) + len(self.of("drawn"))

    @property
    def absent(self) -> int:
        """How many numbers of the publication are in no file."""
        return sum(one.count or 0 for one in self.missing)


def account(experiment: Experiment, folder: Path) -> Account:
    """Return what becomes of each published number; ``folder`` has the files.

    Raises RequestError for an entry of ``publication.numbers`` that is wrong or has no effect.
    """
    declared = experiment.publication.numbers if experiment.publication else []
    claims = [claim for claim in experiment.claims if not claim.own and claim.published]
    files: dict[str, list[Row]] = {}
    found: dict[tuple[str, str, int], Number] = {}
    for place, one in enumerate(declared):
        if one.file is not None:
            with _at(place):
                files[one.file] = read(folder, one.file)
                check_columns(one.file, files[one.file], [one.value])
    stated = [(one.published.file, one.published.value) for one in claims if one.published]
    for file, column in dict.fromkeys([*stated, *((one.file, one.value) for one in declared)]):
        if file is not None:
            rows = files[file] = files.get(file) or read(folder, file)
            check_columns(file, rows, [column])
            found |= {(file, column, id(row)): Number(file, column, row) for row in rows if row[column]}
    for claim in claims:
        assert claim.published is not None
        if claim.published.file is not None:
            rows = files[claim.published.file]
            for row in Selection(claim, claim.published, rows).compared():
                key = claim.published.file, claim.published.value, id(row)
                found[key] = replace(found[key], claims=(*found[key].claims, claim.id))
    # Reasons come last, because they are for the rest.
    for place in sorted(range(len(declared)), key=lambda place: declared[place].because is not None):
        with _at(place):
            _apply(declared[place], files, experiment.claims, found)
    return Account(tuple(found.values()), tuple(one for one in declared if one.count is not None))


@contextmanager
def _at(place: int) -> Iterator[None]:
    """Add the place of an entry to errors."""
    try:
        yield
    except RequestError as error:
        raise RequestError(f"publication: numbers: entry {place + 1}: {error.message}", error.hint) from None


def _apply(
    one: Numbers,
    files: dict[str, list[Row]],
    claims: Sequence[Claim],
    found: dict[tuple[str, str, int], Number],
) -> None:
    """Add the use or the reason that an entry declares to its numbers."""
    if one.file is None:
        return
    rows = rows_of(one, files[one.file])
    _check_numbers(one, rows)
    keys = [key for row in rows if (key := (one.file, one.value, id(row))) in found]
    if one.in_claim is not None:
        _check_stated(one, rows, claims)
        keys = [key for key in keys if one.in_claim not in found[key].claims]
    elif one.because is not None:
        keys = [key for key in keys if found[key].use == "unexplained"]
    if not keys:
        raise RequestError(
            "it has no effect: all numbers that it selects are used or explained otherwise.",
            "Remove the entry, or correct its `select`.",
        )
    for key in keys:
        held = found[key]
        found[key] = replace(
            held,
            claims=(*held.claims, *filter(None, [one.in_claim])),
            charts=(*held.charts, *filter(None, [one.drawn])),
            because=one.because or held.because,
        )


def rows_of(one: Numbers, rows: list[Row]) -> list[Row]:
    """Return the rows that an entry selects; raise RequestError for an unknown column or value."""
    check_columns(str(one.file), rows, one.select)
    return chosen(str(one.file), rows, one.select)


def _check_numbers(one: Numbers, rows: Sequence[Row]) -> None:
    """Refuse a column of texts."""
    for row in rows:
        try:
            float(row[one.value] or 0)
        except ValueError:
            raise RequestError(
                f'value: the column "{one.value}" of datasets/published/{one.file} has the text "{row[one.value]}".',
                "Name the column of the numbers.",
            ) from None


def _check_stated(one: Numbers, rows: Sequence[Row], claims: Sequence[Claim]) -> None:
    """Refuse numbers that the claim of an entry does not state."""
    stated = {claim.id: claim.published for claim in claims if not claim.own}
    ids = [name for name, numbers in stated.items() if numbers]
    if one.in_claim in stated and one.in_claim not in ids:
        raise RequestError(
            f'in_claim: the claim "{one.in_claim}" has no `published` numbers.',
            "Add them to the claim, or use `because`.",
        )
    if one.in_claim not in ids:
        raise RequestError(
            f'in_claim: no claim on the publication has the id "{one.in_claim}"'
            f"{suggestion(str(one.in_claim), ids) or '.'}"
        )
    published = stated[one.in_claim]
    values = published.values() if published else set()
    for row in rows:
        if row[one.value] and float(row[one.value]) not in values:
            raise RequestError(
                f'in_claim: the claim "{one.in_claim}" does not state the number {row[one.value]}; it states '
                f"{', '.join(f'{value:g}' for value in sorted(values)) or 'none'}.",
                "Correct `select`, or the claim's `published`.",
            )


def drawn(publication: Publication | None, chart: str, folder: Path) -> list[Row]:
    """Return the published rows that a chart draws, as ``[[publication.numbers]]`` declares."""
    entries = [one for one in publication.numbers if one.drawn == chart] if publication else []
    return [row for one in entries if one.file is not None for row in rows_of(one, read(folder, one.file))]
