"""Runs on one machine see each other, and no other user can stop them with that."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from benchbook.run import scratch

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux has names of sockets without files"
)


def test_a_run_next_door_is_seen_while_it_lives_and_no_longer():
    code = (
        "import sys\nfrom benchbook.run.scratch import announced\n"
        "with announced('other-run'):\n    print('there', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, cwd=Path(__file__).parents[2])
    assert other.stdout.readline() == b"there\n"
    with scratch.announced("own-run"):
        found = scratch.neighbours()
        assert scratch.Neighbour("other-run", other.pid) in found
        assert os.getpid() not in [one.pid for one in found]
        assert "other-run" in scratch.neighbours_note(found)
        other.kill(), other.communicate()
        assert other.pid not in [one.pid for one in scratch.neighbours()]  # killed, it leaves nothing


def test_nothing_in_a_folder_that_all_users_share_is_touched(touched):
    """A named pipe or ``{"pid": Infinity}`` in /tmp/benchbook-runs stopped every run of the machine."""
    with scratch.announced("own-run"):
        scratch.neighbours()
    assert touched == ["/proc/net/unix"]


@pytest.fixture
def touched():
    """The paths that Python opens, lists, makes or removes during a test."""
    found, on = [], True

    def hook(event, arguments):
        if on and event in ("open", "os.listdir", "os.scandir", "os.mkdir", "os.chmod", "os.remove"):
            found.append(str(arguments[0]))

    sys.addaudithook(hook)  # cannot be removed, only silenced
    yield found
    on = False


@pytest.mark.parametrize(
    "name", ["x", "1/", "1/..%s", "99999999999/a", "1/a b", "1/a\n@benchbook-run/2/b\x1b[2J"]
)
def test_a_name_that_no_run_has_is_no_neighbour(name):
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(f"\0{scratch.ANNOUNCED}/{name}")
        assert all(found.run_id.isprintable() and " " not in found.run_id for found in scratch.neighbours())


def test_a_name_that_another_user_holds_does_not_stop_the_run():
    with socket.socket(socket.AF_UNIX) as squatter:
        squatter.bind(scratch._name_of("own-run"))
        with scratch.announced("own-run"):
            pass


def test_a_flood_of_names_is_cut_off():
    held = [socket.socket(socket.AF_UNIX) for _ in range(scratch.MOST_NEIGHBOURS + 5)]
    for number, one in enumerate(held):
        one.bind(f"\0{scratch.ANNOUNCED}/1/flood-{number}")
    assert len(scratch.neighbours()) == scratch.MOST_NEIGHBOURS
    for one in held:
        one.close()
