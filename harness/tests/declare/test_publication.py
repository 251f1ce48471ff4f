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
    assert (found.year, found.of, found.over) == (2022, "CnosDB", "InfluxDB")
    assert found.url is not None
    assert found.url.startswith("https://")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            'counted_with = "ratois"',
            'no claim "ratois"; did you mean "ratios"|"ratois" does not exist.*mean "ratios"',
        ),
        (
            'counted_with = "cnos-vs-influx/ratois"',
            'cnos-vs-influx has no claim "ratois"; did you mean "ratios"',
        ),
        ("conclusion = 0", "conclusion"),
        ('statement = "Not published: is it?"\nconclusion = 1', "a question of our own is no `conclusion`"),
    ],
)
def test_a_wrong_place_in_the_publication_is_refused(tmp_path, wrong, message):
    statement = 'statement = "In most cases, CnosDB is faster than InfluxDB."\n'
    before = wrong if wrong.startswith("statement") else f"{statement}{wrong}"
    catalogue = checkout(tmp_path, ("conclusion = 1\n", ""), (statement, f"{before}\n"))
    with pytest.raises(RequestError, match=message):
        catalogue.experiment("cnos-vs-influx")


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (
            'systems = { "influxdb-1.8.1" = "InfluxDB" }',
            r'systems: there is no system "influxdb-1\.8\.1"; allowed: .*influxdb-1\.8\.10',
        ),
        (
            'configurations = { vanila = "as installed" }',
            'configurations: there is no arm "vanila"; allowed: .*vanilla',
        ),
    ],
)
def test_a_name_for_what_the_experiment_lacks_is_refused(tmp_path: Path, named: str, message: str) -> None:
    catalogue = checkout(tmp_path, ("[publication]\n", f"[publication]\n{named}\n"))
    with pytest.raises(RequestError, match=message):
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
