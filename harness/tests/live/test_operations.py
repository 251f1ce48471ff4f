"""Single operations of real clients agree with the histograms that they are kept beside."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from benchbook.process.spawn import find_benchload
from benchbook.systems.client import BenchloadClient
from benchbook.systems.driver import DatasetRequest, LoadRequest
from benchbook.systems.several_clients import SeveralClients
from tests.live.bench import SMALL, bench, need_benchload, rows

DATASET = (
    "devops", "--seed", "1", "--scale", "8", "--start", "2016-01-01T00:00:00Z", "--end", "2016-01-01T01:30:00Z",
    "--interval", "10s",
)  # fmt: skip
ROWS = 540 * 8 * 9


def test_a_run_keeps_every_operation_and_takes_them_along(tmp_path: Path) -> None:
    need_benchload()
    results = tmp_path / "results"
    done = bench("run", *SMALL, "--record-operations", "--results", str(results))
    assert done.returncode == 0, done.stderr
    counted = 'SELECT trial_id, phase, operation, "count" AS n FROM histograms ORDER BY ALL'
    kept = "SELECT trial_id, phase, operation, count(*) AS n FROM operations GROUP BY ALL ORDER BY ALL"
    assert rows(results, kept) == rows(results, counted)
    assert (
        rows(results, "SELECT * FROM operations WHERE status <> 'ok' OR end_ns < start_ns OR start_ns < 0")
        == []
    )
    loaded = "SELECT trial_id, sum(rows)::BIGINT AS n FROM operations WHERE phase = 'load' GROUP BY ALL ORDER BY ALL"
    acknowledged = "SELECT trial_id, value::BIGINT AS n FROM measurements WHERE metric = 'rows' ORDER BY ALL"
    assert rows(results, loaded) == rows(results, acknowledged)
    order = "SELECT max(end_ns) FILTER (warmup) <= min(start_ns) FILTER (NOT warmup) AS first FROM operations"
    before = rows(results, f"{order} WHERE phase <> 'load' GROUP BY trial_id, phase")
    assert {row["first"] for row in before} == {True}
    exported, elsewhere = tmp_path / "exported", tmp_path / "elsewhere"
    assert bench("export", "--results", str(results), "--output", str(exported)).returncode == 0
    assert bench("import", str(exported), "--results", str(elsewhere)).returncode == 0
    assert rows(elsewhere, kept) == rows(results, kept)


def test_a_run_that_is_not_asked_keeps_none(tmp_path: Path) -> None:
    need_benchload()
    done = bench(
        "run", *SMALL, "--trials", "1", "--set", "system=sqlite", "--results", str(tmp_path), report=False
    )
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path, "SELECT * FROM operations") == []
    assert not list(tmp_path.glob("runs/*/trials/*/operations"))


@pytest.fixture
def server() -> Iterator[str]:
    need_benchload()
    with subprocess.Popen([find_benchload(), "null-server"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield str(json.loads(process.stdout.readline())["url"])
        process.terminate()


def driven(server: str, *arguments: str) -> list[dict[str, Any]]:
    """Return the events of benchload against the null server."""
    where = ("--target", "influx", "--url", server)
    done = subprocess.run([find_benchload(), *arguments, *where], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_records_of_benchload_are_the_values_of_its_histograms(server: str, tmp_path: Path) -> None:
    load, file = tmp_path / "load.parquet", tmp_path / "query.parquet"
    asked = ("--workers", "3", "--batch-rows", "50", "--record-operations", str(load))
    loaded = driven(server, "load", *DATASET, *asked)
    queries = tmp_path / "queries"
    made = (
        str(find_benchload()),
        "queries",
        *DATASET,
        "--query-seed",
        "1",
        "--types",
        "1-host-1-hr",
        "--count",
        "50",
    )
    queries.write_bytes(subprocess.run(made, capture_output=True, check=True).stdout)
    open_loop = ("--workers", "2", "--rate", "2000", "--duration", "1s", "--warmup", "30")
    queried = driven(server, "query", "--queries", str(queries), *open_loop, "--record-operations", str(file))
    for events, path, latency in (
        (loaded, load, {("write", "service"): "end_ns - start_ns"}),
        (
            queried,
            file,
            {
                ("warmup", "service"): "end_ns - start_ns",
                ("query", "service"): "end_ns - start_ns",
                ("query", "response"): "end_ns - intended_ns",
            },
        ),
    ):
        for (operation, kind), value in latency.items():
            whole = next(
                one for one in events
                if one["type"] == "histogram" and (one["operation"], one["kind"]) == (operation, kind)
            )  # fmt: skip
            found = duckdb.execute(
                f"SELECT count(*), min({value}), max({value}), avg({value}) FROM read_parquet('{path}')"
                f" WHERE operation = '{operation}' AND status = 'ok'"
            ).fetchone()
            assert found is not None
            assert found[:3] == (whole["count"], whole["min_ns"], whole["max_ns"])
            assert found[3] == pytest.approx(whole["mean_ns"])
        late = duckdb.execute(
            f"SELECT count(*) FROM read_parquet('{path}') WHERE intended_ns > start_ns OR start_ns > end_ns"
        ).fetchone()
        assert late == (0,)
    assert duckdb.execute(f"SELECT sum(rows), count(DISTINCT worker) FROM '{load}'").fetchone() == (ROWS, 3)


def test_several_clients_leave_a_file_each(server: str, tmp_path: Path) -> None:
    names = ["one", "two"]
    clients = [
        BenchloadClient(
            find_benchload(), target="influx", url=lambda: server, database=name, log=tmp_path / f"{name}.log"
        )
        for name in names
    ]
    folder = tmp_path / "operations"
    request = LoadRequest(
        DatasetRequest("devops", DATASET[1:], {}), workers=2, batch_rows=100, record=folder / "load.parquet"
    )
    summary = list(SeveralClients(clients, names).load(request))[-1]
    assert summary["rows"] == 2 * ROWS
    assert sorted(path.name for path in folder.iterdir()) == ["load~0.parquet", "load~1.parquet"]
    assert duckdb.execute(f"SELECT sum(rows) FROM '{folder}/load~*.parquet'").fetchone() == (2 * ROWS,)
