"""The comparison of benchload with other load tools runs from any path."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchbook.process.spawn import find_benchload
from tests.live.bench import need_benchload

LOAD_TOOLS = Path(__file__).parents[2] / "benchmarks" / "load_tools"


def test_a_path_with_a_space_is_no_obstacle(tmp_path):
    need_benchload()
    place = tmp_path / "a folder"
    place.mkdir()
    (place / "benchload").symlink_to(find_benchload())
    done = subprocess.run(
        [sys.executable, LOAD_TOOLS, "--runs", "1", "--rows", "10000", "--only", "generate,load"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "BENCHBOOK_BENCHLOAD": str(place / "benchload"), "TMPDIR": str(place)},
    )
    assert done.returncode == 0, done.stderr
    assert "generate devops, one core" in done.stdout
    assert "load" in done.stdout
