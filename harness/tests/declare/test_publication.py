"""The publication that an experiment reruns."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchbook.declare.catalogue import Catalogue
from benchbook.errors import RequestError

ROOT = Path(__file__).parents[3]


def checkout(where: Path, *changes: tuple[str, str]) -> Catalogue:
    for name in ("systems", "storage", "datasets"):
        (where / name).symlink_to(ROOT / name, target_is_directory=True)
    shutil.copytree(ROOT / "experiments" / "cnos-vs-influx", where / "experiments" / "cnos-vs-influx")
    file = where / "experiments" / "cnos-vs-influx" / "experiment.toml"
    text = file.read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    file.write_text(text, encoding="utf-8")
    return Catalogue(where)


def test_it_says_who_claimed_what_and_when(tmp_path):
    found = checkout(tmp_path).publication("cnos-vs-influx")
    assert found is not None
    assert (found.year, found.lead, found.of, found.over) == (2022, "faster-in-most", "CnosDB", "InfluxDB")
    assert found.url is not None
    assert found.url.startswith("https://")


def test_a_lead_that_is_no_claim_names_the_nearest(tmp_path):
    catalogue = checkout(tmp_path, ('"ratios-read-back" }', '"ratois-read-back" }'))
    with pytest.raises(RequestError, match='no claim "ratois-read-back"; did you mean "ratios-read-back"'):
        catalogue.experiment("cnos-vs-influx")


def test_an_address_must_be_public(tmp_path):
    catalogue = checkout(tmp_path, ('url = "https://', 'url = "file:///'))
    with pytest.raises(RequestError, match="url"):
        catalogue.experiment("cnos-vs-influx")
    assert catalogue.publication("cnos-vs-influx") is None


def test_a_test_of_the_tool_has_none():
    catalogue = Catalogue(ROOT)
    assert catalogue.publication("quickstart") is None
    assert catalogue.publication("load-tools") is None
    assert catalogue.publication("no-such-experiment") is None
