"""What the machine refuses is a sentence with the next step."""

import errno

import pytest

from benchbook.cli import app
from benchbook.errors import RequestError
from benchbook.host import exhausted
from benchbook.host.filesystem import Device
from benchbook.run import benchload


class PanicException(BaseException):
    """A panic of a library in Rust, which is no Exception."""


def caused(error):
    try:
        raise KeyError("x") from error
    except KeyError as found:
        return found


LACKS = {
    "fork": (
        BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"),
        "no further process or thread",
    ),
    "thread": (RuntimeError("can't start new thread"), "no further process or thread"),
    "rust": (PanicException("could not spawn threads: ThreadPoolBuildError"), "no further process or thread"),
    "cause": (caused(RuntimeError("can't start new thread")), "no further process or thread"),
    "memory": (OSError(errno.ENOMEM, "Cannot allocate memory"), "no memory left"),
    "python": (MemoryError(), "no memory left"),
    "files": (OSError(errno.EMFILE, "Too many open files"), "no further file"),
    "storage": (
        OSError(errno.EIO, "Input/output error", "/dev/shm/x"),
        "/dev/shm/x: the storage failed to read or write",
    ),
}


@pytest.mark.parametrize(("error", "words"), LACKS.values(), ids=LACKS)
def test_a_command_that_lacks_something_ends_with_a_sentence_and_no_traceback(
    monkeypatch, capsys, error, words
):
    def fail(*_arguments, **_options):
        raise error

    monkeypatch.setattr(app, "app", fail)
    assert app.run(["list"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert words in said
    assert "Traceback" not in said
    assert "again" in said or "--results DIR" in said


def test_a_broken_disk_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(exhausted, "device_of", lambda place: Device(f"sd-{place.name}", "sd"))
    broken = OSError(errno.EIO, "Input/output error")
    assert exhausted.explain(broken)[0] == "The storage failed to read or write (input/output error)."
    message, hint = exhausted.explain(broken, tmp_path / "results")
    assert message == f"{tmp_path}/results: the disk sd-results failed to read or write (input/output error)."
    assert hint.startswith("Check the disk sd-results (`dmesg` reports its errors)")
    broken.filename = str(tmp_path / "file")
    assert "the disk sd-file failed" in exhausted.explain(broken, tmp_path / "results")[0]


def test_a_defect_is_no_lack():
    assert exhausted.explain(ValueError("x")) is None
    assert exhausted.explain(OSError(errno.ENOENT, "No such file or directory")) is None
    chain = ValueError("x")
    chain.__cause__ = chain
    assert exhausted.explain(chain) is None


def test_a_benchload_that_gets_no_thread_is_a_sentence(tmp_path):
    """Go prints a stack of all its threads, of which the last line was shown."""
    binary = tmp_path / "benchload"
    text = "runtime: failed to create new OS thread (have 5 already; errno=11)"
    binary.write_text(f"#!/bin/sh\necho '{text}' >&2; echo '+0xa5' >&2; exit 2\n")
    binary.chmod(0o755)
    with pytest.raises(RequestError, match="no further process or thread"):
        benchload.identity(binary)
