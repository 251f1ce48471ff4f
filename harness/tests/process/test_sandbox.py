"""Images without an engine: what a sandbox shows, and where links of an image lead."""

import json
import os
import signal
from pathlib import Path

import pytest

from benchbook.errors import TrialFailed
from benchbook.host.identity import identity
from benchbook.process import sandbox
from benchbook.process.launch import ContainerOptions, Program
from benchbook.process.sandbox import Sandbox, inside
from benchbook.process.wait import until


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("/usr/bin/x", "usr/bin/x"),
        ("/bin/x", "usr/bin/x"),
        ("/absolute/x", "usr/bin/x"),
        ("/usr/bin/absolute/x", "etc/x"),
        ("/usr/../../../bin/x", "usr/bin/x"),
        ("/up/etc/passwd", "etc/passwd"),
        ("missing/x", "missing/x"),
    ],
)
def test_links_of_an_image_never_leave_its_root(tmp_path, name, found):
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "bin").symlink_to("usr/bin")
    (tmp_path / "absolute").symlink_to("/usr/bin")
    (tmp_path / "usr/bin/absolute").symlink_to("/etc")
    (tmp_path / "up").symlink_to("../../..")
    assert inside(tmp_path, name) == tmp_path / found


def test_a_circle_of_links_ends(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="too many links"):
        inside(tmp_path, "/a/x")


def test_the_last_link_itself_can_be_asked_for(tmp_path):
    (tmp_path / "a").symlink_to("/etc/passwd")
    assert inside(tmp_path, "a", last=False) == tmp_path / "a"
    assert inside(tmp_path, "a") == tmp_path / "etc/passwd"


@pytest.fixture
def box(tmp_path):
    """Return a sandbox whose image is this machine's programs; skip where there is no bubblewrap."""
    if reason := sandbox.refusal(os.environ):
        pytest.skip(reason)
    root = tmp_path / "image" / "root"
    for name in ("etc", "run/server", "home/other"):
        (root / name).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64", "usr"):
        place = Path("/", name)
        if place.is_symlink():
            (root / name).symlink_to(place.readlink())
        elif place.is_dir():
            (root / name).symlink_to(f"/host/{name}")
    (root / "etc/stated").write_text("by the image\n")
    config = {"Env": ["PATH=/host/usr/bin:/usr/bin:/bin", "STATED=image"], "WorkingDir": "/etc"}
    root.with_name("image.json").write_text(json.dumps({"config": config}))
    data, host = tmp_path / "data", Path("/usr")
    data.mkdir()
    program = Program(
        "server-1", "1", "image", path=Path("/bin/sh"), root=root, container=ContainerOptions(user="70:71")
    )
    made = Sandbox(program, [data], None)
    # The programs of this machine stand in for those of an image.
    made._mounts = [*made._mounts[:-2], "--ro-bind", str(host), "/host/usr", "--remount-ro", "/"]
    return made, data


def ran(box, script, **more):
    found = box[0].call(["/host/usr/bin/sh", "-c", script], 30.0, **more)
    assert found.returncode == 0, found.stderr
    return found.stdout.split()


def test_a_program_has_the_user_the_folder_and_the_variables_of_its_image(box, monkeypatch):
    monkeypatch.setenv("OF_THE_HARNESS", "secret")
    script = 'echo $(id -u) $(id -g) $PWD "$STATED" "${OF_THE_HARNESS-unset}" "$ADDED"; cat stated'
    assert ran(box, script, environment={"ADDED": "by the driver"}) == [
        "70", "71", "/etc", "image", "unset", "by", "the", "driver", "by", "the", "image",
    ]  # fmt: skip


def test_the_variables_of_the_driver_come_before_those_of_the_image(box):
    assert ran(box, 'echo "$STATED"', environment={"STATED": "driver"}) == ["driver"]


def test_the_network_and_the_names_of_hosts_are_those_of_the_machine(box):
    assert ran(box, "readlink /proc/self/ns/net") == [str(Path("/proc/self/ns/net").readlink())]
    assert ran(box, "cat /etc/hosts") == Path("/etc/hosts").read_text().split()


def test_only_the_folders_of_the_trial_are_writable(box):
    _, data = box
    script = (
        "for place in /x /etc/x /usr/x /home/x /dev/x /proc/sys/vm/swappiness "
        f"{data}/x /tmp/x /run/server/x /dev/shm/x; do (echo 1 > $place) 2>/dev/null && echo $place; done; true"
    )
    assert ran(box, script) == [f"{data}/x", "/tmp/x", "/run/server/x", "/dev/shm/x"]
    assert (data / "x").read_text() == "1\n"
    assert (data / "x").stat().st_uid == os.getuid()


def test_nothing_of_this_machine_is_seen_but_the_folders_of_the_trial(box, tmp_path):
    _, data = box
    (tmp_path / "beside").write_text("1")
    assert ran(box, f"ls {tmp_path}; ls /home /dev/shm | grep -v :") == ["data", "other"]
    assert "mem" not in ran(box, "ls /dev")
    assert data.name == "data"


def test_values_of_variables_stay_out_of_the_command_line(box):
    command = box[0].command(["server"], None, {"PASSWORD": "secret", "PATH": "/bin"})
    assert "secret" not in " ".join(command)


def test_the_stop_signal_reaches_the_server_alone_and_its_ending_is_told(box, tmp_path):
    log = tmp_path / "log"
    script = "trap 'echo stopping; sleep 0.2; echo stopped; exit 3' TERM; echo ready; while :; do :; done"
    started = box[0].start(["/host/usr/bin/sh", "-c", script], name="server", log=log)
    try:
        assert until(lambda: "ready" in log.read_text(), 20.0)
        assert len(started.tree()) >= 1
        started.stop(grace_seconds=20.0)
    finally:
        started.stop(first=signal.SIGKILL)
    assert log.read_text().split() == ["ready", "stopping", "stopped"]
    assert started.ending() == "exited with code 3"


@pytest.mark.parametrize(
    ("script", "ending"), [("kill -KILL $$", "was ended by SIGKILL"), ("exit 232", "exited with code 232")]
)
def test_a_server_that_ended_is_told_by_its_signal_or_code(box, tmp_path, script, ending):
    started = box[0].start(["/host/usr/bin/sh", "-c", script], name="server", log=tmp_path / "log")
    assert until(started.ending, 20.0)
    assert started.ending() == ending
    with pytest.raises(TrialFailed, match=f"server {ending}"):
        started.check()
    started.stop()


def test_a_server_ends_with_bubblewrap(box, tmp_path):
    started = box[0].start(["/host/usr/bin/sleep", "1000"], name="server", log=tmp_path / "log")

    def running() -> bool:
        return any(Path(f"/proc/{pid}/comm").read_text() == "sleep\n" for pid in started.tree())

    assert until(running, 20.0)
    (server, *_) = started.tree()
    os.kill(started.pid, signal.SIGKILL)  # as when the kernel ends it because the harness died
    assert until(lambda: identity(server) is None, 20.0)
    started.stop()


def test_a_machine_without_bubblewrap_or_namespaces_says_so(tmp_path):
    assert sandbox.refusal({"PATH": str(tmp_path)}) == "no bwrap on PATH"
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    assert sandbox.refusal({"PATH": str(tmp_path)}) == (
        "this machine allows no user namespaces (No permissions to create new namespace)"
    )
