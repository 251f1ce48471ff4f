"""Mistakes on the command line: exit code 2, one sentence, no traceback, nothing half-written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchbook import __version__
from benchbook.cli import options
from benchbook.cli.app import GROUPS, app, run
from benchbook.declare.checkout import root

RUN_TAKERS = ("claims", "import", "export", "report")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["lst"], ["'list'"]),
        (["plan", "quickstrat"], ["quickstart"]),
        (["plan", "quickstart", "--profil", "smoke"], ["--profil"]),
        (["plan", "quickstart", "--profile", "smok"], ["smoke"]),
        (["plan", "quickstart", "--trials", "x"], ["--trials"]),
        (["plan", "quickstart", "--set", "system"], ["FACTOR=LEVEL"]),
        (["plan", "quickstart", "--system", "duckdb"], ["NAME=PATH"]),
        (["plan", "quickstart", "--system", "duckbd=/x"], ["duckdb"]),
        (["plan", "quickstart", "--system", "influxdb-1.8.10=/x"], ["does not use influxdb-1.8.10"]),
        *(
            ([one, f"{here}{300 * 'a'}"], ["is too long", "255 bytes"])
            for one in RUN_TAKERS
            for here in ("", "./")
        ),
        (["plan", "devops-suite", "--system", "influxdb-1.8.10=docker://--privileged"], ["name of an image"]),
        (["plan", "devops-suite", "--system", "influxdb-1.8.10=docker://"], ["name of an image"]),
        (["plan", "devops-suite", "--system", "influxdb-1.8.10=docker://a b"], ["name of an image"]),
        (
            ["plan", "devops-suite", "--system", "influxdb-1.8.10=docker://a?memory=-1&cpus=nan"],
            ["memory", "cpus"],
        ),
        (["plan", "devops-suite", "--system", "influxdb-1.8.10=docker://a?cpus=inf"], ["cpus"]),
        (
            ["plan", "devops-suite", "--system", "influxdb-1.8.10=docker://a?memory=1&memory=2"],
            ["memory", "twice"],
        ),
        (
            ["plan", "devops-suite", "--system", "influxdb-1.8.10=http://h:1/\r\nX: y"],
            ["not a URL of a server"],
        ),
        (["list", "system"], ["systems"]),
        (["show", "quickstrt"], ["quickstart"]),
        (["test", "--only", "rust"], ["python"]),
    ],
)
def test_a_mistake_is_told(argv: list[str], words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(argv) == 2
    err = capsys.readouterr().err
    assert err.startswith("bench: ")
    for word in words:
        assert word in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["report", "claims", "resume", "rerun", "export"])
def test_help_says_how_a_run_is_named(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert " [OPTIONS] [RUN] " in words
    assert not options.NEWER_TYPER or options.RUN_HELP in words


@pytest.mark.parametrize("words", [["--profile", "no"], ["--cluster", "nonsense"]])
def test_a_refused_run_leaves_nothing(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchbook.run.cluster.CONNECT_SECONDS", 0.5)
    monkeypatch.setattr("benchbook.process.spawn.find_benchload", lambda: Path("benchload"))
    assert run(["run", "quickstart", *words, "--results", str(tmp_path / "results")]) == 2
    assert not (tmp_path / "results").exists()
    assert words[1] in capsys.readouterr().err


@pytest.mark.parametrize("below", ["", "below"])
@pytest.mark.parametrize(
    "argv",
    [
        ["list", "runs"], ["sql", "select 1"], ["run", "quickstart"], ["aa", "quickstart"], ["plan", "quickstart"],
        ["report"], ["claims"], ["resume"], ["rerun"], ["compare", "a", "b"], ["export"], ["rebuild"], ["doctor"],
        ["show", "latest"], ["import", "x"],
    ],
)  # fmt: skip
def test_results_that_are_a_file_are_told(
    argv: list[str], below: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    assert run([*argv, "--results", str(file / below)]) == 2
    told = capsys.readouterr().err
    assert told == (
        f"bench: --results {file / below}: {file} is a file, not a folder.\n"
        "  Name a folder, existing or new: --results DIR.\n"
    )
    assert file.read_text() == "mine"


def test_a_site_is_not_written_over_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    assert run(["site", "--output", str(file)]) == 2
    assert f"bench: --output {file}: {file} is a file, not a folder.\n" in capsys.readouterr().err
    assert file.read_text() == "mine"


@pytest.mark.parametrize("what", ["experiments", "systems", "datasets", "storage", "runs"])
def test_lists_are_json(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", what, "--json", "--results", str(tmp_path)]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert isinstance(listed, list)
    assert listed or what == "runs"


@pytest.mark.parametrize("name", ["quickstart", "duckdb", "devops", "local"])
def test_show_is_json(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", name, "--json", "--results", str(tmp_path)]) == 0
    [shown] = json.loads(capsys.readouterr().out)
    assert shown["title"]


def test_plan_json_has_the_trials_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "quickstart", "--json", "--order-seed", "1"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert [trial["index"] for trial in plan["trials"]] == list(range(len(plan["trials"])))
    assert plan["estimate_seconds"] > 0
    assert set(plan["sources"]) == {"sqlite", "duckdb"}


def test_heavy_libraries_are_not_imported_by_the_command_line() -> None:
    import subprocess
    import sys

    heavy = ("duckdb", "polars", "altair", "pyarrow", "scipy", "numpy", "psutil", "mistune", "nbformat")
    code = f"import sys, benchbook.cli.app; print([name for name in {heavy!r} if name in sys.modules])"
    harness = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=harness, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"Benchbook {__version__}\n"


@pytest.mark.parametrize("called", ["./bench", "nix run .#benchbook --"])
def test_a_hint_names_the_command_as_the_user_typed_it(
    called: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHBOOK_COMMAND", called)
    assert run(["report", "--results", str(tmp_path)]) == 2
    assert f"({called} run quickstart)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "shown"), [([], "Maintain:"), (["run"], "--until-decided"), (["help"], "COMMAND")]
)
def test_help_is_a_command_too(words: list[str], shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", *words]) == 0
    told = capsys.readouterr().out
    assert shown in told
    assert run([*words, "--help"]) == 0
    assert capsys.readouterr().out == told


def test_help_shows_a_page_as_messages_name_it(capsys: pytest.CaptureFixture[str]) -> None:
    page = (root() / "docs" / "claims.md").read_text()
    for name in ("claims.md", "docs/claims.md"):
        assert run(["help", name]) == 0
        assert capsys.readouterr().out == page
    assert run(["help", "claims"]) == 0  # the command has the name first
    assert "--power" in capsys.readouterr().out
    assert run(["help", "pages"]) == 0
    names = {name for held in GROUPS.values() for name in held}
    listed = capsys.readouterr().out
    for path in (root() / "docs").glob("*.md"):
        name = f"{path.stem}.md" if path.stem in names else path.stem
        assert (f"  {name} " in listed) == (path.stem != "README")
    assert run(["help", "your-own-projct"]) == 2
    assert 'Did you mean "your-own-project"?' in capsys.readouterr().err


def test_help_of_no_command_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "rnu"]) == 2
    shown = capsys.readouterr().err
    assert 'There is no command or page "rnu"' in shown
    assert 'Did you mean "run"?' in shown


def test_help_names_the_command_as_the_user_typed_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHBOOK_COMMAND", "./bench")
    assert run(["run", "--help"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert words.startswith("Usage: ./bench run ")
    assert not options.NEWER_TYPER or "`./bench list` shows them" in words


def test_help_shows_every_command_once_in_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    from typer.main import get_command

    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for name in set(commands) - {"help"}:
        assert len(re.findall(rf"^  {name}  ", shown, re.MULTILINE)) == 1, name
    places = [
        shown.index(f"\n{title}:") for title in ("Examples", "Run", "Read", "Publish", "Maintain", "Options")
    ]
    assert places[:5] == sorted(places[:5])
    assert "{bench}" not in shown


def test_no_help_text_keeps_a_placeholder(capsys: pytest.CaptureFixture[str]) -> None:
    for name in (name for names in GROUPS.values() for name in names):
        if name not in ("benchload", "dask"):  # they replace this process
            assert run([name, "--help"]) == 0
    assert "{bench}" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(13, "Permission denied", "/elsewhere/runs"), "/elsewhere/runs: Permission denied."),
        (OSError(28, "No space left on device", "/full/x"), "/full/x: No space left on device."),
        (
            ModuleNotFoundError("No module named 'duckdb'", name="duckdb"),
            "incomplete: the Python package duckdb is missing.",
        ),
    ],
)
def test_a_fault_of_the_machine_is_a_sentence(
    error: Exception, words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("benchbook.cli.app.app", fail)
    assert run(["list", "runs"]) == 2
    assert words in capsys.readouterr().err


def test_an_environment_that_is_removed_is_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ImportError("cannot import name")

    monkeypatch.setattr("benchbook.cli.app.app", fail)
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    assert run(["report"]) == 2
    told = capsys.readouterr().err
    assert f"{tmp_path}/python is gone" in told
    assert "bench resume" in told


def test_a_defect_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no file of this machine")

    monkeypatch.setattr("benchbook.cli.app.app", fail)
    with pytest.raises(OSError, match="no file of this machine"):
        run(["list"])


@pytest.mark.parametrize(("text", "found"), [("", "found none"), ("select 1; select 2", "found 2")])
def test_sql_takes_one_statement(
    text: str, found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sql", text, "--results", str(tmp_path)]) == 2
    assert f"This command takes one SQL statement; {found}." in capsys.readouterr().err


def test_text_in_place_of_a_number_says_what_to_write(capsys):
    assert run(["plan", "quickstart", "--trials", "ten"]) == 2
    said = capsys.readouterr().err
    assert "Invalid value for '--trials': this must be a whole number, such as 5.\n" in said
