"""Signals that end a run, and signals that it ignores from its start."""

from __future__ import annotations

import os
import signal

import pytest

from benchbook.run.engine import interruptible


@pytest.fixture(params=[signal.SIGTERM, signal.SIGHUP])
def number(request):
    before = signal.getsignal(request.param)
    yield request.param
    signal.signal(request.param, before)


def test_a_run_is_interrupted_and_the_handler_restored(number):
    signal.signal(number, signal.SIG_DFL)
    with pytest.raises(KeyboardInterrupt), interruptible():
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) == signal.SIG_DFL


def test_an_ignored_signal_stays_ignored_as_with_nohup(number):
    signal.signal(number, signal.SIG_IGN)
    with interruptible():
        os.kill(os.getpid(), number)
        assert signal.getsignal(number) == signal.SIG_IGN
    assert signal.getsignal(number) == signal.SIG_IGN
