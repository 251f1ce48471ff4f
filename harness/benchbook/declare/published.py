"""Read the published numbers of claims from the declaration or from ``datasets/published/*.csv``."""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchbook.declare.claim import Claim, Published
from benchbook.declare.level import ordered, same, texts
from benchbook.errors import RequestError, nearest


@dataclass(frozen=True)
class PublishedRatio:
    """The published ratio of one cell of a claim."""

    levels: dict[str, str]
    """The cell: a level of each factor in ``across``; empty if the claim has one number for all cells."""
    ratio: float | None
    """None if the publication omits one of the two values."""
    of: float | None = None
    over: float | None = None
    """The two values, in ``unit``; None if only their ratio was published."""
    unit: str | None = None
    note: str = ""
    """The publication's note on the numbers, or why the ratio is missing."""
    along: str = ""
    """For a trend: its factor."""
    by_level: dict[str, float] = field(default_factory=dict)
    """For a trend: level of the factor → published value, in ``unit``."""

    def between(self, first: str, last: str) -> PublishedRatio:
        """Return a trend's ratio between two levels of a run; its ratio is None unless both were published.

        A trend that was published as one number, without levels, stays unchanged.
        """
        if not self.by_level:
            return self
        over, of = (
            next((value for level, value in self.by_level.items() if same(level, wanted)), None)
            for wanted in (first, last)
        )
        if of is None or over is None:
            return replace(self, ratio=None, of=of, over=over)
        return replace(self, ratio=of / over, of=of, over=over)


def _trend_ratios(
    along: str, values: Sequence[tuple[Mapping[str, str], float | None]], unit: str | None
) -> list[PublishedRatio]:
    """Return, for each cell, the value at the last level of ``along`` divided by that at the first.

    ``values`` holds the levels of every published number, including that of ``along``, and the number.
    """
    cells: dict[tuple[tuple[str, str], ...], dict[str, float]] = {}
    for levels, value in values:
        key = tuple(sorted((name, level) for name, level in levels.items() if name != along))
        by_level = cells.setdefault(key, {})
        if value is not None:
            by_level[levels[along]] = value
    found = []
    for key, by_level in cells.items():
        if len(by_level) < 2:
            note = f"published at fewer than 2 levels of {along}"
            found.append(PublishedRatio(dict(key), None, unit=unit, note=note, along=along))
            continue
        first, *_, last = ordered(list(by_level))
        of, over = by_level[last], by_level[first]
        note = f"{along} from {first} to {last}"
        found.append(PublishedRatio(dict(key), of / over, of, over, unit, note, along, by_level))
    return found


Row = dict[str, str]
_REMARKS = ("note", "source")
"""Columns that may differ between repetitions of one measurement."""


def read(folder: Path, name: str) -> list[Row]:
    """Return the rows of a file of published results; raise RequestError if it does not exist or is empty."""
    try:
        with (folder / name).open(encoding="utf-8-sig", newline="") as file:
            found = [
                {key: (value or "").strip() for key, value in row.items() if key}
                for row in csv.DictReader(file)
            ]
    except FileNotFoundError:
        known = sorted(held.name for held in folder.glob("*.csv"))
        guess = nearest(name, known)
        raise RequestError(
            f"there is no file datasets/published/{name}; allowed: {', '.join(known) or 'none'}.",
            f'Did you mean "{guess}"?' if guess else None,
        ) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RequestError(f"cannot read datasets/published/{name}: {error}.") from None
    if not found:
        raise RequestError(
            f"datasets/published/{name} has no rows.", "Add the published numbers, or name another file."
        )
    return found


def _wrong(file: str, message: str, hint: str | None = None) -> RequestError:
    return RequestError(f"datasets/published/{file}: {message}", hint)


def check_columns(file: str, rows: Sequence[Row], asked: Iterable[str]) -> None:
    """Raise RequestError for a column that a file of published results lacks."""
    known = list(rows[0])
    for column in asked:
        if column not in known:
            guess = nearest(column, known)
            raise _wrong(
                file,
                f'there is no column "{column}"; the columns are {", ".join(known)}.',
                f'Did you mean "{guess}"?' if guess else "Name a factor's column in published.columns.",
            )


