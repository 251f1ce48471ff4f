"""``bench lint`` and ``.ci/lint``: what they start, and what they say of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from benchbook.cli.app import run
from benchbook.declare.catalogue import root

TOOLS = ("python", "lint-imports", "go", "gofmt", "shellcheck")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a checkout whose tools write their arguments to a file and succeed."""
    place = tmp_path / "checkout"
    for folder in (".ci", "harness/benchload", "experiments/mine/client", ".bench/venv/bin", "bin"):
        (place / folder).mkdir(parents=True)
    shutil.copy(root() / ".ci/lint", place / ".ci/lint")
    (place / "experiments/mine/story.py").touch()
    for name in TOOLS:
        tool = place / (".bench/venv/bin" if name in ("python", "lint-imports") else "bin") / name
        tool.write_text(
            f'#!/bin/sh\n[ "$1 $2" = "env GOROOT" ] && echo "{place}" && exit\necho {name} "$@" >>"{place}/calls"\n'
            f'! echo {name} "$@" | grep -qE "$FAILING"\n'
        )
        tool.chmod(0o755)
    monkeypatch.setenv("BENCHBOOK_ROOT", str(place))
    monkeypatch.setenv("BENCHBOOK_GO", str(place / "bin/go"))
    monkeypatch.setenv("PATH", f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAILING", "none")
    monkeypatch.delenv("BENCHBOOK_HOME", raising=False)
    return place


def calls(checkout: Path) -> list[str]:
    return (checkout / "calls").read_text().splitlines()


def test_lint_fixes_first_and_then_checks(checkout: Path) -> None:
    assert run(["lint"]) == 0
    fixes = [
        "python -m ruff check --fix --exit-zero --quiet . ../experiments ../projects",
        "python -m ruff format . ../experiments ../projects",
        "gofmt -w harness/benchload experiments",
    ]
    done = calls(checkout)
    assert done[:3] == fixes
    assert done[3:] == [
        "python -m ruff check . ../experiments ../projects",
        "python -m ruff format --check . ../experiments ../projects",
        "python -m mypy",
        "python -m mypy -p experiments_mine_ --exclude /tests/",
        "lint-imports --no-cache",
        "gofmt -l harness/benchload experiments",
        *2 * ["go vet ./...", "go run honnef.co/go/tools/cmd/staticcheck@v0.7.0 ./..."],
        *[line for line in done if line.startswith("shellcheck ")],
    ]
    (checkout / "calls").unlink()
    assert run(["lint", "--check"]) == 0
    assert not set(fixes) & set(calls(checkout))
    assert len(calls(checkout)) == len(done) - len(fixes)


def test_every_check_runs_and_those_that_failed_are_named(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAILING", "mypy$|^go vet")
    assert run(["lint", "--check"]) == 1
    assert capfd.readouterr().err.splitlines() == [
        f"lint: failed: {name}"
        for name in ("mypy", "go vet harness/benchload", "go vet experiments/mine/client")
    ]
    assert calls(checkout)[-1].startswith("shellcheck ")


def test_an_unknown_argument_changes_nothing(checkout: Path) -> None:
    done = subprocess.run(
        ["bash", checkout / ".ci/lint", "--fixed"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (2, "usage: .ci/lint [--fix]\n")
    assert not (checkout / "calls").exists()
