"""Programs that are built once from files of the project."""

import shutil

import pytest

from benchbook.declare.system import BuildSource, System
from benchbook.errors import RequestError, Unavailable
from benchbook.provision import build, recorded
from benchbook.provision.find import find, preview
from benchbook.provision.request import Request

DURABILITY = {"fsync": "-", "wal": "-", "replication": "-", "compression": "-"}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a "compiler" that joins its sources, and counts how often it is called."""
    folder = tmp_path / "a project"
    (folder / "client").mkdir(parents=True)
    (folder / "systems").mkdir()
    (folder / "systems" / "mystore.toml").write_text("")
    (folder / "client" / "main.sh").write_text("#!/bin/sh\necho mystore 1.2\n")
    (folder / "client" / "more.sh").write_text("# more\n")
    (folder / "compile").write_text(
        '#!/bin/sh\nset -e\nout=$1; shift\necho called >>calls\ncat "$@" >"$out"\nchmod +x "$out"\n'
    )
    (folder / "compile").chmod(0o755)
    monkeypatch.setattr(build, "_project", lambda system: folder)
    return folder


def declared(**more):
    source = {
        "files": ["client/*.sh"],
        "command": ["./compile", "{program}", "client/*.sh"],
        "program": "mystore",
        "keyed_by": [["uname", "-s"]],
        "version_command": ["{program}"],
        "version_pattern": "mystore ([0-9.]+)",
        "packages": ["libmystore-dev"],
        **more,
    }
    return System.model_validate(
        {
            "name": "mystore", "title": "My store", "driver": "mystore", "version": "1.2", "license": "MIT",
            "homepage": "https://example.org", "source": {"build": source},
            "arms": {"vanilla": {"description": "-", "durability": DURABILITY}},
        }
    )  # fmt: skip


def calls(project):
    log = project / "calls"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_it_is_built_once_and_again_for_another_file_or_library(project, tmp_path):
    request = Request(cache=tmp_path / "cache")
    assert preview(declared(), request).startswith("build it once from client/*.sh with ./compile")
    first = find(declared(), request)
    assert (first.source, first.version, calls(project)) == ("build", "1.2", 1)
    assert first.path.read_text() == "#!/bin/sh\necho mystore 1.2\n# more\n"
    assert "with Linux" in first.detail
    assert find(declared(), request) == first
    assert preview(declared(), request) == f"use {first.path} (built from client/*.sh)"
    assert calls(project) == 1
    (project / "client" / "more.sh").write_text("# another\n")
    second = find(declared(), request)
    assert (second.path != first.path, second.digest != first.digest, calls(project)) == (True, True, 2)
    assert find(declared(keyed_by=[["uname", "-m"]]), request).path not in (first.path, second.path)


def test_a_damaged_program_is_built_again(project, tmp_path):
    request = Request(cache=tmp_path / "cache")
    first = find(declared(), request)
    first.path.write_text("#!/bin/sh\necho damaged\n")
    assert find(declared(), request).digest == first.digest
    assert calls(project) == 2


def test_a_failed_build_says_why_and_leaves_nothing(project, tmp_path):
    cache = tmp_path / "cache"
    (project / "compile").write_text("#!/bin/sh\necho main.sh:1: no such header >&2\nexit 1\n")
    with pytest.raises(
        Unavailable, match=r"My store could not be built: main.sh:1: no such header"
    ) as caught:
        find(declared(), Request(cache=cache))
    assert "apt-get install libmystore-dev" in caught.value.hint
    assert not list(cache.rglob(recorded.FILE))
    with pytest.raises(Unavailable, match="there is no no-such-compiler on PATH"):
        find(declared(command=["no-such-compiler", "{program}"]), Request(cache=cache))


def test_another_version_than_the_pinned_one_is_refused(project, tmp_path):
    (project / "client" / "main.sh").write_text("#!/bin/sh\necho mystore 1.3\n")
    with pytest.raises(Unavailable, match=r"reports version 1\.3, not 1\.2"):
        find(declared(), Request(cache=tmp_path / "cache"))


def test_a_library_that_is_not_installed_is_named(project, tmp_path):
    asks = [["sh", "-c", "echo no package libmystore-dev >&2; exit 1"]]
    with pytest.raises(Unavailable, match="no package libmystore-dev") as caught:
        find(declared(keyed_by=asks), Request(cache=tmp_path / "cache"))
    assert "apt-get install libmystore-dev" in caught.value.hint
    assert calls(project) == 0


@pytest.mark.parametrize("pattern", ["client/*.c", "client/out/*.sh", "../elsewhere/*.sh"])
def test_files_are_those_of_the_project(project, tmp_path, pattern):
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(project / "client" / "main.sh", tmp_path / "elsewhere" / "x.sh")
    (project / "client" / "out").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RequestError, match=r"no file matches|leads out of"):
        find(declared(files=[pattern]), Request(cache=tmp_path / "cache"))


@pytest.mark.parametrize("pattern", ["/etc/*", "~/x"])
def test_a_pattern_begins_in_the_project(pattern):
    with pytest.raises(ValueError, match="files"):
        BuildSource.model_validate({**declared().source.build.model_dump(), "files": [pattern]})
