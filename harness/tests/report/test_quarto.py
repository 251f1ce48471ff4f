"""Rendering with Quarto, replaced by a script: its arguments, its configuration, what cells display, and errors."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from benchbook.analyse.run import RESULTS_VARIABLE, RUN_VARIABLE
from benchbook.errors import BenchbookError, RequestError
from benchbook.record import ledger
from benchbook.report import figure, opening, render, table
from benchbook.report.charts import forest, strip
from benchbook.report.table import QUARTO_VARIABLE
from benchbook.report.tables import folds, setting

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
os.mkdir("_site")
made = f"_site/{{arguments[1].removesuffix('.qmd')}}." + {{"html": "html", "typst": "pdf"}}[value("--to")]
cell = '<div id="1f9c" class="cell" data-execution_count="1"><p>made by a stand-in</p></div>'
open(made, "w").write(f"<html><head></head><body>{{cell}}</body></html>")
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
    told = json.loads(stand_in.read_text(encoding="utf-8"))
    arguments = told["arguments"]
    assert arguments[:2] == ["render", "quickstart.qmd"]
    assert arguments[arguments.index("--to") + 1] == "html"
    assert arguments[arguments.index("--execute-dir") + 1] == str(reports.resolve())
    parts = sorted(part.name for part in reports.glob("_*") if part.is_file())
    assert told["files"] == [*parts, "quickstart.qmd"]
    assert not Path(told["folder"]).exists()
    assert told["environment"]["BENCHBOOK_RESULTS"] == str(run.results.resolve())
    assert told["environment"]["BENCHBOOK_RUN"] == run.run_id
    assert told["environment"]["QUARTO_PYTHON"] == sys.executable
    assert str(Path(render.__file__).parents[2]) in told["environment"]["PYTHONPATH"].split(os.pathsep)
    for made_page in (path, render.data_page(path)):
        markup = made_page.read_text(encoding="utf-8")
        assert '<div class="bb-cell"><p>made by a stand-in</p></div>' in markup
        assert "1f9c" not in markup
        assert '<footer class="bb-foot">' in markup


def test_a_pdf_is_set_by_typst(stand_in, made, reports):
    run = made()
    path = render.report(run.results, run.run_id, reports, to="pdf")
    assert path.name == "report.pdf"
    assert b"made by a stand-in" in path.read_bytes()
    arguments = json.loads(stand_in.read_text(encoding="utf-8"))["arguments"]
    assert arguments[arguments.index("--to") + 1] == "typst"


@pytest.mark.parametrize("to", ["html", "pdf"])
def test_it_refuses_what_only_quarto_renders(stand_in, made, reports, tmp_path, to):
    run = made()
    folder = tmp_path / "mine"
    shutil.copytree(reports, folder, ignore=shutil.ignore_patterns("data"))
    with (folder / "quickstart.qmd").open("a", encoding="utf-8") as file:
        file.write("\n::: {.callout-note}\nBeware.\n:::\n")
    with pytest.raises(RequestError, match=r"does not support a fenced div"):
        render.report(run.results, run.run_id, folder, to=to)


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


def test_a_pdf_without_the_packages_of_quarto_says_what_to_do(stand_in, made, reports, monkeypatch):
    monkeypatch.setitem(sys.modules, "nbclient", None)
    run = made()
    with pytest.raises(
        RequestError, match=r"PDF needs the Python package nbclient \(Benchbook's extra quarto\)"
    ):
        render.report(run.results, run.run_id, reports, to="pdf")


def test_its_configuration_loads_nothing_from_the_network(reports):
    stated = yaml.safe_load((reports / render.CONFIGURATION).read_text(encoding="utf-8"))
    html = stated["format"]["html"]
    assert (html["theme"], html["minimal"]) == ("none", True)
    assert (reports / html["template"]).read_text(encoding="utf-8") == "$body$\n"
    assert stated["html-table-processing"] == "none"
    assert (reports / stated["include-in-header"]).is_file()
    assert (reports / stated["project"]["post-render"]).is_file()
    one = json.loads(render.configuration(reports))
    assert "post-render" not in one["project"]
    assert {**one, "project": 0} == {**stated, "project": 0}


def test_its_configuration_leaves_out_only_pages_without_a_published_run(reports):
    stated = yaml.safe_load((reports / render.CONFIGURATION).read_text(encoding="utf-8"))
    left_out = {name[1:] for name in stated["project"]["render"] if name.startswith("!")}
    experiments = {path.name for path in reports.glob("*.qmd") if opening.is_experiment(path.stem)}
    assert left_out == {name for name in experiments if not (reports / "data" / Path(name).stem).is_dir()}


def test_a_missing_configuration_is_one_message(stand_in, made, reports, tmp_path):
    run = made()
    folder = tmp_path / "mine"
    folder.mkdir()
    shutil.copyfile(reports / "quickstart.qmd", folder / "quickstart.qmd")
    with pytest.raises(RequestError, match=r"cannot read Quarto's configuration"):
        render.report(run.results, run.run_id, folder)


def _shown(run):
    """Return one thing of every kind that a cell displays, without sentences, which are Markdown anyway."""
    charts = [strip.throughput(run), strip.throughput(run, "settled_seconds")]
    sentence = table.Markdown("A chart is refused.")
    return [
        charts[0],
        figure.shown(*charts),
        figure.shown(*charts, sentence),
        setting.table(run),
        forest.chart(run),
        folds.closing(run),
        table.Table(["A"], [["1"]]),
        table.Details("More", table.Table(["A"], [["1"]])),
    ]


def test_for_quarto_a_cell_displays_markdown_with_the_same_html(plain, monkeypatch):
    without = [one._repr_mimebundle_() for one in _shown(plain) if hasattr(one, "_repr_mimebundle_")]
    monkeypatch.setenv(QUARTO_VARIABLE, "quickstart.qmd")
    found = [one._repr_mimebundle_() for one in _shown(plain) if hasattr(one, "_repr_mimebundle_")]
    assert len(found) >= 6
    for bundle, before in zip(found, without, strict=True):
        assert set(bundle) == {"text/markdown"}
        block = re.match(r"(`{3,})\{=html\}\n(.*?)\n\1\n", bundle["text/markdown"], re.DOTALL)
        assert block is not None
        assert block[2] == before["text/html"]


def test_a_raw_block_ends_only_where_it_should(monkeypatch):
    monkeypatch.setenv(QUARTO_VARIABLE, "quickstart.qmd")
    held = table.Block("<p>a\n```\n````\nb</p>", "`")
    lines = held._repr_mimebundle_()["text/markdown"].split("\n")
    assert lines[0] == "`````{=html}"
    assert lines.index("`````") == lines.index("b</p>") + 1


def test_a_pdf_has_each_chart_below_its_title_and_code_in_blocks(plain, monkeypatch):
    charts = [strip.throughput(plain), strip.throughput(plain, "settled_seconds")]
    written = figure.shown(*charts, table.Markdown("A chart is refused.")).printed
    assert written.startswith("A chart is refused.")
    places = [written.index(table.escape_markdown(chart.title)) for chart in charts]
    drawings = [found.start() for found in re.finditer(r"!\[\]\(data:image/svg", written)]
    assert places[0] < drawings[0] < places[1] < drawings[1]
    assert table.fenced("Run\n\n<pre><code>./bench run a\n./bench site</code></pre>") == (
        "Run\n\n```\n./bench run a\n./bench site\n```"
    )


def test_a_page_shows_a_run_of_its_experiment_only(plain, monkeypatch):
    monkeypatch.setenv(RESULTS_VARIABLE, str(plain.results))
    monkeypatch.setenv(RUN_VARIABLE, plain.run_id)
    for name in ("quickstart.qmd", "data.qmd"):
        monkeypatch.setenv(QUARTO_VARIABLE, name)
        assert opening.open_run().run_id == plain.run_id
    monkeypatch.setenv(QUARTO_VARIABLE, "load-tools.qmd")
    with pytest.raises(
        RequestError, match=r"load-tools\.qmd shows runs of load-tools, but run .* of quickstart"
    ):
        opening.open_run()
    monkeypatch.delenv(RUN_VARIABLE)
    monkeypatch.setenv(QUARTO_VARIABLE, "quickstart.qmd")
    assert opening.open_run().run_id == plain.run_id


def test_without_a_name_a_page_shows_the_published_run(monkeypatch, reports):
    monkeypatch.setenv("BENCHBOOK_ROOT", str(reports.parent))
    monkeypatch.delenv(RESULTS_VARIABLE, raising=False)
    monkeypatch.delenv(RUN_VARIABLE, raising=False)
    monkeypatch.setenv(QUARTO_VARIABLE, "quickstart.qmd")
    run = opening.open_run()
    shown = ledger.shown(ledger.entries(reports / "data" / "quickstart")[0])
    assert shown is not None
    assert run.run_id == shown.export.run_id
