"""Shared libraries that a program loads, as ``ldd`` lists them."""

from __future__ import annotations

import re
from pathlib import Path

from benchbook.host.reading import Unreadable, program_output

_LINE = re.compile(r"\s*(\S+)(?: => (/\S+|not found))? ?(?:\(0x[0-9a-f]+\))?")


def libraries(program: Path) -> tuple[str, ...] | None:
    """Return the shared libraries of a program; empty for a static one or a script, None without ``ldd``."""
    try:
        return listed(program_output(["ldd", str(program)]))
    except Unreadable:
        return None


def listed(output: str) -> tuple[str, ...]:
    r"""Return the libraries in the output of ``ldd``, without the addresses of this moment.

    >>> listed("\tlinux-vdso.so.1 (0x7ff)\n\tlibc.so.6 => /lib/libc.so.6 (0x7f0)\n\tlibx.so => not found")
    ('libc.so.6 => /lib/libc.so.6', 'libx.so => not found')
    >>> listed("\tnot a dynamic executable"), listed("\tstatically linked")
    ((), ())
    """
    found = (_LINE.fullmatch(line) for line in output.splitlines())
    return tuple(f"{one[1]} => {one[2]}" for one in found if one and one[2])
