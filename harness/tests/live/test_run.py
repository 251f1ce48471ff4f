"""The whole way on the real embedded systems: run, sql, report, resume after any death."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from bench import SMALL, begin, bench, need_benchload, rows, unmount


@pytest.fixture(autouse=True)
def _load_tool() -> None:
    need_benchload()


def planned(results: Path) -> list[dict[str, Any]]:
    [path] = (results / "runs").glob("*/plan.json")
    trials: list[dict[str, Any]] = json.loads(path.read_text())["trials"]
    return trials


def of_results(results: Path) -> list[psutil.Process]:
    """Return the living processes that name this results folder or are registered in it."""
    registered = {int(path.stem) for path in (results / "processes").glob("*.json") if path.stem.isdigit()}
    return [one for one in psutil.process_iter(["cmdline"])
            if str(results) in " ".join(one.info["cmdline"] or []) or one.pid in registered]  # fmt: skip


def assert_whole(results: Path) -> None:
    """Every planned trial is there exactly once and ok; the database agrees; nothing is left running."""
    found = rows(results, "select cell, block, position, status from trials order by block, position")
    wanted = [{"cell": one["cell"], "block": one["block"], "position": one["position"], "status": "ok"}
              for one in planned(results)]  # fmt: skip
    assert found == wanted
    assert of_results(results) == []
    assert list((results / "scratch").glob("*")) == []
    assert list((results / "processes").glob("*.json")) == []


def test_a_run_ends_with_its_report(tmp_path: Path) -> None:
    done = bench("run", *SMALL, "--results", str(tmp_path / "with space"))
    assert done.returncode == 0, done.stderr
    report = Path(done.stdout.splitlines()[-1])
    assert "<html" in report.read_text()[:2000].lower()
    results = tmp_path / "with space"
    assert_whole(results)
    measured = rows(results, "select system, min(value) as least from measurements join trials using (trial_id) "
                             "where metric = 'rows_per_second' group by system order by system")  # fmt: skip
    assert [row["system"] for row in measured] == ["duckdb", "sqlite"]
    assert all(row["least"] > 0 for row in measured)
    wrong = rows(results, "select * from checks where not ok")
    assert wrong == []
    answers = rows(results, "select query_type, query_id, count(distinct digest) as digests, count(*) as trials "
                            "from answers group by all")  # fmt: skip
    assert {row["trials"] for row in answers} == {4}
    assert len(answers) >= 80


def test_the_same_order_seed_plans_the_same_order() -> None:
    first, second = (
        json.loads(bench("plan", *SMALL, "--order-seed", "7", "--json").stdout) for _ in range(2)
    )
    assert [one["cell"] for one in first["trials"]] == [one["cell"] for one in second["trials"]]


SLOW = [pytest.param(moment, marks=pytest.mark.nightly) for moment in ("first second", "early", "late")]


@pytest.mark.parametrize("moment", ["at once", "middle", *SLOW])
def test_kill_9_at_any_moment_and_resume(tmp_path: Path, moment: str) -> None:
    span = {
        "at once": (0.03, 0.15),
        "first second": (0.2, 1.0),
        "early": (1, 2),
        "middle": (2, 4),
        "late": (4, 7),
    }
    process = begin("run", *SMALL, "--results", str(tmp_path))
    deadline = time.monotonic() + 20
    while not list(tmp_path.glob("runs/*/plan.json")):
        assert time.monotonic() < deadline, "the plan was never stored"
        assert process.poll() is None
    time.sleep(random.uniform(*span[moment]))
    process.kill()
    process.communicate()
    done = bench("resume", "--results", str(tmp_path), report=moment == "late")
    assert done.returncode == 0, done.stderr
    assert_whole(tmp_path)
    assert altered(tmp_path) == []


@pytest.mark.parametrize("moment", ["write_whole", "carry_out"])
def test_a_run_exists_from_the_moment_its_plan_is_stored(tmp_path: Path, moment: str) -> None:
    """The tests above hit this moment once in some hundred runs; here the harness ends just before or after it."""
    dying = f"import os\nfrom benchbook.run import engine\nengine.{moment} = lambda *_: os._exit(9)\n"
    ended = bench("run", *SMALL, "--results", str(tmp_path), report=False, before=dying)
    assert ended.returncode == 9, ended.stderr
    done = bench("resume", "--results", str(tmp_path), report=False)
    assert done.returncode == 0, done.stderr
    if moment == "write_whole":
        assert "nothing to resume" in done.stderr
        assert json.loads(bench("list", "runs", "--results", str(tmp_path), "--json").stdout) == []
    else:
        assert_whole(tmp_path)


def test_a_corrupt_trial_is_kept_aside_and_done_again(tmp_path: Path) -> None:
    assert bench("run", *SMALL, "--results", str(tmp_path), report=False).returncode == 0
    [record] = tmp_path.glob("runs/*/trials/0002/trial.json")
    record.write_text(record.read_text()[:100])
    done = bench("resume", "--results", str(tmp_path), report=False)
    assert done.returncode == 0, done.stderr
    assert "the trial runs again" in done.stderr
    assert_whole(tmp_path)
    assert len(list(tmp_path.glob("runs/*/corrupt/0002-0/trial.json"))) == 1
    assert altered(tmp_path) == [("0002", "ok", "changed")]


def altered(results: Path) -> list[tuple[str, str, str]]:
    """Return what the run says of trials that were removed or changed."""
    [run] = results.glob("runs/*/run.json")
    held = json.loads(run.read_text()).get("altered") or []
    return [(one["trial_id"].rpartition("/")[2], one["status"], one["why"]) for one in held]


def test_a_trial_that_somebody_removes_or_edits_before_a_resume_is_named_on_the_page(tmp_path: Path) -> None:
    assert bench("run", *SMALL, "--results", str(tmp_path), report=False).returncode == 0
    [record] = tmp_path.glob("runs/*/trials/0001/trial.json")
    shutil.rmtree(record.parent)
    edited = record.parents[1] / "0003" / "trial.json"
    trial = json.loads(edited.read_text())
    for one in trial["measurements"]:
        one["value"] *= 2
    edited.write_text(json.dumps(trial))
    done = bench("resume", "--results", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert altered(tmp_path) == [("0001", "ok", "removed"), ("0003", "ok", "changed")]
    [page] = tmp_path.glob("runs/*/report.html")
    assert "2 finished trials were removed or changed before the run was continued" in page.read_text()
    assert_whole(tmp_path)


@pytest.mark.nightly
def test_a_changed_file_of_a_trial_is_found_and_the_trial_done_again(tmp_path: Path) -> None:
    assert bench("run", *SMALL, "--results", str(tmp_path), report=False).returncode == 0
    [events] = tmp_path.glob("runs/*/trials/0002/events.jsonl")
    events.write_text("".join(events.read_text().splitlines(keepends=True)[:-1]))
    rebuilt = bench("rebuild", "--results", str(tmp_path))
    assert f"Left out: {events} has changed since the trial ended" in rebuilt.stderr
    assert rows(tmp_path, "select count(*) as n from trials where trial_id like '%/0002'") == [{"n": 0}]
    done = bench("resume", "--results", str(tmp_path), report=False)
    assert "the trial runs again" in done.stderr
    assert_whole(tmp_path)


REMOVES = """
import shutil
from pathlib import Path
from benchbook.run.findings import EventFile
_take, _taken = EventFile.take, []
def take(self, phase, events):
    found = _take(self, phase, events)
    _taken.append(phase)
    if len(_taken) == {number}:
        shutil.rmtree(Path(self._events.name).parent)
    return found
