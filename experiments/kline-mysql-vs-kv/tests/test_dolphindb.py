"""DolphinDB: its configuration, its command and its files; test_python_server.py has its answers."""

from benchbook.declare import plugin

driver = plugin.module("kline-mysql-vs-kv", "dolphindb").DolphinDB


def test_it_keeps_its_files_in_the_data_folder(place, tmp_path):
    one = driver(place("dolphindb", settings={"maxMemSize": 8, "dataSync": 0}))
    shown = one.configure()["dolphindb.cfg"].splitlines()
    written = (tmp_path / "config" / "dolphindb.cfg").read_text().splitlines()
    assert "volumes={data}/volumes" in shown
    assert "localSite=127.0.0.1:{port}:local" in shown
    assert f"volumes={tmp_path}/data/volumes" in written
    assert f"localSite={one.url.removeprefix('dolphindb://')}:local" in written
    assert "maxMemSize=8" in written
    assert "dataSync=0" in written


def test_its_home_is_where_its_program_is(place, tmp_path):
    one = driver(place("dolphindb"))
    assert one.command() == [
        one.program, "-console", "0", "-home", tmp_path / "bin", "-config", tmp_path / "config" / "dolphindb.cfg",
    ]  # fmt: skip


def test_column_files_logs_and_chunks_are_measured_apart(place, tmp_path):
    one = driver(place("dolphindb"))
    assert one.size() == {"data": 0, "wal": 0, "system": 0}
    for folder, size in (("volumes", 20_000), ("redo", 5000), ("tsdb-redo", 5000), ("chunks", 1)):
        (tmp_path / "data" / folder).mkdir()
        (tmp_path / "data" / folder / "file").write_bytes(b"x" * size)
    size = one.size()
    assert size["data"] >= 20_000 > size["wal"] >= 10_000 > size["system"] > 0
