"""DuckDB in its worker; test_embedded_driver.py has what it shares with SQLite."""

import duckdb
import pytest

from benchbook.errors import TrialFailed
from benchbook.systems.driver import TableCount
from benchbook.systems.duckdb import driver


@pytest.fixture
def started(embedded):
    return lambda **settings: embedded(driver, "duckdb", duckdb.__version__, settings)


def test_it_opens_its_file_with_the_arms_settings(started, tmp_path):
    one = started(threads=1)
    assert one.ready()
    assert one.version() == duckdb.__version__
    one.prepare()
    one.settle()
    assert one.count() == {}
    assert (tmp_path / "data" / "benchbook.duckdb").exists()
    assert one.size()["data"] > 0


def test_a_setting_that_it_does_not_know_is_told(started):
    with pytest.raises(TrialFailed, match=r"DuckDB cannot open: .*thraeds"):
        started(thraeds=1).ready()


def test_tables_of_a_file_are_counted_and_refused(started, tmp_path):
    (tmp_path / "data").mkdir()
    with duckdb.connect(str(tmp_path / "data" / "benchbook.duckdb")) as connection:
        connection.execute("CREATE TABLE cpu AS SELECT 'h' AS host, i::BIGINT AS x FROM range(3) AS t(i)")
    one = started()
    assert one.ready()
    assert one.count() == {"cpu": TableCount(3, {"x": 3})}
    with pytest.raises(TrialFailed, match="already holds the tables cpu"):
        one.prepare()
