"""What the scripts of this folder ask and measure by: trials, a folder to work in, seconds of a call."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def arguments(words: str | None) -> argparse.ArgumentParser:
    """Return the arguments that all have: how many trials, and whether the folder is kept."""
    asked = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("trials", nargs="?", type=int, default=10_000)
    asked.add_argument("--keep", type=Path, help="folder to work in, which is kept")
    return asked


@contextmanager
def workplace(keep: Path | None, name: str) -> Iterator[Path]:
    """Give a folder to work in: the one that is kept, or one that is gone afterwards."""
    if keep:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix=f"benchbook-{name}-") as made:
        yield Path(made)


def timed(work: Callable[[], object]) -> float:
    """Return how many seconds a call takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
