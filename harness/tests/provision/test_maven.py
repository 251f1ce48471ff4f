"""Provisioning of Maven artifacts, with a script in place of mvn."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from benchbook.errors import Unavailable
from benchbook.process.launch import Program
from benchbook.provision.find import find, preview
from benchbook.provision.maven import coordinates, file_name, project
from benchbook.provision.request import Request

from .conftest import system

MAVEN = """#!/bin/sh
''''exec '{python}' "$0" "$@" # '''
import sys, xml.etree.ElementTree as tree
out = next(one.split("=", 1)[1] for one in sys.argv if one.startswith("-DoutputDirectory="))
pom = tree.parse(sys.argv[sys.argv.index("--file") + 1])
space = "{{http://maven.apache.org/POM/4.0.0}}"
for one in pom.iter(space + "dependency"):
    get = lambda name: one.findtext(space + name)
    name = f"{{get('artifactId')}}-{{get('version')}}.{{get('type')}}"
    open(f"{{out}}/{{name}}", "wb").write(open({content!r}, "rb").read())
open({calls!r}, "a").write("called\\n")
"""


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Machine:
    """A machine with java and mvn on PATH, whose repository has one file."""

    def __init__(self, folder: Path, content: bytes) -> None:
        self.folder, self.calls = folder, folder / "calls"
        programs = folder / "bin"
        programs.mkdir()
        (folder / "content").write_bytes(content)
        text = MAVEN.format(python=sys.executable, content=str(folder / "content"), calls=str(self.calls))
        for name, script in (("mvn", text), ("java", "#!/bin/sh\n")):
            (programs / name).write_text(script)
            (programs / name).chmod(0o755)
        self.request = Request(cache=folder / "cache", environment={"PATH": str(programs)})

    def called(self) -> int:
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0


@pytest.fixture
def jar() -> bytes:
    return b"the bytes of a jar"


def declared(content: bytes, **changes):
    source = {
        "artifacts": ["org.example:server:1.8.10"],
        "sha256": {"org.example:server:1.8.10:jar": sha256(content)},
    }
    return system(source={"maven": source | changes})


def test_it_is_fetched_once_and_held_against_its_digest(tmp_path: Path, jar: bytes):
    machine = Machine(tmp_path, jar)
    assert preview(declared(jar), machine.request).startswith("fetch 1 Maven artifacts once")
    found = find(declared(jar), machine.request)
    assert isinstance(found, Program)
    assert found.path is not None
    assert [file.name for file in found.path.glob("*.jar")] == ["server-1.8.10.jar"]
    assert (found.source, found.version) == ("maven", "1.8.10")
    assert find(declared(jar), machine.request) == found
    assert machine.called() == 1
    (found.path / "server-1.8.10.jar").write_bytes(b"something else")
    assert find(declared(jar), machine.request) == found
    assert machine.called() == 2


def test_another_artifact_is_never_run(tmp_path: Path, jar: bytes):
    machine = Machine(tmp_path, b"what somebody else put there")
    with pytest.raises(Unavailable, match="does not match its pin"):
        find(declared(jar), machine.request)
    assert list((tmp_path / "cache" / "systems").glob("serverd*")) == []


def test_a_distribution_is_unpacked_with_its_rights(tmp_path: Path):
    archive = tmp_path / "made.zip"
    with zipfile.ZipFile(archive, "w") as file:
        entry = zipfile.ZipInfo("server-1.8.10/bin/server")
        entry.external_attr = 0o100755 << 16
        file.writestr(entry, "#!/bin/sh\necho started\n")
    content = archive.read_bytes()
    machine = Machine(tmp_path, content)
    one = declared(
        content,
        artifacts=["org.example:server:1.8.10:zip"],
        program="server-1.8.10/bin/server",
        sha256={"org.example:server:1.8.10:zip": sha256(content)},
    )
    found = find(one, machine.request)
    assert found.path is not None
    assert subprocess.run([found.path], capture_output=True, check=True, text=True).stdout == "started\n"


@pytest.mark.parametrize("without", ["mvn", "java"])
def test_what_is_missing_is_named_with_the_command_that_gets_it(tmp_path: Path, jar: bytes, without: str):
    machine = Machine(tmp_path, jar)
    (tmp_path / "bin" / without).unlink()
    with pytest.raises(Unavailable, match=f"no {without} on PATH") as error:
        find(declared(jar), machine.request)
    assert "apt-get install maven openjdk-17-jdk-headless" in str(error.value)


def test_a_maven_that_fails_is_quoted(tmp_path: Path, jar: bytes):
    machine = Machine(tmp_path, jar)
    (tmp_path / "bin" / "mvn").write_text("#!/bin/sh\necho '[ERROR] no such repository'\nexit 1\n")
    with pytest.raises(Unavailable, match="no such repository"):
        find(declared(jar), machine.request)


def test_the_project_names_what_is_pinned_and_nothing_that_it_needs():
    text = project(["g:a:1:jar", "g:b:2:zip:all"])
    assert text.count("<exclusions>") == text.count("<dependency>") == 2
    assert "<classifier>all</classifier>" in text
    assert "<exclusions>" not in project(["g:a:1:jar"], without_dependencies=False)


def test_a_lock_is_made_of_a_repository_as_it_lies_on_disk(tmp_path: Path):
    for name in ("org/example/server/1.2/server-1.2.jar", "org/example/server/1.2/server-1.2-all.zip"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    found = coordinates(tmp_path)
    assert found == {
        "org.example:server:1.2:jar": sha256(b"x"),
        "org.example:server:1.2:zip:all": sha256(b"x"),
    }
    assert {file_name(one) for one in found} == {"server-1.2.jar", "server-1.2-all.zip"}
