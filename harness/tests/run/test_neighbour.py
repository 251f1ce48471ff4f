import json
import os
import subprocess
import sys
from pathlib import Path

from benchbook.run import scratch


def test_a_run_next_door_is_seen_while_it_lives_and_no_longer(tmp_path):
    code = (
        "import sys, pathlib\nfrom benchbook.run.scratch import announced\n"
        "with announced('other-run', pathlib.Path(sys.argv[1])):\n    print('there', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path], stdin=-1, stdout=-1, cwd=Path(__file__).parents[2]
    )
    assert other.stdout.readline() == b"there\n"
    with scratch.announced("own-run", tmp_path):
        [found] = scratch.neighbours(tmp_path)
        assert (found.run_id, found.pid) == ("other-run", other.pid)
        assert "other-run" in scratch.neighbours_note([found])
        other.kill(), other.communicate()
        assert (tmp_path / f"{other.pid}.json").exists()  # killed, it could not take it away
        assert scratch.neighbours(tmp_path) == []
    assert not (tmp_path / f"{os.getpid()}.json").exists()


def test_garbage_and_a_folder_that_cannot_be_written_disturb_nobody(tmp_path):
    (tmp_path / "1.json").write_text("{")
    (tmp_path / "2.json").write_text(json.dumps([]))
    assert scratch.neighbours(tmp_path) == []
    (tmp_path / "file").write_text("")
    with scratch.announced("run", tmp_path / "file"):
        assert scratch.neighbours(tmp_path / "file") == []
