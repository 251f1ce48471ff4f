"""Colours that every reader can distinguish and that never change for a system."""

from __future__ import annotations

import itertools
import math
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from benchbook.analyse import judgement
from benchbook.report import holding, theme

ROOT = Path(__file__).resolve().parents[3]
LIGHT, DARK = "#ffffff", "#15171a"
DEFICIENCIES = {
    "none": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    # Machado, Oliveira and Fernandes 2009, severity 1.0
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}


def _linear(code: str) -> list[float]:
    parts = [int(code[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def _luminance(code: str) -> float:
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), _linear(code), strict=True))


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _dot(one, other) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _lab(code: str, matrix) -> tuple[float, float, float]:
    seen = [min(1.0, max(0.0, _dot(row, _linear(code)))) for row in matrix]
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [_dot(row, seen) / white for row, white in zip(rows, (0.9505, 1.0, 1.089), strict=True)]
    f = [value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in xyz]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


@pytest.mark.parametrize("code", [*theme.PALETTE.values(), *dict.fromkeys(theme.ANSWERS.values())])
@pytest.mark.parametrize("page", [LIGHT, DARK])
def test_each_colour_is_legible_on_the_light_and_on_the_dark_page(code, page):
    assert _contrast(code, page) >= 3.0


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_colours_stay_apart_for_colour_blind_readers(deficiency):
    for colours in (theme.PALETTE.values(), set(theme.ANSWERS.values())):
        for one, other in itertools.combinations(colours, 2):
            distance = math.dist(_lab(one, DEFICIENCIES[deficiency]), _lab(other, DEFICIENCIES[deficiency]))
            assert distance > 12, (one, other)


def test_answers_have_four_colours():
    assert list(theme.ANSWERS) == list(get_args(judgement.Holds)) == list(holding.HOLDS)
    assert list(holding.SIZES) == list(get_args(judgement.Size))
    assert len(set(theme.ANSWERS.values())) == 4


DECLARED = sorted(path.stem for path in (ROOT / "systems").glob("*.toml"))


def _declaration(name: str) -> dict[str, object]:
    return tomllib.loads((ROOT / "systems" / f"{name}.toml").read_text())


def test_a_system_without_a_declaration_takes_its_look_from_its_name():
    colours, shapes = zip(*(theme.look(f"a-store-of-{year}") for year in range(2020, 2060)), strict=True)
    assert theme.look("a-store-of-2030") == theme.look("a-store-of-2030")
    assert set(colours) <= set(theme.PALETTE)
    assert set(shapes) <= set(theme.SHAPES)
    assert len(set(colours)) > 3
    assert len(set(shapes)) > 3


def test_systems_that_share_a_colour_differ_in_shape():
    """Releases of one system are in the same few experiments, so their looks may recur elsewhere."""
    lasting = [name for name in DECLARED if "released" not in _declaration(name)]
    for one, other in itertools.combinations(lasting, 2):
        assert theme.look(one) != theme.look(other)
    assert len({theme.slot(name) for name in lasting}) == len(lasting)


def test_every_system_declares_its_look_and_each_pair_is_a_place():
    for name in DECLARED:
        declared = _declaration(name)
        assert theme.look(name) == (declared["colour"], declared["shape"])
    assert len({(place % 8, theme._shape_at(place)) for place in range(theme.PLACES)}) == theme.PLACES


@pytest.mark.parametrize(
    "path", sorted((ROOT / "experiments").glob("*/experiment.toml")), ids=lambda path: path.parent.name
)
def test_systems_of_one_experiment_differ_in_colour_while_colours_last(path):
    systems = tomllib.loads(path.read_text())["factors"]["system"]
    assert len({theme.look(system) for system in systems}) == len(systems)
    assert len({theme.colour(system) for system in systems}) == min(len(systems), len(theme.PALETTE))


def test_cells_of_one_system_differ_in_shape_and_dash_and_keep_its_colour():
    systems = ["elasticsearch-6.8.23"] * 4 + ["postgresql-15", "influxdb-1.8.10"]
    labels = [f"{system}, {number}" for number, system in enumerate(systems)]
    paint, shape, dash = (
        [str(one) for one in scale(systems, labels).to_dict()["range"]]
        for scale in (theme.colours, theme.shapes, theme.dashes)
    )
    assert len(set(paint[:4])) == 1
    assert len(set(zip(paint, shape, strict=True))) == len(set(zip(paint, dash, strict=True))) == 6
    assert shape[0] == theme.shape("elasticsearch-6.8.23")
    assert shape[4] == theme.shape("postgresql-15")
