"""Reading a .qmd: supported parts, and errors for the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.errors import RequestError
from benchbook.report import notebook
from benchbook.report.notebook import Cell, Text

WHOLE = """---
title: "A title: with a colon"
subtitle: sub
execute:
  echo: false
---

## One

Markdown.

```{python}
#| echo: true
#| fig-cap: "Captioned"
x = 1
x
```

```{python}
#| eval: false
raise SystemExit
```
"""


def _written(folder: Path, text: str) -> Path:
    path = folder / "report.qmd"
    path.write_text(text, encoding="utf-8")
    return path


def test_header_and_options(tmp_path):
    document = notebook.read(_written(tmp_path, WHOLE))
    assert (document.title, document.subtitle, document.lang) == ("A title: with a colon", "sub", "en")
    assert document.parts[0] == Text("## One\n\nMarkdown.")
    assert document.cells == [
        Cell("x = 1\nx", "cell-001", echo=True, caption="Captioned"),
        Cell("raise SystemExit", "cell-002", eval=False),
    ]
    assert [cell.runs for cell in document.cells] == [True, False]


def test_echo_is_off_where_nobody_says_otherwise(tmp_path):
    document = notebook.read(_written(tmp_path, "```{python}\n1\n```\n"))
    assert not document.cells[0].echo
    assert document.title == "report"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("```{python}\n#| ecoh: true\n1\n```\n", 'Did you mean "echo"'),
        ("---\ntitel: x\n---\n\nText\n", 'Did you mean "title"'),
        ("---\ntitle: [x\n---\n\nText\n", "not valid YAML"),
        (f"---\ntitle: {'[' * 5000}{']' * 5000}\n---\n\nText\n", "the header is nested too deep"),
        ("```{python}\n#| echo\n1\n```\n", "key: value"),
        ("---\nexecute:\n  freeze: auto\n---\n\nText\n", '"freeze"'),
    ],
)
def test_what_would_not_render_alike_is_refused(tmp_path, text, words):
    with pytest.raises(RequestError, match=r"report\.qmd") as caught:
        notebook.read(_written(tmp_path, text))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("::: {.callout-note}\nText\n:::", "a fenced div"),
        ("Mean `{python} mean`.", "inline code"),
        ("{{< pagebreak >}}", "a shortcode"),
        ("[Text]{.mark}", "attributes"),
        ("## Heading {#one}", "attributes"),
        ("See @fig-one.", "a cross reference"),
        ("As shown [@one].", "a cross reference"),
        ("Text[^1].", "a footnote"),
        ("Of $x^2$.", "mathematics"),
        ("$$\nx\n$$", "mathematics"),
        ("Term\n\n: What it means", "a definition list"),
        ("```{r}\n1\n```", "a block of {r}"),
        ("```{=html}\n<p>\n```", "a block of {=html}"),
        ("```{python, echo=FALSE}\n1\n```", "a block of {python, echo=FALSE}"),
    ],
)
def test_markdown_that_only_quarto_renders_is_refused_by_name_and_line(tmp_path, text, name):
    path = _written(tmp_path, f"---\ntitle: x\n---\n\n```{{python}}\n'@a $x$ {{.b}}'\n```\n\n{text}\n")
    with pytest.raises(RequestError, match=r"report\.qmd, line (9|11): ") as caught:
        notebook.read(path)
    assert f"does not support {name}" in str(caught.value)


def test_plain_markdown_is_not_refused(tmp_path):
    text = "Costs $5 or $6, `[^1] {.a} @b`; a@b.example.\n\n```\n::: @a\n```\n\n2: two {curly} words\n"
    assert notebook.read(_written(tmp_path, text)).title == "report"


def test_a_fence_inside_a_block_is_text(tmp_path):
    text = "````\n```{python}\n1\n```\n````\n\n```{python}\n'''\n```` {#a}\n'''\n```\n"
    document = notebook.read(_written(tmp_path, text))
    assert document.parts == [
        Text("````\n```{python}\n1\n```\n````"), Cell("'''\n```` {#a}\n'''", "cell-001")
    ]  # fmt: skip


def test_a_cell_without_an_end_is_refused(tmp_path):
    with pytest.raises(RequestError, match=r"its last \{python\} cell has no end"):
        notebook.read(_written(tmp_path, "Text\n\n```{python}\nx = 1\n"))


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(RequestError, match="cannot read the report"):
        notebook.read(tmp_path / "none.qmd")


def test_every_report_of_the_repository_can_be_read(reports):
    for path in reports.glob("*.qmd"):
        assert notebook.read(path).title


def test_every_cell_of_the_reports_is_python(reports):
    for path in reports.glob("*.qmd"):
        for cell in notebook.read(path).cells:
            compile(cell.source, str(path), "exec")
