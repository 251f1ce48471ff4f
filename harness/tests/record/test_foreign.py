"""Tables that somebody prepared: no row of an export reaches another run, however it comes in."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from benchbook.errors import RequestError
from benchbook.record import database, export, foreign, ingest, ledger, manifest, opened, query
from tests.record import synthetic_run

ROOT = Path(__file__).parents[3]
DRAWN = [("server", "cpu_seconds")]
OWN = "quickstart-20260302T000000-0001"
SENT = "quickstart-20260302T000000-0002"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's results, and the published export of another run and of the user's own."""
    where = tmp_path_factory.mktemp("foreign")
    sizes = {"blocks": 1, "instances": 1, "telemetry_seconds": 1, "intervals": 1}
    synthetic_run.write(where / "results", run_id=OWN, **sizes, database=True)
    synthetic_run.write(where / "theirs", run_id=SENT, seed=2, **sizes)
    export.publish_run(where / "theirs", SENT, where / "sent", DRAWN)
    export.publish_run(where / "results", OWN, where / "own", DRAWN)
    return where


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "place"))


def signed(folder: Path) -> None:
    """Write the manifest anew, as whoever changed the files would."""
    stated = json.loads((folder / manifest.FILE).read_text())
    stated["rows"] = {
        file.stem: pl.scan_parquet(file).select(pl.len()).collect().item()
        for file in (folder / "tables").iterdir()
    }
    (folder / manifest.FILE).unlink()
    manifest.write(
        folder, {key: value for key, value in stated.items() if key not in ("kind", "schema", "files")}
    )


