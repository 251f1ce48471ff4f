"""DolphinDB, one node."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchbook.declare.level import Setting
from benchbook.storage.driver import allocated
from benchbook.systems.python_worker import PythonServer
from benchbook.systems.server import Layout, settings_text

FILE = "dolphindb.cfg"


class DolphinDB(PythonServer):
    """One DolphinDB in one trial, in its mode ``single``."""

    scheme = "dolphindb"
    url_schemes = ("dolphindb",)
    engine = "dolphindb"
    title = "DolphinDB"
    library = "dolphindb"

    def files(self, at: Layout) -> dict[str, str]:
        settings: dict[str, Setting] = {
            "mode": "single",
            "localSite": f"{at.host}:{at.ports['port']}:local",
            "volumes": f"{at.data}/volumes",
            "chunkMetaDir": f"{at.data}/chunks",
            "redoLogDir": f"{at.data}/redo",
            "TSDBRedoLogDir": f"{at.data}/tsdb-redo",
            "logFile": f"{at.data}/dolphindb.log",
            "dataSync": 1,
            **self.settings,
        }
        return {FILE: settings_text(settings, "{}={}")}

    def command(self) -> Sequence[str | Path]:
        """Return the command; the program expects its functions and its licence in its home."""
        config = self.place.config / FILE
        return [self.program, "-console", "0", "-home", self.program.parent, "-config", config]

    def disk_usage(self) -> dict[str, int]:
        """Return the bytes of the column files (data), the redo logs (wal) and the chunk metadata (system)."""
        data = self.place.data
        wal = allocated(data / "redo") + allocated(data / "tsdb-redo")
        return {"data": allocated(data / "volumes"), "wal": wal, "system": allocated(data / "chunks")}
