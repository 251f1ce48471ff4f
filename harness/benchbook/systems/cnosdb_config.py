"""Configuration of CnosDB: the settings of the harness, then those of the arm.

2.0 requires every key and writes byte sizes as whole numbers; its defaults are those of the configuration file in its
repository. In 2.4 every key is optional, and byte sizes are strings such as ``"128MiB"``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchbook.systems.driver import Setting

FILE = "cnosdb.toml"
RUN = "run."
"""Prefix of settings that are options of ``cnosdb run`` in 2.0: ``run.cpu`` is ``--cpu``."""
FOLDERS = {"storage.path": "db", "wal.path": "wal", "log.path": "log"}
"""Settings that name folders → their names in the data folder."""

Value = Setting | Sequence[str]

DEFAULTS_20: dict[str, Setting] = {
    "query.max_server_connections": 10240,
    "query.query_sql_limit": 16777216,
    "query.write_sql_limit": 167772160,
    "storage.max_summary_size": 134217728,
    "storage.max_level": 4,
    "storage.base_file_size": 16777216,
    "storage.compact_trigger": 4,
    "storage.max_compact_size": 2147483648,
    "storage.dio_max_resident": 1024,
    "storage.dio_max_non_resident": 1024,
    "storage.dio_page_len_scale": 10,
    "storage.strict_write": False,
    "wal.enabled": True,
    "wal.sync": False,
    "cache.max_buffer_size": 134217728,
    "cache.max_immutable_number": 4,
    "log.level": "info",
}
"""The configuration file of 2.0.1, except for its log level ``debug``."""
SECTIONS_20 = ("query", "storage", "wal", "cache", "log", "security")
RUN_20: dict[str, Setting] = {"run.cpu": 4, "run.memory": 16}
"""Default options of ``cnosdb run`` in 2.0; memory in GB."""

KNOWN_20 = (*DEFAULTS_20, *RUN_20)


def settings_20(data: str, arm: Mapping[str, Setting]) -> dict[str, Value]:
    """Return all keys of a configuration of 2.0, without the options of ``run``."""
    changed = {key: value for key, value in arm.items() if not key.startswith(RUN)}
    return {"reporting_disabled": True, **DEFAULTS_20, **_folders(data), **changed}


def options_20(arm: Mapping[str, Setting]) -> list[str]:
    """Return the options of ``cnosdb run`` in 2.0."""
    chosen = {**RUN_20, **{key: value for key, value in arm.items() if key.startswith(RUN)}}
    return [f"--{key.removeprefix(RUN)}={value}" for key, value in sorted(chosen.items())]


def settings_24(data: str, ports: Mapping[str, str], arm: Mapping[str, Setting]) -> dict[str, Value]:
    """Return the keys that differ from the defaults of 2.4."""
    return {
        "global.host": "127.0.0.1",
        "global.store_metrics": False,
        "deployment.mode": "singleton",
        "meta.service_addr": [f"127.0.0.1:{ports['meta']}"],
        "meta.system_database_replica": 1,
        "service.http_listen_port": _port(ports["http"]),
        "service.grpc_listen_port": _port(ports["grpc"]),
        "service.enable_report": False,
        **_folders(data),
        **arm,
    }


def _folders(data: str) -> dict[str, Value]:
    return {key: f"{data}/{name}" for key, name in FOLDERS.items()}


def _port(port: str) -> Value:
    """Return a port as the number that the server expects; placeholders stay strings."""
    return int(port) if port.isdigit() else port