def change(folder: Path, table: str, does: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    file = folder / "tables" / f"{table}.parquet"
    does(pl.read_parquet(file)).write_parquet(file)
    signed(folder)


def everything(results: Path) -> dict[str, list[Any]]:
    names = ("runs", "trials", "measurements", "levels", "checks", "phases", "run_facts")
    with database.open(results, read_only=True) as connection:
        return {name: connection.execute(f"SELECT * FROM {name} ORDER BY ALL").fetchall() for name in names}


def refused(place: Path, words: str) -> None:
    """Refuse the run when it is opened, which an import does first."""
    with (
        pytest.raises(RequestError, match=words),
        opened.opened(place / "results", f"{place / 'sent' / 'quickstart' / SENT}/"),
    ):
        pass


def refused_everywhere(place: Path, words: str) -> None:
    """Refuse the run when opened, imported, published, or put into the results by hand; the user's run is the same."""
    sent, results = place / "sent" / "quickstart" / SENT, place / "results"
    before = everything(results)
    with pytest.raises(RequestError, match=words) as caught, opened.opened(results, f"{sent}/"):
        pass
    assert str(sent) in caught.value.message
    assert "benchbook-opened" not in caught.value.message
    with pytest.raises(RequestError, match=words), opened.opened(results, f"{sent}/", OWN):
        pass
    with pytest.raises(RequestError, match=words):
        opened.import_run(sent, results)
    assert not (results / "runs" / SENT).exists()
    with pytest.raises(RequestError, match=words):
        opened.results_of([manifest.checked(sent)], place / "site")
    shutil.copytree(sent, results / "runs" / SENT)
    said: list[str] = []
    for _ in range(2):
        database.catch_up(results, said.append)
    assert everything(results) == before
    database.rebuild(results, said.append)
    assert everything(results) == before
    assert len(said) == 3
    assert all(str(results / "runs" / SENT) in sentence for sentence in said)


def of_another(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([frame, frame.with_columns(trial_id=pl.lit(f"{OWN}/0000"))])


OF_TRIAL = ["levels", "phases", "measurements", "intervals", "histograms", "checks", "answers"]


@pytest.mark.parametrize("table", OF_TRIAL)
def test_rows_of_another_runs_trial_refuse_the_run(place: Path, table: str) -> None:
    change(place / "sent" / "quickstart" / SENT, table, of_another)
    refused(place, f'table {table} has a row of the trial "{OWN}/0000", which is not of this run')


def test_a_speed_that_is_appended_to_another_run_is_not_judged(place: Path) -> None:
    """The attack of the issue: 1.56 became 156 times."""

    def faster(frame: pl.DataFrame) -> pl.DataFrame:
        theirs = frame.filter(pl.col("metric") == "rows_per_second").head(1)
        return pl.concat([frame, theirs.with_columns(trial_id=pl.lit(f"{OWN}/0000"), value=pl.lit(1e12))])

    change(place / "sent" / "quickstart" / SENT, "measurements", faster)
    refused_everywhere(place, "table measurements has a row of the trial")


@pytest.mark.parametrize(
    "owner", [{"trial_id": f"{OWN}/0007"}, {"run_id": OWN}, {"run_id": OWN, "trial_id": f"{OWN}/0007"}]
)
def test_a_trial_of_another_run_refuses_the_run(place: Path, owner: dict[str, str]) -> None:
    def more(frame: pl.DataFrame) -> pl.DataFrame:
        return pl.concat(
            [frame, frame.head(1).with_columns(**{key: pl.lit(value) for key, value in owner.items()})]
        )

    change(place / "sent" / "quickstart" / SENT, "trials", more)
    refused_everywhere(place, f'table trials has a row of "{OWN}')


@pytest.mark.parametrize("table", ["runs", "run_facts"])
def test_facts_of_another_run_refuse_the_run(place: Path, table: str) -> None:
    change(
        place / "sent" / "quickstart" / SENT, table,
        lambda frame: pl.concat([frame, frame.with_columns(run_id=pl.lit(OWN))]),
    )  # fmt: skip
    refused_everywhere(place, f"table {table} has ")


@pytest.mark.parametrize("table", ["trials", "levels", "measurements", "run_facts"])
def test_a_row_twice_refuses_the_run(place: Path, table: str) -> None:
    change(place / "sent" / "quickstart" / SENT, table, lambda frame: pl.concat([frame, frame.head(1)]))
    refused(place, f"table {table} has two rows of ")


def test_a_size_that_an_old_run_states_twice_counts_for_nothing(place: Path) -> None:
    folder = place / "sent" / "quickstart" / SENT
    size = (pl.col("metric") == "disk_bytes") & (pl.col("trial_id") == f"{SENT}/0000")

    def twice(frame: pl.DataFrame) -> pl.DataFrame:
        other = frame.filter(size).with_columns(value=pl.col("value") * 100)
        return pl.concat([frame, other, frame.filter(pl.col("metric") == "rows_per_second")])

    change(folder, "measurements", twice)
    file = folder / manifest.FILE
    file.write_text(json.dumps({**json.loads(file.read_text()), "schema": 5}))
    text = "SELECT trial_id, metric FROM measurements WHERE metric IN ('disk_bytes', 'rows_per_second') ORDER BY ALL"
    with opened.opened(place / "results", f"{folder}/") as found:
        rows = query.sql(found.results, text).rows()
    assert (f"{SENT}/0000", "disk_bytes") not in rows
    assert (f"{SENT}/0001", "disk_bytes") in rows
    assert rows.count((f"{SENT}/0000", "rows_per_second")) == 1


@pytest.mark.parametrize("which", ["all", "runs", "trials"])
def test_tables_of_another_run_do_not_belong_to_the_plan(place: Path, which: str) -> None:
    sent, own = place / "sent" / "quickstart" / SENT, place / "own" / "quickstart" / OWN
    for file in (own / "tables").iterdir():
        if which in ("all", file.stem):
            shutil.copyfile(file, sent / "tables" / file.name)
    signed(sent)
    words = "do not belong to its plan" if which != "trials" else 'table trials has a row of "'
    refused_everywhere(place, words)


def test_renamed_tables_of_another_run_do_not_belong_to_the_plan_either(place: Path) -> None:
    sent, own = place / "sent" / "quickstart" / SENT, place / "own" / "quickstart" / OWN
    for file in (own / "tables").iterdir():
        frame = pl.read_parquet(file)
        renamed = [
            pl.col(key).str.replace(OWN, SENT, literal=True) for key in ("run_id", "trial_id") if key in frame
        ]
        frame.with_columns(renamed).write_parquet(sent / "tables" / file.name)
    signed(sent)
    refused_everywhere(
        place, "its tables do not belong to its plan: order_seed is 1 in table runs and 2 in the plan"
    )


VALUES = [1e308, -1e308, 1e-308, float("inf"), float("nan")]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(("table", "column"), [("measurements", "value"), ("phases", "duration_seconds")])
def test_numbers_that_no_quantity_has_refuse_the_run(
    place: Path, table: str, column: str, value: float
) -> None:
    change(
        place / "sent" / "quickstart" / SENT,
        table,
        lambda frame: frame.with_columns(**{column: pl.lit(value)}),
    )
    refused(place, f"{column} in table {table} is .*, which is out of range")


TIMES = ["infinity", "-infinity", "290000-01-01", "2099-01-01", "1969-01-01"]


@pytest.mark.parametrize("time", TIMES)
@pytest.mark.parametrize(("table", "column"), [("runs", "started_at"), ("trials", "ended_at")])
def test_times_that_no_run_has_refuse_the_run(place: Path, table: str, column: str, time: str) -> None:
    folder = place / "sent" / "quickstart" / SENT
    file = folder / "tables" / f"{table}.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE held AS FROM '{file}'")
        connection.execute(f"UPDATE held SET {column} = '{time}'::TIMESTAMP")
        connection.execute(f"COPY held TO '{file}' (FORMAT parquet)")
    signed(folder)
    refused(place, f"{column} in table {table} is .*{time[:4]}.*, which is out of range")


@pytest.mark.parametrize(
    "time", [5, None, "2099-01-01T00:00:00+00:00", "~", "20261101T000000", "0001-01-01T00:00+23:59"]
)
def test_a_description_with_a_time_out_of_range_is_refused_at_import(place: Path, time: object) -> None:
    """The attacks: a run of 2099 is the latest for ever, and a number was found only after the import."""
    folder = place / "sent" / "quickstart" / SENT
    file = folder / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "created_at": time}))
    signed(folder)
    with pytest.raises(
        RequestError, match=r"created_at is .*, which is (not a time|before 1990 or in the future)"
    ):
        opened.import_run(folder, place / "results")
    assert not (place / "results" / "runs" / SENT).exists()
    with pytest.raises(RequestError, match="created_at is "):
        ledger.entries(folder.parent)


