"""Folders with spaces and other letters: each server's configuration gives them back (live tests use such folders)."""

import itertools
import json
import shlex
import tomllib
from xml.etree import ElementTree as ET

import pytest

from benchbook.declare.catalogue import Catalogue
from benchbook.systems.driver import driver_class
from benchbook.systems.opentsdb import site
from benchbook.systems.server import Layout, Server

ODD = 'a b/ü #&<"'


def words(text):
    """Read Redis' form: words, some in quotes."""
    return list(itertools.chain.from_iterable(shlex.split(line) for line in text.splitlines()))


def after(sign, whole=False):
    """Return a reader of lines with a key, a sign and a value, which may be in quotes unless it is the whole line."""

    def read(text):
        values = [line.partition(sign)[2].strip() for line in text.splitlines()]
        if whole:
            return values
        return [json.loads(value) if value.startswith('"') else value.partition(" #")[0] for value in values]

    return read


def yaml(text):
    return after(": ")(text) + after("- ")(text)


def properties(text, sign=" = "):
    """Read Java's form, in Latin-1 with escapes."""
    return [line.encode("latin-1").decode("unicode_escape").partition(sign)[2] for line in text.splitlines()]


def spark(text):
    """Read Java's form; options of Java are words, and the metastore is a URL."""
    for value in properties(text, " "):
        words = shlex.split(value) if value.startswith("-D") else [value.partition(";create=")[0]]
        yield from (word.rpartition("=")[2] for word in words)


def toml(text):
    def leaves(found):
        if isinstance(found, dict | list):
            return itertools.chain.from_iterable(
                map(leaves, found.values() if isinstance(found, dict) else found)
            )
        return [str(found)]

    return list(leaves(tomllib.loads(text)))


def xml(text):
    return list(ET.fromstring(text).itertext())


READERS = {
    "redis.conf": words, "kvrocks.conf": words, "my.cnf": after("="), "benchbook.conf": after(" = "),
    "cassandra.yaml": yaml, "elasticsearch.yml": yaml, "mongod.conf": yaml, "opentsdb.conf": properties,
    "config.xml": xml, "users.xml": xml, "influxdb.conf": toml, "cnosdb.toml": toml, "master.toml": toml,
    "server.conf": after("="), "dolphindb.cfg": after("=", whole=True), "spark-defaults.conf": spark,
}  # fmt: skip
"""How each server reads its file."""
NO_CONFIGURATION = ("arguments", "flags", "heap", "template", "minio.env", "url")
"""Recorded options of a command line, and settings of the harness."""


def servers():
    catalogue = Catalogue()
    for name in catalogue.names("system"):
        system = catalogue.system(name)
        driver = driver_class(system.driver)
        if isinstance(driver, type) and issubclass(driver, Server):
            yield pytest.param(driver, system, id=name)


@pytest.mark.parametrize(("driver", "system"), list(servers()))
def test_a_configuration_gives_back_odd_folders(driver, system, place, tmp_path):
    one = driver(place(system.name, system.version))
    folders = [str(tmp_path / ODD / name) for name in ("data", "config", "logs")]
    ports = dict.fromkeys(one.ports, "1234")
    for name, text in one.files(Layout(*folders, "127.0.0.1", ports)).items():
        if name in NO_CONFIGURATION:
            continue
        found = [value for value in READERS[name](text) if "ü" in value or str(tmp_path) in value]
        assert all(value.startswith(tuple(folders)) for value in found), text
        assert len(found) == text.count(str(tmp_path)), text


def test_the_sites_of_hbase_gives_back_odd_folders():
    assert f"file:///{ODD}/hbase" in xml(site(f"/{ODD}", "1234"))
