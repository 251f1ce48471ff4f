"""The state of the caches: cold only where bytes were read from the storage."""

import pytest

from benchbook.run import cache


@pytest.mark.parametrize(
    ("states", "read", "found"),
    [
        ({}, {}, "warm"),
        ({"q": "warm"}, {"q": 9.0}, "warm"),
        ({"q": "cold"}, {"q": 1.0}, "cold"),
        ({"q": "cold"}, {cache.PHASE: 1.0}, "cold"),
        ({"q": "cold"}, {"load": 1.0}, "lukewarm"),
        ({"q": "lukewarm"}, {"q": 1.0}, "lukewarm"),
        ({"q": "cold", "r": "lukewarm"}, {"q": 1.0}, "lukewarm"),
    ],
)
def test_the_state_is_what_was_seen(states, read, found):
    assert cache.seen(states, read) == found
