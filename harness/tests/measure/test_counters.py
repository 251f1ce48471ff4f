from __future__ import annotations

import base64
import zlib

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from benchbook.measure import histogram

SAMPLES = st.lists(st.tuples(st.integers(1, 3_600_000_000_000), st.integers(1, 1 << 40)), max_size=12)


def held(samples: list[tuple[int, int]]) -> HdrHistogram:
    made = HdrHistogram(1, 3_600_000_000_000, 3)
    for value, count in samples:
        made.record_value(value, count)
    return made


@given(st.lists(SAMPLES, min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_the_sums_are_those_of_the_library(parts: list[list[tuple[int, int]]]) -> None:
    whole = held([sample for part in parts for sample in part])
    texts = [held(part).encode().decode() for part in parts]
    found = histogram.sum_counters(texts, len(whole.counts))
    assert found is not None
    assert found[0].tolist() == list(whole.counts)
    assert len(found[1]) == 1
    assert histogram.merge(texts).bars == histogram.decode(whole.encode().decode()).bars


@given(st.binary(max_size=60))
@settings(max_examples=200, deadline=None)
def test_no_body_of_a_histogram_makes_it_fail(body: bytes) -> None:
    good = base64.b64decode(held([(1000, 1)]).encode())
    head = zlib.decompress(good[8:])[8:40]
    inner = zlib.compress((0x1C849313).to_bytes(4, "big") + len(body).to_bytes(4, "big") + head + body)
    text = base64.b64encode(good[:4] + len(inner).to_bytes(4, "big") + inner).decode()
    found = histogram.sum_counters([text], 64)
    assert found is None or found[0].sum() >= 0


@pytest.mark.parametrize(
    "text", ["", "no histogram", "HISTFAAAAA==", base64.b64encode(b"12345678" * 9).decode()]
)
def test_what_is_no_histogram_is_left_to_the_library(text: str) -> None:
    assert histogram.sum_counters([text], 8) is None
    with pytest.raises(ValueError, match="not an HdrHistogram"):
        histogram.merge([held([]).encode().decode(), text])
