"""The order of a load: the system settles before it is counted and measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.declare.experiment import Phase
from benchbook.errors import TrialFailed
from benchbook.run.findings import EventFile, Findings, Timeline
from benchbook.run.steps import Steps
from benchbook.systems.driver import TableCount
from benchbook.workloads import load
from benchbook.workloads.load import LoadOptions

DIGEST = {"rows": 2, "values": 2, "bytes": 20, "tables": {"t": {"rows": 2, "fields": {"v": 2}}}}
SUMMARY = {"type": "summary", "duration_ns": 10**9, "rows": 2, "values": 2, "operations": 1}


class Watched:
    """A driver and a client that record their calls."""

    watched_seconds = 0.0

    def __init__(self) -> None:
        self.asked: list[str] = []

    def load(self, _request: Any) -> Any:
        self.asked.append("load")
        return iter([SUMMARY])

    def settle(self) -> None:
        self.asked.append("settle")

    def size(self) -> dict[str, int]:
        self.asked.append("size")
        return {"data": 40}

    def count(self) -> dict[str, TableCount]:
        self.asked.append("count")
        return {"t": TableCount(2, {"v": 2})}


class Losing(Watched):
    """A system that loses acknowledged rows and refuses to count them."""

    not_required = ("benchbook",)

    def count(self) -> dict[str, TableCount]:
        raise TrialFailed(
            "CnosDB refuses SELECT: Unable to open file '/some/where/1/_000000.tsm': No such file"
        )


def loaded(
    tmp_path: Path, system: Watched, options: LoadOptions | None = None, later: Sequence[dict[str, Any]] = ()
) -> Findings:
    findings = Findings()
    phases = [Phase(name="load", workload="load"), *map(Phase.model_validate, later)]
    dataset = SimpleNamespace(
        generator="devops",
        source=None,
        flags=lambda: (),
        model=SimpleNamespace(by_worker=False, load_command=""),
    )
    context = SimpleNamespace(
        plan=SimpleNamespace(record_operations=False, phases=phases),
        dataset=lambda planned: (dataset, DIGEST),
    )
    made: Any = Steps  # of stand-ins
    steps = made(
        context=context,
        planned=SimpleNamespace(levels={}),
        timeline=Timeline(),
        findings=findings,
        driver=system,
        client=system,
        events=EventFile(tmp_path, lambda rate, unit: None),
        folder=tmp_path,
        storage=SimpleNamespace(),
        data=tmp_path,
        restart=lambda: None,
    )
    load.run(steps, "load", options or LoadOptions())
    return findings


def test_what_cannot_be_read_back_does_not_count_and_is_told_without_folders(tmp_path: Path) -> None:
    findings = loaded(tmp_path, Losing())
    [check] = findings.checks
    assert (check["expected"], check["found"], check["ok"]) == (2, 0, True)
    assert check["name"].startswith("values read back from benchbook, not required: ")
    assert check["name"].endswith("Unable to open file '_000000.tsm': No such file")
    assert {one.metric: one.value for one in findings.measurements}["rows_per_second"] == 0


def test_bytes_and_rows_are_taken_after_settling_and_both_times_are_kept(tmp_path: Path) -> None:
    system = Watched()
    findings = loaded(tmp_path, system)
    assert system.asked[0] == "load"
    assert system.asked.index("settle") < min(system.asked.index("size"), system.asked.index("count"))
    assert system.asked.count("size") == 1
    found = {one.metric: one.value for one in findings.measurements}
    assert found["settled_seconds"] >= found["acknowledged_seconds"] == 1.0
    assert found["disk_bytes"] == 40
    assert all(check["ok"] for check in findings.checks)


def test_workers_that_wait_for_the_generator_are_recorded(tmp_path: Path) -> None:
    class Waiting(Watched):
        def load(self, _request: Any) -> Any:
            return iter([{**SUMMARY, "generator_stall_ns": 2 * 10**9, "bottleneck": "generator"}])

    found = {one.metric: one.value for one in loaded(tmp_path, Waiting()).measurements}
    assert found["generator_stall_seconds"] == 2.0
    assert found["generator_bound"] == 1.0
    plain = {one.metric for one in loaded(tmp_path, Watched()).measurements}
    assert not plain & {"generator_stall_seconds", "generator_bound"}


def test_the_time_in_which_a_driver_only_watched_is_no_part_of_settling(tmp_path: Path) -> None:
    class Watching(Watched):
        watched_seconds = 1000.0

    found = {one.metric: one.value for one in loaded(tmp_path, Watching()).measurements}
    assert found["settled_seconds"] <= found["acknowledged_seconds"] == 1.0


def test_rows_that_are_gone_after_settling_make_the_trial_invalid(tmp_path: Path) -> None:
    from benchbook.errors import TrialInvalid

    findings = Findings()
    findings.check_counts(DIGEST, {"t": TableCount(1, {"v": 1})})
    with pytest.raises(TrialInvalid, match="rows in t: expected 2, found 1"):
        findings.require_whole()


LASTING = {
    **SUMMARY, "rows": 6, "values": 6, "duration_ns": 12 * 10**8, "window_ns": 10**9, "drained_rows": 2,
    "drained_operations": 1,
}  # fmt: skip


class Lasting(Watched):
    """A system that is loaded for a time, past the end of the dataset."""

    def __init__(self, found: int = 6) -> None:
        super().__init__()
        self.found = found

    def load(self, request: Any) -> Any:
        self.request = request
        return iter([LASTING])

    def count(self) -> dict[str, TableCount]:
        return {"t": TableCount(self.found, {"v": self.found})}


def test_a_load_with_a_duration_is_compared_with_what_was_acknowledged(tmp_path: Path) -> None:
    system = Lasting()
    findings = loaded(tmp_path, system, LoadOptions(duration="1s"))
    assert system.request.lasts_seconds == 1
    assert {check["name"]: (check["expected"], check["found"]) for check in findings.checks} == {
        "rows acknowledged": (6, 6),
        "values acknowledged": (6, 6),
        "values in t.v": (6, 6),
    }
    found = {one.metric: one.value for one in findings.measurements}
    # To the last answer: 6 rows in 1.2 s, of which 2 were answered after the second was over.
    assert found["rows_per_second"] == pytest.approx(5)
    assert found["bytes_per_second"] == pytest.approx(50)
    assert found["rows"] == 6
    assert findings.data_bytes == 60
    # How long it took and how much is there says nothing of a system that was given a time.
    assert not {"acknowledged_seconds", "settled_seconds", "disk_bytes", "disk_data_bytes"} & found.keys()
    assert found["bytes_per_row"] == pytest.approx(40 / 6)
    assert "disk_bytes" in findings.unmeasured


def test_the_size_after_the_last_phase_of_writes_is_the_one_that_counts() -> None:
    findings = Findings()
    findings.size({"data": 100}, rows=10, values=10)
    findings.size({"data": 300, "wal": 60}, rows=30, values=30)
    found = [(one.metric, one.value) for one in findings.measurements]
    assert sorted(found) == [
        ("bytes_per_row", 12), ("bytes_per_value", 12), ("disk_bytes", 360), ("disk_data_bytes", 300),
        ("disk_wal_bytes", 60),
    ]  # fmt: skip


def test_a_row_that_is_lost_or_appears_in_a_load_with_a_duration_is_wrong(tmp_path: Path) -> None:
    for number in (5, 7):
        findings = loaded(tmp_path, Lasting(number), LoadOptions(duration="1s"))
        wrong = [check["name"] for check in findings.checks if not check["ok"]]
        assert wrong == ["rows acknowledged", "values acknowledged"]


def test_a_load_is_whole_where_a_later_phase_of_its_cell_reads_the_dataset(tmp_path: Path) -> None:
    queries = {"name": "q", "workload": "query", "options": {"type": "groupby"}}
    put = {"name": "p", "workload": "blob", "options": {"do": "put"}}
    for phases, whole in (
        ([queries], True),
        ([put], False),
        ([], False),
        ([{**queries, "only": {"system": "other"}}], False),
    ):
        system = Lasting()
        loaded(tmp_path, system, LoadOptions(duration="1s"), phases)
        assert system.request.whole == whole
