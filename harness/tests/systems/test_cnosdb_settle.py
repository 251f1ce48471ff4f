"""CnosDB is settled when its files rest."""

import threading
import time

import pytest

from benchbook.errors import TrialFailed
from benchbook.systems import cnosdb_config
from benchbook.systems.cnosdb_config import settle


def test_files_that_change_are_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(cnosdb_config, "REST_SECONDS", 0.4)

    def merge():
        for size in range(1, 5):
            (tmp_path / "a.tsm").write_bytes(b"x" * size)
            time.sleep(0.2)

    merging = threading.Thread(target=merge)
    began = time.monotonic()
    merging.start()
    watched = settle(tmp_path, None)
    assert time.monotonic() - began > 0.9
    assert 0.4 <= watched < 0.8
    merging.join()


def test_caches_are_written_out_first(tmp_path, monkeypatch):
    monkeypatch.setattr(cnosdb_config, "REST_SECONDS", 0.1)
    done = []
    settle(tmp_path, lambda: done.append(True))
    assert done == [True]
    assert settle(None, lambda: done.append(True)) == 0.0
    assert len(done) == 2


def test_files_that_never_rest_fail_the_trial(tmp_path, monkeypatch):
    monkeypatch.setattr(cnosdb_config, "SETTLE_SECONDS", 0.3)
    with pytest.raises(TrialFailed, match="did not settle in 0 s"):
        settle(tmp_path, None)
