import os
import socket
from types import SimpleNamespace

import pytest

from benchbook.errors import TrialFailed
from benchbook.process.network import beyond_loopback, require_reason


def test_loopback_and_the_host_that_was_told_are_allowed_and_nothing_else():
    with socket.create_server(("127.0.0.1", 0)), socket.create_server(("0.0.0.0", 0)) as open_to_all:
        port = open_to_all.getsockname()[1]
        assert beyond_loopback([os.getpid()], "127.0.0.1") == [f"0.0.0.0:{port}"]
        assert beyond_loopback([os.getpid()], "0.0.0.0") == []
    assert beyond_loopback([os.getpid(), 2**22 + 1], "127.0.0.1") == []


def test_a_system_open_to_others_fails_its_trial_unless_it_declares_why():
    system = SimpleNamespace(name="a-system", listens_beyond=None)
    require_reason(system, [])
    with pytest.raises(TrialFailed, match=r"a-system listens on 0\.0\.0\.0:9.*systems/a-system\.toml"):
        require_reason(system, ["0.0.0.0:9"])
    system.listens_beyond = "it has no setting for that"
    require_reason(system, ["0.0.0.0:9"])
