"""The ledger: every published run stays, pages list them, and contributed ones are checked."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.cli.app import run as bench
from benchbook.errors import RequestError
from benchbook.record import contributed, ledger, manifest
from benchbook.record.tables import SCHEMA_VERSION
from benchbook.site import published, render
from tests.claims import measured_run
from tests.record import synthetic_run
from tests.report.parsed import Page
from tests.site import checkout as making

DATA = Path("reports/data")
QUICKSTART = DATA / "quickstart"


@pytest.fixture(autouse=True)
def without_quarto(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbook.report.render.quarto", lambda: None)


def publish(
    root: Path,
    results: Path,
    run_id: str,
    day: int,
    processor: str,
    machine: str | None = None,
    **options: Any,
) -> Path:
    """Publish a synthetic run of quickstart that was made on a day of March on a processor; return its folder."""
    synthetic_run.write(results, run_id=run_id, telemetry_seconds=4, **options)
    file = results / "runs" / run_id / "run.json"
    facts = json.loads(file.read_text())
    facts["host"]["cpu"]["model"] = processor
    for key in ("created_at", "started_at"):
        facts[key] = f"2026-03-{day:02d}T09:00:00+00:00"
    file.write_text(json.dumps(facts))
    return published.publish(results, run_id, root / DATA, machine=machine)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with two runs of the project on one processor, and contributed ones on two others."""
    where = tmp_path_factory.mktemp("machines")
    root = making.make(where, empty=True)
    results = where / "results"
    publish(root, results, "run-1", 1, "Xeon", seed=1)
    publish(root, results, "run-2", 2, "Xeon", seed=2)
    publish(root, results, "run-a", 3, "EPYC", "lab-a", seed=3)
    publish(root, results, "run-b", 4, "Ampere", "lab-b", seed=4)
    return root


@pytest.fixture
def copy(three: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(three, tmp_path / "checkout", symlinks=True))


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def withdraw(root: Path, run_id: str, **changes: str) -> None:
    told = {
        "id": f'"{run_id}"',
        "reason": '"The disk was full."',
        "date": "2026-03-05",
        "by": '"Benchbook"',
    } | changes
    lines = "\n".join(f"{key} = {value}" for key, value in told.items())
    (root / QUICKSTART / ledger.WITHDRAWN).write_text(f"[[run]]\n{lines}\n")


@pytest.mark.nightly
def test_the_page_shows_every_processor_and_every_run(copy: Path, tmp_path: Path):
    site = render.site(copy, tmp_path / "site")
    page = text(site / "quickstart.html")
    section = page.partition('<h2 id="machines">')[2].partition("<h2")[0]
    assert section.startswith("Results on 3 processors")
    for part in ("lab-a (EPYC)", "Xeon", "Mean over processors", "Another processor", "I² is"):
        assert part in section
    assert "All 4 published runs of this experiment" in page
    rows = page.partition('<h2 id="runs">')[2].partition("</table>")[0]
    places = [rows.index(run_id) for run_id in ("run-b", "run-a", "run-2", "run-1")]
    assert places == sorted(places)
    assert rows.count(">this page<") == 1
    parsed = Page.read(site / "quickstart.html")
    assert parsed.unbalanced == []
    names = [found["id"] for _, found in parsed.tags if found.get("id")]
    assert len(names) == len(set(names))
    assert 'quickstart.html#machines">published runs on 3 processors' in text(site / "index.html")
    for run_id in ("run-1", "run-2", "run-a", "run-b"):
        assert (site / "data" / "quickstart" / run_id / "run.json").is_file()
    withdraw(copy, "run-b")  # renders the page again
    page = text(render.site(copy, site) / "quickstart.html")
    assert "Results on 2 processors" in page
    assert "withdrawn on 2026-03-05 by Benchbook: The disk was full." in page


def test_a_page_of_one_run_lists_no_others(site: Path):
    assert 'id="machines"' not in text(site / "quickstart.html")
    assert 'id="runs"' not in text(site / "quickstart.html")


def test_the_page_shows_the_latest_run_of_the_project_that_was_not_withdrawn(copy: Path):
    def shown() -> list[str]:
        return [one.run_id for one in making.shown(copy)]

    assert shown() == ["run-2"]
    withdraw(copy, "run-2")
    assert shown() == ["run-1"]
    shutil.rmtree(copy / QUICKSTART / "run-1")
    assert shown() == ["run-b"]


def test_a_published_run_is_never_replaced(copy: Path, tmp_path: Path):
    before = {path: path.read_bytes() for path in (copy / QUICKSTART).rglob("*") if path.is_file()}
    with pytest.raises(RequestError, match=r"run-1 exists: .* never replaced.*withdrawn\.toml"):
        publish(copy, tmp_path / "results", "run-1", 9, "Xeon", seed=9)
    made = publish(copy, tmp_path / "results", "run-3", 9, "Xeon", seed=9)
    assert made == copy / QUICKSTART / "run-3"
    after = {path: path.read_bytes() for path in (copy / QUICKSTART).rglob("*") if path.is_file()}
    assert before == {path: content for path, content in after.items() if made not in path.parents}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": '"run-7"'}, r'withdrawn\.toml: there is no run "run-7" in this folder.* Did you mean'),
        ({"reason": '""'}, r"withdrawn\.toml: run\[0\]\.reason"),
        ({"date": '"soon"'}, r"withdrawn\.toml: run\[0\]\.date"),
        ({"who": '"x"'}, r'withdrawn\.toml: there is no key "who"'),
    ],
)
def test_a_wrong_withdrawal_is_refused(copy: Path, changes: dict[str, str], message: str):
    withdraw(copy, "run-1", **changes)
    with pytest.raises(RequestError, match=message):
        published.ledgers(copy)


