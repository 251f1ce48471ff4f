"""Failing cells: the error names the .qmd and the cell."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import psutil
import pytest

from benchbook.errors import BenchbookError, RequestError
from benchbook.report import notebook, page
from benchbook.report.notebook import Work


def _run(folder: Path, *cells: str, environment: dict[str, str] | None = None):
    path = folder / "broken.qmd"
    path.write_text("\n".join(f"```{{python}}\n{cell}\n```\n" for cell in cells), encoding="utf-8")
    document = notebook.read(path)
    notebook.execute([Work([document], environment or {})], folder)
    return document


def test_a_cell_that_raises_is_named(tmp_path):
    with pytest.raises(BenchbookError) as caught:
        _run(tmp_path, "x = 1", "y = x / 0  # here", "z = 1")
    assert "broken.qmd: cell 1 (y = x / 0  # here) failed with ZeroDivisionError: division by zero" in str(
        caught.value
    )
    assert "Traceback" not in str(caught.value)


def test_a_request_that_cannot_be_carried_out_stays_one(tmp_path):
    with pytest.raises(RequestError, match="no run is like that"):
        _run(
            tmp_path,
            "from benchbook.errors import RequestError",
            "raise RequestError('no run is like that.')",
        )


def test_a_process_that_dies_is_one_sentence(tmp_path):
    with pytest.raises(BenchbookError, match="the process that runs the code of the page died"):
        _run(tmp_path, "import os; os._exit(3)")


@pytest.mark.parametrize("end", ["", "\n1 / 0"])
def test_no_process_stays_behind(tmp_path, end):
    cell = f"import os\nopen('pid', 'w').write(str(os.getpid())){end}"
    with pytest.raises(BenchbookError) if end else contextlib.nullcontext():
        _run(tmp_path, cell)
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


def test_a_cell_without_an_end_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(notebook, "CELL_TIMEOUT_SECONDS", 2)
    with pytest.raises(BenchbookError, match=r"did not finish within 2 s"):
        _run(tmp_path, "import time; time.sleep(60)")


def test_it_needs_no_home_and_leaves_nothing_there(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    environment = {"HOME": str(home), "SOMETHING": "of ours"}
    document = _run(
        tmp_path, "import os\nprint(os.environ['SOMETHING'], os.getcwd())", environment=environment
    )
    assert document.cells[0].outputs[0]["stdout"] == f"of ours {os.path.realpath(tmp_path)}\n"
    assert list(home.iterdir()) == []


def test_works_share_a_process_but_neither_variables_nor_environment(tmp_path):
    path = tmp_path / "page.qmd"
    path.write_text(
        "```{python}\nimport os\nseen = globals().get('seen', 0) + 1\n"
        "print(os.getpid(), seen, os.environ.get('RUN'), os.environ.get('PAGE'))\n```\n",
        encoding="utf-8",
    )
    works = [
        Work([notebook.read(path), notebook.read(path)], {"RUN": "a", "PAGE": "x"}),
        Work([notebook.read(path)], {"RUN": "b"}),
    ]
    finished = []
    notebook.execute(works, tmp_path, finished.append)
    printed = [one.cells[0].outputs[0]["stdout"].split() for work in works for one in work.documents]
    assert len({process for process, *_ in printed}) == 1
    assert [rest for _, *rest in printed] == [["1", "a", "x"], ["2", "a", "x"], ["1", "b", "None"]]
    assert finished == works


def test_outputs_of_all_kinds_are_shown_as_asked(tmp_path):
    document = _run(
        tmp_path,
        "#| echo: true\nprint('<printed>')",
        "#| output: false\nprint('hidden one')",
        "#| include: false\nprint('hidden two')",
        "class Sum:\n    def _repr_markdown_(self):\n        return '**bold**'\nSum()",
        "'<plain>'",
    )
    made = page.render(document, "BUNDLE")
    assert "print(&#x27;&lt;printed&gt;&#x27;)" in made
    assert "<pre>&lt;printed&gt;\n</pre>" in made
    assert "hidden one" not in made
    assert "hidden two" not in made
    assert "<strong>bold</strong>" in made
    assert "<pre>&#x27;&lt;plain&gt;&#x27;</pre>" in made
    assert "BUNDLE" not in made


def test_what_is_printed_and_displayed_is_kept_in_order(tmp_path):
    document = _run(
        tmp_path,
        "print('a', end='')\nprint('b')\ndisplay('c')\nprint('d')\n'e'",
        "import os\nos.system('echo not an answer')\n1;",
        "class Part:\n    def _repr_mimebundle_(self):\n"
        "        return {'text/html': '<p>', 'image/png': b'x'}, {}\nPart",
        "Part()",
    )
    assert [cell.outputs for cell in document.cells] == [
        [{"stdout": "ab\n"}, {"text/plain": "'c'"}, {"stdout": "d\n"}, {"text/plain": "'e'"}],
        [],
        [{"text/plain": "<class '__main__.Part'>"}],
        [{"text/html": "<p>"}],
    ]


def test_a_process_that_ends_early_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(notebook.sys, "executable", "/bin/false")
    with pytest.raises(BenchbookError, match=r"cell 0 \(1\): the process .* died \(exit code 1\)"):
        _run(tmp_path, "1")


def test_temporary_folders_of_pages_are_removed(tmp_path):
    document = _run(
        tmp_path,
        "import tempfile\nfrom benchbook.report import opening\n"
        "kept = opening.kept.enter_context(tempfile.TemporaryDirectory())\nprint(kept, end='')",
    )
    assert not Path(document.cells[0].outputs[0]["stdout"]).exists()


def test_the_last_words_of_a_process_that_died_are_told(tmp_path):
    panic = "import os, sys; sys.stderr.write('thread panicked at x.rs:\\nindex out of bounds\\nnote: run with\\n'); "
    with pytest.raises(BenchbookError) as caught:
        _run(tmp_path, panic + "sys.stderr.flush(); os._exit(101)")
    assert caught.value.message.endswith("died (exit code 101): index out of bounds")
    assert "may be damaged" in caught.value.hint
    with pytest.raises(BenchbookError) as caught:
        _run(tmp_path, "class P(BaseException): pass\nraise P('range end index 7')")
    assert "P: range end index 7" in caught.value.message
    with pytest.raises(BenchbookError) as caught:
        _run(tmp_path, "raise BaseException('out of memory')")
    assert "free memory" in caught.value.hint
