"""The sums of a phase, from what was read when it began and when it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchbook.telemetry.metric import SUMMARY

Reading = dict[tuple[str, str], float]
"""(scope, metric) → value at one moment."""

Summary = dict[str, float | None]
"""Metric (see ``metric.SUMMARY``) → value; None where it could not be measured."""

SUMS = {
    "server_cpu_seconds": (("server", "cpu_user_seconds"), ("server", "cpu_system_seconds")),
    "client_cpu_seconds": (("client", "cpu_user_seconds"), ("client", "cpu_system_seconds")),
    "harness_cpu_seconds": (("harness", "cpu_user_seconds"), ("harness", "cpu_system_seconds")),
    "server_read_bytes": (("server", "read_bytes"),),
    "server_write_bytes": (("server", "write_bytes"),),
    "device_read_bytes": (("machine", "device_read_bytes"),),
    "device_write_bytes": (("machine", "device_write_bytes"),),
    "device_writes": (("machine", "device_writes"),),
    "device_flushes": (("machine", "device_flushes"),),
}
PEAKS = {
    "server_rss_peak_bytes": ("server", "rss_peak_bytes"),
    "client_rss_peak_bytes": ("client", "rss_peak_bytes"),
    "server_memory_peak_bytes": ("server", "memory_bytes"),
}
STALLS = {
    f"psi_{name}_some_fraction": ("machine", f"psi_{name}_some_seconds") for name in ("cpu", "io", "memory")
}
STEAL = ("machine", "cpu_steal_seconds")
CORE_TIME = tuple(("machine", f"cpu_{kind}_seconds") for kind in ("busy", "idle", "iowait", "steal"))


@dataclass
class Phase:
    """What grew between the begin and the end of a phase; a phase entered again goes on."""

    seconds: float = 0.0
    grown: Reading = field(default_factory=dict)
    most: Reading = field(default_factory=dict)

    def add(
        self, seconds: float, begin: Mapping[tuple[str, str], float], end: Reading, most: Reading
    ) -> None:
        """Add a stretch of this phase: its length, what was read at both ends, the largest values within."""
        self.seconds += seconds
        for key, value in end.items():
            if key in begin:
                self.grown[key] = self.grown.get(key, 0.0) + value - begin[key]
        for key, value in most.items():
            self.most[key] = max(value, self.most.get(key, value))

    def summary(self) -> Summary:
        """Return the phase's numbers under the names of ``metric.SUMMARY``, in their order."""
        found: Summary = {name: self._sum(keys) for name, keys in SUMS.items()}
        found |= {name: self.most.get(key) for name, key in PEAKS.items()}
        found |= {name: _share(self.grown.get(key), self.seconds) for name, key in STALLS.items()}
        found["machine_steal_fraction"] = _share(self.grown.get(STEAL), self._sum(CORE_TIME))
        return {name: found[name] for name in SUMMARY}

    def _sum(self, keys: tuple[tuple[str, str], ...]) -> float | None:
        if not all(key in self.grown for key in keys):
            return None
        return sum(self.grown[key] for key in keys)


def _share(part: float | None, whole: float | None) -> float | None:
    """Return part / whole; None where the clock's grain saw no time pass."""
    return None if part is None or not whole else min(1.0, part / whole)
