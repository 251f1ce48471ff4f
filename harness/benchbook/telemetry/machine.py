"""The machine's own counters: CPU with steal, pressure, free memory, the device under the data folder."""

from __future__ import annotations

import contextlib
from pathlib import Path

from benchbook.host.device import Device, device_of
from benchbook.host.pressure import COUNTED, STEAL, stalls
from benchbook.host.reading import Unreadable
from benchbook.telemetry.process import TICKS, contents

SECTOR_BYTES = 512
"""/proc/diskstats counts in these, whatever the device's own sectors are."""
IDLE, IOWAIT = 3, 4
STALLS = (("cpu", ("some",)), ("io", ("some", "full")), ("memory", ("some", "full")))


def device(folder: Path) -> Device | None:
    """Return the block device whose counters belong to a folder; None where none stands behind it."""
    try:
        return device_of(folder)
    except (Unreadable, OSError, ValueError):
        return None


def counters(device: Device | None) -> dict[str, float]:
    """Return metric → value (see ``metric.MACHINE_UNITS``); what is not readable is left out."""
    found: dict[str, float] = {}
    for part in (_cpu, _pressure, _memory, lambda: _device(device)):
        with contextlib.suppress(OSError, ValueError, LookupError):
            found |= part()
    return found


def _cpu() -> dict[str, float]:
    line = contents("/proc/stat", whole=False).split(b"\n", 1)[0].split()
    ticks = [int(number) / TICKS for number in line[1 : COUNTED + 1]]
    return {
        "cpu_busy_seconds": sum(ticks) - ticks[IDLE] - ticks[IOWAIT] - ticks[STEAL],
        "cpu_idle_seconds": ticks[IDLE],
        "cpu_iowait_seconds": ticks[IOWAIT],
        "cpu_steal_seconds": ticks[STEAL],
    }


def _pressure() -> dict[str, float]:
    found: dict[str, float] = {}
    for name, kinds in STALLS:
        lines = stalls(contents(f"/proc/pressure/{name}").decode("ascii"))
        found |= {
            f"psi_{name}_{kind}_seconds": lines[kind]["total_seconds"] for kind in kinds if kind in lines
        }
    return found


def _memory() -> dict[str, float]:
    lines = contents("/proc/meminfo").split(b"\n", 3)
    named = {line.split(b":")[0]: int(line.split()[1]) * 1024 for line in lines[:3]}
    return {"memory_free_bytes": named[b"MemFree"], "memory_available_bytes": named[b"MemAvailable"]}


def _device(device: Device | None) -> dict[str, float]:
    if device is None:
        return {}
    rows = {}
    for line in contents("/proc/diskstats").split(b"\n"):
        fields = line.split()
        if len(fields) > 13:
            rows[fields[2].decode()] = fields
    row = rows[device.name]
    found: dict[str, float] = {
        "device_reads": int(row[3]),
        "device_read_bytes": int(row[5]) * SECTOR_BYTES,
        "device_writes": int(row[7]),
        "device_write_bytes": int(row[9]) * SECTOR_BYTES,
        "device_busy_seconds": int(row[12]) / 1000,
    }
    # the kernel counts flushes for the whole disk only, and since 5.5
    disk = rows.get(device.disk, row)
    return found | ({"device_flushes": int(disk[18])} if len(disk) > 18 else {})
