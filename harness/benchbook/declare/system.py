"""Systems: databases and stores under test, each pinned to one version. File: ``systems/<name>.toml``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from benchbook.declare.correction import Correction
from benchbook.declare.level import Setting
from benchbook.declare.toml import Model, Name, Text

Coordinate = Annotated[str, Field(pattern=r"^[^:\s]+(:[^:\s]+){2,4}$")]
"""Address of a file in Maven repositories."""
Wheel = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]+-[^-\s]+(-[^-\s]+)?-[^-\s]+-[^-\s]+-[^-\s]+\.whl$")]
"""File name of a Python package."""
SOURCE_NAMES = ("given", "nix", "docker", "host", "go", "build", "maven", "python", "own", "image")
"""The sources of a program in the order in which Benchbook tries them; the levels of the factor ``source``."""
Colour = Literal["blue", "vermilion", "green", "pink", "violet", "crimson", "periwinkle", "plum"]
Shape = Literal["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]


ANY = "any"
"""The version of a command that is not pinned."""


NO_WRITES = "not applicable: a command"
"""Durability of a command, which keeps no data."""


class GoSource(Model):
    """A program built once from its Go module into a cache."""

    package: Text
    """Import path of the main package, without a version."""
    program: Text
    """Name of the executable."""
    ldflags: str = ""
    """Linker flags; ``{version}`` is replaced by the system's version."""


class BuildSource(Model):
    """A program built once from files of the project by a compiler of the machine, into a cache."""

    files: list[Annotated[str, Field(pattern=r"^[^/~][^~]*$")]] = Field(min_length=1)
    """Files from which it is built, as patterns below the project's folder: ``client/*.cc``."""
    command: list[Text] = Field(min_length=1)
    """Command that builds it, without a shell, in the project's folder; ``{program}`` is replaced by the path of the
    new program, and a pattern of ``files`` by the files."""
    program: Annotated[str, Field(pattern=r"^[^/]+$")]
    """Name of the executable."""
    keyed_by: list[Annotated[list[Text], Field(min_length=1)]] = Field(default_factory=list)
    """Commands whose output is part of the key of the cache, such as ``["c++", "--version"]``: it is built again for
    another compiler or library."""
    version_command: list[Text] = Field(min_length=1)
    """Command that prints the version; ``{program}`` is replaced by the program's path."""
    version_pattern: Text
    """Regular expression whose first group matches the version."""
    packages: list[Text] = Field(default_factory=list)
    """Debian packages with the compiler and the libraries; the error of a failed build names them."""


class MavenSource(Model):
    """Artifacts of Maven repositories at fixed versions: jars, or a distribution that Benchbook unpacks."""

    artifacts: list[Coordinate] = Field(min_length=1)
    """Artifacts to fetch: ``group:artifact:version``, with ``:type`` if it is not a jar."""
    program: str | None = Field(default=None, pattern=r"^[^/].*$")
    """Path of the program in the unpacked distribution; omit it to run the jars."""
    sha256: dict[Coordinate, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]] = Field(min_length=1)
    """Every file needed (``group:artifact:version:type``) → its digest; written by ``harness/relock-maven``."""


class NixSource(Model):
    """A package of one of the flake's pinned nixpkgs."""

    pin: Name
    """Which nixpkgs that flake.lock pins: ``modern``, ``historic``, or a pin that the flake of the project names."""
    attribute: Text
    """Attribute of the package in nixpkgs."""
    program: Text
    """Name of the executable in ``bin/``."""


class ContainerSource(Model):
    """Settings of a system in a container."""

    network: Literal["host", "private"] = "host"
    """``host``: the machine's network. ``private``: a network of the trial, in which the container has an address."""
    cpus: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Limit on processor time, in cores. Default: no limit."""
    cores: str | None = Field(default=None, pattern=r"^\d+(-\d+)?(,\d+(-\d+)?)*$")
    """Cores that the container may use, such as ``0-3,6``. Default: all."""
    memory: str | None = Field(default=None, pattern=r"^\d{1,15}(KiB|MiB|GiB)?$")
    """Memory limit, such as ``512MiB`` or ``2GiB``. Default: no limit."""
    user: str | None = Field(default=None, pattern=r"^\d+(:\d+)?$")
    """``UID:GID`` of its processes. Default: the user who runs Benchbook; without an engine, the user of the image."""

    def memory_bytes(self) -> int | None:
        """Return the memory limit in bytes.

        >>> ContainerSource(memory="2GiB").memory_bytes()
        2147483648
        """
        if self.memory is None:
            return None
        digits = self.memory.rstrip("KMGiB")
        return int(digits) << {"": 0, "KiB": 10, "MiB": 20, "GiB": 30}[self.memory[len(digits) :]]


class DockerSource(ContainerSource):
    """An official image."""

    image: Text
    """Name and tag of the image."""
    digest: str | None = Field(default=None, pattern=r"^sha256:[0-9a-f]{64}$")
    """Digest of the image. Default: Benchbook records the digest of the first pull and uses it from then on."""
    program: str | None = Field(default=None, pattern=r"^/\S+$")
    """Path of the executable in the image; without it Benchbook does not run the image."""

    @property
    def reference(self) -> str:
        """The image with its digest, if that is declared."""
        return f"{self.image}@{self.digest}" if self.digest else self.image


class HostSource(Model):
    """A program on PATH whose version is exactly the pinned one."""

    program: Text
    """Name of the executable."""
    version_command: list[str] = Field(min_length=1)
    """Command that prints the version; ``{program}`` is replaced by the program's path."""
    version_pattern: Text
    """Regular expression whose first group matches the version."""
    folders: list[Text] = Field(default_factory=list)
    """Folders to search after PATH, such as ``/usr/lib/postgresql/15/bin``."""
    package: Text | None = None
    """Debian package of the program; the error for a missing program names it."""


