"""The configuration of PostgreSQL: what the harness must set, then what the arm changes."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from benchbook.errors import TrialFailed, nearest
from benchbook.systems.driver import Setting

FILE = "benchbook.conf"
"""Added to the end of the ``postgresql.conf`` that initdb wrote."""

OWN = (
    "listen_addresses", "port", "unix_socket_directories", "data_directory", "hba_file", "ident_file", "config_file",
)  # fmt: skip
"""Settings that belong to the harness."""


def text(host: str, port: str, arm: Mapping[str, Setting]) -> str:
    """Return the lines that are added, in an order that depends on the keys alone.

    >>> print(text("127.0.0.1", "5432", {"synchronous_commit": "off", "max_connections": 200}))
    listen_addresses = '127.0.0.1'
    max_connections = 200
    port = 5432
    synchronous_commit = 'off'
    unix_socket_directories = ''
    <BLANKLINE>
    """
    lines = {"listen_addresses": f"'{host}'", "port": port, "unix_socket_directories": "''"}
    lines |= {name: _written(value) for name, value in arm.items()}
    return "".join(f"{name} = {lines[name]}\n" for name in sorted(lines))


def check_known(program: Path, arm: Mapping[str, Setting]) -> None:
    """Raise TrialFailed where the arm sets what belongs to the harness or what the server does not know."""
    for name in arm:
        if name in OWN:
            raise TrialFailed(
                f'The arm sets "{name}", which the harness sets for each trial.', "Take it out of the arm."
            )
    if not arm:
        return
    known = _known(program)
    for name in arm:
        if name not in known:
            guess = nearest(name, known)
            raise TrialFailed(
                f'PostgreSQL has no setting "{name}".',
                f'Did you mean "{guess}"?' if guess else "Correct the arm.",
            )


def _known(program: Path) -> list[str]:
    ran = subprocess.run(
        [str(program), "--describe-config"],
        check=False, capture_output=True, text=True, errors="replace", timeout=30,
    )  # fmt: skip
    if ran.returncode != 0:
        raise TrialFailed(f"PostgreSQL does not tell its settings: {' '.join(ran.stderr.split())}")
    return [line.partition("\t")[0] for line in ran.stdout.splitlines()]


def _written(value: Setting) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        escaped = value.replace("'", "''")
        return f"'{escaped}'"
    return str(value)
