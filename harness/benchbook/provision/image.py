"""Get an image: from this machine or its registry, always the one that its digest or the lock names."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.errors import Unavailable
from benchbook.provision import image_lock

if TYPE_CHECKING:
    from docker import DockerClient


@dataclass(frozen=True)
class Image:
    """An image that is on this machine."""

    identity: str
    """What a container is made from: the digest of the image's configuration."""
    digest: str
    """The digest that its registry knows it by; the identity, for an image that was built here."""


def ensure(engine: DockerClient, reference: str, lock: Path, progress: Callable[[str], None]) -> Image:
    """Return the image, pulled where it is not here yet; raise Unavailable in words where it cannot be had.

    A reference with a digest is that image. A tag is the image of its first pull, which the lock keeps. An image
    that was built on this machine has no registry's digest and is locked to nothing: its identity stands with
    every result.
    """
    name, _, digest = reference.partition("@")
    tag = name if ":" in name.rpartition("/")[2] else f"{name}:latest"
    wanted = digest or image_lock.locked(lock, tag)
    repository = tag.rpartition(":")[0]
    exact = f"{repository}@{wanted}" if wanted else tag
    found = _here(engine, exact) or _pull(engine, exact, progress)
    known = _digest(found, repository)
    if wanted is None and known is not None:
        image_lock.add(lock, tag, known)
        progress(f"{tag} is {known} from now on ({lock})")
    return Image(str(found.id), wanted or known or str(found.id))


def _here(engine: DockerClient, reference: str) -> Any:
    import docker

    try:
        return engine.images.get(reference)
    except docker.errors.ImageNotFound:
        return None


def _pull(engine: DockerClient, reference: str, progress: Callable[[str], None]) -> Any:
    import docker

    progress(f"pulling {reference}")
    told = started = time.monotonic()
    try:
        for step in engine.api.pull(reference, stream=True, decode=True):
            if "error" in step:
                raise _refused(reference, str(step["error"]))
            if time.monotonic() - told >= 1:
                told = time.monotonic()
                progress(f"pulling {reference}: {step.get('status', '')} ({told - started:.0f} s)")
        return engine.images.get(reference)
    except docker.errors.DockerException as error:
        raise _refused(reference, str(getattr(error, "explanation", None) or error)) from error


def _refused(reference: str, words: str) -> Unavailable:
    hint = f"See the cause with: docker pull {reference}"
    if "@" in reference:
        hint += f"  (a tag that was locked to it stands in {image_lock.FILE})"
    return Unavailable(f"the image {reference} cannot be pulled: {words.strip().rstrip('.')}.", hint)


def _digest(found: Any, repository: str) -> str | None:
    """Return the digest under which a registry knows the image, that of this repository where there are more."""
    known = [str(one).partition("@") for one in found.attrs.get("RepoDigests") or []]
    ours = [digest for name, _, digest in known if name == repository]
    return next(iter(ours), None)
