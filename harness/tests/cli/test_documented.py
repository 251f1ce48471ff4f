"""The commands and declarations of the pages work, and what they name exists."""

from __future__ import annotations

import re
import shutil
import textwrap
from pathlib import Path

import pytest

from benchbook.cli.app import GROUPS, run
from benchbook.declare.catalogue import root

PARTS = ("datasets", "storage", "systems")


PAGE = "harness/benchbook/report/template/experiment.qmd"
"""The default page, which a page of one's own begins with."""


def blocks(page: str) -> list[str]:
    """Return the blocks of code of a page, without their indentation."""
    text = (root() / "docs" / page).read_text(encoding="utf-8")
    found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.MULTILINE)
    return [textwrap.dedent(block).strip("\n") + "\n" for block in found]


def commands(page: str) -> list[list[str]]:
    """Return the commands of a page in their order, each as its words, for an experiment called mine."""
    lines = [line for block in blocks(page) for line in block.splitlines()]
    return [
        line.replace("<name>", "mine").split()
        for line in lines
        if line.startswith(("./bench ", "benchbook ", "cp "))
    ]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a project with this one's declarations but no experiment."""
    place = tmp_path / "project"
    for part in PARTS:
        shutil.copytree(root() / part, place / part)
    for part in ("reports", "experiments"):
        (place / part).mkdir()
    (place / PAGE).parent.mkdir(parents=True)
    shutil.copyfile(root() / PAGE, place / PAGE)
    monkeypatch.setattr("benchbook.process.spawn.find_benchload", lambda: Path("benchload"))
    monkeypatch.setattr("benchbook.cli.carry_out.carry_out_and_report", lambda *_: 0)
    return place


