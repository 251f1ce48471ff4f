"""Drivers by name."""

from pathlib import Path

import pytest

from benchbook.errors import RequestError
from benchbook.process.launch import Program
from benchbook.systems.driver import Place, driver, names

PLACE = Place(Program("x", "1", "given"), "vanilla", {}, Path("d"), Path("c"), Path("l"))


def test_the_drivers_are_the_modules_that_offer_one():
    found = set(names())
    assert {
        "cnosdb",
        "duckdb",
        "influxdb1",
        "mariadb",
        "minio",
        "spark",
        "oracle",
        "dolphindb",
        "null_server",
        "redis",
        "sqlite",
        "tool",
    } <= found
    assert not {"driver", "server", "client", "embedded", "inspected", "python_server"} & found


@pytest.mark.parametrize(
    "name",
    [
        "cnosdb",
        "duckdb",
        "influxdb1",
        "kvrocks",
        "mariadb",
        "mysql",
        "null_server",
        "redis",
        "sqlite",
        "spark",
        "oracle",
        "dolphindb",
    ],
)
def test_a_driver_is_made_without_starting_anything(name):
    made = driver(name, PLACE)
    assert made.processes() == []
    assert made.client(Path("benchload")).shares_process == (name in ("duckdb", "sqlite"))


def test_an_unknown_driver_names_the_nearest():
    with pytest.raises(RequestError, match='Did you mean "influxdb1"'):
        driver("influxdb", PLACE)