class PythonSource(Model):
    """An embedded system, used through its official Python binding in the locked environment.

    With ``wheels``: the binding in a separate environment, which Benchbook builds once. With ``program``: a server that
    is distributed as a Python package, which users install themselves.
    """

    package: Text
    """Name of the Python package."""
    python: str | None = Field(default=None, pattern=r"^3\.\d+$")
    """Series of the Python of the separate environment, such as ``3.11``."""
    requires: list[Annotated[str, Field(pattern=r"^[a-z0-9-]+==[^=\s]+$")]] = Field(default_factory=list)
    """Other packages of the separate environment at fixed versions, such as ``numpy==1.26.4``; the worker needs
    pyarrow to load series."""
    wheels: dict[Wheel, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]] = Field(default_factory=dict)
    """Every file of the separate environment → its SHA-256; written by ``harness/relock-python``."""
    program: str | None = Field(default=None, pattern=r"^[^/].*$")
    """Path of the server's program in the package's folder."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.wheels and self.program:
            raise ValueError("has wheels and program; remove one, because users install a server themselves")
        if bool(self.wheels) != bool(self.python) or (self.requires and not self.wheels):
            raise ValueError(
                "python, requires and wheels describe a separate environment; give python and wheels "
                "(harness/relock-python writes wheels), or none of them"
            )
        parts = (file.split("-") for file in self.wheels)
        files = {f"{name.replace('_', '-').lower()}=={version}" for name, version, *_ in parts}
        for wanted in self.requires:
            if wanted not in files:
                held = [one for one in files if one.startswith(wanted.partition("=")[0] + "==")]
                raise ValueError(
                    f'requires names "{wanted}", but wheels has {", ".join(held) or "no file of this package"};'
                    " run harness/relock-python"
                )
        return self


class PythonClient(Model):
    """The Python package that drives a server for which benchload has no client; users install it themselves."""

    package: Text
    """Name of the Python package."""
    version: Text
    """Version to install. Benchbook uses another installed version too, and the report shows it."""
    module: Text
    """Name of the module to import."""


class OwnSource(Model):
    """Benchload, which is a server too."""


NUMBERS = r"(\d+(?:\.\w+)+)"
"""The version in the output of most programs."""


class Source(Model):
    """Sources of the system's program; at least one."""

    command: Text | None = None
    """Command that a trial runs (workload ``program``); its first word is a program on PATH. Placeholders such as
    ``{file}`` are filled by the workload."""
    version_command: Text | None = None
    """Command that prints the program's version. Default: the program with ``--version``."""

    go: GoSource | None = None
    """A Go module to build."""
    build: BuildSource | None = None
    """Files of the project to build."""
    maven: MavenSource | None = None
    """Artifacts of Maven repositories."""
    nix: NixSource | None = None
    """A package of a pinned nixpkgs."""
    docker: DockerSource | None = None
    """A container image."""
    host: HostSource | None = None
    """A program on PATH."""
    python: PythonSource | None = None
    """A Python package."""
    own: OwnSource | None = None
    """Benchload."""

    @model_validator(mode="before")
    @classmethod
    def _of_command(cls, stated: Any) -> Any:
        """Find the program of a command on PATH, and ask it for its version."""
        if not isinstance(stated, dict) or not isinstance(command := stated.get("command"), str):
            return stated
        try:
            words = shlex.split(command)
            asking = shlex.split(str(stated.get("version_command") or f"{shlex.quote(words[0])} --version"))
        except (ValueError, IndexError):
            raise ValueError(f"command = {command!r} is no command: a program and its arguments") from None
        asking = ["{program}" if word == words[0] else word for word in asking]
        host = {"program": words[0], "version_command": asking, "version_pattern": NUMBERS}
        return {**stated, "host": {**host, **(stated.get("host") or {})}}

    @model_validator(mode="after")
    def _not_empty(self) -> Source:
        names = [name for name in type(self).model_fields if name != "version_command"]
        if not any(getattr(self, name) for name in names):
            raise ValueError(f"needs at least one of {', '.join(names)}")
        return self


