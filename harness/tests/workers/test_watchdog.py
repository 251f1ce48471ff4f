"""Operations that take too long."""

import time

import pytest

from benchbook.workers.engine import Watchdog, open_engine

SLOW = {
    "duckdb": "SELECT count(*) FROM range(100000) a, range(100000) b WHERE (a.range * b.range) % 7 = 3",
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
}


@pytest.mark.parametrize("name", ["duckdb", "sqlite"])
def test_a_slow_query_is_interrupted_and_the_engine_goes_on(name, tmp_path):
    engine = open_engine(name, tmp_path / "file", {})
    watchdog = Watchdog(engine.interrupt)
    began = time.monotonic()
    with pytest.raises(Exception, match=r"(?i)interrupt"), watchdog.within(0.3):
        engine._connection.execute(SLOW[name]).fetchall()
    assert 0.3 <= time.monotonic() - began < 10
    assert watchdog.kind() == "timeout"
    with watchdog.within(5):
        assert engine.tables() == []
    assert watchdog.kind() == "refused"
    watchdog.stop()
    engine.close()
