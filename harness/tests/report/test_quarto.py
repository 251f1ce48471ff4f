"""Rendering with Quarto, replaced by a script: its arguments, and its errors."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from benchbook.errors import BenchbookError, RequestError
from benchbook.report import render

STAND_IN = f"""#!/bin/sh
''''exec "{sys.executable}" "$0" "$@" # '''
import json, os, sys
arguments = sys.argv[1:]
value = lambda name: arguments[arguments.index(name) + 1]
told = {{"arguments": arguments, "folder": os.getcwd(), "files": sorted(os.listdir("."))}}
names = ("BENCHBOOK_RESULTS", "BENCHBOOK_RUN", "QUARTO_PYTHON", "PYTHONPATH")
told["environment"] = {{name: os.environ[name] for name in names if name in os.environ}}
if arguments[1] != "data.qmd":
    open(os.environ["TOLD"], "w").write(json.dumps(told))
if os.environ.get("FAIL"):
    sys.exit("ERROR: cell 3 fell over" if os.environ["FAIL"] == "1" else 0)
open(value("--output"), "w").write("<html>made by a stand-in</html>")
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program called quarto on PATH; it writes its arguments into the returned file."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "quarto"
    program.write_text(STAND_IN, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TOLD", str(tmp_path / "told.json"))
    return tmp_path / "told.json"


def test_it_is_told_everything_it_needs(stand_in, made, reports):
    run = made()
    path = render.report(run.results, run.run_id, reports)
    assert path.read_text(encoding="utf-8") == "<html>made by a stand-in</html>"
    assert render.data_page(path).read_text(encoding="utf-8") == "<html>made by a stand-in</html>"
    told = json.loads(stand_in.read_text(encoding="utf-8"))
    arguments = told["arguments"]
    assert arguments[:2] == ["render", "quickstart.qmd"]
    assert arguments[arguments.index("--to") + 1] == "html"
    assert arguments[arguments.index("--execute-dir") + 1] == str(reports.resolve())
    assert "embed-resources:true" in arguments
    assert told["files"] == ["benchbook.css", "benchbook.html", "quickstart.qmd"]
    assert not Path(told["folder"]).exists()
    assert told["environment"]["BENCHBOOK_RESULTS"] == str(run.results.resolve())
    assert told["environment"]["BENCHBOOK_RUN"] == run.run_id
    assert told["environment"]["QUARTO_PYTHON"] == sys.executable
    assert str(Path(render.__file__).parents[2]) in told["environment"]["PYTHONPATH"].split(os.pathsep)


def test_a_pdf_is_set_by_typst(stand_in, made, reports):
    run = made()
    assert render.report(run.results, run.run_id, reports, to="pdf").name == "report.pdf"
    arguments = json.loads(stand_in.read_text(encoding="utf-8"))["arguments"]
    assert arguments[arguments.index("--to") + 1] == "typst"
    assert "--css" not in arguments


@pytest.mark.parametrize("fail", ["1", "silently"])
def test_its_failure_is_one_message_and_keeps_the_old_page(stand_in, made, reports, monkeypatch, fail):
    run = made()
    before = run.results / "runs" / run.run_id / "report.html"
    before.write_text("old", encoding="utf-8")
    monkeypatch.setenv("FAIL", fail)
    with pytest.raises(BenchbookError, match=r"quickstart\.qmd: Quarto rendered no page") as caught:
        render.report(run.results, run.run_id, reports)
    assert fail != "1" or "cell 3 fell over" in str(caught.value)
    assert before.read_text(encoding="utf-8") == "old"
    assert sorted(file.name for file in before.parent.glob(".report*")) == []


def test_a_pdf_without_quarto_says_what_to_do(made, reports, monkeypatch):
    monkeypatch.setattr("benchbook.report.render.quarto", lambda: None)
    run = made()
    with pytest.raises(RequestError, match="needs Quarto"):
        render.report(run.results, run.run_id, reports, to="pdf")
