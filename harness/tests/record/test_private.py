"""Exports contain no names of user, host and folders, and everything else."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import pytest

from benchbook.record import export, private
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