EARLIER = {
    "run_id": "a", "profile": "quick", "machine": None, "against_itself": False, "finished": True, "trials": 3,
}  # fmt: skip
ALTERED = {"trial_id": "a/0001", "status": "ok", "why": "changed"}
WRONG = [
    ("earlier_runs", 5, "5, without a valid run_id"),
    ("earlier_runs", {**EARLIER, "trials": "3"}, "without a valid trials"),
    ("earlier_runs", {**EARLIER, "finished": 1}, "without a valid finished"),
    ("earlier_runs", {"run_id": "a"}, "without a valid profile"),
    ("altered", None, "None, without a valid trial_id"),
    ("altered", {**ALTERED, "why": ["changed"]}, "without a valid why"),
]


@pytest.mark.parametrize(("topic", "entry", "words"), WRONG)
def test_what_pages_say_of_other_runs_and_of_removed_trials_is_whole(
    place: Path, topic: str, entry: object, words: str
) -> None:
    right = {"earlier_runs": EARLIER, "altered": ALTERED}[topic]

    def with_entries(frame: pl.DataFrame) -> pl.DataFrame:
        rows = [
            {"run_id": SENT, "topic": topic, "key": str(place), "value": json.dumps(one)}
            for place, one in enumerate((right, entry))
        ]
        return pl.concat([frame, pl.DataFrame(rows, schema=frame.schema)])

    folder = place / "sent" / "quickstart" / SENT
    change(folder, "run_facts", with_entries)
    refused(place, f"{topic} has .*{words}")


