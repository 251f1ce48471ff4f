"""Temporary folders of killed processes are swept, and nothing that others put beside them."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from benchbook.host import temporary
from benchbook.host.identity import process_space

HARNESS = Path(__file__).resolve().parents[2]
HOLD = """
import sys, time
from pathlib import Path
from benchbook.host import temporary
with temporary.folder("site") as made:
    Path(made, "page.html").write_text("x" * 1000)
    print(made, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def holder(place):
    """A process with a temporary folder, and that folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env={**os.environ, "PYTHONPATH": str(HARNESS), "TMPDIR": str(place)},
        stdout=subprocess.PIPE,
        text=True,
    )
    yield process, Path(process.stdout.readline().strip())
    process.kill()
    process.communicate()


def test_the_folder_of_a_killed_process_is_swept_and_that_of_a_living_one_stays(holder):
    process, left = holder
    with temporary.folder("report"):
        assert (left / "page.html").is_file()
    process.kill()
    process.wait()
    assert left.is_dir()  # killed, it could not remove it
    with temporary.folder("report") as own:
        assert not left.exists()
        assert Path(own).is_dir()
    assert not Path(own).exists()


def test_what_others_put_beside_is_left_alone(place):
    outside = place / "outside"
    outside.mkdir()
    dead = f"{process_space()}-4194305-7"
    (place / f"benchbook-site-{dead}-link").symlink_to(outside)
    (place / f"benchbook-site-{dead}-file").write_text("x")
    os.mkfifo(place / f"benchbook-site-{dead}-pipe")
    for name in (
        "benchbook-site-abcdef",
        "benchbook-site-1-4194305-7-other",
        "benchbook-site-\u00b2-1-1-x",
        "mine",
    ):
        (place / name).mkdir()
    before = sorted(place.iterdir())
    temporary.sweep()
    assert sorted(place.iterdir()) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder to another user")
def test_the_folder_of_another_user_is_left_alone(place):
    other = place / f"benchbook-site-{process_space()}-4194305-7-x"
    other.mkdir()
    os.chown(other, 65534, 65534)
    temporary.sweep()
    assert other.is_dir()


def test_a_folder_that_cannot_be_listed_stops_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    temporary.sweep()
