from __future__ import annotations

import base64
import math
import random

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from benchbook.measure import histogram

PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9, 100.0)
SAMPLES = st.lists(st.integers(1000, 3_600_000_000_000), max_size=30)


def encoded(samples: list[int], digits: int = 3) -> str:
    held = HdrHistogram(1000, 3_600_000_000_000, digits)
    for sample in samples:
        held.record_value(sample)
    text: bytes = held.encode()
    return text.decode()


@given(st.lists(SAMPLES, min_size=1, max_size=4))
@settings(max_examples=30, deadline=None)
def test_merging_parts_is_the_histogram_of_all(parts: list[list[int]]) -> None:
    merged = histogram.merge([encoded(part) for part in parts])
    whole = histogram.decode(encoded([sample for part in parts for sample in part]))
    assert merged.count == whole.count == sum(map(len, parts))
    assert merged.bars == whole.bars
    assert merged.encode() == whole.encode()
    assert [merged.percentile(at) for at in PERCENTILES] == [whole.percentile(at) for at in PERCENTILES]


@given(SAMPLES.filter(bool))
@settings(max_examples=30, deadline=None)
def test_encoding_and_decoding_loses_nothing(samples: list[int]) -> None:
    text = encoded(samples)
    assert histogram.decode(text).encode() == text


def test_percentiles_are_seconds_within_three_digits() -> None:
    chance = random.Random(1)
    samples = sorted(int(1e7 * math.exp(chance.gauss(0, 1))) for _ in range(5000))
    merged = histogram.merge([encoded(samples[:1000]), encoded(samples[1000:])])
    for percentile in PERCENTILES:
        exact = samples[round(percentile / 100 * len(samples)) - 1] / 1e9
        assert merged.percentile(percentile) == pytest.approx(exact, rel=2e-3)
    held = histogram.decode(encoded(samples))
    assert held.mean_seconds == pytest.approx(sum(samples) / len(samples) / 1e9, rel=1e-3)
    assert held.max_seconds == pytest.approx(samples[-1] / 1e9, rel=1e-3)
    assert [held.percentile(at) for at in PERCENTILES] == [merged.percentile(at) for at in PERCENTILES]


def test_percentiles_agree_with_the_library() -> None:
    held = HdrHistogram(1000, 3_600_000_000_000, 3)
    for number in range(1, 1234):
        held.record_value(number * 7919)
    ours = histogram.decode(held.encode().decode())
    for percentile in (0.1, 1, 50, 90, 99, 99.9, 100):
        assert ours.percentile(percentile) == pytest.approx(
            held.get_value_at_percentile(percentile) / 1e9, rel=1e-12
        )


def test_the_curve_rises_to_a_hundred_percent() -> None:
    curve = histogram.decode(encoded([5_000_000] * 90 + [80_000_000] * 10)).curve()
    assert [round(percentile, 6) for percentile, _ in curve] == [90.0, 100.0]
    assert [seconds for _, seconds in curve] == pytest.approx([0.005, 0.08], rel=1e-3)


def test_percentiles_of_merged_histograms_are_not_averages() -> None:
    merged = histogram.merge([encoded([1_000_000] * 990), encoded([1_000_000_000] * 10)])
    assert merged.percentile(50.0) == pytest.approx(0.001, rel=1e-3)
    assert merged.percentile(99.0) == pytest.approx(0.001, rel=1e-3)
    assert merged.percentile(99.9) == pytest.approx(1.0, rel=1e-3)


def test_an_empty_histogram_has_no_latency() -> None:
    held = histogram.decode(encoded([]))
    assert (held.count, held.mean_seconds, held.max_seconds, held.curve()) == (0, None, None, [])


@pytest.mark.parametrize(
    "text", ["", "no histogram", "HISTFAAA", base64.b64encode(b"\x1c\x84\x93\x14" * 8).decode()]
)
def test_an_invalid_text_is_named_in_the_error(text: str) -> None:
    with pytest.raises(ValueError, match="not an HdrHistogram in base64"):
        histogram.decode(text)


def test_nothing_and_different_precisions_are_not_merged() -> None:
    with pytest.raises(ValueError, match="no histogram to merge"):
        histogram.merge([])
    with pytest.raises(ValueError, match="without loss"):
        histogram.merge([encoded([5000], 3), encoded([5000], 2)])
