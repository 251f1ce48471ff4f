"""MariaDB: MySQL's driver with a different initialisation of the data folder."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from benchbook.declare.level import Setting
from benchbook.errors import TrialFailed
from benchbook.systems.mysql import FILE, MySQL

INSTALL = "mariadb-install-db"


class MariaDB(MySQL):
    """One MariaDB in one trial."""

    defaults: ClassVar[dict[str, Setting]] = {}

    def initialise(self) -> None:
        beside = self.place.data / FILE
        shutil.copyfile(self.place.config / FILE, beside)
        super().initialise()
        beside.unlink()

    def initialise_command(self) -> Sequence[str | Path]:
        # The script splits paths at spaces, so it gets those relative to the data folder, in which it runs.
        return [
            self._install(), f"--defaults-file={FILE}", "--datadir=.", "--skip-test-db",
            "--auth-root-authentication-method=normal",
            *([f"--user={self._user.name}"] if self._user else []),
        ]  # fmt: skip

    def _install(self) -> str:
        if self.place.program.isolated:
            return f"/usr/bin/{INSTALL}"
        program = self.program
        beside = [program.parent, program.parent.parent / "bin", program.parent.parent / "scripts"]
        found = shutil.which(INSTALL, path=":".join(map(str, beside))) or shutil.which(INSTALL)
        if found is None:
            raise TrialFailed(
                f"{INSTALL}, which creates MariaDB's data folder, is neither next to {program} nor on PATH.",
                "Install it with: apt-get install mariadb-server",
            )
        return found


driver = MariaDB
