"""Break each rule of measurement on purpose, in a copy of the checkout, and check that a test fails.

``python -m tests.broken_rules`` tries every entry of ``broken_rules.toml`` in some minutes; with arguments, only those
of a rule (``7``) or with a text (``"counts as reached"``). It exits with code 1 if no test fails for a broken rule.
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

HARNESS = Path(__file__).resolve().parents[1]
BENCHLOAD = HARNESS.parent / ".bench" / "bin" / "benchload"
LIST = Path(__file__).with_suffix(".toml")
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".bench", "results", "__pycache__", ".*_cache", "data", "node_modules"
)


@dataclass(frozen=True)
class Break:
    """One way to break a rule: replace ``now`` in ``file`` by ``then``; one of ``tests`` must fail."""

    rule: int | str
    breaks: str
    """The behaviour of the broken program."""
    file: str
    """Path below ``harness``."""
    now: str
    then: str
    tests: tuple[str, ...]
    """Paths below ``harness/tests``; ``go ./x`` for the package ``./x`` of benchload."""


def breaks() -> list[Break]:
    """Return the entries of ``broken_rules.toml``."""
    stated = tomllib.loads(LIST.read_text(encoding="utf-8"))["break"]
    return [Break(**{**one, "tests": tuple(one["tests"])}) for one in stated]


def noticed(one: Break, harness: Path) -> bool:
    """Return whether a test fails when the rule is broken; restore the copy afterwards."""
    if not all(_passes_unbroken(test, harness) for test in one.tests):
        raise SystemExit(f"{', '.join(one.tests)} failed before anything was broken.")
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
    environment = {
        **os.environ,
        "PYTHONPATH": str(harness),
        "BENCHBOOK_ROOT": str(harness.parent),
        "CI": "true",
        "PYTHONDONTWRITEBYTECODE": "1",  # compiled code of a file changed within a second would be taken as current
    }
    if BENCHLOAD.is_file():  # without it, tests that need it would be skipped
        environment.setdefault("BENCHBOOK_BENCHLOAD", str(BENCHLOAD))
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    skipped = "skipped" in done.stdout and " passed" not in done.stdout
    if done.returncode not in (0, 1) or (done.returncode == 0 and skipped):  # neither passed nor failed
        raise SystemExit(f"{test} did not run:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.returncode == 0


def main() -> None:
    """Try the entries and print a line for each."""
    wanted = sys.argv[1:]
    missed = 0
    with tempfile.TemporaryDirectory(prefix="benchbook-broken-") as name:
        copy = Path(name) / "checkout"
        shutil.copytree(HARNESS.parent, copy, ignore=LEFT_OUT, symlinks=True)
        for one in breaks():
            if wanted and not any(text == str(one.rule) or text in one.breaks for text in wanted):
                continue
            found = noticed(one, copy / "harness")
            missed += not found
            print(f"{'noticed' if found else 'NOT NOTICED'}  rule {one.rule}: {one.breaks}", flush=True)
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
