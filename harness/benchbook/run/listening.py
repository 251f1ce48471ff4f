"""Where a system listens: on loopback only, unless it was told otherwise."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable


def beyond(pids: Iterable[int], host: str) -> list[str]:
    """Return the addresses that these processes listen on and that are neither loopback nor ``host``.

    What may not be looked at is not among them.
    """
    import psutil

    found: dict[str, None] = {}
    for pid in pids:
        try:
            sockets = psutil.Process(pid).net_connections(kind="tcp")
        except (psutil.Error, OSError):
            continue
        for one in sockets:
            if one.status == psutil.CONN_LISTEN and not _inside(one.laddr.ip, host):
                found[f"{one.laddr.ip}:{one.laddr.port}"] = None
    return list(found)


def _inside(address: str, host: str) -> bool:
    at = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(at, "ipv4_mapped", None)
    return (mapped or at).is_loopback or address == host
