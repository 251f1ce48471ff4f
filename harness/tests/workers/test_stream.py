"""The stream of batches from the generator."""

import time

import pytest

from benchbook.workers.engine import StreamBrokenError
from benchbook.workers.stream import batches


def test_every_batch_comes_in_order_with_its_table(generator):
    found = list(batches(generator(7)))
    assert [table for table, _ in found] == ["cpu"] * 7
    assert [one.column("usage_user")[0].as_py() for _, one in found] == [n * 10.0 for n in range(7)]


def test_an_empty_stream_is_no_batch(generator):
    assert list(batches(generator(0))) == []


def test_a_generator_that_fails_is_told_with_its_words(generator):
    with pytest.raises(StreamBrokenError, match="ended with code 3: disk on fire"):
        list(
            batches(
                generator(2, after="sys.stdout.flush(); print('disk on fire', file=sys.stderr); sys.exit(3)")
            )
        )


def test_a_stream_that_ends_in_the_middle_is_told(generator):
    with pytest.raises(StreamBrokenError, match="is incomplete"):
        list(
            batches(
                generator(2, after="sys.stdout.buffer.write(b'\\xff\\xff\\xff\\xff\\x80\\x00\\x00\\x00abc')")
            )
        )


def test_a_generator_that_dies_within_a_batch_is_told_with_its_words(generator):
    broken = "sys.stdout.buffer.write(b'\\xff\\xff\\xff\\xff\\x80\\x00\\x00\\x00abc'); sys.stdout.flush(); "
    words = "print('disk on fire', file=sys.stderr); sys.exit(3)"
    with pytest.raises(StreamBrokenError, match="ended with code 3: disk on fire"):
        list(batches(generator(2, after=broken + words)))


def test_closing_early_ends_the_generator(generator):
    began = time.monotonic()
    found = batches(generator(1, after="sys.stdout.flush(); import time; time.sleep(60)"))
    next(found)
    found.close()
    assert time.monotonic() - began < 20
