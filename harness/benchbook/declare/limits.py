"""Limits of a system's resources: factors that any experiment may declare, of one level or of several."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, cast

from benchbook.declare.model import Setting

LIMIT_FACTORS = ("memory_limit", "cpu_limit", "pinning")
"""Factors that limit what the system's processes may use; they change neither data nor options."""

NONE = "none"
"""The level that sets no limit, beside others that do."""

Pinning = Literal["auto", "off", "always"]
"""Cores of their own for server and client: ``auto`` where there are enough, ``always`` from 2 cores on."""
PINNINGS: tuple[Pinning, ...] = ("auto", "off", "always")

LEAST_MEMORY_BYTES = 1 << 20
_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True)
class Limits:
    """What the processes of a system may use in one trial; None is no limit."""

    memory_bytes: int | None = None
    """Memory, file cache included; nothing goes to swap."""
    cpu_cores: float | None = None
    """Processor time for each second of time."""
    pinning: Pinning = "auto"

    @property
    def any(self) -> bool:
        """Whether a control group is needed for them."""
        return self.memory_bytes is not None or self.cpu_cores is not None

    def words(self) -> str:
        """Return them as a sentence shows them: ``memory_limit 268435456 B, cpu_limit 0.5``."""
        memory = [] if self.memory_bytes is None else [f"memory_limit {self.memory_bytes} B"]
        return ", ".join([*memory, *([] if self.cpu_cores is None else [f"cpu_limit {self.cpu_cores:g}"])])


def limits(levels: dict[str, Any]) -> Limits:
    """Return the limits among the levels of a cell; raise ValueError, in words, for one that is none.

    >>> limits({"system": "sqlite", "memory_limit": "256MiB", "cpu_limit": 0.5})
    Limits(memory_bytes=268435456, cpu_cores=0.5, pinning='auto')
    """
    pinning = levels.get("pinning", "auto")
    if pinning not in PINNINGS:
        raise ValueError(f'pinning is "{pinning}"; allowed: {", ".join(PINNINGS)}')
    return Limits(
        _memory_bytes(levels.get("memory_limit", NONE)),
        _cpu_cores(levels.get("cpu_limit", NONE)),
        cast("Pinning", pinning),
    )


def _memory_bytes(level: Setting) -> int | None:
    if level == NONE:
        return None
    found = re.fullmatch(rf"(\d+(?:\.\d+)?) ?({'|'.join(_UNITS)})", str(level))
    if not found:
        raise ValueError(
            f'memory_limit is "{level}"; write "none", or a number and one of {", ".join(_UNITS)}, such as "512MiB"'
        )
    size = int(float(found[1]) * _UNITS[found[2]])
    if size < LEAST_MEMORY_BYTES:
        raise ValueError(f'memory_limit is "{level}"; the least is 1MiB')
    return size


def _cpu_cores(level: Setting) -> float | None:
    if level == NONE:
        return None
    try:
        cores = float("nan") if isinstance(level, bool) else float(level)
    except ValueError:
        cores = float("nan")
    if not 0.01 <= cores <= 4096:
        raise ValueError(
            f'cpu_limit is "{level}"; write "none", or a number of cores from 0.01 on, such as 0.5'
        )
    return cores
