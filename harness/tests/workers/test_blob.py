"""Objects in an embedded store: acknowledged ones exist, counts are right, and losses are reported."""

import json
import sys

import pyarrow.parquet as pq
import pytest

from benchbook.workers.blob import Blob, Source, perform, read_kept, request
from benchbook.workers.engine import FailedError, StreamBrokenError, open_engine
from benchbook.workers.recorder import recording
from benchbook.workers.sqlite_engine import SQLite

GENERATOR = """
import sys
given = dict(flag[2:].split("=", 1) for flag in sys.argv[1:] if flag.startswith("--"))
for number in range(int(given["first"]), int(given["count"])):
    content = (f"{number}\\n" * 40).encode()
    sys.stdout.buffer.write(f"00/{number:010d} {len(content)}\\n".encode() + content + b"\\n")
"""


@pytest.fixture
def command(tmp_path):
    program = tmp_path / "generator.py"
    program.write_text(GENERATOR)
    return [sys.executable, str(program)]


STORES = {"sqlite": {"journal_mode": "WAL"}, "files": {"sync": "data"}}


@pytest.fixture(params=STORES)
def engine(request, tmp_path):
    found = open_engine(request.param, tmp_path / "store", STORES[request.param])
    yield found
    found.close()


@pytest.fixture
def change(engine, tmp_path):
    """Return a function that replaces the bytes of an object behind the back of the store."""

    def do_change(key):
        if isinstance(engine, SQLite):
            engine._connection.execute("UPDATE objects SET content = x'00' WHERE key = ?", (key,))
        else:
            (tmp_path / "store" / key).write_bytes(b"\0")

    return do_change


@pytest.fixture
def do(tmp_path, command, engine):
    """Return a function that does operations and returns their events."""

    def run(what, mix=None, connect=engine.objects, **changes):
        events = []
        asked = Blob(
            command=command, seed=1, count=50, do=what, kept=tmp_path / "kept", workers=3, batch=1, operations=0,
            mix=mix or {what: 1.0}, timeout_seconds=10.0,
        )  # fmt: skip
        for name, value in changes.items():
            setattr(asked, name, value)
        perform(connect, asked, "sqlite 3", events.append)
        json.dumps(events)
        return events

    return run


def summary(events):
    return events[-1]


def checked(events):
    [found] = [one for one in events if one["type"] == "checked"]
    return found


