"""Waiting for a condition."""

import itertools

import pytest

from benchbook.process.wait import until, until_unchanged


def test_a_condition_is_checked_again_until_it_holds():
    answers = iter([False, None, "", "ready"])
    assert until(lambda: next(answers), 10.0, pause=0.0)
    assert next(answers, "none left") == "none left"


def test_a_condition_that_never_holds_is_checked_once_at_least():
    checks = []
    assert not until(lambda: checks.append(1), 0.0)
    assert checks == [1]


def test_an_error_ends_the_wait():
    with pytest.raises(RuntimeError, match="it died"):
        until(lambda: (_ for _ in ()).throw(RuntimeError("it died")), 10.0)


def test_a_value_that_stays_is_at_rest_and_one_that_changes_is_not():
    values = itertools.chain([1, 2, 3], itertools.repeat(4))
    assert until_unchanged(lambda: next(values), 0.02, 10.0, pause=0.001)
    assert next(values) == 4
    counter = itertools.count()
    assert not until_unchanged(lambda: next(counter), 5.0, 0.05, pause=0.001)


def test_the_rest_begins_again_with_each_change(monkeypatch):
    clock = itertools.count()  # each look at it is a second later
    monkeypatch.setattr("benchbook.process.wait.time.monotonic", lambda: float(next(clock)))
    changing = 10
    values = itertools.chain(range(changing), itertools.repeat("at rest"))
    reads = []
    assert until_unchanged(lambda: reads.append(one := next(values)) or one, 5.0, 1000.0, pause=0.0)
    assert reads.count("at rest") > 1
