"""Format numbers with units, and facts of run.json: three significant digits and a suitable prefix."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
"""Decimal prefixes for sizes and rates: 1 MB is 1,000,000 bytes."""

MISSING = "n/a"
"""Text in place of a missing number."""


def number(value: float | None, digits: int = 3) -> str:
    """Return ``value`` with ``digits`` significant digits and thousands separators.

    >>> number(12345.6), number(0.0012345), number(1.5), number(None)
    ('12,300', '0.00123', '1.50', 'n/a')
    """
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - exponent)
    if rounded and math.floor(math.log10(abs(rounded))) > exponent:
        exponent += 1
    if exponent < -6:
        return f"{value:.{digits - 1}e}"
    return f"{rounded:,.{max(0, digits - 1 - exponent)}f}"


def count(value: float | None) -> str:
    """Return an integer with all digits and thousands separators.

    >>> count(1234567)
    '1,234,567'
    """
    return MISSING if value is None else f"{value:,.0f}"


def counted(number: int, noun: str, several: str = "") -> str:
    """Return a number of things; ``several`` is the plural if it is not that of most nouns.

    >>> counted(1, "block"), counted(1200, "claim"), counted(2, "query", "queries")
    ('1 block', '1,200 claims', '2 queries')
    """
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


def scale(largest: float, unit: str) -> tuple[float, str]:
    """Return the divisor and the unit for an axis up to ``largest``.

    >>> scale(0.004, "s"), scale(2.5e6, "B/s"), scale(7.0, "1")
    ((0.001, 'ms'), (1000000.0, 'MB/s'), (1.0, '1'))
    """
    steps, suffix = {"s": (SECONDS, ""), "B": (BYTES, ""), "B/s": (BYTES, "/s")}.get(unit, ((), ""))
    for divisor, name in steps:
        if abs(largest) >= divisor:
            return divisor, name + suffix
    return (steps[-1][0], steps[-1][1] + suffix) if steps and largest else (1.0, unit)


def text(value: float | None, unit: str, noun: str = "") -> str:
    """Return ``value`` with its unit; ``noun`` names what a rate or count without unit counts.

    >>> text(0.00123, "s"), text(2_500_000, "B"), text(12345, "1/s", "rows"), text(0.25, "1")
    ('1.23 ms', '2.50 MB', '12,300 rows/s', '0.250')
    """
    if value is None or math.isnan(value):
        return MISSING
    divisor, name = scale(value, unit)
    if unit == "1/s":
        return f"{number(value)} {noun}/s" if noun else f"{number(value)} per second"
    if unit == "1":
        return f"{number(value)} {noun}".rstrip()
    return f"{number(value / divisor)} {name}"


def size(bytes_: float) -> str:
    """Return a size that was chosen, not measured, so without trailing zeros.

    >>> size(20_000), size(4096), size(1_000_000)
    ('20 kB', '4 KiB', '1 MB')
    """
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if bytes_ >= factor and bytes_ % factor == 0:
            return f"{bytes_ / factor:g} {unit}"
    divisor, name = scale(bytes_, "B")
    return f"{bytes_ / divisor:g} {name}"


def percent(fraction: float | None, digits: int = 2) -> str:
    """Return a fraction as a percentage.

    >>> percent(0.1234)
    '12 %'
    """
    return MISSING if fraction is None else f"{number(100 * fraction, digits)} %"


LONGEST = 160
"""Most characters of a fact in a table."""


def fact_text(value: Any, key: str = "") -> str:
    """Return a fact of run.json as text, with a unit if its key ends with ``bytes`` or ``_seconds``.

    >>> fact_text(True), fact_text(None), fact_text(25_000_000_000, "memory_bytes"), fact_text(["a", "b"])
    ('yes', 'unknown', '25.0 GB', 'a, b')
    """
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and (key == "bytes" or key.endswith("_bytes")):
        return text(float(value), "B")
    if isinstance(value, float) and key.endswith("_seconds"):
        return text(value, "s")
    if isinstance(value, float):
        return f"{value:.6g}".replace("e-0", "e-").replace("e+0", "e+")
    if isinstance(value, list):
        written = ", ".join(fact_text(one) for one in value)
    elif isinstance(value, dict):
        written = json.dumps(value, ensure_ascii=False, sort_keys=True)
    else:
        written = str(value)
    return written if len(written) <= LONGEST else written[: LONGEST - 1] + "…"


def lines(facts: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield (path, text) for every fact of a nested mapping, in its order.

    >>> list(lines({"cpu": {"cores": 2}}))
    [('cpu: cores', '2')]
    """
    if isinstance(facts, dict) and facts:
        for key, value in facts.items():
            yield from lines(value, (*path, str(key)))
        return
    last = path[-1] if path else ""
    first, *rest = [part.replace("_", " ") for part in path] or [""]
    yield f"{first}: {' '.join(rest)}" if rest else first, fact_text(facts, last)


def headed(name: str) -> str:
    """Return a name as the heading of a row: a capital letter first, and abbreviations in capitals.

    >>> headed("operating_system"), headed("cpu"), headed("SMT")
    ('Operating system', 'CPU', 'SMT')
    """
    words = name.replace("_", " ")
    return words.upper() if words in ("cpu", "numa", "smt") else words[:1].upper() + words[1:]
