"""Record a ``bench run`` before anything heavy is imported, so that a run killed at once can be resumed.

Planning takes some tenths of a second of imports. If the harness is killed in that time, ``bench resume`` starts from
this file. The process locks the file for its lifetime. This module imports only what Python has loaded already, and
what seals the command line: ``bench resume`` carries out only what this user typed on this machine.

The first line of the file is the command line with its seal. The second names the run and is written just before the
plan is stored: if the harness is killed after that, the plan counts, and the same request does not start a second run.
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

from benchbook.record import seal

_files: list[tuple[Path, IO[str]]] = []
"""The open files of this process; closing one releases its lock."""


def results_folder(argv: list[str]) -> Path:
    """Return the results folder that a command line asks for, before it is parsed in full."""
    for place, word in enumerate(argv):
        if word == "--results" and place + 1 < len(argv):
            return Path(argv[place + 1])
        if word.startswith("--results="):
            return Path(word.partition("=")[2])
    return Path(os.environ.get("BENCHBOOK_RESULTS") or "results")


def remember(argv: list[str]) -> list[str]:
    """Record the command line of a run and return it with an order seed.

    If the folder is not writable, the run itself reports that later.
    """
    if not any(word.startswith("--order-seed") for word in argv):
        argv = [*argv, "--order-seed", str(int.from_bytes(os.urandom(4), "big"))]
    results = results_folder(argv)
    if str(results).startswith("s3:"):  # its folder in the cache is not known yet
        return argv
    path = results.absolute() / "intentions" / f"{time.time_ns()}-{os.getpid()}.json"
    part = path.with_suffix(".part")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = part.open("w", encoding="utf-8")
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps({"argv": argv, "seal": seal.of("request", json.dumps(argv).encode())}) + "\n")
        file.flush()
        part.rename(path)
        _files.append((path, file))
    return argv


def name_run(run_id: str) -> None:
    """Record the run whose plan is about to be stored."""
    for _, file in _files:
        file.write(json.dumps({"run": run_id}) + "\n")
        file.flush()


def forget() -> None:
    """Remove this process's file, because its plan is stored or its request was refused."""
    while _files:
        path, file = _files.pop()
        path.unlink(missing_ok=True)
        file.close()
        for folder in list(path.parents)[:2]:  # a refused run leaves no empty folders
            with contextlib.suppress(OSError):
                folder.rmdir()


def take_over(results: Path) -> list[str] | None:
    """Return the command line of the latest run that was killed before its plan was stored, or None.

    This process holds the file from now on, as if it had recorded the run itself, so that there is never a second file
    for the same run. Files of dead processes whose plan is stored are removed; unreadable ones are reported.
    """
    from benchbook.record.folder import PLAN_FILE

    for path in sorted((results / "intentions").glob("*.json"), reverse=True):
        if not path.is_file():  # reading a named pipe would wait for ever
            continue
        with contextlib.ExitStack() as kept:
            try:
                file = kept.enter_context(path.open("r+", encoding="utf-8"))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                request, *named = [json.loads(line) for line in file]  # to the end, where name_run goes on
                argv, run_ids = [str(word) for word in request["argv"]], [str(one["run"]) for one in named]
                own = seal.fits("request", json.dumps(argv).encode(), request.get("seal"))
            except BlockingIOError:
                continue  # its process is alive
            except (OSError, ValueError, KeyError, TypeError) as error:
                sys.stderr.write(f"bench: {path} is unreadable ({error}); skipped.\n")
                continue
            if not own:
                sys.stderr.write(
                    f"bench: {path} is not carried out: this user did not request it on this machine. Remove it.\n"
                )
                continue
            kept.pop_all()
        _files.append((path, file))
        if not any((results / "runs" / run_id / PLAN_FILE).is_file() for run_id in run_ids):
            return argv
        forget()
    return None
