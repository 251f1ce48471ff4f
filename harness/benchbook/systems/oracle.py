"""Oracle Database Free from its image, or a running one: a database that comes with the image, an account of ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from benchbook.process import secret
from benchbook.systems.driver import Place, Setting
from benchbook.systems.python_server import PythonServer

IN_CONTAINERS = True
URL_SCHEMES = ("oracle",)
PORT = 1521
"""The listener's in the image, which cannot be chosen: on the machine's own network it must be free."""
SERVICE = "FREEPDB1"
ACCOUNT = "benchbook"


class Oracle(PythonServer):
    """One Oracle in one trial; its database starts anew from the image, so its files are not in the data folder."""

    engine: ClassVar[str] = "oracle"
    title: ClassVar[str] = "Oracle"
    library: ClassVar[str] = "oracledb (thin)"
    ready_seconds: ClassVar[float] = 900.0
    refuses_seconds: ClassVar[float] = 600.0  # its listener is there minutes before the service

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._password = secret.draw("B", 8)
        """Of a database that lives for one trial; the image and the worker are told, neither by a command line."""

    def _configure(self) -> dict[str, str]:
        self._addresses = [f"{self._place.host}:{PORT}"]
        self._url = f"oracle://{ACCOUNT}@{self._place.host}:{PORT}/{SERVICE}"
        return {"url": f"oracle://{ACCOUNT}@{self._place.host}:{PORT}/{SERVICE}\n"}

    def _command(self) -> Sequence[str | Path]:
        return [self._program()]

    def _environment(self) -> dict[str, str]:
        return {"ORACLE_PASSWORD": self._password}

    def _connection(self) -> dict[str, Setting]:
        return {} if self.elsewhere else {"make": True, "password": self._password}

    def size(self) -> dict[str, int]:
        """Return nothing: the files are inside the container, where only its own views see them."""
        return {}


def driver(place: Place) -> Oracle:
    """Return the driver of one Oracle."""
    return Oracle(place)
