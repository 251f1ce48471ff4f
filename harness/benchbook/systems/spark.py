"""Spark SQL: one HiveThriftServer2 on a free loopback port, its tables and its metastore in the trial's folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from benchbook.process.network import free_ports
from benchbook.storage.driver import allocated
from benchbook.systems import java
from benchbook.systems.driver import Place, Setting
from benchbook.systems.python_server import PythonServer

URL_SCHEMES = ("hive2",)
FILE = "spark-defaults.conf"
SERVER = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
HEAP = "heap"
"""Setting of an arm that is no line of spark-defaults.conf."""


class SparkServer(PythonServer):
    """One Spark in one trial: driver and executor are one process (``local[*]``)."""

    engine: ClassVar[str] = "spark"
    title: ClassVar[str] = "Spark SQL"
    library: ClassVar[str] = "impyla"
    ready_seconds: ClassVar[float] = 300.0

    def _configure(self) -> dict[str, str]:
        place = self._place
        (port,) = free_ports(1, place.host)
        self._addresses = [f"{place.host}:{port}"]
        self._url = f"hive2://{place.host}:{port}"
        self._port = port
        for name in ("warehouse", "scratch", "batches"):
            (place.data / name).mkdir(exist_ok=True)
        (place.config / FILE).write_text(self._text(str(place.data)), encoding="utf-8")
        return {FILE: self._text("{data}")}

    def _text(self, data: str) -> str:
        own: dict[str, Setting] = {
            "spark.master": "local[*]",
            "spark.ui.enabled": "false",
            "spark.driver.memory": self._heap(),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": f"{data}/scratch",
            "spark.sql.warehouse.dir": f"{data}/warehouse",
            "spark.sql.session.timeZone": "UTC",
            "spark.hadoop.javax.jdo.option.ConnectionURL": (
                f"jdbc:derby:;databaseName={data}/metastore;create=true"
            ),
            "spark.driver.extraJavaOptions": f"-Dderby.system.home={data} -Djava.io.tmpdir={data}/scratch",
        }
        lines = own | {name: value for name, value in self._place.settings.items() if name != HEAP}
        shown = {
            key: str(value).lower() if isinstance(value, bool) else value for key, value in lines.items()
        }
        return "".join(f"{key} {value}\n" for key, value in sorted(shown.items()))

    def _heap(self) -> str:
        return java.heap(str(self._place.settings.get(HEAP, "1g")), java.memory_bytes())

    def _command(self) -> Sequence[str | Path]:
        hive = {
            "hive.server2.thrift.port": self._port,
            "hive.server2.thrift.bind.host": self._place.host,
            "hive.server2.authentication": "NOSASL",
        }
        options = [part for key, value in hive.items() for part in ("--hiveconf", f"{key}={value}")]
        return [self._program(), "--class", SERVER, "spark-internal", *options]

    def _environment(self) -> dict[str, str]:
        return {
            "SPARK_HOME": str(self._program().parent.parent),
            "SPARK_CONF_DIR": str(self._place.config),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "JAVA_HOME": str(Path(java.program()).resolve().parent.parent),
        }

    def _connection(self) -> dict[str, Setting]:
        folder = self._place.data / "batches"
        folder.mkdir(exist_ok=True)
        return {"folder": str(folder)}

    def size(self) -> dict[str, int]:
        """Bytes allocated on disk: tables (data), and the metastore (system); none for a server elsewhere."""
        if self.elsewhere:
            return {}
        return {
            "data": allocated(self._place.data / "warehouse"),
            "system": allocated(self._place.data / "metastore"),
        }


def driver(place: Place) -> SparkServer:
    """Return the driver of one Spark."""
    return SparkServer(place)
