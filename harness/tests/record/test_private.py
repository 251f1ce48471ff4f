"""Exports contain no names of user, host and folders, and everything else."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import polars as pl
import pytest

from benchbook.errors import RequestError
from benchbook.record import export, manifest, private
from benchbook.record.private import Scrubber


def test_examples():
    found = doctest.testmod(private)
    assert found.attempted > 2
    assert found.failed == 0


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("/home/ada/results/runs/x/trials/0001: no space", "…/0001: no space"),
        ('"/Users/ada/bin/influxd"', '"…/influxd"'),
        ("kept in /proc/pressure/io and /usr/bin/influxd", "kept in /proc/pressure/io and /usr/bin/influxd"),
        ("/nix/store/abc-influxdb-1.8.10/bin/influxd", "/nix/store/abc-influxdb-1.8.10/bin/influxd"),
        ("github.com/influxdata/influxdb/cmd/influxd@v1.8.10", "github.com/influxdata/influxdb/cmd/influxd@v1.8.10"),
        ("https://docs.influxdata.com/influxdb/v1/", "https://docs.influxdata.com/influxdb/v1/"),
        ("rows/s, 2026/01/02, application/json, a // b", "rows/s, 2026/01/02, application/json, a // b"),
        ("</p><b>1</b>", "</p><b>1</b>"),
        ("ada@babbage wrote adamant.txt", "USER@HOST wrote adamant.txt"),
    ],
)  # fmt: skip
def test_texts(text, scrubbed):
    assert Scrubber((("babbage", "HOST"), ("ada", "USER"))).text(text) == scrubbed


def test_servers_that_were_given_lose_their_host():
    argv = ["run", "x", "--system", "cnosdb=http://ada:pw@10.1.2.3:8902/db", "--results=/home/ada/r"]
    found = Scrubber().value({"argv": argv, "program": {"url": "https://db.inside.example:8086"}})
    assert found == {
        "argv": ["run", "x", "--system", "cnosdb=http://HOST:8902/db"],
        "program": {"url": "https://HOST:8086"},
    }
    assert Scrubber().value({"url": "http://127.0.0.1:8086"}) == {"url": "http://127.0.0.1:8086"}


def test_a_name_that_is_a_word_of_the_results_stays(monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "root")
    monkeypatch.setattr("socket.gethostname", lambda: "debian")
    monkeypatch.setattr("socket.getfqdn", lambda: "babbage.example.org")
    assert private.scrubber().names == (("babbage.example.org", "HOST"),)


def test_a_full_name_is_replaced_before_the_short_one_that_it_begins_with(monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "root")
    monkeypatch.setattr("socket.gethostname", lambda: "babbage")
    monkeypatch.setattr("socket.getfqdn", lambda: "babbage.secret-lab.example")
    said = private.scrubber().text("babbage: dial babbage.secret-lab.example:8086: refused")
    assert said == "HOST: dial HOST:8086: refused"


def test_bytes_that_are_no_text_stay(tmp_path):
    source, target = tmp_path / "log", tmp_path / "copy"
    source.write_bytes(b"\xff\x00 /home/ada/x\n")
    Scrubber().file(source, target)
    assert target.read_bytes() == b"\xff\x00 \xe2\x80\xa6/x\n"


def test_no_file_of_an_export_names_the_machine(recorded, tmp_path, monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "lovelace")
    monkeypatch.setattr("socket.gethostname", lambda: "babbage")
    results, run_id = recorded
    run = results / "runs" / run_id
    facts = json.loads((run / "run.json").read_text())
    facts["argv"] = ["run", "quickstart", "--results", str(results), "--system", f"x={tmp_path}/bin/x"]
    facts["programs"]["duckdb"]["path"] = "/home/lovelace/.cache/duckdb"
    facts["host"]["name"] = "babbage"
    (run / "run.json").write_text(json.dumps(facts))
    (run / "trials" / "0000" / "logs").mkdir()
    (run / "trials" / "0000" / "logs" / "x.log").write_text(f"babbage lovelace: opened {tmp_path}/data\n")
    (run / "trials" / "0000" / "config").mkdir()
    (run / "trials" / "0000" / "config" / "x.conf").write_text(f'dir = "{tmp_path}/data"\n')
    output = export.export_run(results, run_id, tmp_path / "out")
    held = b"".join(path.read_bytes() for path in sorted(output.rglob("*")) if path.is_file())
    for name in (b"lovelace", b"babbage", str(tmp_path).encode()):
        assert name not in held
    assert (output / "trials/0000/logs/x.log").read_text() == "HOST USER: opened …/data\n"
    whole = export.export_run(results, run_id, tmp_path / "whole", private=True)
    assert b"lovelace" in (whole / "run.json").read_bytes()


def test_the_research_object_describes_what_is_there(recorded, tmp_path):
    results, run_id = recorded
    output = export.export_run(results, run_id, tmp_path / "out")
    crate = json.loads((output / "ro-crate-metadata.json").read_text())
    assert crate["@context"] == "https://w3id.org/ro/crate/1.1/context"
    graph = {entity["@id"]: entity for entity in crate["@graph"]}
    assert len(graph) == len(crate["@graph"])
    assert graph["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    assert graph["ro-crate-metadata.json"]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    for needed in ("name", "description", "datePublished", "license"):
        assert graph["./"][needed]
    for part in graph["./"]["hasPart"]:
        assert (output / part["@id"]).exists(), part
        assert graph[part["@id"]]["@type"] in ("File", "Dataset")
    used = {one["@id"] for one in graph["#run"]["instrument"]}
    assert used == {"#benchbook", "#system-duckdb", "#system-sqlite"}
    assert Path(output / "environment.json").is_file()


DEFINED = {
    "trials": ["trial_id", "experiment", "profile", "system", "arm", "storage", "cell", "status"],
    "levels": ["factor", "level"],
    "phases": ["phase", "workload"],
    "measurements": ["phase", "metric", "value", "unit", "direction"],
    "histograms": ["phase", "operation", "kind"],
    "checks": ["kind", "name", "ok"],
    "run_facts": ["topic", "key"],
}


@pytest.mark.parametrize("publish", [False, True])
def test_a_machine_with_a_name_of_benchbook_changes_no_number(
    recorded: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, publish: bool
) -> None:
    results, run_id = recorded
    whole = export.export_run(results, run_id, tmp_path / "whole", private=True) / "tables"
    words = {
        word
        for table, columns in DEFINED.items()
        for row in pl.read_parquet(whole / f"{table}.parquet").select(columns).iter_rows()
        for word in row
        if isinstance(word, str) and len(word) >= private.SHORTEST
    }
    assert {"load", "rows_per_second", "ok", "sqlite", "vanilla", "groupby"} - words <= {"ok"}
    names = tuple((word, "HOST") for word in {*words, "ok"})
    monkeypatch.setattr(export, "scrubber", lambda: Scrubber(names))
    if publish:
        made = export.publish_run(results, run_id, tmp_path / "data", [("server", "cpu_seconds")])
    else:
        made = export.export_run(results, run_id, tmp_path / "made")
    for table, columns in DEFINED.items():
        before, after = (pl.read_parquet(at / f"{table}.parquet") for at in (whole, made / "tables"))
        if table != "histograms":
            assert before.select(columns).equals(after.select(columns)), table
        assert "HOST" not in after.select(columns).write_csv()
    assert (made / "declared/experiment.toml").read_bytes() == (
        results / "runs" / run_id / "declared/experiment.toml"
    ).read_bytes()


def test_an_export_that_would_lose_trials_is_refused(
    recorded: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, run_id = recorded
    monkeypatch.setattr(private, "FREE", private.FREE | {"status"})
    monkeypatch.setattr(export, "scrubber", lambda: Scrubber((("ok", "HOST"),)))
    for attempt in (
        lambda: export.export_run(results, run_id, tmp_path / "out"),
        lambda: export.publish_run(results, run_id, tmp_path / "out", [("server", "cpu_seconds")]),
    ):
        with pytest.raises(RequestError, match="would lack 6 of 6 trials"):
            attempt()
        assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def test_a_file_with_an_odd_name_stays_out_of_the_export(recorded: tuple[Path, str], tmp_path: Path) -> None:
    results, run_id = recorded
    logs = results / "runs" / run_id / "trials" / "0000" / "logs"
    (logs / ("d" * 200) / ("d" * 200)).mkdir(parents=True)
    for name in ("a.log", "b\udcff.log", "c\n.log", f"{'d' * 200}/{'d' * 200}/d.log"):
        (logs / name).write_text("x")
    said: list[str] = []
    made = export.export_run(results, run_id, tmp_path / "out", say=said.append)
    assert [one.file for one in manifest.checked(made).files if "/logs/" in one.file] == [
        "trials/0000/logs/a.log"
    ]
    assert [one.startswith("Left out: ") for one in said] == [True]
    assert "b\udcff" not in said[0]


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["--origin", "x=https://example.org/x.gz"], ["--origin", "x=https://example.org/x.gz"]),
        (["--origin=x=https://example.org/x.gz"], ["--origin=x=https://example.org/x.gz"]),
        (["--system", "x=docker://a/x:1"], ["--system", "x=docker://a/x:1"]),
        (["--system", "x=docker://x:1@sha256:0"], ["--system", "x=docker://x:1@sha256:0"]),
        (["--system", "x=docker://quay.io/a/x:1"], ["--system", "x=docker://quay.io/a/x:1"]),
        (["--system", "x=docker://registry.corp:5000/a"], ["--system", "x=docker://HOST:5000/a"]),
        (["--system", "x=docker://me@example.org/a"], ["--system", "x=docker://HOST/a"]),
        (["--system", "x=http://db.corp:1"], ["--system", "x=http://HOST:1"]),
    ],
)
def test_others_can_get_the_programs_of_a_run(words, kept):
    """Origins and images of public registries stay; the hosts of servers and of other registries do not."""
    assert private.Scrubber().value({"argv": ["run", *words]}) == {"argv": ["run", *kept]}
