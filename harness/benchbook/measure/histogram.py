"""Latency histograms: decode them, merge them without loss, and compute percentiles in seconds.

Percentiles always come from merged histograms; percentiles of parts are never averaged.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Fast merging with numpy. A run of 10,000 trials has about 100,000 histograms of intervals, and the library needs a
# third of a millisecond to decode one. The encoding (HdrHistogram V2) is a sequence of zigzag LEB128 numbers; a
# negative number is a count of empty counters.

_BATCH = 256
"""Histograms to unpack together: enough to be fast, few enough for a processor's cache."""
_COMPRESSED, _PLAIN = 0x1C849304, 0x1C849303
_WORD_SIZE = 0xF0
"""Bits of a cookie that hold the size of counters; the encoding does not depend on it."""
_HEAD_BYTES = 40
_LONGEST = 8
"""Largest number of bytes of a number; nine bytes would be a count above 2^55."""


def sum_counters(texts: Sequence[str], length: int) -> tuple[NDArray[np.int64], dict[bytes, str]] | None:
    """Return the sums of ``length`` counters, and one text of each different header; None for an unusual text."""
    import numpy as np

    sums = np.zeros(length, dtype=np.int64)
    heads: dict[bytes, str] = {}
    for begin in range(0, len(texts), _BATCH):
        bodies = []
        for text in texts[begin : begin + _BATCH]:
            parts = _parts(text)
            if parts is None:
                return None
            heads.setdefault(parts[0], text)
            bodies.append(parts[1])
        if not _add(bodies, sums):
            return None
    return sums, heads


def _parts(text: str) -> tuple[bytes, bytes] | None:
    """Return the header (range and precision) and the body of a histogram; None if the text is not a histogram."""
    try:
        packed = base64.b64decode(text)
        whole = zlib.decompress(packed[8:])
    except (binascii.Error, zlib.error, ValueError):
        return None
    cookies = [int.from_bytes(part[:4], "big") & ~_WORD_SIZE for part in (packed, whole)]
    size = int.from_bytes(whole[4:8], "big")
    if cookies != [_COMPRESSED, _PLAIN] or len(whole) != _HEAD_BYTES + size:
        return None
    return whole[8:_HEAD_BYTES], whole[_HEAD_BYTES:]


def _add(bodies: list[bytes], sums: NDArray[np.int64]) -> bool:
    """Add the counters of some bodies to ``sums``; return False for a malformed body."""
    import numpy as np

    content = np.frombuffer(b"".join(bodies), dtype=np.uint8)
    if not len(content):
        return True
    last = content < 0x80  # bytes that end a number
    borders = np.cumsum([len(body) for body in bodies if body])
    if not last[borders - 1].all():
        return False
    ends = np.flatnonzero(last)
    begins = np.concatenate(([0], ends[:-1] + 1))
    sizes = ends - begins + 1
    longest = int(sizes.max())
    if longest > _LONGEST:
        return False
    raw = (content[begins] & 0x7F).astype(np.int64)
    for place in range(1, longest):  # nearly all numbers have one byte or two
        longer = np.flatnonzero(sizes > place)
        raw[longer] |= (content[begins[longer] + place] & 0x7F).astype(np.int64) << (7 * place)
    numbers = (raw >> 1) ^ -(raw & 1)

    steps = np.where(numbers < 0, -numbers, 1)
    reached = np.cumsum(steps)
    # The first number of each body starts at counter zero.
    firsts = np.concatenate(([0], np.searchsorted(ends, borders[:-1])))
    before = reached[firsts] - steps[firsts]
    index = reached - steps - np.repeat(before, np.diff(np.append(firsts, len(ends))))
    filled = numbers > 0
    if int((index + steps).max()) > len(sums):
        return False
    np.add.at(sums, index[filled], numbers[filled])
    return True


_SECONDS = 1e-9
"""Histograms hold nanoseconds."""
_LARGEST_NS = 10**15


FEWEST_BEYOND = 10


def resolves(percentile: float, operations: int) -> bool:
    """Return whether a percentile of so many operations is measured: ``FEWEST_BEYOND`` of them lie beyond it.

    With fewer, it is the time of one or two slow operations. The median and the maximum are always measured.

    >>> resolves(99.0, 999), resolves(99.0, 1000), resolves(50.0, 3), resolves(100.0, 3)
    (False, True, True, True)
    """
    return percentile in (50.0, 100.0) or operations * (100.0 - percentile) >= 100.0 * FEWEST_BEYOND


