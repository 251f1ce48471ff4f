"""Odd surroundings of a run: paths, locale, home, declarations of other editors, a stopped harness, other users."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bench import HARNESS, SMALL, begin, bench, environment, need_benchload
from test_run import assert_whole, await_trial

from benchbook.errors import TrialFailed
from benchbook.process.ordinary_user import ordinary_user

ROOT = HARNESS.parent
ODD = "Größe mit Leerzeichen ü"
READS = (
    ["list", "runs"],
    ["claims"],
    ["show", "latest"],
    ["sql", "select 1"],
    ["report"],
    ["export"],
    ["resume"],
)
"""Commands that look into the results folder."""
ALL = """
import os, sys
from benchbook.cli.app import run
for words in {commands!r}:
    print(words, run(words), flush=True)
"""


@pytest.fixture(autouse=True)
def _load_tool() -> None:
    need_benchload()


def crlf(folder: Path) -> None:
    """Give every declaration the byte order mark and the line ends of another editor."""
    for path in folder.rglob("*.toml"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))


@pytest.mark.parametrize("home", [None, "/proc"], ids=["no home", "read-only home"])
def test_a_run_in_odd_surroundings(tmp_path: Path, home: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path with spaces and other letters, a locale with a decimal comma, a BOM and CRLF, and no home."""
    root, results = tmp_path / ODD / "checkout", tmp_path / ODD / "results"
    for part in ("datasets", "experiments", "storage", "systems"):
        shutil.copytree(ROOT / part, root / part)
    (root / "reports").symlink_to(ROOT / "reports")
    crlf(root)
    monkeypatch.setenv("BENCHBOOK_ROOT", str(root))
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if home is None:
        monkeypatch.delenv("HOME", raising=False)
    else:
        monkeypatch.setenv("HOME", home)
    done = bench("run", *SMALL, "--results", str(results))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "<html" in Path(done.stdout.splitlines()[-1]).read_text(encoding="utf-8")[:2000].lower()
    assert_whole(results)


def test_a_stopped_harness_goes_on_where_it_was(tmp_path: Path) -> None:
    process = begin("run", *SMALL, "--results", str(tmp_path), report=False)
    await_trial(process, tmp_path, 0)
    process.send_signal(signal.SIGSTOP)
    time.sleep(2)
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err
    assert_whole(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_the_folder_of_another_user_is_told(open_folder: Path) -> None:
    try:
        stranger = ordinary_user("nobody")
        for needed in (HARNESS / "x", Path(sys.executable), Path(sys.base_prefix) / "lib"):
            stranger.require_entrance(needed)
    except TrialFailed as reason:
        pytest.skip(str(reason))
    results = open_folder / "results"
    (results / "runs").mkdir(parents=True)
    results.chmod(0o700)
    commands = [[*words, "--results", str(results)] for words in READS]
    commands.append(["run", *SMALL, "--results", str(results)])
    code = ALL.format(commands=commands)
    done = subprocess.run(
        [str(part) for part in stranger.command([sys.executable, "-P", "-c", code])],
        env=environment(HOME="/nonexistent", PYTHONDONTWRITEBYTECODE="1"), cwd="/", capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    told = done.stdout.splitlines()
    assert len(told) == len(commands), done.stdout + done.stderr
    assert all(line.endswith(" 2") for line in told), done.stdout + done.stderr
    assert done.stderr.count("Permission denied") >= len(commands), done.stderr
