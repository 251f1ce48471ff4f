"""A page and a story are code of this checkout, whatever a run says its experiment is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchbook.declare.catalogue import root
from benchbook.errors import BenchbookError, RequestError
from benchbook.record import database, export, manifest, opened
from benchbook.report import opening, render
from benchbook.report.story import story
from tests.record import synthetic_run

DRAWN = [("server", "cpu_seconds")]
SIZES = {"blocks": 1, "instances": 1, "telemetry_seconds": 1, "intervals": 1}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with one page, and beside its pages a folder of a contributor with code."""
    reports = tmp_path / "reports"
    reports.mkdir()
    shutil.copyfile(root() / "reports" / "quickstart.qmd", reports / "quickstart.qmd")
    evil = tmp_path / "X"
    evil.mkdir()
    code = f"open({str(tmp_path / 'CANARY')!r}, 'w')\n"
    (evil / "evil.qmd").write_text(f"---\ntitle: x\n---\n\n```{{python}}\n{code}```\n")
    (evil / "story.py").write_text(code)
    (reports / "linked.qmd").symlink_to(evil / "evil.qmd")
    return tmp_path


@pytest.mark.parametrize("experiment", ["../X/evil", "X/../../X/evil", "linked", "evil\0"])
def test_a_run_of_the_results_executes_no_code_of_others(checkout: Path, experiment: str) -> None:
    results = checkout / "results"
    run_id = synthetic_run.write(results, experiment=experiment, run_id="sent-1", **SIZES)
    said: list[str] = []
    database.rebuild(results, said.append)
    with pytest.raises(BenchbookError):
        render.report(results, run_id, checkout / "reports")
    assert not (checkout / "CANARY").exists()
    if not experiment.isalpha():
        with pytest.raises(BenchbookError):
            export.publish_run(results, run_id, checkout / "data" / "inner", DRAWN, said.append)
        assert not (checkout / "data").exists()


@pytest.mark.parametrize("experiment", ["../X/evil", "linked", "/X/evil"])
def test_a_database_of_others_names_no_code_either(checkout: Path, experiment: str) -> None:
    results = checkout / "results"
    run_id = synthetic_run.write(results, database=True, **SIZES)
    with database.open(results) as connection:
        connection.execute("UPDATE runs SET experiment = ?", [experiment])
    if experiment == "linked":
        with pytest.raises(RequestError, match="outside"):
            render.document(render.experiment_of(results, run_id), checkout / "reports")
    else:
        assert render.document(render.experiment_of(results, run_id), checkout / "reports") == render.DEFAULT


def test_an_export_executes_no_code_of_others(checkout: Path) -> None:
    """The attack of the issue: a manifest that names ../X/evil, and evil.qmd beside it."""
    results = checkout / "results"
    sent = export.publish_run(results, synthetic_run.write(results, **SIZES), checkout / "sent", DRAWN)
    for name in (manifest.FILE, "run.json", "plan.json"):
        stated = json.loads((sent / name).read_text())
        (sent / name).write_text(json.dumps({**stated, "experiment": "../X/evil"}))
    shutil.copyfile(checkout / "X" / "evil.qmd", sent / "evil.qmd")
    with (
        pytest.raises(RequestError, match=r'experiment is "\.\./X/evil", which is not the name'),
        opened.opened(checkout / "none", f"{sent}/") as found,
    ):
        render.report(found.results, found.run_id, checkout / "reports")
    with pytest.raises(RequestError, match=r'experiment is "\.\./X/evil"'):
        opened.facts(checkout / "none", f"{sent}/")  # show and rerun read run.json alone
    assert not (checkout / "CANARY").exists()


def test_a_story_is_that_of_an_experiment_of_the_checkout(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHBOOK_ROOT", str(checkout))
    (checkout / "experiments" / "quickstart").mkdir(parents=True)
    (checkout / "experiments" / "quickstart" / "experiment.toml").write_text("")
    for slug in ("../X", "../../X", "", "."):
        with pytest.raises(RequestError, match=r"has no story\.py"):
            story(slug)
        assert not opening.is_experiment(slug)
    assert opening.is_experiment("quickstart")
    assert not (checkout / "CANARY").exists()
