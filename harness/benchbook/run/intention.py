"""Remembers a ``bench run`` before anything else is imported, so that one killed at once can be resumed.

Making a plan needs the declarations and their models, a few tenths of a second of imports. A harness that is
killed in that time would leave nothing; this file, written first, is what ``bench resume`` then begins with.
Only modules that Python has loaded anyway are used here.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def results_folder(argv: list[str]) -> Path:
    """Return the results folder that a command line asks for, before it is parsed in full."""
    for place, word in enumerate(argv):
        if word == "--results" and place + 1 < len(argv):
            return Path(argv[place + 1])
        if word.startswith("--results="):
            return Path(word.partition("=")[2])
    return Path(os.environ.get("BENCHBOOK_RESULTS") or "results")


def remember(argv: list[str]) -> Path | None:
    """Write down the command line of a run; return the file, or None where it cannot be written.

    A folder that cannot be written is told by the run itself, in words; here it is no error yet.
    """
    folder = results_folder(argv) / "intentions"
    content = {
        "argv": argv,
        "pid": os.getpid(),
        "started": _started(os.getpid()),
        "order_seed": int.from_bytes(os.urandom(4), "big"),
    }
    final = folder / f"{time.time_ns()}-{os.getpid()}.json"
    part = final.with_suffix(".part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(content) + "\n", encoding="utf-8")
        part.rename(final)
    except OSError:
        return None
    os.environ["BENCHBOOK_INTENTION"] = str(final.resolve())
    return final


def current() -> dict[str, Any] | None:
    """Return what was remembered for this process, or None."""
    path = os.environ.get("BENCHBOOK_INTENTION")
    if not path:
        return None
    content: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return content


def forget() -> None:
    """Remove what was remembered for this process: its plan is stored, or it was refused."""
    path = os.environ.pop("BENCHBOOK_INTENTION", None)
    if path:
        Path(path).unlink(missing_ok=True)
        for folder in list(Path(path).parents)[:2]:  # a refused run leaves no empty folders either
            with contextlib.suppress(OSError):
                folder.rmdir()


def orphans(results: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return the remembered runs whose process is gone, oldest first; unreadable files are removed."""
    found = []
    for path in sorted((results / "intentions").glob("*.json")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            pid, argv = int(content["pid"]), list(content["argv"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            sys.stderr.write(f"bench: {path} is not readable ({error}) and is left out.\n")
            continue
        # a number alone may by now be another process's
        if _started(pid) is None or _started(pid) != content.get("started"):
            found.append((path, {**content, "argv": argv}))
    return found


def _started(pid: int) -> str | None:
    """Return the boot and the ticks at which a process started; None where it is gone."""
    try:
        stat = (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        )
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return None if stat[0] in "ZX" else f"{boot}:{stat[19]}"
