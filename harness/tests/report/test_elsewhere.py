"""A run that was exported and imported elsewhere gives the same page, byte for byte."""

from __future__ import annotations

import pytest

from benchbook.record import export, opened
from benchbook.report import render


@pytest.mark.slow
def test_the_same_page(made, reports, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("benchbook.report.render.quarto", lambda: None)
    run = made()
    here = render.report(run.results, run.run_id, reports).read_bytes()
    exported = export.export_run(
        run.results,
        run.run_id,
        tmp_path / "export",
        render=lambda stage, name: render.report(stage, name, reports),
    )
    assert (exported / "report.html").read_bytes() == here
    opened.import_run(exported, tmp_path / "elsewhere")
    assert render.report(tmp_path / "elsewhere", run.run_id, reports).read_bytes() == here
