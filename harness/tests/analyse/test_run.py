"""Opening a run: which run is chosen, and which are refused."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbook.analyse.run import open_run
from benchbook.errors import RequestError
from benchbook.record import database, duckdb_file
from tests.record import synthetic_run


def _change(folder: Path, run_id: str, index: int, **values: str) -> None:
    file = folder / "runs" / run_id / "trials" / f"{index:04d}" / "trial.json"
    trial = json.loads(file.read_text(encoding="utf-8")) | values
    file.write_text(json.dumps(trial), encoding="utf-8")


def test_the_environment_names_the_run(made, monkeypatch):
    run = made()
    monkeypatch.setenv("BENCHBOOK_RESULTS", str(run.results))
    assert open_run().run_id == run.run_id
    monkeypatch.setenv("BENCHBOOK_RUN", run.run_id)
    assert open_run().run_id == run.run_id


def test_an_unknown_run_names_those_there_are(made):
    run = made()
    with pytest.raises(RequestError, match=run.run_id):
        open_run(run.results, "quickstart-none")


@pytest.mark.parametrize("digest", ["dataset_digest", "queries_digest", "config_digest"])
def test_trials_of_different_work_are_refused_unless_asked_for(tmp_path, monkeypatch, digest):
    run_id = synthetic_run.write(tmp_path, telemetry_seconds=2, instances=2)
    _change(tmp_path, run_id, 2, **{digest: "sha256:" + "0" * 64})
    database.rebuild(tmp_path)
    with pytest.raises(RequestError, match="2 different digests"):
        open_run(tmp_path, run_id)
    monkeypatch.setenv("BENCHBOOK_MIX", "1")
    assert "2 different digests" in open_run(tmp_path, run_id).mixed


def test_a_trial_that_does_not_count_does_not_mix(tmp_path):
    run_id = synthetic_run.write(
        tmp_path, telemetry_seconds=2, instances=2, status={2: ("failed", "it died")}
    )
    _change(tmp_path, run_id, 2, dataset_digest="sha256:" + "0" * 64)
    database.rebuild(tmp_path)
    assert open_run(tmp_path, run_id).mixed == ""


def test_only_trials_that_count_are_measured(made):
    run = made(status={0: ("invalid", "another version")})
    assert run.frame("trials").height == 6
    assert len(run.numbers("load", "rows_per_second")) == 5
    assert run.phases("query") == ["1-host-1-hr", "1-host-12-hr", "8-host-1-hr", "groupby"]


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="there is no /proc/self/statm")
def test_frames_hold_their_rows_and_not_a_batch_of_a_million(plain):
    """A process that reserves more than the memory for frames cannot fork."""

    def frames() -> Iterator[object]:
        opened = open_run(plain.results, plain.run_id)
        yield from (opened.frame(name) for name in ("trials", "phases", "intervals", "telemetry"))

    list(frames())
    before = _address_space()
    held = [list(frames()) for _ in range(20)]
    rows = sum(frame.estimated_size() for each in held for frame in each)
    assert _address_space() - before < 2**28 + 4 * rows


def test_each_different_answer_is_told_once_with_the_trial_that_gave_it_first(made):
    run = made(status={0: ("invalid", "another version")}, wrong_answers_of="sqlite")
    alike = ["dataset_digest", "system", "arm", "query_type", "query_id", "digest"]
    trials = run.ok.select("trial_id", "dataset_digest", "system", "arm")
    given = trials.join(run.frame("answers"), on="trial_id", how="inner", maintain_order="left")
    told = run.answers()
    columns = [*alike, "trial_id", "columns", "rows"]
    assert (
        told.select(columns).rows()
        == given.unique(alike, keep="first", maintain_order=True).select(columns).rows()
    )
    assert told["recorded"].sum() == given.height


def test_levels_of_a_cell_are_in_one_order_whatever_the_order_of_the_rows(tmp_path):
    run_id = synthetic_run.write(
        tmp_path, telemetry_seconds=2, instances=2, batch_sizes=(1000, 5000), database=True
    )
    before = [list(cell.levels) for cell in open_run(tmp_path, run_id).cells]
    connection = duckdb_file.connect(tmp_path / duckdb_file.FILE, read_only=False)
    connection.execute("CREATE TEMP TABLE moved AS SELECT * FROM levels WHERE trial_id LIKE '%/0000'")
    connection.execute("DELETE FROM levels WHERE trial_id LIKE '%/0000'")
    connection.execute("INSERT INTO levels SELECT * FROM moved ORDER BY factor DESC")
    connection.close()
    assert [list(cell.levels) for cell in open_run(tmp_path, run_id).cells] == before
    assert len(before) == 4
    assert len({tuple(names) for names in before}) == 1
