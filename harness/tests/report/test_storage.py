"""Tables of storages, and of the bytes that queries read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchbook.analyse.run import Run
from benchbook.report.charts import strip
from benchbook.report.figure import Figure
from benchbook.report.story import story
from benchbook.report.table import Markdown, Table
from benchbook.report.tables import cost

mounted = story("influx-local-vs-s3fs")


class Trials:
    """A run of two trials, one warm and one cold, on a mounted bucket."""

    def __init__(self, measurements: list[tuple[str, str, str, float]]) -> None:
        self.queries = ["q"]
        self.ok = pl.DataFrame(
            {
                "trial_id": ["w", "c"], "storage": ["minio-s3fs"] * 2, "cell": ["warm", "cold"],
                "cache_state": ["warm", "cold"],
            }
        )  # fmt: skip
        order = {
            "w": ["load", "check", "q", "inch", "check", "stop"],
            "c": ["load", "drop caches", "q", "stop"],
        }
        self._frames = {
            "measurements": pl.DataFrame(
                measurements, schema=["trial_id", "phase", "metric", "value"], orient="row"
            ),
            "phases": pl.DataFrame(
                [(trial, phase, place) for trial, all_ in order.items() for place, phase in enumerate(all_)],
                schema=["trial_id", "phase", "position"], orient="row",
            ),
        }  # fmt: skip

    def frame(self, name: str) -> pl.DataFrame:
        return self._frames[name]

    def by_trial(self, phase: str, metric: str) -> dict[str, float]:
        found = self.frame("measurements").filter(phase=phase, metric=metric)
        return dict(found.select("trial_id", "value").iter_rows())


def counted(**requests: float) -> list[tuple[str, str, str, float]]:
    return [
        (trial, phase, "storage_requests", requests.get(phase.replace(" ", "_"), 1.0))
        for trial, phases in (
            ("w", ["load", "check", "q", "inch", "stop"]),
            ("c", ["load", "drop caches", "q"]),
        )
        for phase in phases
    ]


def test_the_table_of_the_mount_has_the_phases_in_their_order_and_means_of_trials() -> None:
    table = mounted.mount_table(Trials([*counted(load=300.0), ("w", "load", "storage_put_requests", 20.0)]))  # type: ignore[arg-type]
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == ["load", "drop caches", "check", "q", "inch", "stop"]
    assert str(table.rows[0][1]) == "300"
    assert str(table.rows[0][2]) == "20.0"


def test_without_a_store_that_counts_a_sentence() -> None:
    said = mounted.mount_table(Trials([("w", "load", "rows_per_second", 1.0)]))  # type: ignore[arg-type]
    assert isinstance(said, Markdown)
    assert "counts requests" in said.markdown


@pytest.mark.parametrize(
    ("measurements", "words"),
    [
        ([], "It is unknown"),
        ([("w", "q", "server_read_bytes", 0.0)], "answered from memory"),
        (
            # A store also sends a few bytes in answers to LIST requests.
            [("w", "q", "storage_get_requests", 0.0), ("w", "q", "storage_bucket_read_bytes", 301.0)],
            "answered from memory",
        ),
        ([("w", "q", "storage_get_requests", 3.0)], "3 objects of the bucket, so they were not"),
        ([("w", "q", "server_read_bytes", 4096.0)], "4.10 kB from devices, so they were not"),
        (
            [
                ("w", "q", "server_read_bytes", 4e6),
                ("w", "q", "data_bytes", 5e6),
                ("w", "q", "data_unread_bytes", 1e6),
            ],
            "4.00 MB from devices, so they were not",
        ),
        (
            [
                ("w", "q", "server_read_bytes", 5e4),
                ("w", "q", "data_bytes", 5e6),
                ("w", "q", "data_unread_bytes", 4.95e6),
            ],
            "50.0 kB from devices, at most 1.0 % of the data; the rest came from memory",
        ),
        (
            [("w", "q", "server_read_bytes", 0.0), ("c", "drop caches", "server_read_bytes", 9e6)],
            "With cold caches, the server read most of its data when it restarted",
        ),
    ],
)
def test_the_sentence_says_whether_queries_read_from_memory(
    measurements: list[tuple[str, str, str, float]], words: str
) -> None:
    run: Any = Trials(measurements or [("w", "load", "rows", 1.0)])
    assert words in cost.reads_sentence(run).markdown


def test_the_table_of_reads_has_a_row_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [SimpleNamespace(name=name, label=name) for name in ("warm", "cold", "failed")]
    monkeypatch.setattr(cost, "labelled", lambda _run: cells)
    run: Any = Trials([("w", "q", "data_cached_bytes", 5e6), ("c", "drop caches", "server_read_bytes", 9e6)])
    table = cost.reads_table(run)
    assert isinstance(table, Table)
    assert [row[:2] for row in table.rows] == [["warm", "warm"], ["cold", "cold"]]
    assert table.rows[0][-1] == "5.00 MB"
    assert table.rows[1][2] == "9.00 MB"


def test_cells_that_leave_a_phase_out_have_no_row_in_its_chart(plain: Run) -> None:
    # A separate run, because results are cached for each run.
    run = Run(plain.results, plain.run_id)
    sqlite = [place for place, cell in enumerate(run.cells) if cell.system == "sqlite"]
    run.tried = {**plain.tried, "groupby": {"system=duckdb": True}}
    run.measured = {
        pair: found.at(~np.isin(run.places.cells[found.places], sqlite)) if pair[0] == "groupby" else found
        for pair, found in plain.measured.items()
    }
    figure = strip.chart(run, "groupby", "latency_p50", "Queries: median latency")
    assert isinstance(figure, Figure)
    assert figure.title.startswith("Queries: median latency")
    assert [row[0] for row in figure.table.rows] == ["DuckDB 1.5.6"]
