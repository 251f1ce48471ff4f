"""Runs that other machines contribute: where they are published, what is checked, and what the site shows of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchbook.cli.app import run as bench
from benchbook.errors import RequestError
from benchbook.record import contributed, manifest
from benchbook.record.tables import SCHEMA_VERSION
from benchbook.site import published, render
from tests.claims import measured_run
from tests.record import synthetic_run
from tests.report.parsed import Page
from tests.site import checkout as making

DATA = Path("reports/data")


@pytest.fixture(autouse=True)
def without_quarto(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbook.report.render.quarto", lambda: None)


def contribute(root: Path, results: Path, machine: str, **options: Any) -> Path:
    """Publish a synthetic run of quickstart as that of another machine; return its folder."""
    run_id = synthetic_run.write(results, **options)
    return published.publish(results, run_id, root / DATA, machine=machine)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with the project's run and those of two machines."""
    where = tmp_path_factory.mktemp("machines")
    root = making.make(where, telemetry_seconds=4)
    contribute(root, where / "results", "lab-a", seed=2, telemetry_seconds=4)
    contribute(root, where / "results", "lab-b", seed=3, telemetry_seconds=4)
    return root


@pytest.fixture
def copy(three: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(three, tmp_path / "checkout", symlinks=True))


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_the_page_shows_every_machine_and_a_mean(copy: Path, tmp_path: Path):
    site = render.site(copy, tmp_path / "site")
    page = text(site / "quickstart.html")
    section = page.partition('<h2 id="machines">')[2].partition("<h2")[0]
    assert section.startswith("Results on 3 machines")
    assert "lab-a" in section
    assert "Mean over machines" in section
    assert "A new machine" in section
    assert "I² is" in section
    parsed = Page.read(site / "quickstart.html")
    assert parsed.unbalanced == []
    names = [found["id"] for _, found in parsed.tags if found.get("id")]
    assert len(names) == len(set(names))
    assert 'quickstart.html#machines">runs from 3 machines' in text(site / "index.html")
    assert (site / "data" / "quickstart" / "lab-a" / "run.json").is_file()
    shutil.rmtree(copy / DATA / "quickstart" / "lab-b")  # other data renders the page again
    assert "Results on 2 machines" in text(render.site(copy, site) / "quickstart.html")


def test_a_page_of_one_machine_says_nothing_of_machines(site: Path):
    assert 'id="machines"' not in text(site / "quickstart.html")
    assert "machines" not in text(site / "index.html").partition("<main")[2].partition("</main>")[0]


def change(place: Path, **facts: Any) -> None:
    """Change facts in the manifest of an export."""
    file = place / manifest.FILE
    file.write_text(json.dumps({**json.loads(file.read_text()), **facts}))


def copied(place: Path) -> None:
    shutil.copytree(place, place.with_name("lab-c"))


