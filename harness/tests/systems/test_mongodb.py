"""MongoDB: its configuration and its files; test_inspected.py has its answers."""

from benchbook.systems.mongodb import driver


def test_the_configuration_listens_on_loopback_alone(place, tmp_path):
    one = driver(place("mongod", settings={"storage.wiredTiger.engineConfig.cacheSizeGB": 2}))
    assert one.configure()["mongod.conf"].splitlines() == [
        "net.bindIp: 127.0.0.1",
        "net.port: {port}",
        "net.unixDomainSocket.enabled: false",
        "storage.dbPath: {data}",
        "storage.wiredTiger.engineConfig.cacheSizeGB: 2",
    ]
    assert one.url == f"mongodb://127.0.0.1:{one.layout.ports['port']}"
    assert f"storage.dbPath: {tmp_path}/data" in (tmp_path / "config" / "mongod.conf").read_text()
    assert one.command()[1:] == ["--config", tmp_path / "config" / "mongod.conf"]


def test_the_journal_is_measured_apart(place, tmp_path):
    one = driver(place("mongod"))
    for name, size in (("collection.wt", 9000), ("journal/log", 5000)):
        (tmp_path / "data" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "data" / name).write_bytes(b"x" * size)
    size = one.size()
    assert size["data"] >= 9000 > size["wal"] >= 5000
