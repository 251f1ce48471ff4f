"""Rows of ``datasets/published/*.csv`` that a claim selects, turned into the published ratio of each cell."""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbook.declare.claim import Claim
from benchbook.declare.claim_numbers import Published
from benchbook.declare.level import same
from benchbook.declare.published_ratio import PublishedRatio, ends
from benchbook.errors import RequestError, nearest

Row = dict[str, str]
_ASIDE = ("note", "source")
"""Columns that may differ between repetitions of one measurement."""


def read(folder: Path, name: str) -> list[Row]:
    """Return the rows of a file of published results; raise RequestError with the nearest name."""
    try:
        with (folder / name).open(encoding="utf-8", newline="") as file:
            found = [
                {key: (value or "").strip() for key, value in row.items() if key}
                for row in csv.DictReader(file)
            ]
    except FileNotFoundError:
        known = sorted(held.name for held in folder.glob("*.csv"))
        guess = nearest(name, known)
        raise RequestError(
            f"there is no file datasets/published/{name}; there are {', '.join(known) or 'none'}.",
            f'Did you mean "{guess}"?' if guess else None,
        ) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RequestError(f"datasets/published/{name} cannot be read: {error}.") from None
    if not found:
        raise RequestError(f"datasets/published/{name} has no rows.")
    return found


@dataclass(frozen=True)
class Selection:
    """The rows of one file that one claim is about. Its errors name the file and the column at fault."""

    claim: Claim
    stated: Published
    rows: list[Row]

    def ratios(self) -> list[PublishedRatio]:
        """Return the published ratio of each cell, in the order of the file."""
        claim = self.claim
        sides = {"of": self._side(self.stated.of_rows, claim.of)}
        if not claim.trend:
            sides["over"] = self._side(self.stated.over_rows, claim.over)
        factors = [*claim.across, *([claim.along] if claim.along else [])]
        keys = [self._column(factor) for factor in factors]
        named = [column for side in sides.values() for column in side]
        self._check_columns([self.stated.value, *self.stated.select, *self.stated.repeats, *keys, *named])
        groups: dict[tuple[str, ...], dict[str, list[Row]]] = {}
        for name, side in sides.items():
            for row in self._chosen({**self._fixed(), **side}):
                if all(row[key] for key in keys):  # a row without a level speaks of no cell
                    groups.setdefault(tuple(row[key] for key in keys), {}).setdefault(name, []).append(row)
        if claim.along is not None:
            unit = next((row.get("unit") for held in groups.values() for row in held["of"]), None)
            values = [
                (dict(zip(factors, key, strict=True)), self._mean(held["of"])[0])
                for key, held in groups.items()
            ]
            return ends(claim.along, values, unit)
        return [self._ratio(dict(zip(factors, key, strict=True)), held) for key, held in groups.items()]

    def _ratio(self, levels: dict[str, str], held: Mapping[str, list[Row]]) -> PublishedRatio:
        (of, of_unit, of_note), (over, over_unit, over_note) = (
            self._mean(held.get(name, [])) for name in ("of", "over")
        )
        if of is not None and over is not None and of_unit != over_unit:
            raise self._wrong(
                f"the two sides have different units, {of_unit} and {over_unit}.",
                "Select one metric on both sides.",
            )
        note = "; ".join(dict.fromkeys(words for words in (of_note, over_note) if words))
        ratio = of / over if of is not None and over is not None else None
        return PublishedRatio(levels, ratio, of, over, of_unit or over_unit, note)

    def _column(self, factor: str) -> str:
        return self.stated.columns.get(factor, factor)

    def _side(self, given: Mapping[str, object], levels: Mapping[str, object]) -> dict[str, object]:
        return dict(given) or {self._column(factor): level for factor, level in levels.items()}

    def _fixed(self) -> dict[str, object]:
        """Return what rows of either side must have: where, as far as the file has such columns, and select."""
        where = {self._column(factor): level for factor, level in self.claim.where.items()}
        return {
            **{name: level for name, level in where.items() if name in self.rows[0]},
            **self.stated.select,
        }

    def _check_columns(self, asked: Iterable[str]) -> None:
        known = list(self.rows[0])
        for column in asked:
            if column not in known:
                guess = nearest(column, known)
                raise self._wrong(
                    f'there is no column "{column}"; the columns are {", ".join(known)}.',
                    f'Did you mean "{guess}"?' if guess else "Name a factor's column in published.columns.",
                )

    def _chosen(self, wanted: Mapping[str, object]) -> list[Row]:
        """Return the rows that have all wanted values; name the value that no row has."""
        left = self.rows
        for column, value in wanted.items():
            values = value if isinstance(value, list) else [value]
            held = [row for row in left if any(same(row[column], one) for one in values)]
            if not held:
                known = list(dict.fromkeys(row[column] for row in left if row[column]))
                guess = nearest(str(value), known)
                shown = ", ".join(known[:12]) + (" …" if len(known) > 12 else "")
                raise self._wrong(
                    f'no row selected so far has {column} = "{value}"; found {shown or "none"}.',
                    f'Did you mean "{guess}"?' if guess else None,
                )
            left = held
        return left

    def _mean(self, rows: Sequence[Row]) -> tuple[float | None, str | None, str]:
        """Return the geometric mean of rows that repeat one measurement, its unit, and the publication's notes."""
        if not rows:
            return None, None, "not published for one side"
        note = "; ".join(dict.fromkeys(row["note"] for row in rows if row.get("note")))
        given = [row for row in rows if row[self.stated.value]]
        if not given:
            return None, rows[0].get("unit"), note or "the publication left the value out"
        if len(given) > 1:
            self._check_repeats(given)
        values = [self._number(row[self.stated.value]) for row in given]
        if len(values) == 1:
            return values[0], given[0].get("unit"), note  # to the last digit
        return statistics.geometric_mean(values), given[0].get("unit"), note

    def _check_repeats(self, rows: Sequence[Row]) -> None:
        aside = {self.stated.value, *_ASIDE, *self.stated.repeats}
        differing = [
            column for column in rows[0] if column not in aside and len({row[column] for row in rows}) > 1
        ]
        if differing or not self.stated.repeats:
            what = ", ".join(differing) or "nothing but the value"
            raise self._wrong(
                f"{len(rows)} rows stand for one cell of one side; they differ in {what}.",
                "Fix a column in published.select, or name columns that number repetitions in published.repeats.",
            )

    def _number(self, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (value > 0 and math.isfinite(value)):
            raise self._wrong(f'the {self.stated.value} "{text}" is no number above zero.')
        return value

    def _wrong(self, words: str, hint: str | None = None) -> RequestError:
        return RequestError(f"datasets/published/{self.stated.file}: {words}", hint)
