"""Quarto itself, where it is on PATH: a page, its bytes, a PDF, and a plain ``quarto render``."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchbook.analyse.run import RESULTS_VARIABLE, RUN_VARIABLE, Run
from benchbook.report import render
from benchbook.site.render import SCRIPT
from tests.report.parsed import Page
from tests.site import checkout as making

pytestmark = [
    pytest.mark.skipif(shutil.which("quarto") is None, reason="there is no quarto on PATH (quarto.org)"),
    pytest.mark.timeout(600),
]
FETCHED = re.compile(r"@import|url\(\s*['\"]?https?:|src=['\"]?https?:")


@pytest.fixture(scope="module")
def page(plain: Run, reports: Path) -> Page:
    return Page.read(render.report(plain.results, plain.run_id, reports))


@pytest.fixture(scope="module")
def own(plain: Run, reports: Path, tmp_path_factory: pytest.TempPathFactory) -> Page:
    """The page of Benchbook's own renderer."""
    target = tmp_path_factory.mktemp("own") / "report.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchbook.report.render.quarto", lambda: None)
        return Page.read(render.report(plain.results, plain.run_id, reports, target=target))


def test_it_fetches_nothing(page: Page):
    assert page.resources() == []
    written, _, _ = page.markup.partition('id="bb-bundle"')
    assert FETCHED.findall(written) == []
    assert "prefers-color-scheme: dark" in written
    assert "quarto-dark" not in written


def test_it_shows_what_the_page_without_quarto_shows(page: Page, own: Page):
    assert page.unbalanced == []
    for name in ("bb-figure", "bb-table", "bb-data", "bb-permalink", "bb-foot", "bb-contents", "bb-byline"):
        assert len(page.having("class", name)) == len(own.having("class", name)), name
    assert len(page.having("class", "bb-figure")) >= 4
    assert _words(page) == _words(own)


def _words(page: Page) -> str:
    return " ".join(page.text.split())


def test_rendered_twice_it_has_the_same_bytes(page: Page, plain: Run, reports: Path):
    again = render.report(plain.results, plain.run_id, reports)
    assert again.read_text(encoding="utf-8") == page.markup


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder ``reports`` of a checkout with a published run of quickstart."""
    return making.make(tmp_path_factory.mktemp("project"), telemetry_seconds=4) / "reports"


def _quarto(project: Path, *arguments: str, **added: str) -> subprocess.CompletedProcess[str]:
    """Run Quarto in the environment that ./bench sets up."""
    held = {name: value for name, value in os.environ.items() if name not in (RESULTS_VARIABLE, RUN_VARIABLE)}
    environment = {
        "QUARTO_PYTHON": sys.executable,
        "PYTHONPATH": str(Path(render.__file__).parents[2]),
        "BENCHBOOK_ROOT": str(project.parent),
    }
    return subprocess.run(
        ["quarto", *arguments],
        cwd=project,
        env={**held, **environment, **added},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


def test_a_plain_quarto_render_writes_the_page_of_the_published_run(project: Path):
    done = _quarto(project, "render", "quickstart.qmd")
    assert done.returncode == 0, done.stderr
    page = Page.read(project / "_site" / "quickstart.html")
    assert page.resources() == [SCRIPT]
    assert (project / "_site" / SCRIPT).is_file()
    assert len(page.having("class", "bb-figure")) >= 4
    assert page.having("aria-current", "page")
    assert page.having("class", "bb-foot")


def test_a_pdf_has_every_chart_with_its_title(project: Path):
    done = _quarto(project, "render", "quickstart.qmd", "--to", "typst", "-M", "keep-typ:true")
    assert done.returncode == 0, done.stderr
    assert (project / "_site" / "quickstart.pdf").read_bytes().startswith(b"%PDF")
    source = next(project.rglob("quickstart.typ")).read_text(encoding="utf-8")
    html = Page.read(project / "_site" / "quickstart.html")
    titles = re.findall(r"<figcaption>(.*?)<", html.markup)
    assert len(titles) >= 4
    assert source.count("image(") == len(titles)
    plain = " ".join(source.replace("\\", "").replace("~", " ").split())
    for title in titles:
        assert " ".join(title.replace("\N{NO-BREAK SPACE}", " ").split()) in plain
    assert "./bench rerun" in source


def test_a_page_refuses_the_run_of_another_experiment(project: Path):
    done = _quarto(
        project,
        "render",
        "load-tools.qmd",
        **{RUN_VARIABLE: str(project / "data" / "quickstart")},
    )
    assert done.returncode != 0
    assert "load-tools.qmd shows runs of load-tools" in done.stdout + done.stderr
