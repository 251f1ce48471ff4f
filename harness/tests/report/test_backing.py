"""What backs the answer on a claim: its SQL gives its ratios, and its declaration and runs are its own."""

from __future__ import annotations

import math
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from benchbook.analyse import claims
from benchbook.analyse.run import Run
from benchbook.cli import sql
from benchbook.record import query
from benchbook.record.opened import opened
from benchbook.report import backing, data, links
from benchbook.report.charts import forest
from tests.site import checkout as making

ROOT = making.ROOT
DATA = ROOT / "reports" / "data"


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BENCHBOOK_ROOT", str(ROOT))
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="module", params=["sqlite-vs-postgres", "dataframes"])
def run(request: pytest.FixtureRequest):
    [export] = [one for one in making.shown() if one.experiment == request.param]
    with opened(Path(), str(export.folder)) as found:
        yield Run(found.results, found.run_id)


def test_the_command_of_each_claim_runs_as_typed_and_gives_the_ratio_of_each_block(run: Run):
    asked = 0
    for one in claims.over(run):
        if not (statement := backing.sql(run, one)):
            continue
        program, name, *words = shlex.split(backing.command(run, statement))
        folder, text = sql._parsed(words)
        assert (program, name, text) == ("./bench", "sql", statement)
        assert folder is not None
        assert Path(folder).is_dir()
        found = query.sql(run.results, statement)
        wanted = sorted(log for cell in one.cells for log in cell.logs.values())
        assert sorted(map(math.log, found["ratio"])) == pytest.approx(wanted)
        asked += 1
    assert asked


def test_the_declaration_of_a_claim_is_its_own_table(run: Run):
    for one in claims.over(run):
        held = backing.declaration(run, one)
        assert held is not None
        assert [each["id"] for each in tomllib.loads(held.text)["claims"]] == [one.id]
        [file] = [
            path
            for path in (DATA / run.experiment / run.run_id / held.file, ROOT / held.file)
            if path.is_file()
        ]
        assert file.read_text(encoding="utf-8").splitlines()[held.line - 1] == "[[claims]]"


def test_a_row_leads_to_the_declaration_and_each_ring_to_the_trials_of_its_run(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    folder = DATA / run.experiment / run.run_id
    for name, value in data.environment(ROOT / "site" / "page.html", ROOT / "numbers.csv", folder).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv(links.VARIABLE, f"runs/{run.run_id}.html")
    made = str(forest.chart(run).markup)
    assert f'href="../reports/data/{run.experiment}/{run.run_id}/declared/experiment.toml"' in made
    rings = re.findall(r'class="run"[^>]*href="runs/([^"]+)\.html"', made)
    several = {
        member.run_id
        for one in claims.over(run)
        for over in one.by_case
        if over is not None and len(over.members) > 1
        for member in over.members
    }
    assert set(rings) == several


def test_a_statement_with_a_mark_of_the_shell_is_quoted(run: Run):
    assert shlex.split(backing.command(run, "SELECT '$x'"))[-1] == "SELECT '$x'"
