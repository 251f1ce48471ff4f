"""DolphinDB: one node on a free loopback port, with its data in the trial's folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from benchbook.process.network import free_ports
from benchbook.storage.driver import allocated
from benchbook.systems.driver import Place, Setting
from benchbook.systems.python_server import PythonServer

IN_CONTAINERS = True
URL_SCHEMES = ("dolphindb",)
FILE = "dolphindb.cfg"


class DolphinDBServer(PythonServer):
    """One DolphinDB in one trial, in its mode ``single``."""

    engine: ClassVar[str] = "dolphindb"
    title: ClassVar[str] = "DolphinDB"
    library: ClassVar[str] = "dolphindb"

    def _configure(self) -> dict[str, str]:
        place = self._place
        (port,) = free_ports(1, place.host)
        self._addresses = [f"{place.host}:{port}"]
        self._url = f"dolphindb://{place.host}:{port}"
        (place.config / FILE).write_text(self._text(str(place.data), place.host, str(port)), encoding="utf-8")
        return {FILE: self._text("{data}", place.host, "{port}")}

    def _text(self, data: str, host: str, port: str) -> str:
        lines: dict[str, Setting] = {
            "mode": "single",
            "localSite": f"{host}:{port}:local",
            "volumes": f"{data}/volumes",
            "chunkMetaDir": f"{data}/chunks",
            "redoLogDir": f"{data}/redo",
            "TSDBRedoLogDir": f"{data}/tsdb-redo",
            "logFile": f"{data}/dolphindb.log",
            "dataSync": 1,
            **self._place.settings,
        }
        return "".join(f"{key}={value}\n" for key, value in sorted(lines.items()))

    def _command(self) -> Sequence[str | Path]:
        # Its functions and its licence lie beside the program, where it looks for them.
        home = self._program().parent
        return [self._program(), "-console", "0", "-home", home, "-config", self._place.config / FILE]

    def size(self) -> dict[str, int]:
        """Bytes allocated on disk: column files (data), logs (wal), the list of chunks (system)."""
        if self.elsewhere:
            return {}
        data = self._place.data
        logs = sum(allocated(data / name) for name in ("redo", "tsdb-redo"))
        return {"data": allocated(data / "volumes"), "wal": logs, "system": allocated(data / "chunks")}


def driver(place: Place) -> DolphinDBServer:
    """Return the driver of one DolphinDB."""
    return DolphinDBServer(place)
