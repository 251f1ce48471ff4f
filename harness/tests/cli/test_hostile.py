"""Hostile options, variables and files end in one sentence, before anything was started or written."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from benchbook.cli.app import run
from benchbook.declare.catalogue import root

LAUNCHER = Path(__file__).parents[3] / "bench"


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("", "--results is empty."),
        ("/tmp/a\udcff", "is not UTF-8 text."),
        (f"/tmp/{'a' * 256}", "the path is too long"),
        ("/tmp" + "/a" * 2000, "the path is too long"),
        ("/tmp/what?read_only", '"?" in its path'),
    ],
)
@pytest.mark.parametrize("argv", [["run", "quickstart"], ["list", "runs"], ["sql", "SELECT 1"], ["doctor"]])
def test_a_results_folder_that_cannot_be_used_is_refused_at_once(
    argv: list[str], folder: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run([*argv, "--results", folder]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert "Name" in err.splitlines()[1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BENCHBOOK_HANG_SECONDS", "abc"), ("BENCHBOOK_HANG_SECONDS", "nan"), ("BENCHBOOK_HANG_SECONDS", "-1"),
        ("BENCHBOOK_HANG_SECONDS", "inf"), ("POLARS_MAX_THREADS", "0"), ("POLARS_MAX_THREADS", "many"),
        ("POLARS_MAX_THREADS", "9" * 5000), ("BENCHBOOK_ROOT", "/nowhere"), ("BENCHBOOK_BENCHLOAD", "/nowhere"),
        ("TMPDIR", "/tmp/t\udcff"), ("BENCHBOOK_CACHE", "/dev/null"),
        ("XDG_CACHE_HOME", "/dev/null"), ("BENCHBOOK_REGISTRY", "a b\n"),
    ],
)  # fmt: skip
def test_a_variable_of_the_environment_is_checked_first(
    name: str, value: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert run(["list"]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"bench: The environment variable {name} is ")
    assert err.endswith(f"unset {name}\n")


@pytest.mark.parametrize(
    "argv",
    [
        ["sql", "select \udcff"], ["report", "--output", "r\udcff.html"], ["export", "--output=\udcff"],
        ["list", "\udcff"], ["run", "quickstart", "--set", "arm=\udcff"], ["claims", "\udcff/"],
    ],
)  # fmt: skip
def test_an_argument_that_is_no_text_is_refused_at_the_edge(
    argv: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(argv) == 2
    assert "\\udcff" in (err := capsys.readouterr().err)
    assert err.splitlines()[0].endswith(" is not UTF-8 text.")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout whose experiments may be changed."""
    for folder in ("systems", "datasets", "storage", "reports"):
        (tmp_path / folder).symlink_to(root() / folder)
    shutil.copytree(root() / "experiments/quickstart", tmp_path / "experiments/quickstart")
    (tmp_path / "experiments/hostile").mkdir()
    monkeypatch.setenv("BENCHBOOK_ROOT", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "text",
    [
        f"title = {'[' * 2000}{']' * 2000}",
        f"title = {'[' * 60}{']' * 60}",
        f"title = {'{a=' * 2000}1{'}' * 2000}",
        f"{'.'.join('a' * 2000)} = 1",
        "title = 1e999",
        f"title = {'9' * 6000}",
        "factors = 5",
        "profiles = [1]\ntitle = 'a'\nfactors = {system = 5}",
    ],
)
def test_a_hostile_experiment_hides_no_other(
    text: str, catalogue: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (catalogue / "experiments/hostile/experiment.toml").write_text(text)
    assert run(["list"]) == 0
    shown = capsys.readouterr().out
    assert "quickstart" in shown
    assert "hostile" in shown
    for argv in (["show", "hostile"], ["plan", "hostile"]):
        assert run(argv) == 2
        assert "experiments/hostile/experiment.toml: " in capsys.readouterr().err


@pytest.mark.parametrize("value", ["1e300", "1e308", "1e-320", "inf"])
def test_a_published_number_that_nothing_has_is_refused(
    value: str, catalogue: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declared = (LAUNCHER.parent / "experiments/sqlite-vs-filesystem/experiment.toml").read_text()
    assert "of = 1_024_512_000" in declared
    changed = declared.replace("of = 1_024_512_000", f"of = {value}")
    (catalogue / "experiments/hostile/experiment.toml").write_text(changed)
    assert run(["plan", "hostile"]) == 2
    assert "experiments/hostile/experiment.toml: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        BlockingIOError(11, "Resource temporarily unavailable"), OSError(24, "Too many open files"), MemoryError(),
        RuntimeError("can't start new thread"),
    ],
)  # fmt: skip
def test_a_limit_of_the_system_is_a_sentence(
    error: Exception, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("benchbook.cli.app.app", fail)
    assert run(["list"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("bench: ")
    assert len(err.splitlines()) == 2


def test_the_launcher_ignores_settings_of_another_python() -> None:
    if not (LAUNCHER.parent / ".bench/venv/bin/python").exists():
        pytest.skip("./bench was not set up in this checkout")
    hostile = {"PYTHONHOME": "/nowhere", "PYTHONHASHSEED": "x", "PYTHONMALLOC": "x", "PYTHONIOENCODING": "x"}
    done = subprocess.run(
        [LAUNCHER, "--version"], env={**os.environ, **hostile}, capture_output=True, text=True, timeout=60, check=False
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_an_incomplete_set_up_of_another_user_is_a_sentence(tmp_path: Path) -> None:
    """Run the launcher in a clone whose set-up this user may not write, as an ordinary user in root's."""
    (tmp_path / "harness/benchload").mkdir(parents=True)
    (tmp_path / "harness/benchload/go.mod").write_text("go 1.24\n")
    (tmp_path / ".bench").mkdir()
    (tmp_path / ".bench/lock").touch(mode=0o644)
    shutil.copy(LAUNCHER, tmp_path)
    command: list[str | Path] = [tmp_path / "bench", "list"]
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("root may write everywhere, and setpriv is missing")
        for folder in (tmp_path, *list(tmp_path.parents)[:-2]):
            folder.chmod(folder.stat().st_mode | 0o055)
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    else:
        (tmp_path / ".bench").chmod(0o555)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"bench: {tmp_path}/.bench is not complete, and you may not write to it.\n")
    assert "BENCHBOOK_HOME" in done.stderr


def test_a_lock_of_the_set_up_that_stays_held_is_a_sentence(tmp_path: Path) -> None:
    """Run the launcher in a clone without a set-up, with a ``flock`` that never gets the lock."""
    (tmp_path / "harness/benchload").mkdir(parents=True)
    (tmp_path / ".bench").mkdir()
    (tmp_path / ".bench/lock").touch()
    (tmp_path / ".bench/lock").chmod(0o644)
    shutil.copy(LAUNCHER, tmp_path)
    (tmp_path / "flock").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "flock").chmod(0o755)
    done = subprocess.run(
        [tmp_path / "bench", "list"], env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert f"bench: {tmp_path}/.bench/lock has been locked by another program for 600 s.\n" in done.stderr
    assert stat.S_IMODE((tmp_path / ".bench/lock").stat().st_mode) == 0o600


@pytest.mark.parametrize("size", ["64k", "2M"])
def test_a_full_folder_of_temporary_files_is_named(size: str, tmp_path: Path) -> None:
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "small", tmp_path], capture_output=True, check=False
    ).returncode:
        pytest.skip("needs the right to mount")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchbook", "claims", root() / "reports/data/quickstart"],
            env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    finally:
        subprocess.run(["umount", "--lazy", tmp_path], check=True)
    assert done.returncode == 2
    assert str(tmp_path) in done.stderr.splitlines()[-2]
    assert done.stderr.splitlines()[-1].endswith(
        f"{tmp_path}, where temporary files are, or name another folder in the variable TMPDIR."
    )
