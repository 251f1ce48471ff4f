"""A system: a database or store under test, pinned to one version. File: ``systems/<name>.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from benchbook.declare.toml import Model, Name, Setting, Text

Coordinate = Annotated[str, Field(pattern=r"^[^:\s]+(:[^:\s]+){2,4}$")]
"""Where a file stands in Maven repositories."""
SOURCE_NAMES = ("given", "nix", "docker", "host", "go", "maven", "python", "own")
"""The sources of a program in the order in which they are tried; the levels of the factor ``source``."""
Colour = Literal["blue", "vermilion", "green", "pink", "violet", "crimson", "periwinkle", "plum"]
Shape = Literal["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]


class GoSource(Model):
    """A program built once from its Go module, into a cache keyed by the pin."""

    package: Text
    """Import path of the main package, without a version."""
    program: Text
    """Name of the executable that the build leaves."""
    ldflags: str = ""
    """Linker flags; ``{version}`` stands for the system's version."""


class MavenSource(Model):
    """Artifacts of Maven repositories, at fixed versions: jars, or a distribution to be unpacked."""

    artifacts: list[Coordinate] = Field(min_length=1)
    """What is wanted, ``group:artifact:version`` with ``:type`` where that is no jar."""
    program: str | None = Field(default=None, pattern=r"^[^/].*$")
    """The program in the unpacked distribution; left out where the jars themselves are run."""
    sha256: dict[Coordinate, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]] = Field(min_length=1)
    """Every file that is needed, ``group:artifact:version:type``, with its digest; made by ``harness/relock-maven``."""


class NixSource(Model):
    """An attribute of one of the flake's pinned nixpkgs."""

    pin: Literal["modern", "historic"]
    """Which of the two pins of flake.lock."""
    attribute: Text
    program: Text
    """Name of the executable under ``bin/``."""


class ContainerSource(Model):
    """How a system runs in a container."""

    network: Literal["host", "private"] = "host"
    """The machine's own network, or one of the trial's own in which the container has an address."""
    cpus: float | None = Field(default=None, gt=0)
    """Processor time that it may take, in cores; no limit by default."""
    cores: str | None = Field(default=None, pattern=r"^\d+(-\d+)?(,\d+(-\d+)?)*$")
    """The cores it may run on, as ``0-3,6``; all by default."""
    memory: str | None = Field(default=None, pattern=r"^\d+(KiB|MiB|GiB)?$")
    """Memory it may take, as ``512MiB`` or ``2GiB``; no limit by default."""
    user: str | None = Field(default=None, pattern=r"^\d+(:\d+)?$")
    """``UID:GID`` that it runs as; by default the user's own."""

    def memory_bytes(self) -> int | None:
        """Return the memory it may take, in bytes.

        >>> ContainerSource(memory="2GiB").memory_bytes()
        2147483648
        """
        if self.memory is None:
            return None
        digits = self.memory.rstrip("KMGiB")
        return int(digits) << {"": 0, "KiB": 10, "MiB": 20, "GiB": 30}[self.memory[len(digits) :]]


class DockerSource(ContainerSource):
    """An official image, by digest where one is known; a tag alone is locked to the digest of its first pull."""

    image: Text
    digest: str | None = Field(default=None, pattern=r"^sha256:[0-9a-f]{64}$")
    program: str | None = Field(default=None, pattern=r"^/\S+$")
    """Path of the executable inside the image; without it the image is not run."""


class HostSource(Model):
    """A program on PATH that states exactly the pinned version."""

    program: Text
    version_command: list[str] = Field(min_length=1)
    """Command whose output states the version; ``{program}`` stands for the program's path."""
    version_pattern: Text
    """Regular expression whose first group is the version."""
    folders: list[Text] = Field(default_factory=list)
    """Folders searched after PATH, where distributions keep programs that are not meant to be called by hand."""
    package: Text | None = None
    """Debian package that has the program: told where it is missing."""


class PythonSource(Model):
    """An embedded system, driven through its official Python binding of the locked environment.

    With ``program``, a server that comes as a Python package, which the locked environment has not: it is installed
    on wish.
    """

    package: Text
    program: str | None = Field(default=None, pattern=r"^[^/].*$")
    """The server's program in the package's folder."""


class PythonClient(Model):
    """The Python package that drives a server for which there is no driver in Go; not in the locked environment."""

    package: Text
    version: Text
    """The version that is installed on wish; another one that is there is used, and told by the report."""
    module: Text
    """What is imported of it."""


class OwnSource(Model):
    """Benchbook's own load tool, which is a server too."""


class Source(Model):
    """Where the system can be had from; at least one way."""

    go: GoSource | None = None
    maven: MavenSource | None = None
    nix: NixSource | None = None
    docker: DockerSource | None = None
    host: HostSource | None = None
    python: PythonSource | None = None
    own: OwnSource | None = None

    @model_validator(mode="after")
    def _some_way(self) -> Source:
        if not any((self.go, self.maven, self.nix, self.docker, self.host, self.python, self.own)):
            raise ValueError("needs at least one of go, maven, nix, docker, host, python, own")
        return self


class Durability(Model):
    """What has happened to the data when a write is acknowledged, in the words of the report."""

    fsync: Text
    wal: Text
    replication: Text
    compression: Text


class Arm(Model):
    """A named configuration of a system: vanilla, tuned, published, as-published."""

    description: Text
    durability: Durability
    settings: dict[str, Setting] = Field(default_factory=dict)
    """Differences from the system's default configuration."""
    factors: dict[Name, Text] = Field(default_factory=dict)
    """Settings that an experiment may vary: name of the factor → key of ``settings``."""

    @model_validator(mode="after")
    def _set(self) -> Self:
        for factor, key in self.factors.items():
            if key not in self.settings:
                raise ValueError(f'factors.{factor}: the arm has no setting "{key}"; give it its level there')
        return self

    def settings_at(self, levels: Mapping[str, Setting]) -> dict[str, Setting]:
        """Return the settings of a cell: those of the arm, with the levels of its own factors."""
        varied = {key: levels[factor] for factor, key in self.factors.items() if factor in levels}
        return {**self.settings, **varied}


class System(Model):
    """A database or store under test, pinned to one version: the only place where that version stands."""

    name: Name
    title: Text
    driver: Name
    """Module under ``benchbook/systems/`` that configures, starts and stops it."""
    version: Text
    match: Literal["exact", "series"] = "exact"
    """``series`` accepts any version that begins with ``version`` and a dot (a distribution's 15.x)."""
    reports: str | None = None
    """What the server states as its version where it misstates itself."""
    embedded: bool = False
    """Whether it runs inside the client's process."""
    license: Text
    homepage: Text
    colour: Colour | None = None
    """Colour in every chart. A system keeps colour and shape for ever; without them its name decides."""
    shape: Shape | None = None
    """Shape of its points. Systems of the same colour differ in shape, and those of one experiment in colour."""
    source: Source
    listens_beyond: Text | None = None
    """Why it listens on addresses beyond loopback, where it has no setting against that. It is told in every report;
    a system that does so without a reason fails its trials."""
    client: PythonClient | None = None
    """Needed where benchload cannot speak to it."""
    arms: dict[Name, Arm] = Field(min_length=1)

    def accepts(self, stated: str) -> bool:
        """Say whether a server that states this version is the pinned one."""
        wanted = self.reports or self.version
        if self.match == "exact":
            return stated == wanted
        return stated == wanted or stated.startswith(wanted + ".")
