import sys

import pytest

from benchbook.host.reading import NOT_READABLE, Tree, Unreadable, fact, program_output, read_fact, readable


def test_an_absent_file_a_wrong_number_and_a_folder_are_stated(tmp_path):
    tree = Tree(tmp_path)
    (tmp_path / "word").write_text("max\n")
    assert read_fact(tree.number, "/word") == f"{NOT_READABLE}/word: contains 'max', not a number"
    assert read_fact(tree.text, "/none") == f"{NOT_READABLE}/none: no such file or directory"
    assert read_fact(tree.text, "/") == f"{NOT_READABLE}/: is a directory"


def test_an_unread_fact_is_told_from_one_that_is_false_or_zero():
    assert readable(0)
    assert readable(False)
    assert not readable(None)
    assert not readable(f"{NOT_READABLE}absent")


def test_a_missing_step_on_the_way_to_a_fact_is_stated():
    facts = {"filesystem": {"device": f"{NOT_READABLE}tmpfs has no block device"}}
    assert fact(facts, "filesystem.device.model") == facts["filesystem"]["device"]
    assert fact(facts, "cpu.model") == f"{NOT_READABLE}cpu.model is not among the facts"


def test_a_program_that_is_absent_or_hangs_is_no_exception(monkeypatch):
    monkeypatch.setattr("benchbook.host.reading.PROGRAM_TIMEOUT_SECONDS", 0.2)
    with pytest.raises(Unreadable, match="is absent"):
        program_output(["no-such-program"])
    with pytest.raises(Unreadable, match="did not answer"):
        program_output([sys.executable, "-c", "import time; time.sleep(5)"])
