"""Datasets from a file: which declarations are valid, and what a file must have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from benchbook.declare import data_file
from benchbook.declare.dataset import Dataset
from benchbook.errors import RequestError


def dataset(source: dict[str, Any], **more: Any) -> Dataset:
    from benchbook.declare.toml import check

    stated = {"name": "own-trips", "title": "Trips", "description": "Trips.", "source": source, **more}
    return check(stated, Dataset, "datasets/own-trips.toml")


def write(path: Path, select: str) -> None:
    duckdb.execute(f"COPY ({select}) TO '{path}'")


def test_a_plan_pins_the_file_beside_the_declaration(tmp_path: Path) -> None:
    write(tmp_path / "t.parquet", "SELECT 1 AS a")
    pinned = dataset({"file": "t.parquet"}).pinned(tmp_path / "own-trips.toml")
    assert pinned.source is not None
    assert len(pinned.source.sha256 or "") == 64
    assert pinned.table == "own_trips"
    assert Dataset.model_validate(pinned.model_dump(mode="json")) == pinned
    write(tmp_path / "t.parquet", "SELECT 2 AS a")
    again = dataset({"file": "t.parquet"}).pinned(tmp_path / "own-trips.toml")
    assert again.flags() != pinned.flags()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"file": "https://example.org/t.csv"}, "it needs sha256"),
        ({"file": "http://example.org/t.csv"}, "neither a path nor an https address"),
        ({"file": "doi:10.5281/zenodo.1"}, "names a page and not a file"),
        ({"file": "https://doi.org/10.5281/zenodo.1", "sha256": "0" * 64}, "names a page and not a file"),
        ({"file": "trips.xls"}, "does not show its format"),
        ({"file": "trips.csv", "tabel": "a"}, 'no key "tabel"'),
        ({"file": "trips.csv", "table": "A-b"}, "table"),
        ({}, "file"),
    ],
)
def test_an_unusable_source_is_refused(source: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        dataset(source)


def test_a_generator_and_a_source_exclude_each_other() -> None:
    with pytest.raises(RequestError, match="remove one"):
        dataset({"file": "t.csv"}, generator="devops")
    with pytest.raises(ValueError, match=r"add \[source\]"):
        Dataset.model_validate({"name": "a", "title": "A", "description": "A."})


@pytest.mark.parametrize(
    ("select", "columns", "message"),
    [
        ("SELECT 1.5::DECIMAL(4, 1) AS fare", {}, 'column "fare" has the type DECIMAL'),
        ("SELECT [1, 2] AS list", {}, 'column "list" has the type INTEGER'),
        ("SELECT 1 AS a", {"b": "text"}, 'no column "b"; it has: a'),
        ('SELECT 1 AS "a b", 2 AS "a-b"', {}, "would both be named a_b"),
    ],
)
def test_a_column_that_not_all_systems_can_hold_is_refused(
    tmp_path: Path, select: str, columns: dict[str, str], message: str
) -> None:
    write(tmp_path / "t.parquet", select)
    with pytest.raises(RequestError, match=message):
        dataset({"file": "t.parquet"}, columns=columns).pinned(tmp_path / "own-trips.toml")


def test_a_missing_file_another_one_and_no_parquet_are_refused(tmp_path: Path) -> None:
    declaration = tmp_path / "own-trips.toml"
    with pytest.raises(RequestError, match=r"datasets/own-trips.toml: source.file: .*t.csv cannot be read"):
        dataset({"file": "t.csv"}).pinned(declaration)
    (tmp_path / "t.parquet").write_text("no parquet")
    with pytest.raises(RequestError, match="cannot be read as parquet"):
        dataset({"file": "t.parquet"}).pinned(declaration)
    with pytest.raises(RequestError, match="but sha256 is 0000"):
        dataset({"file": "t.parquet", "sha256": "0" * 64}).pinned(declaration)


def test_brackets_in_a_path_are_no_pattern(tmp_path):
    (tmp_path / "data[1].csv").write_text("a\n1\n2\n")
    (tmp_path / "data1.csv").write_text("a\n9\n9\n")
    source = data_file.FileSource(file="data[1].csv")
    with data_file.reading(source) as run:
        assert run(f"SELECT a FROM {data_file.relation(source, {}, tmp_path)}").fetchall() == [(1,), (2,)]


def test_a_fetched_file_keeps_the_end_of_its_name(tmp_path):
    source = data_file.FileSource(file="https://example.org/a/b.csv.gz?x=1", sha256="0" * 64)
    assert source.place(tmp_path).name == f"{'0' * 64}-b.csv.gz"


def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    (folder / "deep").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "a.txt").write_text("a")
    (folder / "deep" / "b.txt").write_text("bb")
    (folder / "link").symlink_to("/nowhere")
    return folder


def test_a_folder_is_known_by_what_is_in_it_and_not_by_when_it_was_made(tmp_path: Path) -> None:
    declared, folder = dataset({"file": "corpus", "format": "folder"}), tree(tmp_path)
    first = declared.pinned(tmp_path / "own-trips.toml")
    assert first.source is not None
    assert not first.source.has_rows
    assert data_file.size_bytes(folder) == 3
    (folder / "a.txt").touch()
    (folder / "a.txt").chmod(0o600)
    assert declared.pinned(tmp_path / "own-trips.toml") == first


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "a.txt").write_text("c"),
        lambda folder: (folder / "a.txt").rename(folder / "c.txt"),
        lambda folder: (folder / "a.txt").rename(folder / "deep" / "a.txt"),
        lambda folder: (folder / "empty").rmdir(),
        lambda folder: (folder / "empty" / "c").write_text(""),
        lambda folder: ((folder / "link").unlink(), (folder / "link").symlink_to("/elsewhere")),
        lambda folder: ((folder / "link").unlink(), (folder / "link").write_text("/nowhere")),
    ],
)
def test_a_folder_with_another_content_is_another_one(tmp_path: Path, change: Any) -> None:
    folder = tree(tmp_path)
    before = data_file.digest(folder)
    change(folder)
    assert data_file.digest(folder) != before


def test_a_folder_and_a_file_are_not_taken_for_each_other(tmp_path: Path) -> None:
    import os

    folder, declaration = tree(tmp_path), tmp_path / "own-trips.toml"
    with pytest.raises(RequestError, match='corpus is a folder, but format is "other"') as refused:
        dataset({"file": "corpus", "format": "other"}).pinned(declaration)
    assert 'format = "folder"' in str(refused.value.hint)
    with pytest.raises(RequestError, match=r'a\.txt is no folder, but format is "folder"'):
        dataset({"file": "corpus/a.txt", "format": "folder"}).pinned(declaration)
    with pytest.raises(RequestError, match="no folder; fetch an archive"):
        dataset({"file": "https://example.org/a", "sha256": "0" * 64, "format": "folder"})
    os.mkfifo(folder / "pipe")
    with pytest.raises(RequestError, match="pipe is neither a file nor a folder nor a link"):
        dataset({"file": "corpus", "format": "folder"}).pinned(declaration)
