"""Toxiproxy, a proxy that delays and cuts, in front of a null server; built once from its Go module."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

MODULE = "github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0"
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
TOXICS = {"latency": {"latency": 120}, "reset_peer": {"timeout": 100}, "timeout": {"timeout": 0}}


def program() -> Path:
    """Return the proxy's program, built into the user's cache; skip by name where it cannot be."""
    from benchbook.run.benchload import go_command

    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "benchbook" / "tests"
    found = cache / "server"
    if not found.exists():
        go = go_command() or "go"
        try:
            done = subprocess.run([go, "install", MODULE], env={**os.environ, "GOBIN": str(cache), "CGO_ENABLED": "0"},
                                  capture_output=True, text=True, check=False)  # fmt: skip
        except OSError as error:
            pytest.skip(f"toxiproxy cannot be built: {error.strerror}")
        if done.returncode:
            pytest.skip(f"toxiproxy cannot be built: {done.stderr.strip().splitlines()[-1:]}")
    return found


@dataclass
class Proxied:
    """A null server behind the proxy."""

    url: str
    control: str

    def poison(self, toxic: str) -> None:
        """Have the proxy spoil what the server answers."""
        ask(
            f"{self.control}/proxies/null/toxics",
            {"type": toxic, "stream": "downstream", "attributes": TOXICS[toxic]},
        )


def ask(url: str, body: dict[str, object] | None = None) -> bytes:
    request = urllib.request.Request(url, json.dumps(body).encode() if body else None)
    with OPENER.open(request, timeout=5) as answer:
        return bytes(answer.read())


def running(folder: Path) -> Iterator[Proxied]:
    """Start a null server and the proxy in front of it; end both afterwards."""
    from benchbook.process.network import free_ports
    from benchbook.process.spawn import find_benchload, start

    server, proxy, control = (f"127.0.0.1:{port}" for port in free_ports(3))
    started = [
        start([find_benchload(), "null-server", "--listen", server], name="null server", log=folder / "null.log"),
        start([program(), "-host", "127.0.0.1", "-port", control.rpartition(":")[2]], name="toxiproxy",
              log=folder / "proxy.log"),
    ]  # fmt: skip
    try:
        for _ in range(500):
            try:
                ask(f"http://{server}/count")
                ask(f"http://{control}/proxies", {"name": "null", "listen": proxy, "upstream": server})
                break
            except (OSError, urllib.error.URLError):
                time.sleep(0.02)
        yield Proxied(f"http://{proxy}", f"http://{control}")
    finally:
        for one in started:
            one.stop(grace_seconds=2)
