"""The earlier runs that a run names when it begins."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.run import description
from tests.claims import measured_run

FACTORS = {"system": ["influxdb-1.8.10", "cnosdb-2.0.1"]}


@pytest.mark.parametrize(
    ("own", "machine", "named"),
    [
        (True, "another", ["run-1"]),
        (False, measured_run.MACHINE, ["run-1"]),
        (False, "another", []),
        (False, "not readable: /etc/machine-id: holds no id", []),
    ],
)
def test_a_run_of_this_machine_is_an_earlier_one_also_without_its_seal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: bool, machine: str, named: list[str]
) -> None:
    measured_run.write(tmp_path, "run-1", FACTORS, lambda levels, block: {}, own=own, database=False)
    monkeypatch.setattr(description, "machine", lambda tree: {"id": machine})
    plan: Any = SimpleNamespace(run_id="run-2", experiment="cnos-vs-influx")
    assert [one["run_id"] for one in description.earlier_runs(tmp_path, plan)] == named
