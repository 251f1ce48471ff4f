"""A published run: small, reproducible, without private names, with the numbers of the run."""

from __future__ import annotations

import hashlib
import json
import math
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchbook.analyse.run import open_run
from benchbook.errors import RequestError
from benchbook.record import journal, ledger, manifest, thinning
from benchbook.report import conclusion
from benchbook.site import index, published
from tests.claims import measured_run
from tests.record import synthetic_run
from tests.site import checkout as making


def files(folder: Path) -> dict[str, str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def test_the_same_run_gives_the_same_small_files(tmp_path):
    results = tmp_path / "results"
    run_id = synthetic_run.write(results, telemetry_seconds=4)
    first = published.publish(results, run_id, tmp_path / "data")
    assert first == tmp_path / "data" / "quickstart" / run_id
    assert files(published.publish(results, run_id, tmp_path / "again")) == files(first)
    assert sum(path.stat().st_size for path in first.rglob("*") if path.is_file()) < thinning.LARGEST_BYTES
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["quickstart"]
    held = b"".join(path.read_bytes() for path in first.rglob("*") if path.is_file())
    assert str(tmp_path).encode() not in held
    manifest.checked(first)
    stated = json.loads((first / manifest.FILE).read_text())
    assert stated["published"] is True
    assert stated["provenance"]["git_revision"]


def test_its_numbers_are_those_of_the_run(checkout: Path, tmp_path: Path):
    found = making.every(checkout)
    results = published.results(found, tmp_path / "results")
    shown = open_run(results, found[0].run_id)
    whole = tmp_path / "whole"
    run = open_run(whole, synthetic_run.write(whole, telemetry_seconds=4, database=True))
    for table in ("runs", "trials", "levels", "phases", "measurements", "histograms", "checks", "answers"):
        assert shown.frame(table).sort(pl.all()).equals(run.frame(table).sort(pl.all())), table


def test_an_unfinished_run_is_not_published(tmp_path):
    run_id = synthetic_run.write(tmp_path / "results", trials=4, finished=False)
    with pytest.raises(RequestError, match="4 of 6 trials"):
        published.publish(tmp_path / "results", run_id, tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_a_run_that_stays_too_large_is_refused_by_its_largest_table(tmp_path, monkeypatch):
    run_id = synthetic_run.write(tmp_path / "results", blocks=1)
    monkeypatch.setattr(thinning, "LARGEST_BYTES", 2000)
    with pytest.raises(RequestError, match="The largest tables are"):
        published.publish(tmp_path / "results", run_id, tmp_path / "data")
    assert list((tmp_path / "data" / "quickstart").iterdir()) == []


def test_neighbouring_intervals_are_merged_without_losing_an_operation(tmp_path):
    from benchbook.measure import histogram

    results = tmp_path / "results"
    run = open_run(results, synthetic_run.write(results, blocks=1, intervals=30, database=True))
    rows = run.query("SELECT i.* FROM intervals i JOIN trials t USING (trial_id) WHERE t.run_id = ?")
    counted = ("operations", "rows", "values", "bytes", "errors")
    rows = rows.with_columns(pl.int_range(pl.len()).cast(rows[name].dtype).alias(name) for name in counted)
    fewer = thinning.merged(rows, 8)
    key = ["trial_id", "phase", "operation"]
    assert fewer.group_by(key).len()["len"].max() <= 8
    for column in (*counted, "duration_seconds"):
        assert fewer[column].sum() == pytest.approx(rows[column].sum())
    whole, part = (histogram.merge(one["histogram"].to_list()) for one in (rows, fewer))
    assert whole.curve() == part.curve()


def test_a_large_run_keeps_the_histograms_of_phases_and_drops_those_of_intervals(tmp_path, monkeypatch):
    results = tmp_path / "results"
    run_id = synthetic_run.write(results, blocks=1, intervals=200)
    made = published.publish(results, run_id, tmp_path / "whole")
    size = sum(path.stat().st_size for path in (made / "tables").iterdir())
    assert pl.read_parquet(made / "tables" / "intervals.parquet")["histogram"].count() > 0
    monkeypatch.setattr(thinning, "FEWEST", thinning.SAMPLES)
    monkeypatch.setattr(thinning, "LARGEST_BYTES", (size - 1) / thinning.TABLES_SHARE)
    made = published.publish(results, run_id, tmp_path / "thin")
    assert pl.read_parquet(made / "tables" / "intervals.parquet")["histogram"].count() == 0
    whole = pl.read_parquet(tmp_path / "whole" / "quickstart" / made.name / "tables" / "histograms.parquet")
    assert pl.read_parquet(made / "tables" / "histograms.parquet").equals(whole)


def test_telemetry_is_thinned_to_what_charts_draw(tmp_path):
    results = tmp_path / "results"
    run_id = synthetic_run.write(results, blocks=1, telemetry_seconds=300)
    made = published.publish(results, run_id, tmp_path / "data")
    samples = pl.read_parquet(made / "tables" / "telemetry.parquet")
    assert "harness" not in samples["scope"].to_list()
    assert samples.group_by("trial_id", "scope", "metric").len()["len"].max() <= thinning.SAMPLES


def test_a_damaged_published_run_is_named(tmp_path, checkout: Path):
    import shutil

    copy = tmp_path / "checkout"
    shutil.copytree(checkout, copy, symlinks=True)
    [path] = copy.glob("reports/data/quickstart/*/plan.json")
    path.write_text(json.dumps({}))
    with pytest.raises(RequestError, match=r"files have changed since the export: plan\.json"):
        published.ledgers(copy)


def test_a_published_aa_run_has_no_page_and_gives_the_other_its_noise_floor(tmp_path):
    chance = random.Random(1)

    def noisy(levels, block):
        return {("load", "rows_per_second"): 1000 * math.exp(chance.gauss(0, 0.03))}

    systems = {"system": ["influxdb-1.8.10", "cnosdb-2.0.1"]}
    root, results = tmp_path / "checkout", tmp_path / "results"
    for run_id, factors in (("aa-1", {**systems, "aa": ["A", "B"]}), ("run-1", systems)):
        measured_run.write(
            results, run_id, factors, noisy, blocks=8, database=False, seconds=lambda levels, block: 5.0
        )
        (results / "runs" / run_id / "declared").mkdir()
        (results / "runs" / run_id / "declared" / "experiment.toml").touch()
        published.publish(results, run_id, root / "reports" / "data")
    (root / "reports" / "cnos-vs-influx.qmd").touch()
    assert {one.run_id for one in making.every(root)} == {"run-1", "aa-1"}
    shown = [one.run_id for one in index.pages(root, making.shown(root)) if one.run_id]
    assert shown == ["run-1", "run-1"]  # its report and its data page
    run = open_run(published.results(making.every(root), tmp_path / "shown"), "run-1")
    assert "Systems were compared with themselves in aa-1. Of " in conclusion.limits(run).markdown


def test_own_files_beside_a_published_run_stay(tmp_path):
    results = tmp_path / "results"
    run_id = synthetic_run.write(results, blocks=1, instances=1, telemetry_seconds=1)
    place = published.publish(results, run_id, tmp_path / "data")
    (place / "NOTES.md").write_text("mine")
    (place.parent / "raw.csv").write_text("mine")
    before = files(tmp_path / "data")
    with pytest.raises(RequestError, match="a published run is never replaced"):
        published.publish(results, run_id, tmp_path / "data")
    assert files(tmp_path / "data") == before
    assert manifest.checked(place).run_id == run_id
    (place / "raw.csv").write_text("mine")
    with pytest.raises(RequestError, match=r"holds files that its manifest does not name: raw\.csv"):
        manifest.checked(place)


def test_a_publication_that_is_killed_leaves_the_other_runs_as_they_were(tmp_path, monkeypatch):
    results = tmp_path / "results"
    place = published.publish(
        results, synthetic_run.write(results, blocks=1, instances=1, telemetry_seconds=1), tmp_path / "data"
    )
    before = files(place)
    run_id = synthetic_run.write(results, blocks=1, instances=1, telemetry_seconds=1, seed=2)
    rename = Path.rename

    def killed(self: Path, target: Path) -> Path:
        if Path(target).name == run_id:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", killed)
    with pytest.raises(KeyboardInterrupt):
        published.publish(results, run_id, tmp_path / "data")
    assert files(place) == before
    assert [path.name for path in place.parent.iterdir() if not path.name.startswith(".")] == [place.name]


def test_a_run_is_not_published_before_the_earlier_ones_of_its_experiment(tmp_path: Path):
    results, data = tmp_path / "results", tmp_path / "data"
    for run_id, created in (("run-1", "2026-03-01"), ("run-2", "2026-03-02"), ("run-3", "2026-03-03")):
        measured_run.write(
            results, run_id, {"system": ["influxdb-1.8.10", "cnosdb-2.0.1"]}, lambda levels, block: {},
            created=f"{created}T09:30:00+00:00", database=False,
        )  # fmt: skip
        (results / "runs" / run_id / "declared").mkdir()
        (results / "runs" / run_id / "declared" / "experiment.toml").touch()
    with pytest.raises(
        RequestError, match=r"2 earlier runs of cnos-vs-influx .* not published: run-1, run-2"
    ) as caught:
        published.publish(results, "run-3", data)
    assert "export run-1 --publish" in str(caught.value.hint)
    assert not list((data / "cnos-vs-influx").glob("*"))
    published.publish(results, "run-1", data)
    (results / "runs" / "run-2" / "seal.json").unlink()  # made on this machine all the same
    with pytest.raises(RequestError, match=r"1 earlier run of cnos-vs-influx .* is not published: run-2"):
        published.publish(results, "run-3", data)
    (data / "cnos-vs-influx" / ledger.LEFT_OUT).write_text(
        '[[run]]\nid = "run-2"\nreason = "The disk was full."\ndate = 2026-03-02\nby = "Benchbook"\n'
    )
    published.publish(results, "run-3", data)


@pytest.mark.parametrize(
    ("earlier", "mine", "counts"),
    [
        ({"profile": "seed"}, {}, True),
        ({"profile": "smoke"}, {"profile": "smoke"}, True),
        ({"profile": "smoke"}, {}, False),
        ({"created": "2026-03-03T09:30:00+00:00"}, {}, False),
        ({"created": "2026-03-03T09:30:00+00:00", "finished": "2026-03-01T12:00:00+00:00"}, {}, True),
        ({"name": "kline-mysql-vs-kv"}, {}, False),
        ({"factors": {"system": ["influxdb-1.8.10"], "aa": ["A", "B"]}}, {}, False),
        ({"finished": None}, {}, False),
        ({"own": False, "host": {"machine": {"id": "another"}}}, {}, False),
    ],
    ids=[
        "another profile", "smoke before smoke", "smoke", "later", "begun later and ended before",
        "another experiment", "A/A", "unfinished",
        "of another machine",
    ],
)  # fmt: skip
def test_which_earlier_runs_must_be_published_first(
    tmp_path: Path, earlier: dict[str, Any], mine: dict[str, Any], counts: bool
):
    results = tmp_path / "results"
    for run_id, options in (("run-1", earlier), ("run-2", mine)):
        given = {
            "created": "2026-03-02T09:30:00+00:00" if options is mine else "2026-03-01T09:30:00+00:00",
            **options,
        }
        finished = given.pop("finished", given["created"])
        factors = given.pop("factors", {"system": ["influxdb-1.8.10", "cnosdb-2.0.1"]})
        measured_run.write(results, run_id, factors, lambda levels, block: {}, database=False, **given)
        (results / "runs" / run_id / "declared").mkdir()
        (results / "runs" / run_id / "declared" / "experiment.toml").touch()
        path = results / "runs" / run_id / "run.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "finished_at": finished}))
    if counts:
        with pytest.raises(RequestError, match=r"1 earlier run of cnos-vs-influx .* is not published: run-1"):
            published.publish(results, "run-2", tmp_path / "data")
    else:
        assert published.publish(results, "run-2", tmp_path / "data").is_dir()


def test_a_run_whose_trials_were_changed_after_they_ended_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    results, data = tmp_path / "results", tmp_path / "data"
    run_id = synthetic_run.write(results)
    folder = results / "runs" / run_id
    trial = folder / "trials" / "0000" / "trial.json"
    journal.begin_again(folder)
    text = trial.read_text()
    trial.write_text(f"{text}\n")
    with pytest.raises(
        RequestError, match=f"removed or changed since its trials ended: {run_id}/0000"
    ) as caught:
        published.publish(results, run_id, data)
    assert f"resume {run_id}" in str(caught.value.hint)
    trial.write_text(text)
    assert published.publish(results, run_id, data).is_dir()


def test_runs_that_published_ones_name_and_that_are_not_published_are_listed(tmp_path: Path):
    results, data = tmp_path / "results", tmp_path / "data"
    run_id = synthetic_run.write(results)
    path = results / "runs" / run_id / "run.json"
    common = {"profile": "quick", "trials": 6, "against_itself": False, "revision": None, "machine": None}
    earlier = [
        {**common, "run_id": "quickstart-20260102T030405-aaaa", "finished": True},
        {**common, "run_id": "quickstart-20260101T030405-bbbb", "finished": True},
        {**common, "run_id": "quickstart-20260103T030405-cccc", "finished": False},
    ]
    path.write_text(json.dumps({**json.loads(path.read_text()), "earlier_runs": earlier}))
    published.publish(results, run_id, data)
    (data / "quickstart" / ledger.LEFT_OUT).write_text(
        '[[run]]\nid = "quickstart-20260102T030405-aaaa"\nreason = "It was a trial."\ndate = 2026-01-02\nby = "B"\n'
    )
    held, _ = ledger.entries(data / "quickstart")
    found = ledger.unpublished(data / "quickstart", held)
    assert [(one.run_id[-4:], one.date, why and why.reason) for one, why in found.items()] == [
        ("bbbb", "2026-01-01", None),
        ("aaaa", "2026-01-02", "It was a trial."),
    ]