DAMAGES = {
    "a changed file": (
        lambda place: (place / "plan.json").write_text("{}"),
        r"lab-a is damaged: files have changed since the export: plan\.json.* Copy the export again",
    ),
    "a newer schema": (
        lambda place: change(place, schema=SCHEMA_VERSION + 1),
        "lab-a was written by a newer Benchbook.* Update Benchbook",
    ),
    "no manifest": (
        lambda place: (place / manifest.FILE).unlink(),
        "lab-a is not the folder of a run: it has no manifest.* Name a folder",
    ),
    "another experiment": (
        lambda place: change(place, experiment="load-tools"),
        "lab-a is a run of load-tools, not of quickstart.* Move it to .*load-tools/lab-a",
    ),
    "an A/A run": (lambda place: change(place, against_itself=True), "an A/A run.* Rename it to lab-a-aa"),
    "an invalid name": (
        lambda place: place.rename(place.with_name("Lab A")),
        'Lab A: "Lab A" is not the name of a machine.* Did you mean "lab-a"',
    ),
    "the same run twice": (copied, "lab-c holds the same run as .*lab-a.* Remove one"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_an_unusable_run_is_an_error_that_names_its_folder_and_the_next_step(copy: Path, damage: str):
    does, message = DAMAGES[damage]
    does(copy / DATA / "quickstart" / "lab-a")
    found, [problem] = published.of_other_machines(copy)
    assert "lab-b" in [one.folder.name for one in found]
    with pytest.raises(RequestError, match=message):
        raise problem


def test_an_unusable_run_hides_no_page(copy: Path, tmp_path: Path):
    (copy / DATA / "quickstart" / "lab-a" / "plan.json").write_text("{}")
    with pytest.raises(RequestError, match=r"is rendered without 1 run of other machines.*lab-a is damaged"):
        render.site(copy, tmp_path / "site")
    page = text(tmp_path / "site" / "quickstart.html")
    assert "Results on 2 machines" in page
    assert "lab-a" not in page


def test_a_contribution_needs_a_run_of_the_project(tmp_path: Path):
    root = making.make(tmp_path, empty=True)
    contribute(root, tmp_path / "results", "lab-a")
    [problem] = published.of_other_machines(root)[1]
    assert "has no page, because" in problem.message


def test_publishing_the_run_of_the_project_again_keeps_the_others(copy: Path, tmp_path: Path):
    run_id = synthetic_run.write(tmp_path / "results", seed=9)
    place = published.publish(tmp_path / "results", run_id, copy / DATA)
    assert manifest.checked(place).run_id == run_id
    assert [one.folder.name for one in contributed.checked(place)[0]] == ["lab-a", "lab-b"]
    assert sorted(path.name for path in (copy / DATA).iterdir()) == ["quickstart"]


def test_an_aa_run_of_a_machine_is_beside_its_run(tmp_path: Path):
    factors = {"system": ["influxdb-1.8.10", "cnosdb-2.0.1"], "aa": ["A", "B"]}
    measured_run.write(
        tmp_path, "aa-1", factors, lambda levels, block: {("load", "rows_per_second"): 1.0}, database=False
    )
    made = published.publish(tmp_path, "aa-1", tmp_path / "data", machine="lab-a")
    assert made == tmp_path / "data" / "cnos-vs-influx" / "lab-a-aa"


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Lab_A", "lab-a"), ("épée 2", "p-e-2"), ("-", "my-machine"), ("tables", "tables-machine"), ("lab-aa", "lab"),
        ("a--b", "a-b"),
    ],
)  # fmt: skip
def test_an_invalid_name_is_refused_with_the_nearest_valid_one(name: str, near: str):
    with pytest.raises(RequestError, match=f'is not the name of a machine: .*Did you mean "{near}"'):
        contributed.require_name(name)
    assert contributed.require_name(near) == near


def test_machine_without_publish_is_refused(capsys: pytest.CaptureFixture[str]):
    assert bench(["export", "latest", "--machine", "lab-a"]) == 2
    assert "export latest --publish --machine lab-a" in capsys.readouterr().err


def test_compare_shows_the_verdicts_of_several_machines(three: Path, capsys: pytest.CaptureFixture[str]):
    names = [str(three / DATA / "quickstart" / name) for name in ("", "lab-a", "lab-b")]
    assert bench(["compare", *names]) == 0
    shown = capsys.readouterr().out
    assert "depend" in shown.splitlines()[0]
    assert "mean over machines" in shown
    assert bench(["compare", *names, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["machine"] for row in rows[:4]] == ["quickstart", "lab-a", "lab-b", "mean over machines"]
    assert rows[3]["predicted_low"] < rows[3]["low"] < rows[3]["ratio"] < rows[3]["high"]
    assert bench(["compare", *names, "--all"]) == 2
    assert bench(["compare", *names, names[1]]) == 2
    assert "A run is named twice" in capsys.readouterr().err


def test_two_machines_are_compared_in_both_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for number, machine in enumerate(("one", "two")):
        measured_run.write(
            tmp_path, f"run-{number}", {"system": ["influxdb-1.8.10", "cnosdb-2.0.1"]},
            lambda levels, block: {("load", "rows_per_second"): 1000.0 + block + len(levels["system"])},
            host={"machine": {"id": machine}}, seconds=lambda levels, block: 5.0,
        )  # fmt: skip
    assert bench(["compare", "run-0", "run-1", "--results", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "How the runs differ:" in shown
    assert "mean over machines" in shown
