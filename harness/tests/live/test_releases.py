"""Systems at one version, each in a separate environment: the same rows, the same answers from every release."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from own_server import wait_until_ready

from benchbook.analyse.answers import Answer, compare
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.dataset import GENERATORS
from benchbook.errors import Unavailable
from benchbook.provision.find import find
from benchbook.provision.request import Request
from benchbook.systems.driver import DatasetRequest, LoadRequest, Place, QueryRequest, driver
from benchbook.workers import frames, hits

DEVOPS = (
    "--seed=1", "--scale=8", "--start=2016-01-01T00:00:00Z", "--end=2016-01-01T02:00:00Z", "--interval=60s",
)  # fmt: skip
FRAMES = ("--seed=108", "--rows=20000", "--groups=10")
JOIN_FRAMES = ("--seed=108", "--rows=20000")
HITS = ("--seed=62", "--rows=20000")


@pytest.mark.parametrize(
    ("experiment", "generator", "flags", "types"),
    [
        ("versions-over-time", "devops", DEVOPS, ("1-host-1-hr", "8-host-1-hr", "groupby")),
        ("dataframes", "frames", FRAMES, tuple(one for one in frames.SQL if one not in frames.JOINS)),
        ("dataframes-join", "join-frames", JOIN_FRAMES, tuple(frames.JOINS)),
        ("clickbench-small", "hits", HITS, tuple(hits.SQL)),
    ],
)
def test_all_releases_give_the_same_answers(
    experiment: str, generator: str, flags: tuple[str, ...], types: tuple[str, ...], open_folder: Path
) -> None:
    benchload = os.environ.get("BENCHBOOK_BENCHLOAD") or shutil.which("benchload")
    if not benchload:
        pytest.skip("benchload is not built: BENCHBOOK_BENCHLOAD names no file and it is not on PATH")
    queries = open_folder / "queries.jsonl"
    command = [
        benchload,
        "queries",
        generator,
        *flags,
        "--query-seed=1",
        f"--types={','.join(types)}",
        "--count=1",
    ]
    queries.write_bytes(subprocess.run(command, capture_output=True, check=True).stdout)
    names = [str(name) for name in Catalogue().experiment(experiment).factors["system"]]
    dataset = DatasetRequest(generator, flags, {}, GENERATORS[generator].by_worker)
    held = [
        one for name in names for one in _answers(name, dataset, Path(benchload), queries, open_folder / name)
    ]
    assert len(held) == len(names) * len(types)
    assert compare(held, 1e-6).ok


def _answers(
    name: str, dataset: DatasetRequest, benchload: Path, queries: Path, folder: Path
) -> list[Answer]:
    system = Catalogue().system(name)
    try:
        program = find(system, Request())
    except Unavailable as missing:
        pytest.skip(str(missing))
    for part in ("data", "config", "logs"):
        (folder / part).mkdir(parents=True)
    place = Place(program, "vanilla", {}, folder / "data", folder / "config", folder / "logs")
    one = driver(system.driver, place)
    one.configure()
    one.start()
    try:
        wait_until_ready(one, 60)
        assert system.accepts(one.version())
        one.prepare()
        client = one.client(benchload)
        summary = list(client.load(LoadRequest(dataset, 1, 3000)))[-1]
        one.settle()
        assert sum(table.rows for table in one.count().values()) == summary["rows"] > 0
        events = client.query(QueryRequest(queries, answers=1, timeout_seconds=120))
        found = [event for event in events if event["type"] == "answer"]
    finally:
        one.stop()
    return [
        Answer(name, name, kind, kind, tuple(event["columns"]), tuple(map(tuple, event["rows"])))
        for event in found
        for kind in [event["query_type"]]
    ]
