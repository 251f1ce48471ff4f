"""The cache state of a trial, from those of its phases."""

import pytest

from benchbook.measure.measurement import Measurement
from benchbook.run import steps


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
    assert steps.trial_state(states) == found


def read(phase, value, metric="server_read_bytes"):
    return Measurement(phase, metric, value)


@pytest.mark.parametrize(
    ("measured", "found"),
    [
        ([read("q", 0.0)], "lukewarm"),
        ([read("q", 4096.0)], "cold"),
        ([read("q", 0.0), read(steps.DROP_CACHES, 4096.0)], "cold"),
        ([read("q", 0.0), read("q", 512.0, "storage_bucket_read_bytes")], "cold"),
        ([read("other", 0.0)], "cold"),
    ],
)
def test_cold_is_seen_by_the_bytes_that_were_read_since_the_stop(measured, found):
    assert steps.confirmed({"q": "cold", "w": "warm"}, measured) == {"q": found, "w": "warm"}
