"""Latency truth: what the client says beside what is known of a server that sleeps, and of one that stalls.

The percentiles of the client's own histogram are read, in the closed and in the open loop. What is known of the server
that sleeps is what it measured itself: on a busy machine it sleeps longer than it was told.
"""

from __future__ import annotations

import base64
import json
import urllib.request
import zlib
from collections.abc import Iterator

from table import Line
from work import Work, moment, run

SLEEP = 0.050
"""Seconds. Two wake-ups of an idle virtual processor, which no client can avoid, take up to 0.3 ms of what it sees."""
RATE = 200
SECONDS = 30
STALL, EVERY = 1.0, 10.0
PERCENTILES = (50.0, 95.0, 99.0, 99.9)


def lines(work: Work) -> Iterator[Line]:
    """Measure both servers; the truth of the second follows from when each query was due."""
    queries = work.folder / "latency-queries"
    asked = f"--seed 4 --scale 10 --start {moment(0)} --end {moment(7200)} --interval 10s"
    run(
        f"{work.benchload} queries devops {asked} --query-seed 1 --types 1-host-1-hr --count 2000 > {queries}"
    )
    ask = f"{work.benchload} query --queries {queries} --target influx --database x"
    with work.server(f"--sleep {SLEEP}s") as url:
        events = _events(run(f"{ask} --url {url} --workers 8").output)
        with urllib.request.urlopen(f"{url}/held") as answer:
            held = decode(str(json.loads(answer.read())["encoded"]))
        percents = (50.0, 90.0, 99.0)
        yield from _against(
            f"sleeps {SLEEP * 1000:g} ms, closed loop",
            events,
            "service",
            {p: _percentile(held, p) for p in percents},
        )
    with work.server(f"--stall {STALL}s --every {EVERY}s") as url:
        events = _events(run(f"{ask} --url {url} --workers 256 --rate {RATE} --duration {SECONDS}s").output)
        truth = _stalled()
        yield from _against(
            "stalls 1 s every 10 s, open loop", events, "response", {p: _rank(truth, p) for p in PERCENTILES}
        )


def _stalled() -> list[float]:
    """Return how long each query has to wait, sorted."""
    waits = []
    for n in range(RATE * SECONDS):
        phase = (n / RATE) % EVERY
        waits.append(EVERY - phase if phase >= EVERY - STALL else 0.0)
    return sorted(waits)


def _rank(values: list[float], percent: float) -> float:
    return values[max(round(percent / 100 * len(values)) - 1, 0)]


def _against(
    name: str, events: list[dict[str, object]], kind: str, truth: dict[float, float]
) -> Iterator[Line]:
    event = next(
        one
        for one in events
        if one["type"] == "histogram" and one["kind"] == kind and one["operation"] == "query"
    )
    counts = decode(str(event["encoded"]))
    for percent, known in truth.items():
        seen = _percentile(counts, percent)
        off = abs(seen - known)
        # What the loopback itself takes is in what the client sees and not in what the server sleeps.
        met = off <= max(0.01 * known, 50e-6) if known else None
        yield Line(
            f"p{percent:g}, a server that {name}", f"{seen * 1000:.3f} ms", f"truth {known * 1000:.3f} ms",
            f"{(seen / known - 1) * 100:+.2f} %" if known else f"{off * 1e6:+.0f} µs", "1 % or 50 µs" if known else "", met,
        )  # fmt: skip


def _events(output: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def decode(text: str) -> list[tuple[int, int]]:
    """Return the highest value (ns) and the count of every counter of an HdrHistogram in the compressed V2 format."""
    body = zlib.decompress(base64.b64decode(text)[8:])[40:]
    found, at, index = [], 0, 0
    while at < len(body):
        number, shift = 0, 0
        while True:
            byte = body[at]
            at += 1
            number |= (byte if shift == 56 else byte & 0x7F) << shift
            if byte < 0x80 or shift == 56:
                break
            shift += 7
        value = number >> 1 ^ -(number & 1)
        if value < 0:
            index -= value
            continue
        bucket = max(index // 1024 - 1, 0)
        found.append(((((index - bucket * 1024) + 1) << bucket) - 1, value))
        index += 1
    return found


def _percentile(counts: list[tuple[int, int]], percent: float) -> float:
    rank, seen = max(round(percent / 100 * sum(n for _, n in counts)), 1), 0
    for highest, n in counts:
        seen += n
        if seen >= rank:
            return highest / 1e9
    raise ValueError("the histogram is empty")