@pytest.mark.parametrize("batch", [1, 7, 100])
def test_every_object_comes_back(do, batch, engine):
    done = summary(do("put", batch=batch))
    assert (done["rows"], done["operations"], done["errors"]) == (50, -(-50 // batch), 0)
    assert done["workload"] == "blob-put"
    assert done["bytes"] == sum(len(f"{number}\n" * 40) for number in range(50))
    found = checked(do("check"))
    assert (found["objects"], found["read"], found["different"], found["back"]) == (50, 50, 0, 0)
    assert found["sha256"] == found["expected"]
    assert summary(do("get"))["operations"] == 50
    assert engine.count()["objects"].rows == 50


def test_a_second_put_goes_on_where_the_first_ended(do, tmp_path):
    do("put")
    do("put", batch=10)
    assert read_kept(tmp_path / "kept") == list(range(100))
    assert checked(do("check"))["objects"] == 100


def test_a_mix_puts_gets_and_deletes_and_what_is_left_is_known(do, tmp_path, engine):
    do("put")
    events = do("mixed", {"put": 1.0, "get": 2.0, "delete": 1.0}, operations=200)
    assert summary(events)["operations"] == 200
    kinds = {one["operation"] for one in events if one["type"] == "histogram"}
    assert kinds == {"put", "get", "delete"}
    found = checked(do("check"))
    assert found["objects"] == engine.count()["objects"].rows == found["read"]
    do("delete")
    assert read_kept(tmp_path / "kept") == []
    assert engine.count()["objects"].rows == 0


def test_what_is_lost_changed_or_back_is_told(do, engine, change, tmp_path):
    do("put")
    store = engine.objects(1.0)
    store.delete("00/0000000003")
    change("00/0000000004")
    kept = tmp_path / "kept"
    kept.write_text("".join(f"{number}\t\n" for number in range(50) if number != 7))
    found = checked(do("check"))
    assert (found["objects"], found["missing"], found["different"], found["back"]) == (49, 1, 1, 1)
    assert found["sha256"] != found["expected"]
    store.close()


def test_a_get_of_other_bytes_is_a_failure(do, change):
    do("put")
    for number in range(50):
        change(f"00/{number:010d}")
    with pytest.raises(FailedError, match="50 operations"):
        do("get")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_what_the_engine_refuses_is_counted_in_its_words(do, engine, tmp_path):
    engine.objects(1.0).close()
    engine._connection.execute(
        "CREATE TRIGGER no BEFORE INSERT ON objects BEGIN SELECT RAISE(FAIL, 'full'); END"
    )
    with pytest.raises(FailedError):
        do("put", count=5)
    assert read_kept(tmp_path / "kept") == []


def test_a_generator_that_ends_early_is_told():
    source = Source([sys.executable, "-c", "print('00/0 3')"], 0, 2)
    with pytest.raises(StreamBrokenError, match="before object 0"):
        next(source)
    source.close()


@pytest.mark.parametrize("lasts", [None, 30.0])
def test_a_generator_that_dies_in_a_phase_ends_it_with_an_error(tmp_path, engine, lasts):
    broken = [sys.executable, "-c", "print('00/0 3'); print('abc')"]  # one object, whatever is asked for
    asked = Blob(
        command=broken, seed=1, count=4, do="put", kept=tmp_path / "kept", workers=2, batch=1, operations=0,
        mix={"put": 1.0}, timeout_seconds=10.0, lasts_seconds=lasts,
    )  # fmt: skip
    with pytest.raises(StreamBrokenError, match="before object 1"):
        perform(engine.objects, asked, "sqlite 3", lambda _: None)


def test_every_operation_is_kept_where_a_run_keeps_them(do, tmp_path, command, engine):
    do("put")
    asked = Blob(
        command=command, seed=1, count=50, do="mixed", kept=tmp_path / "kept", workers=3, batch=1, operations=60,
        mix={"put": 0.3, "get": 0.5, "delete": 0.2}, timeout_seconds=10.0,
    )  # fmt: skip
    with recording(str(tmp_path / "mixed.parquet")) as kept:
        perform(engine.objects, asked, "sqlite 3", lambda _: None, kept)
    rows = pq.read_table(tmp_path / "mixed.parquet").to_pylist()
    assert len(rows) == 60
    assert {row["operation"] for row in rows} == {"put", "get", "delete"}
    assert {row["worker"] for row in rows} == {0, 1, 2}
    assert {row["status"] for row in rows} == {"ok"}
    assert all(0 <= row["start_ns"] <= row["end_ns"] for row in rows)


def test_puts_for_a_time_continue_after_the_dataset(do, tmp_path, engine):
    done = summary(do("put", count=5, lasts_seconds=1.5))
    assert done["rows"] > 5
    assert done["window_ns"] == 1_500_000_000
    assert done["errors"] == 0
    assert read_kept(tmp_path / "kept") == list(range(done["rows"]))
    found = checked(do("check"))
    assert (found["objects"], found["read"], found["different"]) == (done["rows"], done["rows"], 0)
    assert engine.count()["objects"].rows == done["rows"]


def test_gets_and_mixes_for_a_time_ask_for_objects_again(do):
    do("put", count=5)
    assert summary(do("get", lasts_seconds=0.2))["operations"] > 5
    mixed = summary(do("mixed", {"put": 1.0, "get": 1.0, "delete": 1.0}, lasts_seconds=0.2))
    assert mixed["operations"] > 5
    assert mixed["window_ns"] == 200_000_000
    assert mixed["operations_per_second"] == pytest.approx(
        (mixed["operations"] - mixed.get("drained_operations", 0)) / 0.2
    )
    found = checked(do("check"))
    assert found["read"] == found["objects"]


def test_deletes_for_a_time_end_when_no_object_is_left(do, engine):
    do("put")
    done = summary(do("delete", lasts_seconds=60.0))
    assert done["operations"] == 50
    assert done["window_ns"] == done["duration_ns"] < 60e9
    assert engine.count()["objects"].rows == 0


def test_a_request_is_that_of_benchload_in_words():
    asked = request(
        {
            "dataset": ["--seed=7", "--count=50", "--size=1KiB"], "benchload": "/bin/benchload", "do": "mixed",
            "kept": "/k", "workers": 2, "mix": "put=1,get=2", "timeout": 30.0, "duration": 1.5, "operations": None,
        }
    )  # fmt: skip
    assert asked.command == ["/bin/benchload", "generate", "blob", "--seed=7", "--size=1KiB"]
    assert (asked.seed, asked.count, asked.batch, asked.operations, asked.lasts_seconds) == (7, 50, 1, 0, 1.5)
    assert asked.parts() == {"put": 1.0, "get": 2.0}
