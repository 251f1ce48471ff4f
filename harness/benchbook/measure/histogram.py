"""Latency histograms: decoded, merged without loss, and read as percentiles in seconds."""

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


# The counters of many encoded histograms, added up at once.
#
# A run of 10,000 trials has some hundred thousand histograms of intervals; the library decodes one in a third of a
# millisecond. Here numpy unpacks all of them side by side: the encoding (HdrHistogram V2) is a row of numbers in
# LEB128 with the sign in the lowest bit, of which one below zero stands for so many empty counters.

AT_ONCE = 256
"""Histograms that are unpacked together: enough to be fast, few enough for a processor's cache."""
_COMPRESSED, _PLAIN = 0x1C849304, 0x1C849303
_WORD_SIZE = 0xF0
"""Bits of a cookie that name the size of counters, which the encoding of their values does not depend on."""
_HEAD_BYTES = 40
_LONGEST = 8
"""Bytes of a number at most; one of nine would be a count above 2^55."""


def added(texts: Sequence[str], length: int) -> tuple[NDArray[np.int64], dict[bytes, str]] | None:
    """Return the sums of ``length`` counters, and one text of each different head; None for an unusual text."""
    import numpy as np

    sums = np.zeros(length, dtype=np.int64)
    heads: dict[bytes, str] = {}
    for begin in range(0, len(texts), AT_ONCE):
        bodies = []
        for text in texts[begin : begin + AT_ONCE]:
            parts = _parts(text)
            if parts is None:
                return None
            heads.setdefault(parts[0], text)
            bodies.append(parts[1])
        if not _add(bodies, sums):
            return None
    return sums, heads


def _parts(text: str) -> tuple[bytes, bytes] | None:
    """Return the head (range and precision) and the body of a histogram; None for what is none."""
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
    """Add the counters of some bodies to ``sums``; False where one does not hold what it should."""
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
    # The first number of each body begins at counter zero again.
    firsts = np.concatenate(([0], np.searchsorted(ends, borders[:-1])))
    before = reached[firsts] - steps[firsts]
    index = reached - steps - np.repeat(before, np.diff(np.append(firsts, len(ends))))
    filled = numbers > 0
    if int((index + steps).max()) > len(sums):
        return False
    np.add.at(sums, index[filled], numbers[filled])
    return True


# Latency histograms: decoded, merged without loss, and read as percentiles in seconds.
#
# Percentiles are always those of merged histograms; percentiles of parts are never averaged.

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
    found = added(texts, len(merged.counts))
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
