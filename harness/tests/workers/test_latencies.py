"""The worker's histogram is that of the library, without the library."""

from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from benchbook.measure import histogram
from benchbook.workers.latencies import DIGITS, HIGHEST_NS, LOWEST_NS, Latencies


@given(st.lists(st.integers(LOWEST_NS, HIGHEST_NS) | st.integers(1, 5000), max_size=40))
def test_every_counter_is_that_of_the_library(values):
    ours, theirs = Latencies(), HdrHistogram(LOWEST_NS, HIGHEST_NS, DIGITS)
    for value in values:
        ours.add(value)
        theirs.record_value(value)
    decoded = histogram.decode(ours.encoded())
    assert decoded.bars == histogram.decode(theirs.encode().decode()).bars
    assert decoded.count == ours.count == len(values)


def test_values_out_of_range_count_at_the_limit():
    latencies = Latencies()
    for value in (0, 10**14):
        latencies.add(value)
    bars = histogram.decode(latencies.encoded()).bars
    assert [number for *_, number in bars] == [1, 1]
    assert bars[-1][0] <= HIGHEST_NS <= bars[-1][1]