@pytest.mark.parametrize(("topic", "entry", "words"), [*WRONG, ("altered", "all", "not a list")])
def test_the_same_is_required_of_a_description_without_tables(
    place: Path, topic: str, entry: object, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        foreign.require_entries({topic: entry if words == "not a list" else [entry]})
    foreign.require_entries({"earlier_runs": [EARLIER], "altered": [ALTERED]})
    foreign.require_entries({"earlier_runs": None})


@pytest.mark.parametrize(
    "text", ["{", "[NaN]", "1e999", "", "[" * 3_000 + "]" * 3_000], ids=lambda text: text[:6]
)
@pytest.mark.parametrize(
    ("table", "column"), [("run_facts", "value"), ("trials", "program"), ("answers", "rows")]
)
def test_json_that_cannot_be_read_refuses_the_run(place: Path, table: str, column: str, text: str) -> None:
    change(
        place / "sent" / "quickstart" / SENT,
        table,
        lambda frame: frame.with_columns(**{column: pl.lit(text)}),
    )
    refused(place, "out of range|levels deep|recursion|not a number")


@pytest.mark.parametrize("name", ["../X/evil", "x" * 5_000, "a\0b", "$(id)"], ids=lambda name: name[:5])
@pytest.mark.parametrize("column", ["experiment", "profile", "system", "arm", "storage", "status"])
def test_names_in_the_trials_are_names(place: Path, column: str, name: str) -> None:
    change(
        place / "sent" / "quickstart" / SENT,
        "trials",
        lambda frame: frame.with_columns(**{column: pl.lit(name)}),
    )
    refused(place, f"{column} .*is |has the {column}")


def test_the_run_as_it_was_sent_enters_and_changes_nothing_else(place: Path) -> None:
    results = place / "results"
    before = everything(results)
    opened.import_run(place / "sent" / "quickstart" / SENT, results)
    assert query.sql(results, "SELECT count(*) AS n FROM trials").item() == 4
    after = everything(results)
    assert all(set(rows) < set(after[name]) for name, rows in before.items())


def repeat(file: Path, rows: int) -> None:
    """Write a table whose rows are all the first one, which makes a small file."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE held AS FROM '{file}' LIMIT 1")
        connection.execute(f"COPY (SELECT held.* FROM held, range({rows})) TO '{file}' (FORMAT parquet)")


def test_tables_with_more_rows_than_stated_are_not_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack: 100 million equal rows in a file of 1 MB took 12 GB of memory."""
    folder = place / "sent" / "quickstart" / SENT
    monkeypatch.setattr(ingest, "_stage", lambda *_: pytest.fail("a table was read"))
    file = folder / "tables" / "measurements.parquet"
    repeat(file, 20_000_001)
    rows = json.loads((folder / manifest.FILE).read_text())["rows"]
    signed(folder)
    refused(place, r"its tables have 2\d{7} rows; at most 20000000 are read")
    stated = json.loads((folder / manifest.FILE).read_text())
    (folder / manifest.FILE).write_text(json.dumps({**stated, "rows": rows}))
    refused(place, r"measurements.parquet has 20000001 rows, and its manifest says \d+")


def test_more_answers_than_a_page_compares_are_not_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack: 2 million equal answers in a file of 1.5 MB took a report two minutes."""
    folder = place / "sent" / "quickstart" / SENT
    monkeypatch.setattr(ingest, "_stage", lambda *_: pytest.fail("a table was read"))
    file = folder / "tables" / "answers.parquet"
    repeat(file, 2_000_000)
    signed(folder)
    refused(place, "answers.parquet has 2000000 rows; at most 10000 for each trial are read")


@pytest.mark.parametrize(
    "name", ["index.html", "report.html", "x.svg", "declared/a.js", "tables/more.parquet"]
)
def test_a_published_run_has_no_other_files(place: Path, name: str) -> None:
    """The attack: a page in a contributed run was a page of the project's site."""
    folder = place / "sent" / "quickstart" / SENT
    (folder / name).write_text("<script>alert(1)</script>")
    stated = json.loads((folder / manifest.FILE).read_text())
    (folder / manifest.FILE).unlink()
    manifest.write(folder, {key: stated[key] for key in stated if key not in ("kind", "schema", "files")})
    with pytest.raises(RequestError, match=f"files that a published run does not have: {name}"):
        ledger.entries(folder.parent)


def test_every_run_of_this_checkout_has_the_published_form() -> None:
    folders = [file.parent for file in (ROOT / "reports/data").glob(f"*/*/{manifest.FILE}")]
    assert len(folders) >= 60
    for folder in folders:
        manifest.require_published(manifest.read(folder))


@pytest.mark.parametrize(
    "put", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"]
)
def test_withdrawals_are_a_regular_file(place: Path, put: Callable[[Path], None]) -> None:
    where = place / "sent" / "quickstart"
    put(where / ledger.WITHDRAWN)
    with pytest.raises(RequestError, match=r"withdrawn\.toml: cannot read the file \(not a regular file\)"):
        ledger.entries(where)


def test_a_file_that_is_removed_meanwhile_is_a_sentence(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = place / "sent" / "quickstart" / SENT
    names = list(manifest.held(folder))
    (folder / "plan.json").unlink()
    monkeypatch.setattr(manifest, "held", lambda _: iter(names))
    with pytest.raises(RequestError, match=r"is damaged: files have changed since the export: plan\.json"):
        manifest.checked(folder)
