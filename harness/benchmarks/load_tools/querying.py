"""Measure queries to the null server with 64 connections: requests per second, and processor time per request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from statistics import median

from table import Line, amount, versus
from work import Work, has, moment, run

QUERIES = 100_000
SECONDS = 3
WORKERS = 64


def lines(work: Work) -> Iterator[Line]:
    """Compare with wrk, which checks and keeps nothing, and with query_benchmarker_influxdb."""
    ours_file, peer_file = work.file("queries"), work.file("peer-queries")
    asked = f"--seed 4 --scale 100 --start {moment(0)} --end {moment(86400)} --interval 10s"
    run(
        f"{work.benchload} queries devops {asked} --query-seed 1 --types 1-host-1-hr --count {QUERIES} > {ours_file}"
    )
    peer_there = has("bulk_query_gen") and has("query_benchmarker_influxdb")
    if peer_there:
        run(
            f"bulk_query_gen -use-case devops -query-type 1-host-1-hr -format influx-http -scale-var 100 -seed 1 "
            f"-queries {QUERIES} -timestamp-start {moment(0)} -timestamp-end {moment(86400)} -db x > {peer_file}"
        )
    ours: list[tuple[float, float]] = []  # requests per second, CPU per request
    wrk: list[tuple[float, float]] = []
    peers: list[tuple[float, float]] = []
    with work.server() as url:
        one = json.loads((work.folder / "queries").open(encoding="utf-8").readline())
        path = (
            f"/query?db=x&q=SELECT+max%28usage_user%29+from+cpu+where+%28hostname+%3D+%27{one['hosts'][0]}%27%29"
            "+and+time+%3E%3D+%272022-01-01T00%3A00%3A00Z%27+and+time+%3C+%272022-01-01T01%3A00%3A00Z%27+group+by+time%281m%29"
        )
        for _ in range(work.runs):
            done = run(
                f"{work.benchload} query --queries {ours_file} --target influx --url {url} --database x --workers {WORKERS}"
            )
            summary = json.loads(done.output.strip().splitlines()[-1])
            ours.append(
                (summary["operations_per_second"], summary["client_cpu_ns"] / summary["operations"] / 1000)
            )
            if has("wrk"):
                done = run(f"wrk -t 2 -c {WORKERS} -d {SECONDS}s '{url}{path}'")
                found = re.search(r"(\d+) requests in", done.output)
                rate = re.search(r"Requests/sec:\s+([\d.]+)", done.output)
                assert found
                assert rate
                wrk.append((float(rate[1]), done.cpu / int(found[1]) * 1e6))
            if peer_there:
                done = run(
                    f"query_benchmarker_influxdb -urls {url} -workers {WORKERS} -file {peer_file} -print-interval 0"
                )
                peers.append((QUERIES / done.wall, done.cpu / QUERIES * 1e6))
    rate, cost = (median(values) for values in zip(*ours, strict=True))
    # Disturbances affect both runs of a pair, so the ratio is the median of the pairs' ratios.
    pairs = median(a[0] / b[0] for a, b in zip(ours, wrk, strict=True)) if wrk else None
    yield versus(
        "queries, 64 workers",
        "requests/s",
        rate,
        "wrk",
        median(one[0] for one in wrk) if wrk else None,
        0.85,
        ratio=pairs,
    )
    yield versus(
        "queries, 64 workers",
        "requests/s",
        rate,
        "query_benchmarker",
        median(one[0] for one in peers) if peers else None,
        1,
    )
    shown = (
        f"query_benchmarker {median(one[1] for one in peers):.1f}" if peers else "query_benchmarker missing"
    )
    if wrk:
        shown += f", wrk {median(one[1] for one in wrk):.1f}"
    yield Line("queries, client CPU a request", f"{amount(cost)} µs", shown, "", "≤ 12 µs", cost <= 12)
