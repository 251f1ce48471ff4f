"""Compare the client's latencies with the known latencies of a server that sleeps, and of one that stalls.

The client's percentiles come from its histogram, in the closed and in the open loop. The server that sleeps measures the
true latency, from reading the request to handing over the answer, because on a busy machine it sleeps longer than
configured.

The client's latency also contains two wake-ups: of the server by the request, and of the client by the answer. If a
processor is asleep, each takes some tenths of a millisecond, and with one worker both processors sleep most of the
time. The benchmark therefore keeps processors awake, as cyclictest does. Separate lines without a target show the cost
of sleep, for benchload and for a plain socket.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
import time
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from table import Line
from work import Work, moment, run

SLEEP = 0.020
"""Seconds."""
ASKED = 15
"""Seconds of queries to the server that sleeps."""
WORKERS = (1, 2, 8)
RATE = 200
SECONDS = 30
STALL, EVERY = 1.0, 10.0
PERCENTILES = (50.0, 95.0, 99.0, 99.9)
LATENCY = Path("/dev/cpu_dma_latency")
"""While a process has this file open, processors wake up within the number of microseconds written to it."""


def lines(work: Work) -> Iterator[Line]:
    """Measure both servers; the true latencies of the second follow from the times when queries were due."""
    queries = work.file("latency-queries")
    asked = f"--seed 4 --scale 10 --start {moment(0)} --end {moment(7200)} --interval 10s"
    run(
        f"{work.benchload} queries devops {asked} --query-seed 1 --types 1-host-1-hr --count 2000 > {queries}"
    )
    ask = f"{work.benchload} query --queries {queries} --target influx --database x"
    with ExitStack() as stack:
        awake = stack.enter_context(_awake())
        for workers in WORKERS:
            with work.server(f"--sleep {SLEEP}s") as url:
                yield from _slept(ask, url, workers, "processors awake" if awake else "processors may sleep")
    if awake:
        with work.server(f"--sleep {SLEEP}s") as url:
            yield from (one.without_target() for one in _slept(ask, url, 1, "processors may sleep"))
        with work.server(f"--sleep {SLEEP}s") as url:
            yield from _plain(url)
    with work.server(f"--stall {STALL}s --every {EVERY}s") as url:
        events = _events(run(f"{ask} --url {url} --workers 256 --rate {RATE} --duration {SECONDS}s").output)
        truth = _stalled()
        yield from _against(
            "a server that stalls 1 s every 10 s, open loop",
            _counts(events, "response"),
            {p: _rank(truth, p) for p in PERCENTILES},
        )


@contextmanager
def _awake() -> Iterator[bool]:
    """Keep processors awake for the length of a block; yield whether that is permitted."""
    try:
        held = os.open(LATENCY, os.O_WRONLY)
    except OSError:
        yield False
        return
    try:
        os.write(held, struct.pack("i", 0))
        yield True
    finally:
        os.close(held)


def _slept(ask: str, url: str, workers: int, how: str) -> Iterator[Line]:
    events = _events(run(f"{ask} --url {url} --workers {workers} --duration {ASKED}s").output)
    asking = "1 worker" if workers == 1 else f"{workers} workers"
    name = f"a server that sleeps {SLEEP * 1000:g} ms, {asking}, {how}"
    yield from _against(name, _counts(events, "service"), _held(url))


def _plain(url: str) -> Iterator[Line]:
    """Measure queries over a plain socket: the latency of the machine, which no client can avoid."""
    host, port = url.removeprefix("http://").split(":")
    request = f"GET /query?q=SELECT HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    seen: list[int] = []
    with socket.create_connection((host, int(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        until = time.monotonic() + ASKED
        while time.monotonic() < until:
            began = time.perf_counter_ns()
            connection.sendall(request)
            connection.recv(65536)
            seen.append(time.perf_counter_ns() - began)
    name = f"a server that sleeps {SLEEP * 1000:g} ms, a plain socket in place of benchload, processors may sleep"
    counts = [(one, 1) for one in sorted(seen)]
    yield from (one.without_target() for one in _against(name, counts, _held(url)))


def _held(url: str) -> dict[float, float]:
    """Return the percentiles of the latency that the server measured."""
    with urllib.request.urlopen(f"{url}/held") as answer:
        held = decode(str(json.loads(answer.read())["encoded"]))
    return {percent: _percentile(held, percent) for percent in (50.0, 90.0, 99.0)}


def _stalled() -> list[float]:
    """Return the waiting times of all queries, sorted."""
    waits = []
    for n in range(RATE * SECONDS):
        phase = (n / RATE) % EVERY
        waits.append(EVERY - phase if phase >= EVERY - STALL else 0.0)
    return sorted(waits)


def _rank(values: list[float], percent: float) -> float:
    return values[max(round(percent / 100 * len(values)) - 1, 0)]


def _counts(events: list[dict[str, object]], kind: str) -> list[tuple[int, int]]:
    event = next(
        one
        for one in events
        if one["type"] == "histogram" and one["kind"] == kind and one["operation"] == "query"
    )
    return decode(str(event["encoded"]))


def _against(name: str, counts: list[tuple[int, int]], truth: dict[float, float]) -> Iterator[Line]:
    for percent, known in truth.items():
        seen = _percentile(counts, percent)
        off = abs(seen - known)
        met = off <= max(0.01 * known, 50e-6) if known else None
        yield Line(
            f"p{percent:g}, {name}", f"{seen * 1000:.3f} ms", f"truth {known * 1000:.3f} ms",
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
