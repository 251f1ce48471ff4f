import os
import socket

from benchbook.run.listening import beyond


def test_loopback_and_the_host_that_was_told_are_allowed_and_nothing_else():
    with socket.create_server(("127.0.0.1", 0)), socket.create_server(("0.0.0.0", 0)) as open_to_all:
        port = open_to_all.getsockname()[1]
        assert beyond([os.getpid()], "127.0.0.1") == [f"0.0.0.0:{port}"]
        assert beyond([os.getpid()], "0.0.0.0") == []
    assert beyond([os.getpid(), 2**22 + 1], "127.0.0.1") == []
