"""Make happen again what misled readers once, and print what happens now.

``python -m tests.outside`` runs every function of ``reproductions.py`` in some minutes; with names as arguments, only
those. It needs InfluxDB 1.8.10, hyperfine, and root for a CPU quota. It exits with code 1 if one still misleads.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchbook.errors import Unavailable
from tests.outside.project import project
from tests.outside.reproductions import EVERY, Misled


def main() -> None:
    """Run the reproductions and print a line for each."""
    names = [one.__name__ for one in EVERY]
    wanted = sys.argv[1:] or names
    if unknown := [one for one in wanted if one not in names]:
        raise SystemExit(f"{unknown[0]} is no reproduction; allowed are: {', '.join(names)}.")
    misled = 0
    for one in EVERY:
        if one.__name__ not in wanted:
            continue
        print(f"{one.__name__}: {one.__doc__}", flush=True)
        with (
            tempfile.TemporaryDirectory(prefix="benchbook-outside-") as folder,
            project(Path(folder)) as made,
        ):
            try:
                print(f"  now: {one(made)}", flush=True)
            except Misled as still:
                misled += 1
                print(f"  STILL MISLEADS: {still}", flush=True)
            except (Unavailable, PermissionError, FileNotFoundError) as why:
                print(f"  not tried: {why}", flush=True)
    raise SystemExit(1 if misled else 0)


if __name__ == "__main__":
    main()
