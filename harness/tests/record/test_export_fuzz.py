"""Random attacks on exports: each is refused in words, or opened without a change to anything else.

``BENCHBOOK_FUZZ`` is the number of inputs, ``BENCHBOOK_FUZZ_SEED`` the first; the same seed gives the same inputs.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from benchbook.analyse import claims
from benchbook.declare.catalogue import root
from benchbook.errors import BenchbookError
from benchbook.record import database, export, ingest, manifest, opened, runs
from benchbook.record.tables import OF_RUN, OF_TRIAL, TABLES, script
from benchbook.report import render
from tests.record import synthetic_run

INPUTS = int(os.environ.get("BENCHBOOK_FUZZ") or 60)
FIRST = int(os.environ.get("BENCHBOOK_FUZZ_SEED") or 0)
WHOLE = 40 if INPUTS > 1000 else 15
"""Each so many inputs that enter a database go through every command too."""
OWN, SENT = "quickstart-20260302T000000-0001", "quickstart-20260302T000000-0002"
DRAWN = [("server", "cpu_seconds")]
JSON = ("run.json", "plan.json", manifest.FILE)

HOSTILE: list[Any] = [
    None, True, 0, -1, 1, 2**31, 2**63 - 1, 2**63, -(2**63), 10**40, 0.5, 1e308, -1e308, 1e-308, float("inf"),
    float("nan"), "", "x", "x" * 5_000, "../X/evil", "X/evil", "/etc/passwd", "a\0b", "\x1b[2J", "\ud800", "é", "💥",
    "$(touch CANARY)", "`touch CANARY`", "'; DROP TABLE trials; --", "{{7*7}}",
    "__import__('os').system('touch CANARY')",
    "{", "[]", "NaN", "null", "[" * 3_000 + "]" * 3_000, "2026-99-99T00:00:00", "9999-12-31T23:59:59+14:00", OWN, SENT,
    f"{OWN}/0000", f"{SENT}/0000", f"{SENT}/9999", "aa", "ok", "higher", [], [1], ["x"], {}, {"a": 1}, [[[]]],
]  # fmt: skip


class Attack:
    """One prepared export in a folder, changed at random."""

    def __init__(self, place: Path, chance: random.Random, sent: Path, own: Path) -> None:
        self.place, self.chance, self.own = place, chance, own
        shutil.copytree(sent, place)
        self.stated: dict[str, Any] = json.loads((place / manifest.FILE).read_text())
        self.did = ""

    def value(self) -> Any:
        return copy.deepcopy(self.chance.choice(HOSTILE))

    def sign(self) -> None:
        (self.place / manifest.FILE).unlink()
        facts = {key: value for key, value in self.stated.items() if key not in ("kind", "schema", "files")}
        with contextlib.suppress(OSError):
            manifest.write(self.place, facts)

    def json_field(self) -> None:
        name = self.chance.choice(JSON)
        whole = json.loads((self.place / name).read_text())
        places = list(_places(whole))
        *path, last = self.chance.choice(places[:60] if self.chance.random() < 0.5 else places)
        holder = whole
        for key in path:
            holder = holder[key]
        if isinstance(holder, dict) and self.chance.random() < 0.15:
            del holder[last]
        else:
            holder[last] = self.value()
        text = json.dumps(whole)
        self.did = f"{name}: {(*path, last)}"
        (self.place / name).write_text(text)
        if name != manifest.FILE:
            self.sign()

    def everywhere(self) -> None:
        """Give one name the same hostile value in every file, as a careful attacker does."""
        key, value = self.chance.choice(["experiment", "profile", "run_id", "title"]), self.value()
        for name in JSON:
            whole = json.loads((self.place / name).read_text())
            if key in whole or name == manifest.FILE:
                whole[key] = value
                (self.place / name).write_text(json.dumps(whole))
        self.stated[key] = value
        for name in ("runs", "trials"):
            self.frame(
                name, lambda frame: frame.with_columns(**{key: pl.lit(value)}) if key in frame else frame
            )
        self.did = f"everywhere: {key}"
        with contextlib.suppress(ValueError):
            self.sign()

    def frame(self, table: str, does: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
        file = self.place / "tables" / f"{table}.parquet"
        with contextlib.suppress(Exception):  # what polars cannot write is no input
            made = io.BytesIO()
            does(pl.read_parquet(file)).write_parquet(made)
            file.write_bytes(made.getvalue())

    def table(self) -> None:
        table = self.chance.choice(TABLES)
        columns = [column.name for column in table.columns]
        column, value, how = self.chance.choice(columns), self.value(), self.chance.randrange(8)
        self.did = f"table {table.name}.{column}: way {how}"
        other = self.own / "tables" / f"{table.name}.parquet"
        ways: list[Callable[[pl.DataFrame], pl.DataFrame]] = [
            lambda frame: frame.with_columns(**{column: pl.lit(value)}),
            lambda frame: pl.concat(
                [frame.slice(1), frame.head(1).with_columns(**{column: pl.lit(value)})],
                how="vertical_relaxed",
            ),
            lambda frame: frame.drop(column),
            lambda frame: frame.with_columns(evil=pl.lit(value)),
            lambda frame: pl.concat([frame, frame.head(1)]),
            lambda frame: pl.concat(
                [
                    frame,
                    frame.head(3).with_columns(
                        **{table.owner: pl.lit(OWN if table in OF_RUN else f"{OWN}/0000")}
                    ),
                ]
            ),
            lambda frame: pl.read_parquet(other),
            lambda frame: pl.concat([frame, pl.read_parquet(other)]),
        ]
        self.frame(table.name, ways[how])
        self.sign()

    def file(self) -> None:
        names = sorted(manifest.held(self.place))
        name, how = self.chance.choice([*names, manifest.FILE]), self.chance.randrange(9)
        path = self.place / name
        self.did = f"{name}: file {how}"
        if how < 3:
            added = self.place / self.chance.choice(
                ["evil.qmd", "story.py", "X/evil.qmd", "declared/story.py", "tables/x.parquet"]
            )
            added.parent.mkdir(exist_ok=True)
            added.write_text("```{python}\nopen('CANARY', 'w')\n```\n")
            return self.sign() if how == 2 else None
        content = path.read_bytes()
        path.unlink()
        if how == 3:
            path.symlink_to("/dev/zero" if self.chance.random() < 0.5 else "/etc/passwd")
        elif how == 4:
            os.mkfifo(path)
        elif how == 5:
            path.mkdir()
        elif how == 6:
            path.write_bytes(content[: self.chance.randrange(len(content) + 1)])
        elif how == 7:
            path.write_bytes(b'{"a":' * 3_000 + b"1" + b"}" * 3_000)
        if how > 5 and name != manifest.FILE:
            self.sign()
        return None

    def change(self) -> str:
        did = []
        ways = [self.json_field, self.table, self.table, self.file, self.everywhere]
        chosen = self.chance.sample(ways, self.chance.choice([1, 1, 1, 2]))
        for way in sorted(chosen, key=lambda one: one == self.file):  # the last: it may leave a pipe
            with contextlib.suppress(BenchbookError, ValueError, OSError, KeyError, TypeError, IndexError):
                # the second change of a file that the first one made unreadable is none
                way()
            did.append(self.did)
        return "; ".join(did)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Any:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield (*path, key)
        yield from _places(below, (*path, key))


def own_rows(connection: duckdb.DuckDBPyConnection) -> list[Any]:
    """Return a digest of every row of the user's own run."""
    found = []
    for table in (*OF_RUN, *OF_TRIAL):
        mine = f"starts_with({table.owner}, '{OWN}')"
        text = f"SELECT count(*), bit_xor(hash(t)), sum(hash(t) % 1000003) FROM {table.name} t WHERE {mine}"
        found.append(connection.execute(text).fetchone())
    return found