def test_the_folder_of_an_experiment_means_the_run_on_its_page(
    copy: Path, capsys: pytest.CaptureFixture[str]
):
    assert bench(["sql", str(copy / QUICKSTART), "SELECT run_id FROM runs"]) == 0
    out = capsys.readouterr()
    assert "run-2" in out.out
    assert "has 4 runs; this is the latest that counts: run-2" in out.err


def change(place: Path, **facts: Any) -> None:
    """Change facts in the manifest of an export."""
    file = place / manifest.FILE
    file.write_text(json.dumps({**json.loads(file.read_text()), **facts}))


Does = Callable[[Path], Any]
DAMAGES: dict[str, tuple[Does, str]] = {
    "a changed file": (
        lambda place: (place / "plan.json").write_text("{}"),
        r"run-a is damaged: files have changed since the export: plan\.json.* Copy the export again",
    ),
    "a newer schema": (
        lambda place: change(place, schema=SCHEMA_VERSION + 1),
        "run-a was written by a newer Benchbook.* Update Benchbook",
    ),
    "another experiment": (
        lambda place: change(place, experiment="load-tools"),
        "run-a is a run of load-tools, not of quickstart.* Move it to .*load-tools/run-a",
    ),
    "another name": (
        lambda place: place.rename(place.with_name("run-z")),
        "run-z holds the run run-a, not the run that its name says.* Rename it to .*run-a",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_an_unusable_contribution_is_an_error_that_names_its_folder(copy: Path, damage: str):
    does, message = DAMAGES[damage]
    does(copy / QUICKSTART / "run-a")
    found, [problem] = published.ledgers(copy)
    assert [one.export.run_id for one in found["quickstart"]] == ["run-1", "run-2", "run-b"]
    with pytest.raises(RequestError, match=message):
        raise problem


@pytest.mark.nightly
def test_an_unusable_contribution_hides_no_page(copy: Path, tmp_path: Path):
    (copy / QUICKSTART / "run-a" / "plan.json").write_text("{}")
    with pytest.raises(RequestError, match=r"is rendered without 1 run of other machines.*run-a is damaged"):
        render.site(copy, tmp_path / "site")
    page = text(tmp_path / "site" / "quickstart.html")
    assert "Results on 2 processors" in page
    assert "lab-a" not in page


def test_a_damaged_run_of_the_project_is_not_passed_over(copy: Path, tmp_path: Path):
    """Another run would take its place on the page without a word."""
    (copy / QUICKSTART / "run-2" / "plan.json").write_text("{}")
    with pytest.raises(RequestError, match="run-2 is damaged"):
        render.site(copy, tmp_path / "site")
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize(
    ("name", "near"), [("Lab_A", "lab-a"), ("épée 2", "p-e-2"), ("-", "my-machine"), ("a--b", "a-b")]
)
def test_an_invalid_name_is_refused_with_the_nearest_valid_one(name: str, near: str):
    with pytest.raises(RequestError, match=f'is not the name of a machine: .*Did you mean "{near}"'):
        contributed.require_name(name)
    assert contributed.require_name(near) == near


def test_machine_without_publish_is_refused(capsys: pytest.CaptureFixture[str]):
    assert bench(["export", "latest", "--machine", "lab-a"]) == 2
    assert "export latest --publish --machine lab-a" in capsys.readouterr().err


def test_compare_shows_the_verdicts_of_several_machines(three: Path, capsys: pytest.CaptureFixture[str]):
    names = [str(three / QUICKSTART / name) for name in ("run-2", "run-a", "run-b")]
    assert bench(["compare", *names]) == 0
    shown = capsys.readouterr().out
    assert "the machines agree on all 6 comparisons" in shown.splitlines()[0]
    assert "mean over machines" in shown
    assert bench(["compare", *names, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["machine"] for row in rows[:4]] == ["run-2", "run-a", "run-b", "mean over machines"]
    assert rows[3]["predicted_low"] < rows[3]["low"] < rows[3]["ratio"] < rows[3]["high"]
    assert bench(["compare", *names, "--all"]) == 2
    assert bench(["compare", *names, names[1]]) == 2
    assert "A run is named twice" in capsys.readouterr().err


def test_two_processors_are_compared_in_both_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for number, processor in enumerate(("one", "two")):
        measured_run.write(
            tmp_path, f"run-{number}", {"system": ["influxdb-1.8.10", "cnosdb-2.0.1"]},
            lambda levels, block: {("load", "rows_per_second"): 1000.0 + block + len(levels["system"])},
            host={"cpu": {"model": processor}}, seconds=lambda levels, block: 5.0,
        )  # fmt: skip
    assert bench(["compare", "run-0", "run-1", "--results", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "How the runs differ:" in shown
    assert "mean over machines" in shown


def test_the_page_of_all_published_runs_has_every_run():
    """``python -m benchbook.site.runs_page`` writes it again."""
    page = (making.ROOT / "docs" / "published-runs.md").read_text(encoding="utf-8")
    every = [one.run_id for one in making.every()]
    assert len(every) >= 60
    assert [run_id for run_id in every if run_id not in page] == []
