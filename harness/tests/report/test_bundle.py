"""The code that draws charts, which a checkout keeps because making it takes a second."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.report import page


@pytest.mark.parametrize("kept", [True, False])
def test_a_checkout_keeps_the_code_that_draws_charts(
    kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda: made.append(1) or "draw('</script><!--')")
    monkeypatch.setattr(page, "built_in", lambda: tmp_path)
    if kept:
        (tmp_path / ".bench" / "compiled").mkdir(parents=True)
    texts = [page.bundle.__wrapped__() for _ in range(2)]
    assert texts == ["draw('<\\/script><\\!--')"] * 2
    assert len(made) == (1 if kept else 2)
