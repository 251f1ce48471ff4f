"""Separate Python environments, with a small wheel on disk in place of a registry."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from benchbook.errors import Unavailable
from benchbook.provision import environment
from benchbook.provision.find import find, preview
from benchbook.provision.request import Request

from .conftest import system

SERIES = f"{sys.version_info.major}.{sys.version_info.minor}"


def wheel(folder: Path, version: str = "1.8.10") -> dict[str, str]:
    """Write a wheel of the package ``tiny-base``; return its lock."""
    folder.mkdir(exist_ok=True)
    info = f"tiny_base-{version}.dist-info"
    files = {
        "tiny_base/__init__.py": f"version = {version!r}\n".encode(),
        "tiny_base/core.so": b"compiled",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tiny-base\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    files[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"]).encode()
    path = folder / f"tiny_base-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()}


def declared(lock: dict[str, str], **changes):
    source = {"package": "tiny-base", "python": SERIES, "wheels": lock} | changes
    return system(embedded=True, source={"python": source})


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    links = str(tmp_path / "links")
    away = {"UV_NO_INDEX": "1", "UV_FIND_LINKS": links, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": links}
    return Request(
        cache=tmp_path / "cache", environment={**os.environ, **away, "UV_CACHE_DIR": str(tmp_path / "uv")}
    )


@pytest.fixture(params=["uv", "pip"])
def installer(request, monkeypatch):
    if request.param == "pip":
        monkeypatch.setattr(environment, "uv", lambda: None)
    elif environment.uv() is None:
        pytest.skip("uv is not installed: neither beside the environment nor on PATH")


@pytest.mark.usefixtures("installer")
def test_it_is_built_once_and_has_exactly_the_pinned_version(tmp_path: Path, request_: Request):
    one = declared(wheel(tmp_path / "links"))
    assert preview(one, request_).startswith(
        f"build an environment of Python {SERIES} once: tiny-base==1.8.10"
    )
    found = find(one, request_)
    assert (found.source, found.version) == ("python", "1.8.10")
    asked = [found.path, "-c", "import tiny_base; print(tiny_base.version)"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "1.8.10\n"
    assert "tiny-base==1.8.10" in found.detail
    (tmp_path / "links" / "tiny_base-1.8.10-py3-none-any.whl").unlink()
    assert find(one, request_) == found
    assert preview(one, request_).startswith("use ")


def test_a_damaged_environment_is_built_again(tmp_path: Path, request_: Request):
    one = declared(wheel(tmp_path / "links"))
    found = find(one, request_)
    library = next(found.path.parents[1].rglob("core.so"))
    library.unlink()  # a hard link of the installer's cache
    library.write_bytes(b"something else")
    assert find(one, request_) == found
    assert next(found.path.parents[1].rglob("core.so")).read_bytes() == b"compiled"


@pytest.mark.usefixtures("installer")
def test_another_file_than_the_pinned_one_is_never_installed(tmp_path: Path, request_: Request):
    lock = wheel(tmp_path / "links")
    with pytest.raises(Unavailable, match="could not be built") as error:
        find(declared(dict.fromkeys(lock, "0" * 64)), request_)
    assert "hash" in error.value.message.lower()
    assert list((tmp_path / "cache" / "systems").glob("serverd*")) == []


def test_a_registry_that_is_away_is_told_with_what_to_do(tmp_path: Path, request_: Request):
    lock = wheel(tmp_path / "links")
    next((tmp_path / "links").iterdir()).unlink()
    with pytest.raises(Unavailable, match="tiny-base") as error:
        find(declared(lock), request_)
    assert "registry of Python packages" in error.value.hint


def test_a_missing_python_is_told_with_its_package(tmp_path: Path, request_: Request):
    one = declared(wheel(tmp_path / "links"), python="3.2")
    with pytest.raises(Unavailable, match=r"no python3\.2 is on PATH") as error:
        find(one, request_)
    assert "apt-get install python3.2" in error.value.hint


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"python": None}, "describe a separate environment"),
        ({"wheels": {}}, "describe a separate environment"),
        (
            {"requires": ["numpy==2.0"]},
            r'requires names "numpy==2.0", but wheels has no file of this package',
        ),
        ({"program": "bin/x"}, "remove one"),
        ({"wheels": {"tiny_base-1.9-py3-none-any.whl": "0" * 64}}, "run harness/relock-python serverd-1.8"),
    ],
)
def test_a_declaration_names_the_pinned_version_and_its_files(changes, words):
    lock = {"tiny_base-1.8.10-py3-none-any.whl": "0" * 64}
    with pytest.raises(ValueError, match=words):
        declared(lock, **changes)


def test_a_lock_is_written_from_what_the_resolver_found(tmp_path: Path, capsys):
    file, lock = tmp_path / "x.toml", tmp_path / "pylock.toml"
    file.write_text(
        'version = "1.0"\n[source.python]\npackage = "a-b"\nrequires = ["c==2"]\n\n[source.python.wheels]\n\n[arms]\n'
    )
    lock.write_text(
        '[[packages]]\nname = "a-b"\nversion = "1.0"\nwheels = [{ url = "file:///x/a_b-1.0-py3-none-any.whl", '
        'upload-time = 2024-06-03T10:00:00Z, hashes = { sha256 = "f0" } }]\n'
    )
    environment.main(["wanted", str(file)])
    environment.main(["write", str(file), str(lock)])
    assert capsys.readouterr().out == 'a-b==1.0\nc==2\nx.toml: released = "2024-06-03"\n'
    assert '[source.python.wheels]\n"a_b-1.0-py3-none-any.whl" = "f0"\n\n[arms]\n' in file.read_text()
