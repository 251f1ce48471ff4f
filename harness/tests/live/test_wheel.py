"""The wheel: built twice with the same bytes, and installed without extras, outside of any clone."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchbook.host.extras import EXTRAS

ROOT = Path(__file__).resolve().parents[3]
LAUNCHER = ROOT / "bench"


def done(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str]) -> str:
    """Run a command to its end and return its output; fail with its messages."""
    made = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr[-2000:]
    return made.stdout


@pytest.fixture
def around(tmp_path: Path) -> dict[str, str]:
    """Return an environment without settings of the clone, whose caches of Benchbook are new."""
    if not (ROOT / ".bench" / "venv").is_dir():
        pytest.skip("./bench was not set up in this checkout")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("BENCHBOOK_", "PYTHON"))
    }
    return {**kept, "BENCHBOOK_CACHE": str(tmp_path / "cache")}


@pytest.mark.timeout(1800)
def test_a_wheel_runs_quickstart_outside_of_a_clone(tmp_path: Path, around: dict[str, str]) -> None:
    built = [
        done([LAUNCHER, "package", "--output", tmp_path / name], tmp_path, around).split() for name in "ab"
    ]
    for one, other in zip(*built, strict=True):
        assert Path(one).read_bytes() == Path(other).read_bytes()
        assert Path(one).name == Path(other).name
    machines = [Path(one).stem.rpartition("manylinux2014_")[2] for one in built[0]]
    assert machines == ["x86_64", "aarch64"]

    wheel = built[0][machines.index(os.uname().machine)]
    uv = shutil.which("uv") or ROOT / ".bench" / "uv" / "bin" / "uv"
    where = tmp_path / "environment"
    python = where / "bin" / "python"
    done(
        [uv, "venv", "--quiet", "--python", ROOT / ".bench" / "venv" / "bin" / "python", where],
        tmp_path,
        around,
    )
    done([uv, "pip", "install", "--quiet", "--python", python, wheel], tmp_path, around)

    packages = [package for some in EXTRAS.values() for package in some]
    look = f"import importlib.util; print([one for one in {packages} if importlib.util.find_spec(one)])"
    assert done([python, "-c", look], tmp_path, around) == "[]\n"

    outside = tmp_path / "outside"
    outside.mkdir()
    benchbook = python.with_name("benchbook")
    assert "quickstart" in done([benchbook, "list"], outside, around)
    page = (
        outside
        / done([benchbook, "run", "quickstart", "--profile", "smoke"], outside, around).splitlines()[-1]
    )
    assert "Quickstart" in page.read_text(encoding="utf-8")
    assert "CnosDB" in done(
        [benchbook, "claims", ROOT / "reports" / "data" / "cnos-vs-influx"], outside, around
    )

    sources = Path(done([benchbook, "benchload", "--source"], outside, around).strip())
    assert (sources / "command" / "command.go").is_file()
    assert not list(sources.rglob("*_test.go"))

    done([benchbook, "init", "mine"], outside, around)
    mine = outside / "mine"
    done([benchbook, "run", "first", "--profile", "smoke"], mine / "systems", around)
    done([benchbook, "export", "--publish"], mine, around)
    assert done([benchbook, "site"], mine / "reports", around).strip() == str(mine / "site" / "index.html")
    assert "Experiments of mine" in (mine / "site" / "index.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in outside.iterdir()) == ["mine", "results"]
    for arguments, message in (
        (["site"], "site needs reports/data of a project"),
        (["dask", "scheduler"], "dask needs the Python package distributed (Benchbook's extra cluster)"),
    ):
        refused = subprocess.run(
            [benchbook, *arguments], cwd=outside, env=around, capture_output=True, text=True, check=False
        )
        assert refused.returncode == 2
        assert refused.stderr.startswith(f"bench: {message}")
    assert f"'benchbook[cluster] @ {Path(wheel).as_uri()}'" in refused.stderr