EventFile.take = take
"""


@pytest.mark.parametrize("number", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_a_folder_of_a_trial_that_somebody_removes_fails_the_trial_alone(tmp_path: Path, number: int) -> None:
    """After the first phase of the first trial, or after a later one."""
    done = bench(
        "run", *SMALL, "--results", str(tmp_path), report=False, before=REMOVES.format(number=number)
    )
    assert done.returncode == 4, done.stderr
    found = rows(tmp_path, "select status, reason from trials order by block, position")
    assert [row["status"] for row in found] == ["failed", "ok", "ok", "ok"]
    assert "was removed while the trial ran" in found[0]["reason"]


@contextmanager
def signals(*numbers: signal.Signals, ignored: bool) -> Iterator[None]:
    """Have commands begun in the block ignore signals, as a shell's background jobs do, or not, as at a terminal."""
    handler = signal.SIG_IGN if ignored else signal.default_int_handler
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, held in before.items():
            signal.signal(number, held)


def await_trial(process: subprocess.Popen[str], results: Path, index: int) -> None:
    """Wait until a running run has stored a trial."""
    while not list(results.glob(f"runs/*/trials/{index:04d}/trial.json")):
        time.sleep(0.05)
        assert process.poll() is None


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path: Path) -> None:
    with signals(signal.SIGINT, ignored=False):
        process = begin("run", *SMALL, "--results", str(tmp_path), report=False)
    await_trial(process, tmp_path, 0)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "resume quickstart-" in err
    assert "Traceback" not in err
    assert of_results(tmp_path) == []
    done = bench("resume", "--results", str(tmp_path), report=False)
    assert done.returncode == 0, done.stderr
    assert_whole(tmp_path)


