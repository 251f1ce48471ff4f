"""A network of a trial's own, in which its server has an address that is known before it starts.

Clients on this machine reach that address over the network's bridge: no port is published, and no proxy or
address translation stands between client and server.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from benchbook.errors import TrialFailed

if TYPE_CHECKING:
    from docker import DockerClient

TRIES = 20
"""Networks are chosen at random; one that overlaps another is refused by the engine."""


def make(engine: DockerClient, name: str, label: str) -> tuple[Any, str]:
    """Make a network and return it with the address that the server gets; raise TrialFailed where none can be."""
    import docker

    why = ""
    for _ in range(TRIES):
        base = f"10.{random.randint(192, 254)}.{random.randint(0, 255)}.{8 * random.randint(0, 31)}"
        first, last = base.rsplit(".", 1)
        pool = docker.types.IPAMPool(subnet=f"{base}/29", gateway=f"{first}.{int(last) + 1}")
        try:
            made = engine.networks.create(
                name, driver="bridge", ipam=docker.types.IPAMConfig(pool_configs=[pool]), labels={label: name}
            )
        except docker.errors.APIError as error:
            why = str(error.explanation or error)
            if "overlap" in why.lower():
                continue
            break
        return made, f"{first}.{int(last) + 2}"
    raise TrialFailed(
        f"The engine makes no private network: {why.rstrip('.')}.",
        "Give the system the network of the machine: network = host.",
    )


def place(engine: DockerClient, network: Any, address: str | None) -> dict[str, Any]:
    """Return how a container is created in the network: at the address, or at any other."""
    config = engine.api.create_endpoint_config(ipv4_address=address) if address else None
    return {"network": network.name, **({"networking_config": {network.name: config}} if config else {})}
