"""Exports that somebody prepared: refused at opening, in one sentence, before anything of them is used."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import RequestError
from benchbook.record import export, ledger, manifest, opened
from tests.record import synthetic_run


@pytest.fixture(scope="module")
def published_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("manifest")
    run_id = synthetic_run.write(where / "results", blocks=1, instances=1, telemetry_seconds=1, intervals=1)
    return export.publish_run(where / "results", run_id, where / "data", [("server", "cpu_seconds")])


@pytest.fixture
def published(published_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published_once, tmp_path / "export"))


def state(where: Path, **facts: Any) -> None:
    file = where / manifest.FILE
    file.write_text(json.dumps({**json.loads(file.read_text()), **facts}))


def listed(where: Path, file: Any, size: Any = 1, digest: Any = "0" * 64) -> None:
    stated = json.loads((where / manifest.FILE).read_text())
    state(where, files=[*stated["files"], {"file": file, "bytes": size, "sha256": digest}])


def refused(where: Path, words: str) -> None:
    with pytest.raises(RequestError, match=words) as caught:
        manifest.checked(where)
    assert str(where) in caught.value.message
    with pytest.raises(RequestError), opened.opened(where.parent, f"{where}/"):
        pass
    with pytest.raises(RequestError):
        opened.import_run(where, where.parent / "mine")
    assert not (where.parent / "mine").exists()


NAMES = [
    "../X/evil",
    "..",
    "/etc/passwd",
    "a\0b",
    "x" * 5_000,
    "x" * 10_000,
    "A\n",
    "$(id)",
    "",
    None,
    5,
    ["a"],
    {},
    1e308,
]


@pytest.mark.parametrize("name", NAMES, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("key", ["run_id", "experiment", "profile"])
def test_names_are_checked_before_they_become_paths(published: Path, key: str, name: object) -> None:
    state(published, **{key: name})
    refused(published, f"{key} is .*, which is not the name of")


@pytest.mark.parametrize(
    "files", [5, "x", [1], ["x"], [[]], None, {}, [{}], [{"file": 1, "sha256": "0" * 64}]], ids=repr
)
def test_files_of_a_wrong_type_are_one_sentence(published: Path, files: object) -> None:
    state(published, files=files)
    refused(published, "manifest.json: files ")


@pytest.mark.parametrize(
    "entry", [("x", "1"), ("x", -1), ("x", True), ("x", 1, "0"), ("x", 1, "Z" * 64), ("x", 1e308)]
)
def test_sizes_and_digests_are_checked(published: Path, entry: tuple[Any, ...]) -> None:
    listed(published, *entry)
    refused(published, 'bytes or sha256 of the file "x" are invalid')


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "a/../../x", "a//b", "./x", "a\0b", "a\\..\\b", "x" * 300, "a\nb"]
)
def test_a_listed_file_is_below_the_folder(published: Path, name: str) -> None:
    listed(published, name)
    refused(published, "which lies outside the export")


@pytest.mark.parametrize(
    "facts", [{"schema": True}, {"schema": "5"}, {"schema": None}, {"kind": "other"}, {"kind": None}]
)
def test_another_programs_manifest_is_not_ours(published: Path, facts: dict[str, Any]) -> None:
    state(published, **facts)
    refused(published, "must have kind, schema")


@pytest.mark.parametrize(
    "rows",
    [5, [], {"trials": "6"}, {"trials": -1}, {"evil": 1}, {"trials": 1e308}, {"trials": True}],
    ids=repr,
)
def test_numbers_of_rows_are_numbers_of_tables(published: Path, rows: object) -> None:
    state(published, rows=rows)
    refused(published, "rows is ")


def pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def device(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


def directory(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def deep(path: Path) -> None:
    path.write_text('{"a":' * 2_000 + "1" + "}" * 2_000)


def endless(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10**12)  # takes no place on the disk


@pytest.mark.parametrize("does", [pipe, device, directory, deep, endless])
@pytest.mark.parametrize("name", [manifest.FILE, "run.json", "plan.json", "tables/trials.parquet"])
def test_what_is_no_file_neither_blocks_nor_is_read_endlessly(
    published: Path, name: str, does: Callable[[Path], None]
) -> None:
    does(published / name)
    refused(published, "damaged|regular file|Is a directory|only files|JSON|larger than|not the folder")


@pytest.mark.parametrize(
    "name", ["evil.qmd", "declared/story.py", "tables/more.parquet", "X/evil.qmd", ".git/config", "a\nb"]
)
def test_a_file_that_the_manifest_does_not_name_is_refused(published: Path, name: str) -> None:
    (published / name).parent.mkdir(exist_ok=True)
    (published / name).write_text("mine")
    refused(published, "holds files that its manifest does not name: ")


@pytest.mark.parametrize("does", [pipe, device])
@pytest.mark.parametrize("name", ["NOTES.md", "declared/more.toml", "queries"])
def test_an_unlisted_link_or_pipe_is_refused_too(
    published: Path, name: str, does: Callable[[Path], None]
) -> None:
    does(published / name)
    refused(published, "an export contains only files")


def test_a_folder_behind_a_link_is_no_part_of_an_export(published: Path, tmp_path: Path) -> None:
    (published / "tables").rename(tmp_path / "elsewhere")
    (published / "tables").symlink_to(tmp_path / "elsewhere")
    refused(published, "is a link; an export contains only files")


def test_notes_may_be_beside_a_run_and_another_run_may_not(published: Path, published_once: Path) -> None:
    (published / "NOTES.md").write_text("mine")
    assert manifest.checked(published).experiment == "quickstart"
    shutil.copytree(published_once, published / "lab-a")
    with pytest.raises(RequestError, match="files that its manifest does not name: lab-a/"):
        manifest.checked(published)
    assert "NOTES.md" in set(manifest.held(published))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('"kind"', '"machine": "lab-1", "machine": null, "kind"'), "twice"),
        (('"kind"', '"Machine": "lab-1", "kind"'), "states .*Machine.*, which no manifest does"),
        (('"kind"', '"machine": null, "kind"'), "machine is None"),
        (('"kind"', '"machine": [], "kind"'), r"machine is \[\]"),
    ],
)
def test_a_machine_in_disguise_is_refused(published: Path, change: tuple[str, str], words: str) -> None:
    """The attack: what a reviewer reads as the run of a contributor counts as one of the project."""
    file = published / manifest.FILE
    file.write_text(file.read_text().replace(*change, 1))
    refused(published, words)


@pytest.mark.parametrize(
    "name", ["declared/.gitattributes", "trials/0000/logs/.git/hooks/pre-commit", ".GITIGNORE"]
)
def test_a_file_of_git_is_refused(published: Path, name: str) -> None:
    listed(published, name)
    refused(published, "which lies outside the export")


def test_an_export_of_any_size_is_refused_before_it_is_read(published: Path) -> None:
    """The attack: a file of 2 TB without content, whose digest takes hours."""
    with (published / "README.md").open("r+b") as file:
        file.truncate(2 * 10**12)
    stated = json.loads((published / manifest.FILE).read_text())
    files = [{**one, "bytes": 2 * 10**12} if one["file"] == "README.md" else one for one in stated["files"]]
    state(published, files=files)
    refused(published, "its files have more than 16 GiB")


def test_a_published_run_is_small(published: Path) -> None:
    with (published / "README.md").open("r+b") as file:
        file.truncate(10**9)
    stated = json.loads((published / manifest.FILE).read_text())
    files = [{**one, "bytes": 10**9} if one["file"] == "README.md" else one for one in stated["files"]]
    state(published, files=files)
    run = published.parent / stated["experiment"] / stated["run_id"]
    shutil.copytree(published, run, ignore=shutil.ignore_patterns("README.md"))
    with pytest.raises(RequestError, match=r"has 1,000\.\d MB; a published run has at most 4.2 MB"):
        ledger.entries(run.parent)


def test_a_file_of_git_beside_published_runs_is_refused(published: Path) -> None:
    """The attack: with ``*.json text eol=crlf``, the next clone finds each run of the project damaged."""
    stated = manifest.read(published)
    run = published.parent / stated.experiment / stated.run_id
    shutil.copytree(published, run)
    [entry], problems = ledger.entries(run.parent)
    assert (entry.export.run_id, problems) == (stated.run_id, [])
    (run.parent / ".gitattributes").write_text("*.json text eol=crlf")
    with pytest.raises(RequestError, match=r"\.gitattributes: a file of Git"):
        ledger.entries(run.parent)


def contributed(published: Path, **facts: Any) -> Path:
    """Return a copy of the run in the ledger of its experiment, as a contributor can change it."""
    stated = json.loads((published / manifest.FILE).read_text())
    run = published.parent / str(facts.get("experiment", stated["experiment"])) / stated["run_id"]
    shutil.copytree(published, run)
    state(run, machine="lab-1", **facts)
    return run


@pytest.mark.parametrize("name", ["quickstart-data", "index", "methods", "data"])
def test_a_contributed_run_of_no_experiment_is_left_out(published: Path, name: str) -> None:
    """The attack: it took the name of a page, so that no page of the site was rendered."""
    run = contributed(published, experiment=name)
    held, [problem] = ledger.entries(run.parent)
    assert held == []
    assert "an experiment that this project does not declare" in problem.message


def test_a_run_is_what_its_plan_says(published: Path) -> None:
    """The attack: an ordinary run that calls itself an A/A run counts for the noise and is in no list."""
    run = contributed(published)
    [entry], _ = ledger.entries(run.parent)
    assert not entry.export.against_itself
    state(run, against_itself=True)
    held, [problem] = ledger.entries(run.parent)
    assert held == []
    assert "the plan does not" in problem.message
