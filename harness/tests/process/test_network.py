"""Ports of this machine."""

import socket

import pytest

from benchbook.errors import TrialFailed
from benchbook.process.network import check_free, free_ports


def test_free_ports_are_different_and_free():
    ports = free_ports(3)
    assert len(set(ports)) == 3
    for port in ports:
        check_free(f"127.0.0.1:{port}")


def test_a_port_that_somebody_listens_on_is_not_free():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(TrialFailed, match=r"Cannot listen on .*in use"):
            check_free(f"127.0.0.1:{other.getsockname()[1]}")


@pytest.mark.parametrize("address", ["127.0.0.1:port", "127.0.0.1:99999"])
def test_what_is_no_port_cannot_be_listened_on(address):
    with pytest.raises(TrialFailed, match="Cannot listen on"):
        check_free(address)
