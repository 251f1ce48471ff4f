"""Oracle: the address, the port and the password of its image; test_python_server.py has its answers."""

from benchbook.declare import plugin

driver = plugin.module("kline-mysql-vs-kv", "oracle").Oracle


def test_the_password_is_in_no_file_and_no_command(place):
    one = driver(place("oracle-free-23"))
    assert one.configure() == {"url": "oracle://benchbook@127.0.0.1:1521/FREEPDB1\n"}
    password = one.environment()["ORACLE_PASSWORD"]
    assert one.connection() == {"make": True, "password": password}
    assert password not in str(one.command())
    assert password not in one.url


def test_the_listener_has_the_port_of_the_image(place):
    one = driver(place("oracle-free-23"))
    one.configure()
    assert one.addresses() == ["127.0.0.1:1521"]
    assert one.url == "oracle://benchbook@127.0.0.1:1521/FREEPDB1"
    assert one.size() == {}


def test_an_external_server_gets_the_password_of_the_environment(place):
    one = driver(place("oracle-free-23", url="oracle://ada@db:1522/SALES"))
    one.configure()
    assert one.connection() == {}
    assert one.url == "oracle://ada@db:1522/SALES"
