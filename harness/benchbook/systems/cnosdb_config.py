"""Configuration of CnosDB, and how it is brought to a settled state."""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchbook.errors import TrialFailed, nearest
from benchbook.systems.driver import Place, Setting

# The configuration of CnosDB: what the harness must set, then what the arm changes.
#
# 2.0 wants every key to be there and byte sizes as whole numbers; its defaults are those of its repository's
# configuration file. From 2.4 on all keys are optional and byte sizes are texts (``"128MiB"``).

FILE = "cnosdb.toml"
RUN = "run."
"""Settings that begin so are options of ``cnosdb run`` in 2.0: ``run.cpu`` is ``--cpu``."""
FOLDERS = {"storage.path": "db", "wal.path": "wal", "log.path": "log"}
"""Keys that name folders, and the folder's name under the trial's data folder. No arm may change them."""

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
"""The configuration file that 2.0.1 comes with; it logs at level ``debug``, which is set to ``info`` here."""
SECTIONS_20 = ("query", "storage", "wal", "cache", "log", "security")
RUN_20: dict[str, Setting] = {"run.cpu": 4, "run.memory": 16}
"""Defaults of the options of ``cnosdb run`` in 2.0; memory in GB."""


def settings_20(data: str, arm: Mapping[str, Setting]) -> dict[str, Value]:
    """Return all keys of a configuration of 2.0, without the options of ``run``."""
    _refuse_own(arm)
    _check(arm, [*DEFAULTS_20, *RUN_20], "CnosDB 2.0")
    own: dict[str, Value] = {"reporting_disabled": True, **DEFAULTS_20}
    changed = {key: value for key, value in arm.items() if not key.startswith(RUN)}
    return own | _folders(data) | changed


def options_20(arm: Mapping[str, Setting]) -> dict[str, Setting]:
    """Return the options of ``cnosdb run`` in 2.0: name → value."""
    chosen = {**RUN_20, **{key: value for key, value in arm.items() if key.startswith(RUN)}}
    return {key.removeprefix(RUN): value for key, value in chosen.items()}


def settings_24(data: str, http: str, grpc: str, meta: str, arm: Mapping[str, Setting]) -> dict[str, Value]:
    """Return all keys that differ from the defaults of 2.4; ``http``, ``grpc`` and ``meta`` are ports."""
    _refuse_own(arm)
    own: dict[str, Value] = {
        "global.host": "127.0.0.1",
        "global.store_metrics": False,
        "deployment.mode": "singleton",
        "meta.service_addr": [f"127.0.0.1:{meta}"],
        "meta.system_database_replica": 1,
        "service.http_listen_port": _port(http),
        "service.grpc_listen_port": _port(grpc),
        "service.enable_report": False,
    }
    return own | _folders(data) | dict(arm)


def text(flat: Mapping[str, Value], sections: Sequence[str] = ()) -> str:
    """Write ``section.key`` → value as TOML, in an order that depends on the keys alone.

    ``sections`` are written also when nothing is in them.

    >>> print(text({"on": True, "wal.path": "/w"}))
    on = true
    <BLANKLINE>
    [wal]
    path = "/w"
    <BLANKLINE>
    """
    parts: dict[str, dict[str, Value]] = {section: {} for section in sections}
    for key in sorted(flat):
        section, _, name = key.rpartition(".")
        parts.setdefault(section, {})[name] = flat[key]
    shown = []
    for section in sorted(parts):
        lines = [f"[{section}]"] if section else []
        # A JSON string, number, boolean or list of strings is also a TOML one.
        lines += [f"{name} = {json.dumps(value)}" for name, value in parts[section].items()]
        shown.append("\n".join(lines) + "\n")
    return "\n".join(shown)


def check_24(place: Place) -> None:
    """Raise TrialFailed when 2.4 does not know a key of the arm: by itself it ignores it silently."""
    if not place.settings:
        return
    assert place.program.path is not None
    ran = place.call([place.program.path, "config"], timeout_seconds=30)
    if ran.returncode != 0:
        raise TrialFailed(f"CnosDB does not print its configuration: {' '.join(ran.stderr.split())[:500]}")
    _check(place.settings, _flat(tomllib.loads(ran.stdout)), "CnosDB")


def _check(arm: Mapping[str, Setting], known: Sequence[str], who: str) -> None:
    for key in arm:
        if key not in known:
            guess = nearest(key, known)
            raise TrialFailed(
                f'{who} has no setting "{key}".', f'Did you mean "{guess}"?' if guess else "Correct the arm."
            )


def _refuse_own(arm: Mapping[str, Setting]) -> None:
    for key in FOLDERS:
        if key in arm:
            raise TrialFailed(
                f'The arm sets "{key}", which the harness sets to the trial\'s data folder.',
                "Take it out of the arm; choose the place of the data with a storage.",
            )


def _folders(data: str) -> dict[str, Value]:
    return {key: f"{data}/{name}" for key, name in FOLDERS.items()}


def _port(port: str) -> Value:
    """Return a port as the number that the server wants; a placeholder stays text."""
    return int(port) if port.isdigit() else port


def _flat(table: Mapping[str, object], before: str = "") -> list[str]:
    keys: list[str] = []
    for name, value in table.items():
        keys += _flat(value, f"{before}{name}.") if isinstance(value, dict) else [f"{before}{name}"]
    return keys


# When CnosDB is settled, and how it is brought there.
#
# **2.4**: ``COMPACT DATABASE`` (before 2.4.3 ``COMPACT VNODE``) writes the caches of all its vnodes out before it
# answers, and merges files where there are enough of them. Merges that run on their own go on; so the data
# folder is watched until no file has come, gone or grown for REST_SECONDS.
#
# **2.0** has no such statement: a cache is written out when it has filled up several times, else never, and
# what is not written out is in the write-ahead log. There, settled means only that the data folder rests.
# Bytes of data and of the log are therefore always told apart.

SETTLE_SECONDS = 900.0
"""How long files may change after a load before the trial fails."""
REST_SECONDS = 2.0
"""How long no file may have changed."""

Files = dict[str, tuple[int, int]]


def settle(data: Path | None, write_out: Callable[[], None] | None) -> float:
    """Return when the server is settled; the result is for how many seconds it was only watched resting.

    ``write_out`` makes it write its caches out, where it can. Without a folder (a server elsewhere) nothing is
    watched. Raises TrialFailed after SETTLE_SECONDS.
    """
    if write_out is not None:
        write_out()
    if data is None:
        return 0.0
    deadline = time.monotonic() + SETTLE_SECONDS
    seen, since = files(data), time.monotonic()
    while time.monotonic() - since < REST_SECONDS:
        if time.monotonic() > deadline:
            raise TrialFailed(
                f"CnosDB did not settle in {SETTLE_SECONDS:.0f} s: files in {data} still change."
            )
        time.sleep(0.1)
        now = files(data)
        if now != seen:
            seen, since = now, time.monotonic()
    return time.monotonic() - since


def files(folder: Path) -> Files:
    """Return the size and the time of change of every file of data and index below a folder."""
    found: Files = {}
    for path in folder.rglob("*"):
        try:
            stat = path.stat()
        except OSError:
            continue  # gone between the listing and the look
        if path.is_file():
            found[str(path)] = stat.st_size, stat.st_mtime_ns
    return found