def test_a_run_in_the_background_outlives_its_terminal_and_ends_when_told(tmp_path: Path) -> None:
    with signals(signal.SIGINT, signal.SIGHUP, ignored=True):
        process = begin("run", *SMALL, "--results", str(tmp_path), report=False)
    await_trial(process, tmp_path, 0)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    await_trial(process, tmp_path, 1)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "resume quickstart-" in err
    assert of_results(tmp_path) == []


def test_a_death_of_the_system_is_a_failed_trial_and_the_run_goes_on(tmp_path: Path) -> None:
    process = begin("run", *SMALL, "--results", str(tmp_path), report=False)
    killed = False
    while not killed and process.poll() is None:
        for path in (tmp_path / "processes").glob("*.json"):
            try:
                os.kill(int(path.stem), signal.SIGKILL)
                killed = True
            except (ValueError, ProcessLookupError):
                continue
        time.sleep(0.01)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 4, err
    found = rows(tmp_path, "select status, count(*) as n from trials group by status order by status")
    assert found == [{"status": "failed", "n": 1}, {"status": "ok", "n": 3}]
    [reason] = rows(tmp_path, "select reason from trials where status = 'failed'")
    assert len(reason["reason"]) > 20
    assert "Traceback" not in err


def test_two_harnesses_do_not_share_a_run(tmp_path: Path) -> None:
    process = begin("run", *SMALL, "--results", str(tmp_path), report=False)
    while not list(tmp_path.glob("runs/*/lock")):
        time.sleep(0.01)
    second = bench("resume", "quickstart", "--results", str(tmp_path), report=False)
    assert second.returncode == 2
    assert "being carried out by another process" in second.stderr
    process.communicate(timeout=120)
    assert_whole(tmp_path)


@pytest.mark.nightly
def test_two_runs_at_once_in_one_results_folder(tmp_path: Path) -> None:
    processes = [begin("run", *SMALL, "--results", str(tmp_path)) for _ in range(2)]
    for process in processes:
        _, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
    assert rows(tmp_path, "select count(*) as n from trials where status = 'ok'") == [{"n": 8}]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small file system")
def test_a_full_results_folder_is_told_in_one_sentence(tmp_path: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "benchbook-test", str(tmp_path)], check=True)
    try:
        done = bench("run", *SMALL, "--results", str(tmp_path))
        assert done.returncode in (2, 4)
        assert "Traceback" not in done.stderr
        assert "space" in done.stderr
    finally:
        unmount(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount read-only")
def test_a_read_only_results_folder_is_told_in_one_sentence(tmp_path: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,ro", "benchbook-test", str(tmp_path)], check=True)
    try:
        done = bench("run", *SMALL, "--results", str(tmp_path / "results"))
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert "--results" in done.stderr
    finally:
        unmount(tmp_path)


@pytest.mark.nightly
def test_loads_and_queries_by_time(tmp_path: Path) -> None:
    length = ["--set", "duration=1s", "--trials", "1"]
    done = bench(
        "run", "quickstart", "--profile", "smoke", *length, "--yes", "--results", str(tmp_path), report=False
    )
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path, "select count(*) as n from checks where not ok") == [{"n": 0}]
    # Queries read the dataset, so every load is whole; all systems answer alike.
    [held] = rows(tmp_path, "select count(*) as n from checks where name like 'rows acknowledged%'")
    assert held["n"] == 2
    [size] = [json.loads(path.read_text()) for path in tmp_path.glob("datasets/*.json")]
    loaded = rows(tmp_path, "select value from measurements where metric = 'rows'")
    assert all(one["value"] >= size["rows"] for one in loaded)
    [asked] = rows(tmp_path, "select min(value) as least from measurements where metric = 'queries'")
    assert asked["least"] > 0
    [same] = rows(tmp_path, "select count(distinct digest) as n, count(*) as given from answers "
                            "group by query_type, query_id order by n desc limit 1")  # fmt: skip
    assert (same["n"], same["given"]) == (1, 2)
