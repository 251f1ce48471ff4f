"""Write down a ``bench run`` before anything heavy is imported, so that a run killed at once can be resumed.

Making a plan takes some tenths of a second of imports. A harness that is killed in that time would leave nothing;
``bench resume`` starts from this file instead. The process holds the file's lock as long as it lives.
Only modules that Python has loaded anyway are imported here.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
import time
from pathlib import Path
from typing import IO

_own: list[tuple[Path, IO[str]]] = []
"""The file of this process, open because its lock ends when it is closed."""


def results_folder(argv: list[str]) -> Path:
    """Return the results folder that a command line asks for, before it is parsed in full."""
    for place, word in enumerate(argv):
        if word == "--results" and place + 1 < len(argv):
            return Path(argv[place + 1])
        if word.startswith("--results="):
            return Path(word.partition("=")[2])
    return Path(os.environ.get("BENCHBOOK_RESULTS") or "results")


def remember(argv: list[str]) -> list[str]:
    """Write down the command line of a run and return it, with the seed of its order of trials.

    A folder that cannot be written is no error yet: the run itself reports it.
    """
    if not any(word.startswith("--order-seed") for word in argv):
        argv = [*argv, "--order-seed", str(int.from_bytes(os.urandom(4), "big"))]
    results = results_folder(argv)
    if str(results).startswith("s3:"):  # the folder in the cache is not known yet
        return argv
    path = results.absolute() / "intentions" / f"{time.time_ns()}-{os.getpid()}.json"
    part = path.with_suffix(".part")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = part.open("w", encoding="utf-8")
        fcntl.flock(file, fcntl.LOCK_EX)
        json.dump({"argv": argv}, file)
        file.flush()
        part.rename(path)
        _own.append((path, file))
    return argv


def forget() -> None:
    """Remove this process's file: its plan is stored, or its request was refused."""
    while _own:
        path, file = _own.pop()
        path.unlink(missing_ok=True)
        file.close()
        for folder in list(path.parents)[:2]:  # a refused run leaves no empty folders either
            with contextlib.suppress(OSError):
                folder.rmdir()


def orphans(results: Path) -> list[tuple[Path, list[str]]]:
    """Return the files and command lines of runs whose process is gone, oldest first; report unreadable files."""
    found = []
    for path in sorted((results / "intentions").glob("*.json")):
        try:
            with path.open(encoding="utf-8") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                found.append((path, [str(word) for word in json.load(file)["argv"]]))
        except BlockingIOError:
            continue  # its process lives
        except (OSError, ValueError, KeyError, TypeError) as error:
            sys.stderr.write(f"bench: {path} is not readable ({error}) and is left out.\n")
    return found