@dataclass(frozen=True)
class Histogram:
    """A decoded histogram, or several merged ones; times in seconds."""

    _library: Any
    """The histogram of the library hdrh."""

    @property
    def count(self) -> int:
        """Number of operations."""
        return int(self._library.get_total_count())

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
        """The buckets that are not empty, in order: lowest and highest value (ns), operations."""
        import numpy as np

        histogram = self._library
        counts = np.ctypeslib.as_array(histogram.counts)  # a few hundred of tens of thousands are not empty
        found = []
        for index in counts.nonzero()[0].tolist():
            low = histogram.get_value_from_index(index)
            found.append((low, histogram.get_highest_equivalent_value(low), int(counts[index])))
        return found

    @cached_property
    def _cumulative(self) -> list[int]:
        """Number of operations up to and including each bucket."""
        return list(accumulate(number for _, _, number in self.bars))

    def resolves(self, percentile: float) -> bool:
        """Return whether enough operations lie beyond a percentile to measure it."""
        return resolves(percentile, self.count)

    def percentile(self, percentile: float) -> float | None:
        """Return the latency (s) that ``percentile`` (0 to 100) of operations did not exceed."""
        if not self.count:
            return None
        wanted = max(1, int(min(percentile, 100.0) * self.count / 100 + 0.5))
        return self.bars[bisect_left(self._cumulative, wanted)][1] * _SECONDS

    def curve(self) -> list[tuple[float, float]]:
        """Return (percentile, latency in s) of every bucket that is not empty, for a plot of the distribution."""
        return [
            (100.0 * cumulative / self.count, high * _SECONDS)
            for (_, high, _), cumulative in zip(self.bars, self._cumulative, strict=True)
        ]

    def encode(self) -> str:
        """Return the histogram as HdrHistogram V2 in base64."""
        encoded: bytes = self._library.encode()
        return encoded.decode("ascii")


def decode(encoded: str) -> Histogram:
    """Decode a histogram; raise ValueError if the text is not a histogram."""
    return Histogram(_decoded(encoded))


def merge(encoded: Iterable[str]) -> Histogram:
    """Merge histograms without loss; raise ValueError if there are none or they differ in range or precision."""
    texts = list(encoded)
    if not texts:
        raise ValueError("there is no histogram to merge")
    merged = _decoded(texts[0])
    if len(texts) == 1:
        return Histogram(merged)
    found = sum_counters(texts, len(merged.counts))
    if found is None:  # one text is damaged or very unusual: the library's error explains it
        return Histogram(_add_slowly(merged, texts[1:]))
    sums, heads = found
    for text in heads.values():
        _require_same_shape(_decoded(text), merged)
    filled = sums.nonzero()[0].tolist()
    if filled:
        for index in filled:
            merged.counts[index] = int(sums[index])
        merged.set_internal_tacking_values(filled[0], filled[-1], int(sums.sum()))
    return Histogram(merged)


def _add_slowly(merged: Any, texts: Iterable[str]) -> Any:
    """Add histograms to the first one with the library, one at a time."""
    for text in texts:
        histogram = _decoded(text)
        _require_same_shape(histogram, merged)
        merged.add(histogram)
    return merged


def _require_same_shape(one: Any, other: Any) -> None:
    """Raise ValueError if two histograms differ in range or precision."""
    if _shape(one) != _shape(other):
        raise ValueError("cannot merge histograms of different ranges or precisions without loss")


def _shape(histogram: Any) -> tuple[int, ...]:
    return (histogram.bucket_count, histogram.sub_bucket_count, histogram.unit_magnitude, histogram.word_size)


def _decoded(encoded: str) -> Any:
    from hdrh.codec import HdrHistogramEncoder
    from hdrh.histogram import HdrHistogram

    try:
        content = HdrHistogramEncoder.decode(encoded)
        head = content.payload
        lowest, highest = head.lowest_trackable_value, head.highest_trackable_value
        if not (1 <= lowest < highest <= _LARGEST_NS and 1 <= head.significant_figures <= 5):
            # Check before the library allocates memory for the buckets.
            raise ValueError(f"its header states values from {lowest} to {highest}")
        return HdrHistogram(lowest, highest, head.significant_figures, hdr_payload=content)
    except Exception as error:
        raise ValueError(f"not an HdrHistogram in base64: {error or type(error).__name__}") from error
