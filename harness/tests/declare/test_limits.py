import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.declare.experiment import LIMIT_FACTORS, Limits, limits


@pytest.mark.parametrize(
    ("text", "size"), [("1MiB", 1 << 20), ("1.5GiB", 3 << 29), ("300 MB", 300_000_000), ("none", None)]
)
def test_memory_is_read_with_its_unit(text, size):
    assert limits({"memory_limit": text}).memory_bytes == size


def test_no_limit_is_the_default_and_needs_no_group():
    assert limits({"system": "sqlite"}) == Limits()
    assert not Limits().any
    assert limits({"cpu_limit": 0.5}).any


def test_surroundings_are_read_and_need_no_group():
    found = limits({"core": 1, "address_layout": "fixed", "environment_bytes": "4096"})
    assert (found.core, found.layout, found.environment_bytes) == (1, "fixed", 4096)
    assert found.around
    assert not found.any
    assert limits({"core": "any", "address_layout": "random", "environment_bytes": 0}) == Limits()
    assert not Limits().around


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ({"memory_limit": "512"}, "a number and one of KiB, MiB"),
        ({"memory_limit": "4kB"}, "the smallest limit is 1MiB"),
        ({"cpu_limit": 0}, "a number of cores, at least 0.01"),
        ({"cpu_limit": True}, "a number of cores"),
        ({"pinning": "some"}, "allowed: auto, off, always"),
        ({"core": "last"}, 'write "any", or the place of a core'),
        ({"core": True}, 'write "any", or the place of a core'),
        ({"core": 0, "pinning": "always"}, "both choose cores"),
        ({"address_layout": "none"}, "allowed: random, fixed"),
        ({"environment_bytes": -1}, "a number of bytes from 0 to 100,000"),
        ({"environment_bytes": 200_000}, "a number of bytes from 0 to 100,000"),
    ],
)
def test_a_limit_that_is_none_is_refused_with_what_is_allowed(levels, words):
    with pytest.raises(ValueError, match=words):
        limits(levels)


@given(
    st.one_of(st.text(), st.integers(), st.floats(), st.booleans()),
    st.sampled_from(LIMIT_FACTORS),
)
def test_any_level_is_a_limit_or_a_sentence(level, name):
    with contextlib.suppress(ValueError):  # any other error would be a traceback
        limits({name: level})
