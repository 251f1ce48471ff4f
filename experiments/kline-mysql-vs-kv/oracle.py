"""Oracle Database Free from its image, with the image's database and an account for Benchbook."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchbook.declare.level import Setting
from benchbook.process import secret
from benchbook.systems.driver import Place
from benchbook.systems.python_worker import PythonServer
from benchbook.systems.server import Layout

PORT = 1521
"""The fixed port of the image's listener; on the machine's network it must be free."""
SERVICE = "FREEPDB1"
ACCOUNT = "benchbook"


class Oracle(PythonServer):
    """One Oracle in one trial. Each start uses the image's database, so the data folder stays empty."""

    url_schemes = ("oracle",)
    engine = "oracle"
    title = "Oracle"
    library = "oracledb (thin)"
    ready_seconds = 900.0
    refusal_seconds = 600.0  # the listener starts minutes before the service

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        # For one trial; the image and the worker get it through their environment, not a command line.
        self._password = secret.draw("B", 8)

    def free_ports(self) -> list[int]:
        """Return the fixed port."""
        return [PORT]

    def url_of(self, address: str) -> str:
        """Return the address with the account and the service."""
        return f"oracle://{ACCOUNT}@{address}/{SERVICE}"

    def files(self, at: Layout) -> dict[str, str]:
        """Return the address; there is no configuration file."""
        return {"url": self.url_of(f"{at.host}:{PORT}") + "\n"}

    def command(self) -> Sequence[str | Path]:
        """Return the start script of the image."""
        return [self.program]

    def environment(self) -> dict[str, str]:
        """Return the password, which the image sets for its database."""
        return {"ORACLE_PASSWORD": self._password}

    def connection(self) -> dict[str, Setting]:
        """Return the password, with which the worker creates the account."""
        return {} if self.external else {"make": True, "password": self._password}

    def disk_usage(self) -> dict[str, int]:
        """Return no sizes: the files are inside the container, where only Oracle's views can measure them."""
        return {}