class Durability(Model):
    """State of the data when the system acknowledges a write, as reports show it."""

    fsync: Text
    """When the system syncs data to disk."""
    wal: Text
    """Write-ahead log."""
    replication: Text
    """Copies on other machines."""
    compression: Text
    """Compression of stored data."""
    corrected: list[Correction] = Field(default_factory=list)
    """Corrections of these texts, the oldest first. Pages of runs that declared others show the corrected ones."""


class Arm(Model):
    """A named configuration of a system: vanilla, tuned, published, as-published."""

    description: Text
    """The configuration in a sentence, for reports."""
    durability: Durability
    """The guarantees of an acknowledged write."""
    settings: dict[str, Setting] = Field(default_factory=dict)
    """Settings that differ from the system's defaults."""
    factors: dict[Name, Text] = Field(default_factory=dict)
    """Settings that an experiment may vary: factor → key of ``settings``."""

    @model_validator(mode="after")
    def _set(self) -> Self:
        for factor, key in self.factors.items():
            if key not in self.settings:
                raise ValueError(f'factors.{factor}: the arm has no setting "{key}"; add it to settings')
        return self

    def settings_at(self, levels: Mapping[str, Setting]) -> dict[str, Setting]:
        """Return the settings of a cell: those of the arm, with the levels of its factors."""
        varied = {key: levels[factor] for factor, key in self.factors.items() if factor in levels}
        return {**self.settings, **varied}


class System(Model):
    """A database or store under test, pinned to one version. No other file contains the version."""

    name: Name
    """Name of the system; the file is ``<name>.toml``."""
    title: Text
    """Title in reports, such as ``InfluxDB 1.8.10``."""
    driver: Name
    """Module under ``benchbook/systems/`` that configures, starts and stops the system."""
    version: Text
    """Pinned version, such as ``1.8.10``. ``any`` accepts every version of a command; the results show it."""
    match: Literal["exact", "series"] = "exact"
    """``exact``: only ``version``. ``series``: also any version that begins with ``version`` and a dot, such as 15.3
    for 15."""
    reports: str | None = None
    """Version that the server reports, if it differs from ``version``."""
    embedded: bool = False
    """True if the system runs inside the client's process."""
    license: Text
    """SPDX identifier or name of the license."""
    homepage: Text
    """Web address of the system."""
    colour: Colour | None = None
    """Colour in every chart; never change it. Default: derived from the name."""
    shape: Shape | None = None
    """Shape of points in every chart; never change it. Systems of one colour need different shapes. Default: derived
    from the name."""
    source: Source
    """Sources of the program."""
    listens_beyond: Text | None = None
    """Why the system listens on addresses beyond loopback, if no setting prevents it. Every report shows the reason;
    without one, trials of a system that does so fail."""
    client: PythonClient | None = None
    """Python client; needed if benchload has no client for the system."""
    arms: dict[Name, Arm] = Field(min_length=1)
    """Named configurations; ``vanilla`` has the system's defaults."""
    released: date | None = None
    """Day of the version's release, as a string, ``"2024-06-03"``. Charts of several releases need it."""

    @model_validator(mode="before")
    @classmethod
    def _of_command(cls, stated: Any) -> Any:
        """Fill in what a system without data does not need: only its name, title and command are required."""
        source = stated.get("source") if isinstance(stated, dict) else None
        command = source.get("command") if isinstance(source, dict) else None
        if not isinstance(command, str):
            return stated
        nothing = dict.fromkeys(("fsync", "wal", "replication", "compression"), NO_WRITES)
        arms = {"vanilla": {"description": f"`{command}`", "durability": nothing}}
        unstated = dict.fromkeys(("license", "homepage"), "not stated")
        return {"driver": "command", "version": ANY, **unstated, "arms": arms, **stated}

    @model_validator(mode="after")
    def _locked(self) -> Self:
        source = self.source.python
        if source is None or not source.wheels:
            return self
        pinned = f"{source.package.replace('-', '_')}-{self.version}-".lower()
        if not any(file.lower().startswith(pinned) for file in source.wheels):
            raise ValueError(
                f"source.python.wheels: no file of {source.package} {self.version}; "
                f"run harness/relock-python {self.name}"
            )
        return self

    def accepts(self, stated: str) -> bool:
        """Return whether a server that reports this version is the pinned one."""
        if self.version == ANY:
            return True
        wanted = self.reports or self.version
        if self.match == "exact":
            return stated == wanted
        return stated == wanted or stated.startswith(wanted + ".")
