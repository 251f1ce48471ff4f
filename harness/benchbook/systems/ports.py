"""TCP ports of this machine: free ones, and whether one is free."""

from __future__ import annotations

import errno
import socket

from benchbook.errors import TrialFailed


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Return TCP ports of ``host`` that nobody listens on now, all different.

    On an address that is not this machine's, as that of a container to come, every port is free.
    """
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            try:
                one.bind((host, 0))
            except OSError as error:
                if error.errno != errno.EADDRNOTAVAIL:
                    raise
                one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in held]
    finally:
        for one in held:
            one.close()


def check_free(address: str) -> None:
    """Raise TrialFailed when ``host:port`` cannot be listened on, because somebody else does."""
    host, _, port = address.rpartition(":")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except (OSError, ValueError, OverflowError) as error:
            if isinstance(error, OSError) and error.errno == errno.EADDRNOTAVAIL:
                return
            raise TrialFailed(
                f"{address} cannot be listened on: {error}.",
                "Stop what uses that port, or take the address out of the arm: a free port is then chosen.",
            ) from error
