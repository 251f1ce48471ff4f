"""Common parts of the benchmarks: arguments, a working folder, and the time of a call."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def arguments(words: str | None) -> argparse.ArgumentParser:
    """Return the parser of the common arguments: number of trials, and folder to keep."""
    asked = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("trials", nargs="?", type=int, default=10_000)
    asked.add_argument("--keep", type=Path, help="folder to work in, which is kept")
    return asked


@contextmanager
def workplace(keep: Path | None, name: str) -> Iterator[Path]:
    """Yield a working folder: the one to keep, or a temporary one."""
    if keep:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix=f"benchbook-{name}-") as made:
        yield Path(made)


def timed(work: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
