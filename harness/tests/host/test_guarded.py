"""What somebody put in the way of a file or folder is refused at once."""

import gc
import json
import os
from pathlib import Path

import pytest

from benchbook.host import guarded


def test_a_regular_file_is_read(tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("file")
    assert guarded.contents(tmp_path / "link", 3) == b"abc"


def test_a_named_pipe_a_device_a_folder_and_a_large_file_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "large").write_bytes(b"abcd")
    for name, why in [("pipe", "not a regular"), ("zero", "not a regular"), ("large", "larger than 3 bytes")]:
        with pytest.raises(OSError, match=why):
            guarded.contents(tmp_path / name, 3)
    with pytest.raises(IsADirectoryError):
        guarded.contents(tmp_path, 3)


@pytest.mark.parametrize("text", ["", "{", "[]", "5", "null", "[" * 50_000, '{"a": ' * 5_000, "\xff"])
def test_a_record_that_is_no_object_is_refused(tmp_path, text):
    (tmp_path / "record").write_text(text, encoding="latin-1")
    with pytest.raises(ValueError):  # noqa: PT011 - every text of it is right
        guarded.record(tmp_path / "record")


@pytest.mark.parametrize("text", ["Infinity", "NaN", "1e999", "true", "0", "-1", '"7"', "1.5", "null", "[1]"])
def test_what_is_no_positive_integer_is_refused(text):
    with pytest.raises(ValueError, match="positive integer"):
        guarded.whole_number(json.loads(text))


def test_a_folder_that_is_a_link_or_open_to_others_is_refused(tmp_path):
    assert guarded.own_folder(tmp_path / "own") == guarded.own_folder(tmp_path / "own")
    (tmp_path / "link").symlink_to("own")
    with pytest.raises(OSError, match="is a link"):
        guarded.own_folder(tmp_path / "link")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(OSError, match="writable by other users"):
        guarded.own_folder(tmp_path / "open")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder to another user")
def test_a_folder_of_another_user_is_refused(tmp_path):
    guarded.own_folder(tmp_path / "own")
    os.chown(tmp_path / "own", 65534, 65534)
    with pytest.raises(OSError, match="another user"):
        guarded.own_folder(tmp_path / "own")


def test_a_refused_file_closes_no_descriptor_twice(tmp_path: Path) -> None:
    """A second close would hit whatever file has got the number of the first meanwhile."""
    os.mkfifo(tmp_path / "pipe")
    for odd in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(OSError, match=r".") as caught:
            guarded.regular(odd)
        with (tmp_path / "other").open("wb") as other:
            del caught
            gc.collect()
            other.write(b"x")
        assert (tmp_path / "other").read_bytes() == b"x"
