"""The state of the caches of a trial, from that of its phases."""

import pytest

from benchbook.run import cache


@pytest.mark.parametrize(
    ("states", "found"),
    [
        ({}, "warm"),
        ({"q": "warm"}, "warm"),
        ({"q": "cold"}, "cold"),
        ({"q": "warm", "r": "cold"}, "cold"),
        ({"q": "lukewarm"}, "lukewarm"),
        ({"q": "cold", "r": "lukewarm"}, "lukewarm"),
    ],
)
def test_a_trial_is_cold_where_all_that_asked_for_it_had_it(states, found):
    assert cache.of_trial(states) == found
