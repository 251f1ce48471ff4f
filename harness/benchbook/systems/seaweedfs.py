"""SeaweedFS: one process with a master and a volume server, and a filer with an S3 gateway where it is asked for.

Its usage reporting is switched off: nothing leaves the machine.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from benchbook.errors import TrialFailed
from benchbook.process import secret
from benchbook.process.launch import Started
from benchbook.process.network import free_ports
from benchbook.storage.driver import allocated, disks
from benchbook.storage.local import Local
from benchbook.storage.minio_server import S3
from benchbook.systems.client import BenchloadClient
from benchbook.systems.driver import Client, Place, TableCount

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
IN_CONTAINERS = True
MASTER_FILE = "master.toml"
S3_FILE = "s3.json"
STOP_SECONDS = 2.0
OWN = ("sync", "volumes", "gateway")
"""Settings of an arm that are the harness's words; all others are flags of ``weed server``."""


class SeaweedFS:
    """One SeaweedFS server in one trial."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._running: Started | None = None
        self.watched_seconds = 0.0
        self._gateway = bool(place.settings.get("gateway", False))
        self._volumes = int(place.settings.get("volumes", 7))
        self._ports: list[int] = []
        self.s3 = S3("", "benchbook", secret.draw())

    def configure(self) -> dict[str, str]:
        """Write how many volumes grow at once, and the keys of the gateway; return all with placeholders."""
        if self._place.program.path is None:
            raise TrialFailed(
                f"{self._place.program.url} cannot be used: this driver starts a SeaweedFS of its own.",
                f"Give a program with --system {self._place.program.system}=PATH.",
            )
        self._ports = free_ports(9, self._place.host)
        self.s3 = S3(f"http://{self._place.host}:{self._ports[6]}", self.s3.access_key, self.s3.secret_key)
        growth = f"[master.volume_growth]\ncopy_1 = {self._volumes}\n"
        (self._place.config / MASTER_FILE).write_text(growth, encoding="utf-8")
        if self._gateway:
            (self._place.data / S3_FILE).write_text(_identity(self.s3), encoding="utf-8")
            (self._place.data / S3_FILE).chmod(0o600)
        shown = [flag for flag in self._flags() if not _differs(flag)]
        return {MASTER_FILE: growth, "flags": "\n".join(shown) + "\n"}

    def start(self) -> None:
        """Start it."""
        for folder in self._folders():
            folder.mkdir(parents=True, exist_ok=True)
        self._running = self._place.start(
            [str(self._place.program.path), "-config_dir", str(self._place.config), "server", *self._flags()],
            name=self._place.program.system,
            log=self._place.logs / "weed.log",
            cwd=self._place.data,
        )

    def ready(self) -> bool:
        """Say whether the master assigns file ids, and the gateway answers; raise TrialFailed when it has died."""
        if self._running is not None:
            self._running.check()
        try:
            if "fid" not in self._ask("/dir/assign"):
                return False
            if self._gateway:
                self.s3.request("GET", "/", timeout_seconds=1.0)
        except TrialFailed:
            return False
        return True

    def prepare(self) -> None:
        """Make the bucket of the gateway; volumes have grown when the server became ready."""
        if self._gateway:
            self.s3.request("PUT", f"/{self._place.databases[0]}")

    def settle(self) -> None:
        """Have what it wrote synced to the device. It compacts a volume only when much of it was deleted."""
        for folder in self._folders():
            Local(folder).sync()

    def size(self) -> dict[str, int]:
        """Bytes allocated on disk: volumes and their indexes (data), everything else."""
        data = sum(allocated(folder) for folder in self._folders())
        return {"data": data, "other": max(0, allocated(self._place.data) - data)}

    def version(self) -> str:
        """Return the version that the master states: the second word of ``30GB 4.44``."""
        stated = str(self._ask("/dir/status").get("Version", "unknown")).split()
        return stated[1] if len(stated) > 1 else stated[0]

    def count(self) -> dict[str, TableCount]:
        """Count the objects of all volumes, as the volume server states them."""
        found = self._ask("/status", port=2).get("Volumes") or []
        files = sum(int(one.get("FileCount", 0)) - int(one.get("DeleteCount", 0)) for one in found)
        return {"objects": TableCount(files)}

    def client(self, benchload: Path) -> Client:
        """Benchload: through the gateway by S3, else as SeaweedFS's own clients do."""
        host = self._place.host
        where = "s3" if self._gateway else "seaweedfs"
        return BenchloadClient(
            benchload, target=where, database=self._place.databases[0],
            url=lambda: self.s3.url if self._gateway else f"http://{host}:{self._ports[0]}",
            log=self._place.logs / "benchload.log", registry=self._place.processes,
            sync=None if self._gateway else str(self._place.settings.get("sync", "none")),
            environment={
                "AWS_ACCESS_KEY_ID": self.s3.access_key, "AWS_SECRET_ACCESS_KEY": self.s3.secret_key
            },
        )  # fmt: skip

    def processes(self) -> list[int]:
        """Return the server's process tree."""
        return self._running.tree() if self._running is not None else []

    def stop(self) -> None:
        """SIGTERM, then SIGKILL: with a gateway it waits ten seconds for nobody, and its data is removed next."""
        if self._running is not None:
            self._running.stop(grace_seconds=STOP_SECONDS)
            self._running = None

    def _folders(self) -> list[Path]:
        return [disk / "volumes" for disk in disks(self._place.data)]

    def _flags(self) -> list[str]:
        ports, host, data = self._ports, self._place.host, self._place.data
        folders = self._folders()
        flags = {
            "ip": host, "ip.bind": host, "dir": ",".join(map(str, folders)),
            "volume.max": ",".join(["64"] * len(folders)), "master.dir": data,
            "master.port": ports[0], "master.port.grpc": ports[1],
            "volume.port": ports[2], "volume.port.grpc": ports[3],
            "master.telemetry": "false", "volume.preStopSeconds": 0,
        }  # fmt: skip
        if self._gateway:
            flags |= {
                "s3": "true", "filer": "true", "filer.port": ports[4], "filer.port.grpc": ports[5],
                "s3.port": ports[6], "s3.port.grpc": ports[7], "s3.port.iceberg": 0, "s3.port.lance": 0,
                "s3.config": data / S3_FILE,
                "filer.localSocket": data / "filer.sock", "s3.localSocket": data / "s3.sock",
            }  # fmt: skip
        flags |= {name: value for name, value in self._place.settings.items() if name not in OWN}
        return [f"-{name}={value}" for name, value in flags.items()]

    def _ask(self, path: str, port: int = 0) -> dict[str, Any]:
        try:
            with _OPENER.open(f"http://{self._place.host}:{self._ports[port]}{path}", timeout=5.0) as answer:
                found: dict[str, Any] = json.loads(answer.read())
                return found
        except (OSError, ValueError, urllib.error.URLError) as error:
            raise TrialFailed(f"SeaweedFS does not answer {path}: {error}.") from None


def driver(place: Place) -> SeaweedFS:
    """Return the driver of one SeaweedFS server."""
    return SeaweedFS(place)


def _differs(flag: str) -> bool:
    """Say whether a flag differs from trial to trial: ports and folders."""
    name = flag[1:].partition("=")[0]
    return ".port" in name or name.endswith(("dir", "localSocket", "config"))


def _identity(s3: S3) -> str:
    keys = {"accessKey": s3.access_key, "secretKey": s3.secret_key}
    actions = ["Admin", "Read", "Write", "List", "Tagging"]
    return json.dumps({"identities": [{"name": "benchbook", "credentials": [keys], "actions": actions}]})
