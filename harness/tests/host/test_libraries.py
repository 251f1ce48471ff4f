"""Shared libraries of a program."""

import sys
from pathlib import Path

from benchbook.host.libraries import libraries, listed


def test_the_output_of_ldd_is_read_without_its_addresses():
    text = "\tvdso.so.1 (0x7ff)\n\tlibc.so.6 => /lib/libc.so.6 (0x7f0)\n\tlibx.so => not found\n\t/lib64/ld.so.2 (0x7)"
    assert listed(text) == ("libc.so.6 => /lib/libc.so.6", "libx.so => not found")
    assert listed("\tstatically linked") == listed("\tnot a dynamic executable") == ()


def test_without_ldd_the_libraries_are_unknown(monkeypatch, tmp_path):
    assert libraries(Path(sys.executable)) is not None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert libraries(Path(sys.executable)) is None
