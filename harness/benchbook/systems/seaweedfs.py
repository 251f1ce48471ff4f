"""SeaweedFS: one process with a master and a volume server; with a filer and S3 gateway if the arm requests them.

Its telemetry is switched off: no data leaves the machine.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchbook.declare.level import Setting
from benchbook.errors import TrialFailed
from benchbook.process import secret
from benchbook.process.http import Http
from benchbook.storage.driver import allocated, disks
from benchbook.storage.local import Storage
from benchbook.storage.s3 import S3
from benchbook.systems.client import BenchloadClient
from benchbook.systems.driver import Client, Place, TableCount
from benchbook.systems.server import Layout, Server, settings_text

MASTER_FILE = "master.toml"
S3_FILE = "s3.json"


class SeaweedFS(Server):
    """One SeaweedFS in one trial."""

    ports = (
        "master", "master_grpc", "volume", "volume_grpc", "filer", "filer_grpc", "s3", "s3_grpc",
    )  # fmt: skip
    harness_settings = ("sync", "volumes", "gateway")
    # With a gateway it waits ten seconds without need, and its data is removed next.
    stop_seconds = 2.0

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.log = place.logs / "weed.log"
        self._gateway = bool(place.settings.get("gateway", False))
        self.target = "s3" if self._gateway else "seaweedfs"
        self._secret_key = secret.draw()
        self._folders = [disk / "volumes" for disk in disks(place.data)]

    @property
    def s3(self) -> S3:
        """Address and keys of the gateway."""
        at = self.layout.address("s3") if self._addresses else ""
        return S3(f"http://{at}", "benchbook", self._secret_key)

    def configure(self) -> dict[str, str]:
        """Refuse an external server, and write the configuration."""
        if self.external:
            raise TrialFailed(
                f"{self.url} is a running server, but this driver can only start SeaweedFS itself.",
                f"Give a program with --system {self.name}=PATH.",
            )
        return super().configure()

    def files(self, at: Layout) -> dict[str, str]:
        """Return the number of volumes that grow at once, and the flags that are the same in every trial."""
        growth = f"[master.volume_growth]\ncopy_1 = {int(self.place.settings.get('volumes', 7))}\n"
        flags = [flag for flag in self._flags(at) if not _differs(flag)]
        return {MASTER_FILE: growth, "flags": "\n".join(flags) + "\n"}

    def initialise(self) -> None:
        """Create the folders of the volumes, and write the keys of the gateway."""
        for folder in self._folders:
            folder.mkdir(parents=True, exist_ok=True)
        if self._gateway:
            file = self.place.data / S3_FILE
            file.touch(mode=0o600)
            file.write_text(_identity(self.s3), encoding="utf-8")

    def command(self) -> Sequence[str | Path]:
        return [self.program, "-config_dir", self.place.config, "server", *self._flags(self.layout)]

    def _flags(self, at: Layout) -> list[str]:
        flags: dict[str, Setting] = {
            "ip": at.host, "ip.bind": at.host, "dir": ",".join(map(str, self._folders)),
            "volume.max": ",".join(["64"] * len(self._folders)), "master.dir": at.data,
            "master.port": at.ports["master"], "master.port.grpc": at.ports["master_grpc"],
            "volume.port": at.ports["volume"], "volume.port.grpc": at.ports["volume_grpc"],
            "master.telemetry": "false", "volume.preStopSeconds": 0,
        }  # fmt: skip
        if self._gateway:
            flags |= {
                "s3": "true", "filer": "true",
                "filer.port": at.ports["filer"], "filer.port.grpc": at.ports["filer_grpc"],
                "s3.port": at.ports["s3"], "s3.port.grpc": at.ports["s3_grpc"],
                "s3.port.iceberg": 0, "s3.port.lance": 0, "s3.config": f"{at.data}/{S3_FILE}",
                "filer.localSocket": f"{at.data}/filer.sock", "s3.localSocket": f"{at.data}/s3.sock",
            }  # fmt: skip
        return settings_text(flags | self.settings, "-{}={}").splitlines()

    def answers(self) -> bool:
        """Check that the master assigns file ids and that the gateway answers."""
        answer = self.http.probe("/dir/assign")
        if answer is None or "fid" not in answer.text:
            return False
        return not self._gateway or self.s3.answers()

    def version(self) -> str:
        """Return the version that the master reports: the second word of ``30GB 4.44``."""
        stated = str(self.http.json("/dir/status").get("Version", "unknown")).split()
        return stated[1] if len(stated) > 1 else stated[0]

    def prepare(self) -> None:
        """Create the gateway's bucket; volumes exist when the server is ready."""
        if self._gateway:
            self.s3.make_bucket(self.place.databases[0])

    def settle(self) -> None:
        """Sync the written data to the device. SeaweedFS compacts a volume only after many deletions."""
        for folder in self._folders:
            Storage(folder).sync()

    def disk_usage(self) -> dict[str, int]:
        """Return the bytes of the volumes with their indexes (data) and the rest (other)."""
        data = sum(allocated(folder) for folder in self._folders)
        return {"data": data, "other": max(0, allocated(self.place.data) - data)}

    def count(self) -> dict[str, TableCount]:
        """Count the objects of all volumes, as the volume server reports them."""
        volumes = Http(self.name, f"http://{self.layout.address('volume')}", on_failure=self.check_alive)
        found: list[dict[str, Any]] = volumes.json("/status").get("Volumes") or []
        files = sum(int(one.get("FileCount", 0)) - int(one.get("DeleteCount", 0)) for one in found)
        return {"objects": TableCount(files)}

    def client_environment(self) -> dict[str, str]:
        return self.s3.environment

    def client(self, benchload: Path) -> Client:
        """Return benchload with S3 through the gateway, or with SeaweedFS's protocol."""
        options = self.client_options(self.place.databases[0], self.place.logs / "benchload.log")
        if self._gateway:
            return BenchloadClient(benchload, **{**options, "url": lambda: self.s3.url})
        sync = {"blob": (f"--sync={self.place.settings.get('sync', 'none')}",)}
        return BenchloadClient(benchload, own_flags=sync, **options)


driver = SeaweedFS


def _differs(flag: str) -> bool:
    """Return whether a flag differs between trials, as ports and folders do."""
    name = flag[1:].partition("=")[0]
    return ".port" in name or name.endswith(("dir", "localSocket", "config"))


def _identity(s3: S3) -> str:
    keys = {"accessKey": s3.access_key, "secretKey": s3.secret_key}
    actions = ["Admin", "Read", "Write", "List", "Tagging"]
    return json.dumps({"identities": [{"name": "benchbook", "credentials": [keys], "actions": actions}]})
