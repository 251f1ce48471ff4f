"""Latency histograms: decoded, merged without loss, and read as percentiles in seconds.

Percentiles are always those of merged histograms; percentiles of parts are never averaged.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from benchbook.analyse import counters

PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9, 100.0)
_SECONDS = 1e-9
"""Histograms hold nanoseconds."""
_LARGEST_NS = 10**15


@dataclass(frozen=True)
class Histogram:
    """A decoded histogram (or several merged ones); times in seconds."""

    _held: Any

    @property
    def count(self) -> int:
        """Operations in it."""
        return int(self._held.get_total_count())

    @property
    def mean_seconds(self) -> float | None:
        """Mean latency, s; None for an empty histogram."""
        if not self.count:
            return None
        total = sum(number * (low + high) / 2 for low, high, number in self.bars)
        return total / self.count * _SECONDS

    @property
    def max_seconds(self) -> float | None:
        """Longest latency, s, to the histogram's precision; None for an empty histogram."""
        return self.percentile(100.0)

    @cached_property
    def bars(self) -> list[tuple[int, int, int]]:
        """The filled bars in order: lowest and highest value (ns), operations."""
        import numpy as np

        held = self._held
        counts = np.ctypeslib.as_array(held.counts)  # of tens of thousands a few hundred are filled
        found = []
        for index in counts.nonzero()[0].tolist():
            low = held.get_value_from_index(index)
            found.append((low, held.get_highest_equivalent_value(low), int(counts[index])))
        return found

    @cached_property
    def _reached(self) -> list[int]:
        """Operations up to and with each bar."""
        return list(accumulate(number for _, _, number in self.bars))

    def percentile(self, percentile: float) -> float | None:
        """Return the latency (s) that ``percentile`` (0 to 100) of operations did not exceed."""
        if not self.count:
            return None
        wanted = max(1, int(min(percentile, 100.0) * self.count / 100 + 0.5))
        return self.bars[bisect_left(self._reached, wanted)][1] * _SECONDS

    def percentiles(self, wanted: Sequence[float] = PERCENTILES) -> list[float | None]:
        """Return the latency (s) of each percentile, in the order asked for."""
        return [self.percentile(percentile) for percentile in wanted]

    def curve(self) -> list[tuple[float, float]]:
        """Return (percentile, latency in s) for every filled bar: the whole distribution, for a plot."""
        return [
            (100.0 * reached / self.count, high * _SECONDS)
            for (_, high, _), reached in zip(self.bars, self._reached, strict=True)
        ]

    def encode(self) -> str:
        """Return it as HdrHistogram V2, base64: what it was decoded from."""
        encoded: bytes = self._held.encode()
        return encoded.decode("ascii")


def decode(encoded: str) -> Histogram:
    """Decode a histogram; raise ValueError where the text is none."""
    return Histogram(_decoded(encoded))


def merge(encoded: Iterable[str]) -> Histogram:
    """Merge histograms of one precision without loss; raise ValueError for none, or for different ones."""
    texts = list(encoded)
    if not texts:
        raise ValueError("there is no histogram to merge")
    merged = _decoded(texts[0])
    if len(texts) == 1:
        return Histogram(merged)
    found = counters.added(texts, len(merged.counts))
    if found is None:  # one of them is broken, or very unusual: the library says what is wrong
        return Histogram(_one_by_one(merged, texts[1:]))
    sums, heads = found
    for text in heads.values():
        _alike(_decoded(text), merged)
    filled = sums.nonzero()[0].tolist()
    if filled:
        for index in filled:
            merged.counts[index] = int(sums[index])
        merged.set_internal_tacking_values(filled[0], filled[-1], int(sums.sum()))
    return Histogram(merged)


def _one_by_one(merged: Any, texts: Iterable[str]) -> Any:
    """Add histograms to the first one by means of the library."""
    for text in texts:
        held = _decoded(text)
        _alike(held, merged)
        merged.add(held)
    return merged


def _alike(held: Any, merged: Any) -> None:
    """Raise ValueError where two histograms differ in range or precision."""
    if _shape(held) != _shape(merged):
        raise ValueError("histograms of different ranges or precisions cannot be merged without loss")


def percentiles(
    source: Histogram | Iterable[str], wanted: Sequence[float] = PERCENTILES
) -> dict[float, float | None]:
    """Return percentile → latency (s) of a histogram, or of encoded ones merged."""
    merged = source if isinstance(source, Histogram) else merge(source)
    return {percentile: merged.percentile(percentile) for percentile in wanted}


def _shape(held: Any) -> tuple[int, ...]:
    return held.bucket_count, held.sub_bucket_count, held.unit_magnitude, held.word_size


def _decoded(encoded: str) -> Any:
    from hdrh.codec import HdrHistogramEncoder
    from hdrh.histogram import HdrHistogram

    try:
        content = HdrHistogramEncoder.decode(encoded)
        head = content.payload
        lowest, highest = head.lowest_trackable_value, head.highest_trackable_value
        if not (1 <= lowest < highest <= _LARGEST_NS and 1 <= head.significant_figures <= 5):
            # Checked before memory for its bars is taken.
            raise ValueError(f"it claims values from {lowest} to {highest}")
        return HdrHistogram(lowest, highest, head.significant_figures, hdr_payload=content)
    except Exception as error:
        raise ValueError(f"this is no HdrHistogram in base64: {error or type(error).__name__}") from error
