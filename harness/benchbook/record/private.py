"""Remove private names from a run that leaves its machine.

Removed are the names of user and host, absolute paths outside the system folders (their last part stays), the folder
given with ``--results``, and the host in the address of a given server. The facts of the machine stay, and so does
the digest that identifies runs of one machine without naming it.

A machine may have the name of a phase, such as ``load``. Names of user and host are therefore replaced only in free
texts (``FREE``), and in no value that Benchbook defines.
"""

from __future__ import annotations

import getpass
import json
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.record import folder
from benchbook.record.argv import parts, without

SYSTEM_FOLDERS = ("proc", "sys", "dev", "etc", "usr", "nix", "lib", "bin", "sbin", "boot")
"""First parts of paths that are the same on many machines, and so are not private."""
PATH = re.compile(r"(?<![\w:/.~…<%+\\-])/(?!/)((?:[\w.@+~,=-]+/)+)([\w.@+~,=-]*)")
"""An absolute path of at least two parts, but neither the path of an address nor a closing tag."""
ADDRESS = re.compile(r"(\w+://)([^/\s\"'@]+@)?([^/\s:\"']+)")
HISTOGRAMS = ("histogram", "encoded")
"""Keys of base64, which can contain anything that looks like a path."""
FREE = frozenset({
    "argv", "cluster", "container", "detail", "expected", "fix", "found", "git_detail", "given", "host", "image",
    "message", "origin", "origins", "path", "placement", "reason", "storage_facts", "unmeasured", "url", "wanted",
})  # fmt: skip
"""Keys of free texts in Benchbook's own files, each with all that is below it; other files are free as a whole."""
OWN = (folder.RUN_FILE, folder.PLAN_FILE, folder.TRIAL_FILE, "events.jsonl")
"""Files that hold fields of Benchbook."""
DATA = ("answers.jsonl", "telemetry.jsonl")
"""Files of a trial that hold only numbers and generated data; digests were made from their bytes."""
NUMBERS = ".parquet"
"""Ending of files of single operations: numbers and Benchbook's names, in a binary form."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "0.0.0.0")  # noqa: S104 - compared, never bound
REGISTRIES = ("docker.io", "quay.io", "ghcr.io")
"""Public registries of images."""
GENERIC = frozenset({
    "root", "user", "admin", "nobody", "runner", "docker", "debian", "ubuntu", "linux", "nixos", "localhost",
    "server", "client", "machine", "host", "build", "builder", "influxdb", "duckdb", "sqlite", "postgres",
    "postgresql", "mysql", "mariadb", "redis", "bench", "benchbook", "default", "system",
})  # fmt: skip
"""Names that do not identify anyone and occur in the results themselves."""
SHORTEST = 3
"""A shorter name cannot be distinguished from other text."""


@dataclass(frozen=True)
class Scrubber:
    """Removes private names from texts; ``names`` are pairs of a name and its replacement."""

    names: tuple[tuple[str, str], ...] = ()

    def text(self, text: str) -> str:
        """Return ``text`` without private names and paths.

        >>> Scrubber().text("started /home/ada/.cache/benchbook/influxd, read /proc/self/stat")
        'started …/influxd, read /proc/self/stat'
        >>> Scrubber((("ada", "USER"),)).text("ada, not adamant; http://example.org/a/b")
        'USER, not adamant; http://example.org/a/b'
        """
        scrubbed = PATH.sub(_shortened, text)
        for name, replacement in self.names:
            scrubbed = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", replacement, scrubbed)
        return scrubbed

    def value(self, value: Any, *, free: bool = False) -> Any:
        """Return a JSON value without private names and paths, and without the hosts of given servers.

        Names are replaced below keys in ``FREE`` alone, or everywhere if the value is ``free``.

        >>> Scrubber().value({"argv": ["run", "x", "--results", "../mine", "--profile", "quick"]})
        {'argv': ['run', 'x', '--profile', 'quick']}
        >>> Scrubber((("load", "HOST"),)).value({"phase": "load", "message": "no answer of load"})
        {'phase': 'load', 'message': 'no answer of HOST'}
        """
        if isinstance(value, str):
            return self.text(value) if free or PATH.sub(_shortened, value) != value else value
        if isinstance(value, list):
            return [self.value(one, free=free) for one in value]
        if isinstance(value, dict):
            return {self.value(key): self._entry(key, one, free or key in FREE) for key, one in value.items()}
        return value

    def _entry(self, key: str, value: Any, free: bool) -> Any:
        if key == "argv" and isinstance(value, list):
            return [self.text(one) for one in _public(without(map(str, value), "--results"))]
        if key == "url" and isinstance(value, str):
            return self.text(_hostless(value))
        if key in HISTOGRAMS:
            return value
        return Scrubber().value(value) if key == "declared" else self.value(value, free=free)

    def file(self, source: Path, target: Path) -> None:
        """Copy a file, scrubbed: JSON by its values, anything else as text; bytes that are not text stay.

        Answers, telemetry, single operations and query sets hold only generated data and are copied unchanged.
        """
        content = source.read_bytes()
        if source.name in DATA or source.suffix == NUMBERS or source.parent.name == "queries":
            target.write_bytes(content)
        elif source.suffix == ".json":
            target.write_bytes(self._json(content, source.name not in OWN, indent=1) + b"\n")
        elif source.suffix == ".jsonl":
            lines = content.split(b"\n")
            target.write_bytes(b"\n".join(self._json(line, source.name not in OWN) for line in lines))
        else:
            target.write_bytes(self._bytes(content))

    def _json(self, content: bytes, free: bool, indent: int | None = None) -> bytes:
        """Return JSON scrubbed by its values, or as text if it is none; a line that holds nothing private stays."""
        if indent is None and self._bytes(content) == content:
            return content
        try:
            value = self.value(json.loads(content), free=free)
            separators = None if indent else (",", ":")
            return json.dumps(value, indent=indent, ensure_ascii=False, separators=separators).encode()
        except (ValueError, RecursionError):
            return self._bytes(content)

    def _bytes(self, content: bytes) -> bytes:
        return self.text(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def scrubber() -> Scrubber:
    """Return the scrubber for this machine, with the names of its user and host."""
    names = []
    for name, replacement in ((_user(), "USER"), (socket.gethostname(), "HOST"), (socket.getfqdn(), "HOST")):
        if len(name) >= SHORTEST and name.lower() not in GENERIC:
            names.append((name, replacement))
    return Scrubber(tuple(sorted(set(names), key=lambda pair: (-len(pair[0]), pair[0]))))


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container whose user has no entry
        return ""


def _shortened(found: re.Match[str]) -> str:
    first = found[1].split("/", 1)[0]
    return found[0] if first in SYSTEM_FOLDERS else f"…/{found[2] or found[1].rstrip('/').rpartition('/')[2]}"


def _public(words: list[str]) -> list[str]:
    """Return the words of a command without the hosts of servers; the origin of a program is meant for others.

    >>> _public(["--origin", "x=https://example.org/x", "--system", "x=http://db:1", "--system=y=docker://a/y:1"])
    ['--origin', 'x=https://example.org/x', '--system', 'x=http://HOST:1', '--system=y=docker://a/y:1']
    """
    return [
        word if one.option else _hostless(word) for one in parts(words, ["--origin"]) for word in one.words
    ]


def _hostless(text: str) -> str:
    """Return a text without the hosts in its addresses; the first part of an image's name may be no host."""
    return ADDRESS.sub(lambda found: found[0] if _is_public(found) else f"{found[1]}HOST", text)


def _is_public(address: re.Match[str]) -> bool:
    if address[1] == "docker://":  # a registry has a dot or a port before the first slash
        first, slash, _ = address.string[address.end(1) :].partition("/")
        return not slash or not ({".", ":"} & set(first) or first == "localhost") or first in REGISTRIES
    return address[3] in LOOPBACK and not address[2]