def through_every_command(place: Path, results: Path, made: Path) -> None:
    """Open, judge, find the page, export, publish, import and prepare the site; raise no other than BenchbookError."""
    with opened.opened(results, f"{place}/", say=lambda _: None) as found:
        with contextlib.suppress(BenchbookError):
            claims.judge_run(found.results, found.run_id, root() / "datasets" / "published")
        with contextlib.suppress(BenchbookError):
            page = render.document(render.experiment_of(found.results, found.run_id), root() / "reports")
            assert page == render.DEFAULT or page.parent == root() / "reports"
        for write in (
            lambda: export.export_run(found.results, found.run_id, made / "export", say=lambda _: None),
            lambda: export.publish_run(found.results, found.run_id, made / "data", DRAWN, lambda _: None),
        ):
            with contextlib.suppress(BenchbookError):
                write()
    export_ = manifest.checked(place)
    opened.results_of([export_], made / "site")
    mine = made / "results"
    shutil.copytree(results, mine)
    opened.facts(mine, f"{place}/", lambda _: None)
    opened.import_run(place, mine, lambda _: None)
    runs.listing(mine, lambda _: None)
    database.rebuild(mine, lambda _: None)
    with database.open(mine, read_only=True) as connection:
        after = own_rows(connection)
    with database.open(results, read_only=True) as connection:
        assert after == own_rows(connection)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("fuzz")
    sizes = {"blocks": 1, "instances": 1, "telemetry_seconds": 1, "intervals": 1}
    synthetic_run.write(where / "results", run_id=OWN, **sizes, database=True)
    synthetic_run.write(where / "theirs", run_id=SENT, seed=2, **sizes)
    export.publish_run(where / "theirs", SENT, where / "sent", DRAWN)
    export.publish_run(where / "results", OWN, where / "own", DRAWN)
    shutil.rmtree(where / "theirs")
    return where


