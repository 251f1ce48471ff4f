"""Machines played by network namespaces: each with its address, all on one bridge."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from bench import environment

SPACES = Path("/run/netns")


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


class Network:
    """Namespaces on one bridge; the harness itself is at ``hub``."""

    def __init__(self, names: list[str], folder: Path) -> None:
        self._tag = f"bb{random.randrange(16**5):05x}"
        self._folder = folder
        self._base = f"10.{random.randint(128, 191)}.{random.randint(0, 255)}"
        self.hub = f"{self._base}.1"
        self.address = {name: f"{self._base}.{place}" for place, name in enumerate(names, 2)}
        self.started: dict[str, subprocess.Popen[bytes]] = {}
        self._bound = False

    def open(self) -> None:
        self._bound = str(SPACES) not in Path("/proc/self/mounts").read_text()
        ip("link", "add", self._tag, "type", "bridge")
        ip("address", "add", f"{self.hub}/24", "dev", self._tag)
        ip("link", "set", self._tag, "up")
        for place, (name, address) in enumerate(self.address.items()):
            space, here, there = f"{self._tag}-{name}", f"{self._tag}h{place}", f"{self._tag}n{place}"
            ip("netns", "add", space)
            ip("link", "add", here, "type", "veth", "peer", "name", there)
            ip("link", "set", here, "master", self._tag, "up")
            ip("link", "set", there, "netns", space)
            ip("-n", space, "address", "add", f"{address}/24", "dev", there)
            ip("-n", space, "link", "set", there, "up")
            ip("-n", space, "link", "set", "lo", "up")

    def close(self) -> None:
        for name in list(self.started):
            self.kill(name)
        for name in self.address:
            subprocess.run(["ip", "netns", "delete", f"{self._tag}-{name}"], check=False, capture_output=True)
        subprocess.run(["ip", "link", "delete", self._tag], check=False, capture_output=True)
        if self._bound and SPACES.is_dir() and not any(SPACES.iterdir()):
            # What the first `ip netns add` of a machine mounts, and nothing takes away.
            subprocess.run(["umount", SPACES], check=False, capture_output=True)

    def left(self) -> list[str]:
        """Return the mounts of its namespaces that are still there."""
        return [line for line in Path("/proc/self/mounts").read_text().splitlines() if self._tag in line]

    def start(self, name: str, *arguments: str, inside: bool = True) -> None:
        """Start Dask on a machine, with its words in a log."""
        space = ["ip", "netns", "exec", f"{self._tag}-{name}"] if inside else []
        with (self._folder / f"{name}.log").open("wb") as log:
            self.started[name] = subprocess.Popen(
                [*space, sys.executable, "-P", "-m", "dask", *arguments],
                env=environment(), stdout=log, stderr=log, start_new_session=True, cwd=self._folder,
            )  # fmt: skip

    def kill(self, name: str) -> None:
        """Lose a machine: everything on it ends at once, including servers and clients in other sessions."""
        started = self.started.pop(name)
        if name in self.address:
            listed = subprocess.run(
                ["ip", "netns", "pids", f"{self._tag}-{name}"], check=False, capture_output=True, text=True
            )
            for pid in map(int, listed.stdout.split()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()

    def worker(self, name: str, scheduler: str, resource: str) -> None:
        """Start a worker; without a nanny, so that killing it is losing the machine."""
        self.start(
            name, "worker", scheduler, "--resources", f"{resource}=1", "--name", name, "--host", self.address[name],
            "--no-nanny", "--nthreads", "2", "--no-dashboard", "--local-directory", str(self._folder / name),
        )  # fmt: skip


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, Network]]:
    """Give a scheduler with the workers of a server and of two clients, each on a separate machine.

    One more machine, ``spare``, runs nothing yet.
    """
    if shutil.which("ip") is None:
        pytest.skip("ip is not on PATH: apt-get install iproute2")
    if os.geteuid() != 0:
        pytest.skip("making network namespaces needs root")
    network = Network(["server", "client1", "client2", "spare"], folder)
    try:
        network.open()
        port = random.randint(20000, 40000)
        scheduler = f"tcp://{network.hub}:{port}"
        network.start(
            "scheduler",
            "scheduler",
            "--host",
            network.hub,
            "--port",
            str(port),
            "--no-dashboard",
            inside=False,
        )
        network.worker("server", scheduler, "server")
        for name in ("client1", "client2"):
            network.worker(name, scheduler, "client")
        yield scheduler, network
    except subprocess.CalledProcessError as error:
        pytest.skip(f"network namespaces cannot be made here: {error.stderr!r}")
    finally:
        network.close()
        assert network.left() == []
