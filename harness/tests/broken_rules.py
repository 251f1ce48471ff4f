"""Breaks each rule of measurement on purpose, in a copy of the checkout, and asks whether a test notices.

``python -m tests.broken_rules`` tries every entry of ``broken_rules.toml`` (some minutes); a number behind it, only
those of that rule. It ends with code 1 where a rule can be broken unnoticed.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests import tally

HARNESS = Path(__file__).resolve().parents[1]
BENCHLOAD = HARNESS.parent / ".bench" / "bin" / "benchload"
LIST = Path(__file__).with_suffix(".toml")
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".bench", "results", "__pycache__", ".*_cache", "data", "node_modules"
)


@dataclass(frozen=True)
class Break:
    """One rule, and how it is broken: ``now`` in ``file`` becomes ``then``; one of ``tests`` has to fail."""

    rule: int | str
    breaks: str
    """What the program then does, in words."""
    file: str
    """Under ``harness``."""
    now: str
    then: str
    tests: tuple[str, ...]
    """Under ``harness/tests``; of the package ``./x`` of benchload with ``go ./x``."""


def breaks() -> list[Break]:
    """Return all that is tried."""
    stated = tomllib.loads(LIST.read_text(encoding="utf-8"))["break"]
    return [Break(**{**one, "tests": tuple(one["tests"])}) for one in stated]


def noticed(one: Break, harness: Path) -> bool:
    """Say whether a test that passes otherwise fails when the rule is broken; the copy is mended again."""
    if not all(_passes_unbroken(test, harness) for test in one.tests):
        raise SystemExit(f"{', '.join(one.tests)} did not pass while nothing was broken.")
    file = harness / one.file
    whole = file.read_text(encoding="utf-8")
    file.write_text(whole.replace(one.now, one.then, 1), encoding="utf-8")
    try:
        return not all(_passes(test, harness) for test in one.tests)
    finally:
        file.write_text(whole, encoding="utf-8")


@functools.cache
def _passes_unbroken(test: str, harness: Path) -> bool:
    return _passes(test, harness)


def _passes(test: str, harness: Path) -> bool:
    if test.startswith("go "):
        command, folder = (
            [os.environ.get("BENCHBOOK_GO") or "go", "test", test.removeprefix("go ")],
            harness / "benchload",
        )
    else:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"tests/{test}"]
        folder = harness
    environment = {name: value for name, value in os.environ.items() if name != "BENCHBOOK_TALLY"}
    environment |= {"PYTHONPATH": str(harness), "BENCHBOOK_ROOT": str(harness.parent), "CI": "true"}
    if BENCHLOAD.is_file():  # of the checkout, as ./bench gives it: tests that need it are not skipped
        environment.setdefault("BENCHBOOK_BENCHLOAD", str(BENCHLOAD))
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    skipped = "skipped" in done.stdout and " passed" not in done.stdout
    if done.returncode not in (0, 1) or (done.returncode == 0 and skipped):  # neither passed nor failed
        raise SystemExit(f"{test} did not run:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.returncode == 0


def main() -> None:
    """Try them and print one line each."""
    wanted = set(sys.argv[1:])
    missed = 0
    with tempfile.TemporaryDirectory(prefix="benchbook-broken-") as name:
        copy = Path(name) / "checkout"
        shutil.copytree(HARNESS.parent, copy, ignore=LEFT_OUT, symlinks=True)
        for one in breaks():
            if wanted and str(one.rule) not in wanted:
                continue
            found = noticed(one, copy / "harness")
            missed += not found
            tally.count("rules broken on purpose, each noticed by a test")
            tally.broken["rules broken on purpose, each noticed by a test"] += not found
            print(f"{'noticed' if found else 'NOT NOTICED'}  rule {one.rule}: {one.breaks}", flush=True)
    tally.keep()
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
