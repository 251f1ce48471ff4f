"""The client of the embedded stores: every store holds what was written, and the client notices if one does not."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

PROJECT = Path(__file__).resolve().parents[1]
STORES = ("memory", "leveldb", "kyoto-treedb", "sqlite3", "lmdb", "berkeleydb", "rocksdb")
ENTRIES = 2000

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the client as the declarations say; skip without its libraries."""
    source = tomllib.loads((PROJECT / "systems" / "leveldb-1.23.toml").read_text())["source"]["build"]
    for command in source["keyed_by"]:
        if (
            shutil.which(command[0]) is None
            or subprocess.run(command, check=False, capture_output=True).returncode
        ):
            pytest.skip(f"needs {' '.join(source['packages'])}")
    program = tmp_path_factory.mktemp("client") / "embedded-stores"
    command = [word.replace("{program}", str(program)) for word in source["command"]]
    subprocess.run([*command[:1], "-Wall", "-Wextra", "-Werror", *command[1:]], cwd=PROJECT, check=True)
    return program


def run(
    client: Path, store: str, folder: Path, do: str, *flags: str, entries: int = ENTRIES
) -> tuple[int, list[dict]]:
    done = subprocess.run(
        [client, "entries", "--target", store, "--url", folder, f"--do={do}", f"--entries={entries}",
         "--map-bytes=100000000", *flags],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def of(events: list[dict], kind: str) -> list[dict]:
    return [one for one in events if one["type"] == kind]


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("order", ["sequential", "random", "shuffled"])
def test_a_store_holds_what_was_written(client: Path, tmp_path: Path, store: str, order: str) -> None:
    code, events = run(client, store, tmp_path, f"fill-{order}")
    assert (code, events[-1]["rows"], events[-1]["errors"]) == (0, ENTRIES, 0)
    code, events = run(client, store, tmp_path, "check", f"--holds={order}")
    held = events[-1]["operations"]
    assert (code, events[-1]["errors"]) == (0, 0)
    # Of n draws from n keys with repetition, about 1 - 1/e are different.
    assert held == ENTRIES if order != "random" else 0.6 * ENTRIES < held < 0.66 * ENTRIES
    for do in ("read-sequential", "read-random", "read-shuffled", "read-hot"):
        code, events = run(client, store, tmp_path, do, f"--holds={order}")
        assert (code, events[-1]["errors"]) == (0, 0), do
        assert events[-1]["operations"] == (held if do == "read-sequential" else ENTRIES)


@pytest.mark.parametrize("store", [one for one in STORES if one not in ("memory", "kyoto-treedb")])
def test_a_batch_is_written_whole(client: Path, tmp_path: Path, store: str) -> None:
    code, events = run(client, store, tmp_path, "fill-shuffled", "--batch=500")
    assert (code, events[-1]["operations"], events[-1]["rows"]) == (0, ENTRIES // 500, ENTRIES)
    assert run(client, store, tmp_path, "check", "--holds=shuffled")[1][-1]["operations"] == ENTRIES


def test_a_fill_of_fewer_or_more_writes_is_known(client: Path, tmp_path: Path) -> None:
    for order in ("sequential", "random", "shuffled"):
        for writes, batch in ((100, 1), (7, 300), (9, 300)):
            code, _ = run(
                client, "lmdb", tmp_path, f"fill-{order}", f"--operations={writes}", f"--batch={batch}"
            )
            assert code == 0
            _, events = run(
                client, "lmdb", tmp_path, "check", f"--holds={order}", f"--written={writes * batch}"
            )
            assert events[-1]["errors"] == 0, (order, writes, batch)


def test_a_store_without_batches_says_so(client: Path, tmp_path: Path) -> None:
    code, events = run(client, "kyoto-treedb", tmp_path, "fill-shuffled", "--batch=500")
    assert code == 1
    assert [one["message"] for one in of(events, "error")] == ["kyoto-treedb has no batches"]


@pytest.mark.parametrize("store", ["leveldb", "kyoto-treedb", "sqlite3", "lmdb", "berkeleydb", "rocksdb"])
def test_another_content_than_expected_is_an_error(client: Path, tmp_path: Path, store: str) -> None:
    run(client, store, tmp_path, "fill-sequential", entries=ENTRIES // 2)
    for do, message in (
        ("read-random", "a key that was written is absent"),
        ("check", f"a scan returned {ENTRIES // 2} entries instead of {ENTRIES}"),
    ):
        code, events = run(client, store, tmp_path, do, "--holds=sequential")
        assert code == (0 if do == "check" else 1)
        assert message in [one["message"] for one in of(events, "error")]
    # Values of 50 bytes begin elsewhere in the text than those of 100.
    code, events = run(
        client, store, tmp_path, "read-random", "--holds=sequential", "--value-bytes=50", entries=1000
    )
    assert code == 1
    assert [one["message"] for one in of(events, "error")] == [
        "a value differs from the one that was written"
    ]


def test_events_are_those_that_benchbook_reads(client: Path, tmp_path: Path) -> None:
    _, events = run(client, "leveldb", tmp_path, "fill-shuffled", "--lasts=1.5s")
    assert {one["v"] for one in events} == {1}
    assert [one["type"] for one in events][:2] == ["start", "interval"]
    intervals, [histogram], summary = of(events, "interval"), of(events, "histogram"), events[-1]
    assert len(intervals) >= 2
    assert sum(one["operations"] for one in intervals) == summary["operations"] >= ENTRIES
    assert sum(one["duration_ns"] for one in intervals) == summary["duration_ns"] >= 1.5e9
    decoded = HdrHistogram.decode(histogram["encoded"])
    assert decoded.get_total_count() == histogram["count"] == summary["operations"]
    assert decoded.get_max_value() == pytest.approx(histogram["max_ns"], rel=0.001)
    assert (
        sum(HdrHistogram.decode(one["histogram"]).get_total_count() for one in intervals)
        == histogram["count"]
    )


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--target=rocksbd"], 'there is no store "rocksbd"; known: memory, leveldb'),
        (["--do=fill-sideways"], 'found "fill-sideways"; known:'),
        (["--entries=many"], '--entries: found "many", expected a whole number'),
        (["--lasts=2"], '--lasts: found "2", expected seconds such as 2s'),
        (["--colour=red"], "unknown flag --colour"),
        (["--do=read-random"], "--holds: the order in which the store was filled"),
        (["--sync=maybe"], '--sync: found "maybe"; known: on, off'),
    ],
)
def test_a_mistake_in_the_request_is_a_sentence(
    client: Path, tmp_path: Path, flags: list[str], message: str
) -> None:
    asked = {"--target": "leveldb", "--url": str(tmp_path), "--do": "fill-random"}
    asked |= dict(flag.split("=", 1) for flag in flags)
    done = subprocess.run(
        [client, "entries", *(f"{name}={value}" for name, value in asked.items())],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert message in done.stderr