@pytest.mark.timeout(7200)
@pytest.mark.nightly
def test_an_attack_is_refused_in_words_or_changes_nothing(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(base)
    connection = duckdb.connect()
    connection.execute(script())
    assert ingest.run(connection, base / "results" / "runs" / OWN, lambda _: None) == 2
    before = own_rows(connection)
    stage, place, made = base / "stage", base / "place", base / "made"
    known = {path.name for path in base.iterdir()} | {"stage", "place", "made"}
    entered = refused = whole = 0
    failed: list[str] = []  # all of them, because a long run has many
    for number in range(FIRST, FIRST + INPUTS):
        attack = Attack(
            place,
            random.Random(number),
            base / "sent" / "quickstart" / SENT,
            base / "own" / "quickstart" / OWN,
        )
        did = f"input {number}: {attack.change()}"
        said: list[str] = []
        try:
            found = manifest.checked(place)
            opened.link(found, stage)
            if ingest.run(connection, stage / "runs" / found.run_id, said.append):
                entered += 1
                if entered % WHOLE == 0:
                    whole += 1
                    through_every_command(place, base / "results", made)
        except BenchbookError as error:
            refused += 1
            said.append(str(error))
        except Exception as error:
            failed.append(f"{did}: {type(error).__name__}: {str(error)[:300]}")
            shutil.rmtree(place, ignore_errors=True)
        assert all(line and "Traceback" not in line for line in said), did
        if said or number % 100 == 0:
            assert own_rows(connection) == before, did
        ingest._delete_run(connection, SENT)
        for one in (stage, place, made):
            shutil.rmtree(one, ignore_errors=True)
        if number % 100 == 0:
            print(f"{number}: {refused} refused, {entered} entered, {len(failed)} failed", flush=True)
            assert {path.name for path in base.iterdir()} <= known, did
            assert not list(base.rglob("CANARY")), did
            assert not (root() / "CANARY").exists()
    assert own_rows(connection) == before
    assert not failed, "\n".join(failed)
    print(
        f"{INPUTS} inputs from {FIRST}: {refused} refused when opened, {entered} entered, {whole} through every command"
    )
    assert refused > INPUTS // 4
    assert entered > INPUTS // 20
