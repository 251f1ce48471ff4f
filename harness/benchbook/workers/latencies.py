"""An HdrHistogram of latencies, with the standard library alone: a worker has only its system's packages.

Format and range are those of benchload: three digits, 1 ns to 1 h, encoded as HdrHistogram V2 in base64.
"""

from __future__ import annotations

import base64
import struct
import zlib

LOWEST_NS, HIGHEST_NS, DIGITS = 1, 3_600_000_000_000, 3
_HALF_BITS = 10
"""Binary logarithm of half the sub-buckets: 2 x 1024 are needed for three digits."""
_COMPRESSED, _PLAIN = 0x1C849314, 0x1C849313


class Latencies:
    """Latencies of one kind of operation in ns. Values outside the range count at the limit."""

    def __init__(self) -> None:
        self._counters: dict[int, int] = {}
        self.count = 0
        self.sum_ns = 0
        self.min_ns = 0
        self.max_ns = 0

    def add(self, latency_ns: int) -> None:
        """Count one latency."""
        value = min(max(latency_ns, LOWEST_NS), HIGHEST_NS)
        bucket = max(0, value.bit_length() - _HALF_BITS - 1)
        index = (bucket << _HALF_BITS) + (value >> bucket)
        self._counters[index] = self._counters.get(index, 0) + 1
        self.min_ns = latency_ns if self.count == 0 else min(self.min_ns, latency_ns)
        self.max_ns = max(self.max_ns, latency_ns)
        self.sum_ns += latency_ns
        self.count += 1

    def mean_ns(self) -> float:
        """Return the mean, or 0 if there is none."""
        return self.sum_ns / self.count if self.count else 0.0

    def encoded(self) -> str:
        """Return the whole histogram in the compressed V2 format, base64-encoded."""
        body = bytearray()
        reached = 0
        for index, count in sorted(self._counters.items()):
            if index > reached:
                _append(body, -(index - reached))  # a run of empty counters
            _append(body, count)
            reached = index + 1
        head = struct.pack(">IIIIQQd", _PLAIN, len(body), 0, DIGITS, LOWEST_NS, HIGHEST_NS, 1.0)
        packed = zlib.compress(head + body)
        return base64.b64encode(struct.pack(">II", _COMPRESSED, len(packed)) + packed).decode()


def _append(body: bytearray, number: int) -> None:
    """Append a number as zigzag LEB128."""
    rest = number << 1 if number >= 0 else (-number << 1) - 1
    while rest > 0x7F:
        body.append(rest & 0x7F | 0x80)
        rest >>= 7
    body.append(rest)
