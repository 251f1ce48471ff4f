"""MariaDB: driven as MySQL is; only the making of its data folder differs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import ClassVar

from benchbook.errors import TrialFailed
from benchbook.systems.driver import Place, Setting
from benchbook.systems.mysql import MySQL

IN_CONTAINERS = True
URL_SCHEMES = ("mysql",)
INSTALL = "mariadb-install-db"


class MariaDB(MySQL):
    """One MariaDB in one trial."""

    extra: ClassVar[dict[str, Setting]] = {}

    def _initialise(self, config: Path) -> None:
        self._own_data()
        program = self._program()
        beside = [program.parent, program.parent.parent / "bin", program.parent.parent / "scripts"]
        found = shutil.which(INSTALL, path=":".join(map(str, beside))) or shutil.which(INSTALL)
        if self._place.program.image:
            found = f"/usr/bin/{INSTALL}"
        if found is None:
            raise TrialFailed(
                f"{INSTALL}, which makes MariaDB's data folder, is neither near {program} nor on PATH.",
                "Get it with: apt-get install mariadb-server",
            )
        self._run(
            [
                found, f"--defaults-file={config}", f"--datadir={self._place.data}", "--skip-test-db",
                "--auth-root-authentication-method=normal",
                *([f"--user={self._user.name}"] if self._user else []),
            ]
        )  # fmt: skip


def driver(place: Place) -> MariaDB:
    """Return the driver of one MariaDB."""
    return MariaDB(place)
