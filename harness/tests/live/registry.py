"""A registry of images on loopback, and images made from programs of this machine and from its Debian packages."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from built import go_request

from benchbook.process.network import free_ports
from benchbook.process.wait import until
from benchbook.provision import go, image
from benchbook.provision.request import Missing

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
CONFIG = "application/vnd.docker.container.image.v1+json"


def crane() -> Path:
    """Return crane, built once into the cache; skip if that is impossible here."""
    wanted = go_request()
    folder = wanted.cache_folder() / "tools" / f"crane-{image.CRANE.key()}"
    if isinstance(made := go.built(image.CRANE, folder, "crane", wanted), Missing):
        pytest.skip(made.reason)
    return folder / "crane"


@dataclass(frozen=True)
class Registry:
    """A running registry; its blobs are files."""

    address: str
    folder: Path

    def push(self, name: str, layers: Iterable[bytes], **config: Any) -> str:
        """Store an image of uncompressed layers with Docker's media types; return its digest."""
        import requests

        repository, _, tag = name.rpartition(":")
        packed = [gzip.compress(layer, 1, mtime=0) for layer in layers]
        stated = {
            "architecture": go.architecture(),
            "os": "linux",
            "config": config,
            "rootfs": {"type": "layers"},
        }
        blobs = [(CONFIG, json.dumps(stated).encode()), *((LAYER, one) for one in packed)]
        shown = []
        for kind, blob in blobs:
            digest = f"sha256:{hashlib.sha256(blob).hexdigest()}"
            uploads = f"http://{self.address}/v2/{repository}/blobs/uploads/"
            place = requests.post(uploads, timeout=30).headers["Location"]
            requests.put(
                f"http://{self.address}{place}", params={"digest": digest}, data=blob, timeout=60
            ).raise_for_status()
            shown.append({"mediaType": kind, "size": len(blob), "digest": digest})
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": shown[0], "layers": shown[1:]}
        body = json.dumps(manifest).encode()
        requests.put(
            f"http://{self.address}/v2/{repository}/manifests/{tag}",
            data=body, headers={"Content-Type": MANIFEST}, timeout=30,
        ).raise_for_status()  # fmt: skip
        return f"sha256:{hashlib.sha256(body).hexdigest()}"


@contextmanager
def registry(folder: Path) -> Iterator[Registry]:
    """Serve a registry on loopback."""
    import requests

    (port,) = free_ports(1)
    folder.mkdir(parents=True, exist_ok=True)
    address = f"127.0.0.1:{port}"
    with (folder.parent / "registry.log").open("wb") as log:
        served = subprocess.Popen(
            [crane(), "registry", "serve", "--address", address, "--disk", folder], stdout=log, stderr=log
        )

    def answers() -> bool:
        try:
            return requests.get(f"http://{address}/v2/", timeout=1).ok
        except requests.RequestException:
            return False

    try:
        assert until(answers, 20.0), (folder.parent / "registry.log").read_text()
        yield Registry(address, folder)
    finally:
        served.kill()
        served.wait()


def layer(files: Mapping[str, bytes | Path | None], links: Mapping[str, str] | None = None) -> bytes:
    """Return a layer with these files: content, a file of this machine, or None for a folder."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, content in files.items():
            if isinstance(content, Path):
                tar.add(content, arcname=name)
                continue
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = (tarfile.DIRTYPE, 0o755) if content is None else (tarfile.REGTYPE, 0o755)
            entry.size = len(content or b"")
            tar.addfile(entry, io.BytesIO(content or b""))
        for name, target in (links or {}).items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            tar.addfile(entry)
    return made.getvalue()


def debian(*packages: str) -> bytes:
    """Return a layer with installed Debian packages and all that they depend on, as an image of Debian has them."""
    essential = subprocess.run(
        ["dpkg-query", "-W", "-f=${Package} ${Essential}\n"], capture_output=True, text=True, check=True
    ).stdout
    wanted = [*packages, *re.findall(r"^(\S+) yes$", essential, re.MULTILINE)]
    known = set[str]()
    while wanted:
        name = wanted.pop()
        asked = subprocess.run(
            ["dpkg-query", "-W", "-f=${Depends}, ${Pre-Depends}", name],
            capture_output=True,
            text=True,
            check=False,
        )
        if name in known or asked.returncode != 0:
            continue
        known.add(name)
        wanted += re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9.+-]+)", asked.stdout)
    for name in packages:
        if name not in known:
            pytest.skip(f"the package {name} is not installed")
    listed = subprocess.run(["dpkg", "-L", *known], capture_output=True, text=True, check=False).stdout
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name in ("bin", "sbin", "lib", "lib64"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, f"usr/{name}"
            tar.addfile(entry)
        for text in sorted(set(listed.split("\n"))):
            place = Path(text)
            if not text.startswith("/") or (
                "/share/" in text and "/share/postgresql" not in text and "/share/m" not in text
            ):
                continue
            real = place.parent.resolve() / place.name  # /bin is a link to /usr/bin
            if len(real.parts) > 2 and os.path.lexists(real):
                tar.add(real, arcname=str(real)[1:], recursive=False)
        for name in ("/etc/passwd", "/etc/group", "/etc/ld.so.cache"):
            tar.add(name, arcname=name[1:])
    return made.getvalue()
