"""The record of a trial apart from its measurements."""

from __future__ import annotations

import contextlib
import math
import os
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.declare.experiment import Limits
from benchbook.measure.measurement import Measurement
from benchbook.record import folder
from benchbook.record.trial import read
from benchbook.run import trial
from benchbook.run.findings import Findings, Timeline

LEVELS = {"system": "duckdb", "arm": "vanilla", "storage": "local"}


def record(
    monkeypatch: pytest.MonkeyPatch, held: Findings, limits: Limits, reason: str | None = None
) -> dict[str, Any]:
    monkeypatch.setattr(trial.hardware, "machine_bytes", lambda: 1 << 30)
    planned = SimpleNamespace(
        trial_id="r/0000", levels=LEVELS, cell="system=duckdb", program="duckdb", block=0, position=0, index=0
    )
    context = SimpleNamespace(
        plan=SimpleNamespace(run_id="r", experiment="quickstart", profile="smoke"), programs={"duckdb": None},
        queries_digest=lambda: "sha256:q",
    )  # fmt: skip
    ended: Any = SimpleNamespace(
        planned=planned, context=context, findings=held, timeline=Timeline(), running=False, version="1",
        config_digest="sha256:c", storage_facts={}, digest={"sha256": "d", "bytes": 1 << 29}, limits=limits,
        confined=None, telemetry=None,
    )  # fmt: skip
    return trial.record_of(ended, "failed" if reason else "ok", reason, datetime.now(UTC), {})


def test_data_is_held_against_the_memory_that_the_system_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    assert record(monkeypatch, Findings(), Limits())["data_to_memory"] == 0.5
    assert record(monkeypatch, Findings(), Limits(memory_bytes=1 << 28))["data_to_memory"] == 2.0


@pytest.mark.parametrize("half", ["\ud800", "\udfff x \ud800"])
def test_a_half_of_a_surrogate_pair_in_a_servers_text_is_recorded_visibly(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, half: str
) -> None:
    held = Findings()
    held.keep_errors("load", [{"kind": "server", "message": f"bad {half}"}])
    where = tmp_path / "r" / "trials" / "0000"
    folder.write_trial(where, record(monkeypatch, held, Limits(), reason=f"refused: {half} é 🙂"))
    trial_read = read(where, whole=True)
    shown = half.encode(errors="backslashreplace").decode()
    assert trial_read["reason"] == f"refused: {shown} é 🙂"
    assert trial_read["errors"][0]["message"] == f"bad {shown}"


def test_a_long_text_of_a_server_is_cut_in_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Findings()
    held.keep_errors("load", [{"kind": "server", "message": "E" * 30_000_000}])
    made = record(monkeypatch, held, Limits(), reason=f"S refuses: {'A' * 30_000_000}. It died of a signal.")
    assert len(str(made)) < 10_000
    assert made["reason"].startswith("S refuses: AAA")
    assert made["reason"].endswith("AAA. It died of a signal.")
    assert "(29,998,033 characters more, see logs)" in made["reason"]
    assert "(29,998,000 characters more, see logs)" in made["errors"][0]["message"]


def test_cold_without_a_byte_read_is_recorded_as_lukewarm(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = Findings()
    findings.cache_states["q"] = "cold"
    findings.measurements.append(Measurement("q", "server_read_bytes", 4096.0))
    assert record(monkeypatch, findings, Limits())["cache_state"] == "cold"
    findings.measurements[0] = Measurement("q", "server_read_bytes", 0.0)
    assert record(monkeypatch, findings, Limits())["cache_state"] == "lukewarm"


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 1e308, 1e-308])
def test_a_number_that_no_quantity_has_is_left_out_and_the_others_stay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: float
) -> None:
    findings = Findings()
    findings.measurements += [Measurement("load", "rows_per_second", value), Measurement("load", "rows", 5.0)]
    made = record(monkeypatch, findings, Limits())
    kept = {one["metric"]: one["value"] for one in made["measurements"] if one["phase"] == "load"}
    assert kept == {"rows": 5.0}
    assert made["unmeasured"]["rows_per_second of load"] == f"the value was {value}, which no quantity has"
    place = tmp_path / "r" / "trials" / "0000"
    folder.write_trial(place, {**made, "data_to_memory": 0.5})
    assert read(place)["measurements"] == made["measurements"]


def test_every_digest_of_its_work_stands_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = record(monkeypatch, Findings(), Limits())
    assert {name: made[name] for name in ("dataset_digest", "queries_digest", "config_digest")} == {
        "dataset_digest": "sha256:d", "queries_digest": "sha256:q", "config_digest": "sha256:c",
    }  # fmt: skip


def test_the_digest_of_a_configuration_depends_on_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial.network, "beyond_loopback", lambda pids, host: [])

    def started(texts: dict[str, str]) -> str:
        one: Any = SimpleNamespace(
            context=SimpleNamespace(host="127.0.0.1"), timeline=Timeline(), findings=Findings(),
            system=SimpleNamespace(name="x", accepts=lambda version: True, listens_beyond=None),
            _restart=lambda *_: None,
        )  # fmt: skip
        driver: Any = SimpleNamespace(configure=lambda: texts, version=lambda: "1", processes=list)
        place: Any = SimpleNamespace(host="127.0.0.1", program=SimpleNamespace(url=None))
        confined: Any = SimpleNamespace(server=contextlib.nullcontext, check=lambda *_: None)
        trial.TrialRun._start(one, driver, place, confined)
        return str(one.config_digest)

    assert started({"a.conf": "cache = 1"}) == started({"a.conf": "cache = 1"})
    assert started({"a.conf": "cache = 1"}) != started({"a.conf": "cache = 2"})
    assert started({"a.conf": "cache = 1"}).startswith("sha256:")


def test_telemetry_of_the_server_is_that_of_its_processes(tmp_path: Path) -> None:
    """The server of this trial is this process, and its client has ended."""
    one: Any = SimpleNamespace(folder=tmp_path)
    driver: Any = SimpleNamespace(processes=lambda: [os.getpid()])
    place: Any = SimpleNamespace(data=tmp_path, launch=None)
    with trial.TrialRun._telemetry(one, driver, list, place):
        one.telemetry.phase("load")
    load = one.telemetry.summary()["load"]
    assert load["server_rss_peak_bytes"] > 1 << 20
    assert load["client_rss_peak_bytes"] is None
    kept = (tmp_path / "telemetry.jsonl").read_text()
    assert '"scope":"server","metric":"rss_bytes"' in kept
    assert '"scope":"client","metric":"rss_bytes"' not in kept
