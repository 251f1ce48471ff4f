"""Signals that end a run, and signals that it ignores from its start."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import pytest

from benchbook.process import interrupt, spawn
from benchbook.process.interrupt import interruptible


@pytest.fixture(params=[signal.SIGTERM, signal.SIGHUP])
def number(request):
    before = signal.getsignal(request.param)
    yield request.param
    signal.signal(request.param, before)


@pytest.fixture(autouse=True)
def _ctrl_c():
    """Ctrl-C interrupts, even if the tests were started in the background by a shell that ignores it there."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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


def test_an_interruption_that_is_held_back_takes_effect_at_the_end():
    reached = []

    def twice():
        with interrupt.held():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            reached.append(True)

    with pytest.raises(KeyboardInterrupt):
        twice()
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with interrupt.held():
        pass


def test_an_interruption_during_a_fork_is_not_lost_and_leaves_no_process(tmp_path, monkeypatch):
    """As the functions that Python runs around a fork do, this one drops every exception."""
    pids = []

    def forked():
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)

    start = spawn._started

    def started(*arguments):
        running = start(*arguments)
        forked()
        pids.append(running.pid)
        return running

    monkeypatch.setattr(spawn, "_started", started)
    with pytest.raises(KeyboardInterrupt):
        spawn.start(["sleep", "60"], name="a server", log=tmp_path / "log", registry=tmp_path / "processes")
    [pid] = pids
    assert not Path(f"/proc/{pid}").exists()
    assert list((tmp_path / "processes").iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], indirect=True)
def test_ignored_signals_stay_ignored_while_interruptions_are_held_back(number):
    signal.signal(number, signal.SIG_IGN)
    with interrupt.held():
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) == signal.SIG_IGN
