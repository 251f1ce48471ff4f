"""A Docker engine of the tests' own, and images made FROM scratch: no registry is asked for anything."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SILENT = ("--iptables=false", "--ip6tables=false", "--bridge=none", "--ip-forward=false")
"""The engine changes nothing of this machine's own network."""


@contextmanager
def engine() -> Iterator[str]:
    """Start an engine with a separate data folder and return its DOCKER_HOST; skip if it cannot start."""
    if shutil.which("dockerd") is None:
        pytest.skip("dockerd is not on PATH: apt-get install docker.io")
    if os.geteuid() != 0:
        pytest.skip("starting dockerd needs root")
    # A short path: that of a socket has at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="bb-docker-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        address = f"unix://{folder}/sock"
        with (folder / "log").open("wb") as log:
            started = subprocess.Popen(
                ["dockerd", f"--data-root={folder}/data", f"--exec-root={folder}/exec", f"--host={address}",
                 f"--pidfile={folder}/pid", *SILENT],
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        try:
            for _ in range(600):
                if started.poll() is not None:
                    pytest.skip(f"dockerd cannot run here: {(folder / 'log').read_text()[-500:]}")
                if (folder / "sock").exists():
                    break
                time.sleep(0.05)
            yield address
        finally:
            started.send_signal(signal.SIGTERM)
            started.wait(timeout=60)
            _unmount(folder)
            assert f"{folder}/" not in Path("/proc/self/mounts").read_text()


def _unmount(folder: Path) -> None:
    """Unmount what the engine leaves when it ends: the namespace of its host network."""
    mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    for place in reversed(mounted):
        if place.startswith(f"{folder}/"):
            subprocess.run(["umount", place], check=False, capture_output=True)


def build(address: str, tag: str, program: Path, inside: str) -> Any:
    """Build an image that holds one static program and nothing else, through Docker's SDK."""
    import docker

    text = f"FROM scratch\nCOPY program {inside}\nENTRYPOINT [{inside!r}]\n".replace("'", '"')
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as tar:
        entry = tarfile.TarInfo("Dockerfile")
        entry.size = len(text)
        tar.addfile(entry, io.BytesIO(text.encode()))
        tar.add(program, arcname="program")
    context.seek(0)
    client = docker.DockerClient(base_url=address, version="auto")
    try:
        return client.images.build(fileobj=context, custom_context=True, tag=tag, rm=True)[0]
    finally:
        client.close()
