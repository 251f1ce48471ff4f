"""Spark SQL: one HiveThriftServer2 with its tables and metastore in the data folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchbook.declare.level import Setting
from benchbook.storage.driver import allocated
from benchbook.systems import java
from benchbook.systems.python_worker import PythonServer
from benchbook.systems.quoting import in_properties, in_quotes
from benchbook.systems.server import Layout, settings_text

FILE = "spark-defaults.conf"
SERVER = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"


class Spark(PythonServer):
    """One Spark in one trial: driver and executor are one process (``local[*]``)."""

    scheme = "hive2"
    url_schemes = ("hive2",)
    harness_settings = (java.HEAP,)
    in_containers = in_images = False
    engine = "spark"
    title = "Spark SQL"
    library = "impyla"
    ready_seconds = 300.0

    def files(self, at: Layout) -> dict[str, str]:
        data = in_properties(at.data)
        # Spark reads options in quotes, from a file of properties.
        home, scratch = (in_properties(in_quotes(folder)) for folder in (at.data, f"{at.data}/scratch"))
        derby = f"jdbc:derby:;databaseName={data}/metastore;create=true"
        settings: dict[str, Setting] = {
            "spark.master": "local[*]",
            "spark.ui.enabled": "false",
            "spark.driver.memory": java.heap_of(self.place),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": f"{data}/scratch",
            "spark.sql.warehouse.dir": f"{data}/warehouse",
            "spark.sql.session.timeZone": "UTC",
            "spark.hadoop.javax.jdo.option.ConnectionURL": derby,
            "spark.driver.extraJavaOptions": f"-Dderby.system.home={home} -Djava.io.tmpdir={scratch}",
            **self.settings,
        }
        return {FILE: settings_text(settings, "{} {}")}

    def initialise(self) -> None:
        """Create the folders for tables, temporary files, and batches from the client."""
        for name in ("warehouse", "scratch", "batches"):
            (self.place.data / name).mkdir(exist_ok=True)

    def command(self) -> Sequence[str | Path]:
        options = {
            "hive.server2.thrift.port": self.layout.ports["port"],
            "hive.server2.thrift.bind.host": self.place.host,
            "hive.server2.authentication": "NOSASL",
        }
        hive = [part for name, value in options.items() for part in ("--hiveconf", f"{name}={value}")]
        return [self.program, "--class", SERVER, "spark-internal", *hive]

    def environment(self) -> dict[str, str]:
        return {
            "SPARK_HOME": str(self.program.parent.parent),
            "SPARK_CONF_DIR": str(self.place.config),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "JAVA_HOME": java.home(),
        }

    def connection(self) -> dict[str, Setting]:
        """Return the folder for batches from the client."""
        folder = self.place.data / "batches"
        folder.mkdir(exist_ok=True)
        return {"folder": str(folder)}

    def disk_usage(self) -> dict[str, int]:
        """Return the bytes of the tables (data) and of the metastore (system)."""
        data = self.place.data
        return {"data": allocated(data / "warehouse"), "system": allocated(data / "metastore")}
