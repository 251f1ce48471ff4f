"""Requests that an embedded system would refuse in each trial are refused before anything starts."""

import pytest

from benchbook.cli.request import parse_origins, planned
from benchbook.declare.catalogue import Catalogue, root
from benchbook.errors import RequestError

EXPERIMENT = """
title = "T"
question = "Which?"
dataset = "devops"

[factors]
system = ["duckdb", "postgresql-15"]

[[phases]]
name = "fill"
workload = "load"
options = {{ {options} }}

[profiles.quick]
trial_seconds = 1
"""


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Return a maker of plans of an experiment whose load has these options."""
    for name in ("datasets", "storage", "systems"):
        (tmp_path / name).symlink_to(root() / name)
    (tmp_path / "experiments" / "one").mkdir(parents=True)

    def make(options, *sets):
        (tmp_path / "experiments" / "one" / "experiment.toml").write_text(EXPERIMENT.format(options=options))
        return planned(Catalogue(tmp_path), "one", "quick", list(sets), None, None, None)

    return make


@pytest.mark.parametrize(
    ("options", "sets", "words"),
    [
        (
            "workers = 8",
            (),
            r'phase "fill": workers = 8, but duckdb runs in one Python process and has one worker',
        ),
        ("workers = 1", ("workers=1,2",), r'phase "fill": workers = 2, but duckdb'),
    ],
)
def test_an_option_that_an_embedded_system_refuses_is_named(asked, options, sets, words):
    with pytest.raises(RequestError, match=words):
        asked(options, *sets)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("postgresql-15", "expected NAME=ORIGIN, where ORIGIN is one of"),
        ("postgresql-15=my disk", "expected NAME=ORIGIN, where ORIGIN is one of"),
        ("postgresql-15=image a:1\x1b[2J", "expected NAME=ORIGIN"),
        ("postgresql-15=image --privileged", "expected NAME=ORIGIN"),
        ("mysql-9=image mysql:9.7.2", "there is no --system mysql-9=PATH"),
    ],
)
def test_an_origin_in_no_known_form_is_refused(text, words):
    with pytest.raises(RequestError, match=words) as caught:
        parse_origins([text], {"postgresql-15": "/opt/postgres"})
    assert "\x1b" not in str(caught.value)


def test_the_plan_keeps_the_origin_of_each_program():
    texts = ["a=image a/b:1", "b=package mysql 9.7.4 of conda-forge", "c=https://example.org/c=d.tar.gz"]
    assert parse_origins(texts, dict.fromkeys("abc", "/x")) == {
        "a": "image a/b:1",
        "b": "package mysql 9.7.4 of conda-forge",
        "c": "https://example.org/c=d.tar.gz",
    }


def test_a_server_accepts_it(asked):
    assert len(asked("workers = 8", "system=postgresql-15").trials) == 3


@pytest.mark.slow
def test_every_committed_profile_is_accepted():
    catalogue = Catalogue()
    for name in catalogue.names("experiment"):
        for profile in catalogue.experiment(name).profiles:
            assert planned(catalogue, name, profile, None, None, None, None).trials