def chosen(file: str, rows: list[Row], wanted: Mapping[str, object]) -> list[Row]:
    """Return the rows that have all wanted values; raise RequestError for a value that no row has."""
    left = rows
    for column, value in wanted.items():
        values = value if isinstance(value, list) else [value]
        held = [row for row in left if any(same(row[column], one) for one in values)]
        if not held:
            known = list(dict.fromkeys(row[column] for row in left if row[column]))
            guess = nearest(str(value), known)
            shown = ", ".join(known[:12]) + (" …" if len(known) > 12 else "")
            raise _wrong(
                file,
                f'no row has {column} = "{value}"; rows that match the other keys have {shown or "no value"}.',
                f'Did you mean "{guess}"?' if guess else None,
            )
        left = held
    return left


@dataclass(frozen=True)
class Selection:
    """The rows of a published file that a claim selects. Errors name the file and the wrong column."""

    claim: Claim
    stated: Published
    rows: list[Row]

    def ratios(self) -> list[PublishedRatio]:
        """Return the published ratio of each cell, in the order of the file."""
        claim, factors, groups = self.claim, self._factors(), self._groups()
        if claim.along is not None:
            unit = next((row.get("unit") for held in groups.values() for row in held["of"]), None)
            values = [
                (dict(zip(factors, key, strict=True)), self._mean(held["of"])[0])
                for key, held in groups.items()
            ]
            return _trend_ratios(claim.along, values, unit)
        return [self._ratio(dict(zip(factors, key, strict=True)), held) for key, held in groups.items()]

    def compared(self) -> list[Row]:
        """Return the rows of which a ratio of the claim is made: both sides, or two levels of a trend, have a value."""
        pairs: dict[tuple[str, ...], dict[tuple[str, ...] | str, list[Row]]] = {}
        for key, held in self._groups().items():
            for name, rows in held.items():
                # The last level of a trend's key is that of its factor.
                cell, part = (key[:-1], key[-1:]) if self.claim.trend else (key, name)
                if given := [row for row in rows if row[self.stated.value]]:
                    pairs.setdefault(cell, {}).setdefault(part, []).extend(given)
        return [row for parts in pairs.values() if len(parts) > 1 for rows in parts.values() for row in rows]

    def _factors(self) -> list[str]:
        return [*self.claim.across, *([self.claim.along] if self.claim.along else [])]

    def _groups(self) -> dict[tuple[str, ...], dict[str, list[Row]]]:
        """Return the levels of each cell, in the order of ``_factors``, with the rows of both sides."""
        claim = self.claim
        sides = {"of": self._side(self.stated.of_rows, claim.of)}
        if not claim.trend:
            sides["over"] = self._side(self.stated.over_rows, claim.over)
        keys = [self._column(factor) for factor in self._factors()]
        named = [column for side in sides.values() for column in side]
        check_columns(
            str(self.stated.file), self.rows,
            [self.stated.value, *self.stated.select, *self.stated.repeats, *keys, *named],
        )  # fmt: skip
        groups: dict[tuple[str, ...], dict[str, list[Row]]] = {}
        for name, side in sides.items():
            for row in chosen(str(self.stated.file), self.rows, {**self._fixed(), **side}):
                if all(row[key] for key in keys):  # a row without a level belongs to no cell
                    groups.setdefault(tuple(row[key] for key in keys), {}).setdefault(name, []).append(row)
        return groups

    def _ratio(self, levels: dict[str, str], held: Mapping[str, list[Row]]) -> PublishedRatio:
        (of, of_unit, of_note), (over, over_unit, over_note) = (
            self._mean(held.get(name, [])) for name in ("of", "over")
        )
        if of is not None and over is not None and of_unit != over_unit:
            raise self._wrong(
                f"the two sides have different units, {of_unit} and {over_unit}.",
                "Select one metric on both sides.",
            )
        note = "; ".join(dict.fromkeys(text for text in (of_note, over_note) if text))
        ratio = of / over if of is not None and over is not None else None
        return PublishedRatio(levels, ratio, of, over, of_unit or over_unit, note)

    def _column(self, factor: str) -> str:
        return self.stated.columns.get(factor, factor)

    def _side(self, given: Mapping[str, object], levels: Mapping[str, object]) -> dict[str, object]:
        return dict(given) or {self._column(factor): level for factor, level in levels.items()}

    def _fixed(self) -> dict[str, object]:
        """Return what rows of both sides must have: ``select``, and ``where`` for columns that the file has."""
        where = {self._column(factor): level for factor, level in self.claim.where.items()}
        return {
            **{name: level for name, level in where.items() if name in self.rows[0]},
            **self.stated.select,
        }

    def _mean(self, rows: Sequence[Row]) -> tuple[float | None, str | None, str]:
        """Return the geometric mean of repetitions of one measurement, its unit, and the publication's notes."""
        if not rows:
            return None, None, "not published for one side"
        note = "; ".join(dict.fromkeys(row["note"] for row in rows if row.get("note")))
        given = [row for row in rows if row[self.stated.value]]
        if not given:
            return None, rows[0].get("unit"), note or "the publication omits the value"
        if len(given) > 1:
            self._check_repeats(given)
        values = [self._number(row[self.stated.value]) for row in given]
        if len(values) == 1:
            return values[0], given[0].get("unit"), note  # exact: a geometric mean would round the last digit
        return statistics.geometric_mean(values), given[0].get("unit"), note

    def _check_repeats(self, rows: Sequence[Row]) -> None:
        may_differ = {self.stated.value, *_REMARKS, *self.stated.repeats}
        differing = [
            column
            for column in rows[0]
            if column not in may_differ and len({row[column] for row in rows}) > 1
        ]
        if differing or not self.stated.repeats:
            what = ", ".join(differing) or "nothing but the value"
            raise self._wrong(
                f"{len(rows)} rows match one cell of one side, where one is expected; they differ in {what}.",
                "Choose one of them with published.select. If they are repetitions, name the column that numbers them"
                " in published.repeats.",
            )

    def _number(self, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (value > 0 and math.isfinite(value)):
            raise self._wrong(
                f'the column {self.stated.value} has "{text}", which is not a number above zero.',
                "Correct the file, or name another column in published.value.",
            )
        return value

    def _wrong(self, message: str, hint: str | None = None) -> RequestError:
        return _wrong(str(self.stated.file), message, hint)


FOLDER = Path("datasets") / "published"


def ratios(claim: Claim, files: Path | Mapping[str, list[Row]]) -> list[PublishedRatio]:
    """Return the published ratios of a claim, one for each of its cells; empty if it has no published number.

    ``files`` is the folder of the CSV files, or their rows by name. Raises RequestError that names the claim, the file
    and the wrong column.
    """
    stated = claim.published
    if stated is None:
        return []
    if stated.ratio is not None:
        return [PublishedRatio({}, stated.ratio)]
    if stated.of is not None and stated.over is not None:
        return [PublishedRatio({}, stated.of / stated.over, stated.of, stated.over, stated.unit)]
    try:
        if stated.file is not None:
            held = read(files, stated.file) if isinstance(files, Path) else files[stated.file]
            return Selection(claim, stated, held).ratios()
        return _cells(claim, stated)
    except RequestError as error:
        raise RequestError(f'claims "{claim.id}": {error.message}', error.hint) from None


def files(claims: Sequence[Claim]) -> list[str]:
    """Return the files of published results that claims use, each once."""
    named = [claim.published.file for claim in claims if claim.published and claim.published.file]
    return list(dict.fromkeys(named))


def _cells(claim: Claim, stated: Published) -> list[PublishedRatio]:
    needed = {*claim.across, *([claim.along] if claim.along else [])}
    found = []
    for cell in stated.cells:
        shown = ", ".join(f"{name} {level}" for name, level in cell.levels.items())
        if set(cell.levels) != needed:
            raise RequestError(
                f"`published`: the cell {shown or 'without levels'} must give one level for each of these factors:"
                f" {', '.join(sorted(needed)) or 'none'}.",
                "They are the factors that the claim names in `across` and `along`.",
            )
        both = cell.of / cell.over if cell.of is not None and cell.over is not None else None
        ratio = cell.ratio if cell.ratio is not None else both
        if ratio is None and not (claim.trend and cell.of is not None):
            raise RequestError(
                f"published: the cell {shown} has neither `ratio` nor both `of` and `over`.",
                "Write ratio = 2, or the two values: of = 40, over = 20.",
            )
        found.append(PublishedRatio(texts(cell.levels), ratio, cell.of, cell.over, stated.unit))
    if claim.along is not None:
        return _trend_ratios(claim.along, [(one.levels, one.of) for one in found], stated.unit)
    return found