def test_adding_an_experiment(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = "adding-an-experiment.md"
    [declared] = [block for block in blocks(page) if block.startswith("#:schema")]
    steps = commands(page)
    assert [words[1] for words in steps] == ["show", "plan", PAGE, "run"]
    (project / "experiments/mine").mkdir()
    (project / "experiments/mine/experiment.toml").write_text(declared)
    monkeypatch.setenv("BENCHBOOK_ROOT", str(project))
    monkeypatch.chdir(project)
    for program, *words in steps:
        if program == "cp":
            shutil.copyfile(*words)
        else:
            assert run(words) == 0, capsys.readouterr().err
    assert len(list(project.glob("results/runs/mine-*/plan.json"))) == 1


def test_adding_an_arm(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    [arm] = [block for block in blocks("adding-a-system.md") if block.startswith("[arms.")]
    with (project / "systems/sqlite.toml").open("a") as file:
        file.write("\n" + arm)
    monkeypatch.setenv("BENCHBOOK_ROOT", str(project))
    assert run(["show", "sqlite"]) == 0, capsys.readouterr().err
    name = arm.partition("]")[0].removeprefix("[arms.")
    assert f"arms.{name}.durability.fsync" in capsys.readouterr().out


def test_the_tutorial(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = "tutorial.md"
    [declared] = [block for block in blocks(page) if block.startswith("title =")]
    steps = [words for words in commands(page) if "batches" in words]
    assert [words[1] for words in steps] == ["show", "plan", "run", "run", "aa"]
    monkeypatch.setenv("BENCHBOOK_ROOT", str(project))
    own = project.parent / "load-tests"
    monkeypatch.setenv("BENCHBOOK_PROJECT", "")
    assert run(["init", str(own)]) == 0
    monkeypatch.chdir(own)
    (own / "experiments/batches").mkdir()
    (own / "experiments/batches/experiment.toml").write_text(declared)
    for _, *words in steps:
        if words[0] != "aa":  # which needs trials
            assert run(words) == 0, capsys.readouterr().err
    assert len(list(own.glob("results/runs/batches-*/plan.json"))) == 2


def written(held: list[str], project: Path) -> list[str]:
    """Write the blocks that begin with a path into a project; return their paths."""
    found = []
    for block in held:
        for part in re.split(r"(?m)^(?=(?:#|--) \S+/\S+$)", block):
            if named := re.match(r"(?:#|--) (\S+/\S+)\n", part):
                (project / named[1]).parent.mkdir(parents=True, exist_ok=True)
                (project / named[1]).write_text(part)
                found.append(named[1])
    return found


def test_both_complete_projects(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import duckdb

    own, held, steps = project.parent / "own", blocks("own-examples.md"), commands("own-examples.md")
    monkeypatch.setenv("BENCHBOOK_PROJECT", "")
    assert run(["init", str(own)]) == 0
    monkeypatch.chdir(own)
    assert len(written(held, own)) == 10
    trips = "SELECT 'Berlin' AS city, range / 7.0 AS distance, (range % 5) / 2.0 AS fare FROM range(100)"
    duckdb.execute(f"COPY ({trips}) TO '{own / 'datasets' / 'trips.parquet'}'")
    (own / "datasets" / "corpus.txt").write_text("a text\n" * 1000)
    assert [words[1] for words in steps] == ["show", "show", "run", "run", "claims", "run", "run"]
    for _, *words in steps:
        if words[0] == "show":
            assert run(words[:2]) == 0, capsys.readouterr().err
        if words[0] == "run":
            assert run([*words[: words.index("#") if "#" in words else None]]) == 0, capsys.readouterr().err
    assert len(list(own.glob("results/runs/*/plan.json"))) == 4


def test_the_reference_names_every_command() -> None:
    text = (root() / "docs/commands.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `\./bench ([a-z]+)", text, re.MULTILINE)
    assert sorted(named) == sorted(name for names in GROUPS.values() for name in names)


def test_links_lead_to_files_and_headings() -> None:
    pages = [*root().glob("*.md"), *(root() / "docs").glob("*.md"), *root().glob("experiments/*/README.md")]
    broken = []
    for page in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if link.startswith("http"):
                continue
            path, _, heading = link.partition("#")
            target = page.parent / path if path else page
            if not target.exists() or (heading and heading not in anchors(target)):
                broken.append(f"{page.name}: {link}")
    assert broken == []


def anchors(page: Path) -> set[str]:
    """Return the headings of a page as the ends of links."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_architecture_names_modules_and_functions_that_exist() -> None:
    text = (root() / "docs/architecture.md").read_text(encoding="utf-8")
    package = root() / "harness/benchbook"
    packages = {path.name for path in package.iterdir() if (path / "__init__.py").is_file()}
    assert packages - set(re.findall(r"\*\*(\w+)\*\*", text)) == set()
    named = re.findall(r"`(\w+/\w+\.py)(?:: ([\w.]+))?`", text)
    assert len(named) > 15
    for file, name in named:
        source = (package / file).read_text(encoding="utf-8")
        for part in filter(None, name.split(".")):
            assert re.search(rf"(def|class) {part}\b", source), f"{file}: {part}"
    folders = set(
        re.findall(r"`([a-z]+)(?:/…)?`", text.partition("## The packages of `harness/benchload`")[2])
    )
    missing = {path.name for path in (root() / "harness/benchload").iterdir() if path.is_dir()} - folders
    assert missing == set()


def test_reports_names_calls_that_exist() -> None:
    text = (root() / "docs/reports.md").read_text(encoding="utf-8")
    called = set(re.findall(r"`(\w+)\.(\w+)\(run", text))
    assert len(called) > 15
    for module, name in called:
        [file] = [
            path
            for folder in ("report", "report/charts", "report/tables", "site")
            if (path := root() / "harness/benchbook" / folder / f"{module}.py").is_file()
        ]
        assert f"def {name}(" in file.read_text(encoding="utf-8"), f"{module}.{name}"


def test_pages_call_a_command_as_it_is_typed_in_a_checkout() -> None:
    bare = re.compile(r"^ +bench [a-z]|`bench [a-z]", re.MULTILINE)
    pages = [*(root() / "docs").glob("*.md"), root() / "README.md", root() / "CONTRIBUTING.md"]
    assert [page.name for page in pages if bare.search(page.read_text(encoding="utf-8"))] == []
