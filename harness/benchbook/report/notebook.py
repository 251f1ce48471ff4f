"""Read a .qmd, and execute its cells.

The reader accepts what Quarto and Benchbook render alike: plain Markdown, ``{python}`` cells, the header entries and
the ``#|`` options below. It refuses anything else by name, so that no page differs between the two renderers.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from benchbook.errors import BenchbookError, RequestError, command, nearest
from benchbook.host import temporary
from benchbook.host.texts import shortened
from benchbook.report.cells import PRINTED, Output

CELL_TIMEOUT_SECONDS = 300
END_SECONDS = 5


@dataclass(frozen=True)
class Text:
    """Markdown between cells."""

    source: str


@dataclass
class Cell:
    """A cell of Python code and its options."""

    source: str
    id: str
    include: bool = True
    """False: neither the code nor its output is on the page."""
    echo: bool = False
    """True: the page shows the code."""
    output: bool = True
    eval: bool = True
    """False: the cell is not executed."""
    caption: str = ""
    outputs: list[Output] = field(default_factory=list)

    @property
    def runs(self) -> bool:
        """Return whether the cell is executed."""
        return self.eval and bool(self.source.strip())


@dataclass(frozen=True)
class Document:
    """A .qmd, ready for execution."""

    path: Path
    title: str
    subtitle: str
    lang: str
    parts: list[Text | Cell]
    description: str = ""
    """Text for search engines and previews of links; by default the page's first paragraph."""

    @property
    def cells(self) -> list[Cell]:
        """The cells in their order."""
        return [part for part in self.parts if isinstance(part, Cell)]


@dataclass(frozen=True)
class Work:
    """Documents to execute one after the other, which show the same run."""

    documents: Sequence[Document]
    environment: dict[str, str]
    """Environment variables of their cells, which name the run."""

    def running(self) -> list[tuple[Document, Cell]]:
        """Return the executed cells, each with its document."""
        return [(document, cell) for document in self.documents for cell in document.cells if cell.runs]


def execute(works: Sequence[Work], folder: Path, finished: Callable[[Work], None] = lambda _: None) -> None:
    """Run the cells of documents in a separate Python process in ``folder``; keep their outputs in the cells.

    All run in the same process, so later documents find the libraries and the runs already read; variables of cells
    are only shared within a work. ``finished`` is called after each work. Raises BenchbookError, which names the .qmd
    and the cell, if a cell fails or takes longer than five minutes.
    """
    wanted = [
        {"environment": work.environment, "cells": [cell.source for _, cell in work.running()]} for work in works
    ]  # fmt: skip
    with (
        temporary.folder("report") as scratch,
        (Path(scratch) / "errors.log").open("wb") as errors,
        _process(folder, scratch, errors) as process,
    ):
        assert process.stdin
        try:
            with contextlib.suppress(BrokenPipeError):  # a process that has died gives no answer
                process.stdin.write(json.dumps(wanted))
                process.stdin.close()
            for work in works:
                for document, cell in work.running():
                    cell.outputs = _answer(process, document, cell, Path(errors.name))
                finished(work)
        finally:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(END_SECONDS)  # it removes its temporary files
            process.kill()


def _process(folder: Path, scratch: str, errors: IO[bytes]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "benchbook.report.cells"], cwd=folder, env=surroundings({}, scratch),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8",
    )  # fmt: skip


def _answer(process: subprocess.Popen[str], document: Document, cell: Cell, errors: Path) -> list[Output]:
    """Wait for the answer of the next cell; raise BenchbookError if there is none, or if the cell failed."""
    assert process.stdout
    late = threading.Event()

    def stop() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(CELL_TIMEOUT_SECONDS, stop)
    timer.start()
    try:
        line = process.stdout.readline()
    finally:
        timer.cancel()
    where = _named(document, cell)
    if late.is_set():
        raise BenchbookError(
            f"{where} did not finish within {CELL_TIMEOUT_SECONDS} s.",
            "Render a smaller run, or let this code cell of the page do less.",
        )
    if not line:
        died = f"{where}: the process that runs the code of the page died (exit code {process.wait()})"
        if (said := _last_words(errors)) and not _OF_THE_MACHINE.search(said):
            raise BenchbookError(
                f"{died}: {said}",
                "A file of the run may be damaged. Correct it or leave the run out, and render again with: "
                f"{command('report')}",
            )
        raise BenchbookError(
            f"{died}{f': {said}' if said else '.'}",
            f"Check the free memory and the limit of processes (ulimit -u), and render again with: {command('report')}",
        )
    answer = json.loads(line)
    if isinstance(answer, list):
        return answer
    message = " ".join(str(answer["message"]).split()) or "(no message)"
    kind = RequestError if answer["name"] == RequestError.__name__ else BenchbookError
    raise kind(
        f"{where} failed with {answer['name']}: {message}",
        f"The results of the run are unchanged. Render again with: {command('report')}",
    )


_OF_THE_MACHINE = re.compile(r"memory|(spawn|start new) thread|temporarily unavailable", re.IGNORECASE)


def _last_words(errors: Path) -> str:
    """Return the last line of an error or panic; the line of Rust that advises a backtrace is none."""
    with errors.open("rb") as file:
        file.seek(max(0, errors.stat().st_size - (16 << 10)))
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines()]
    return shortened(
        next((line for line in reversed(lines) if line and not line.startswith("note: ")), ""), 600
    )


def _named(document: Document, cell: Cell) -> str:
    first = cell.source.strip().splitlines()[0]
    number = next(number for number, part in enumerate(document.parts) if part is cell)
    return f"{document.path}: cell {number} ({first})"


def ipynb(document: Document) -> str:
    """Return an executed document as a Jupyter notebook."""
    from nbformat import v4, writes

    cells = []
    for part in document.parts:
        if isinstance(part, Text):
            cells.append(v4.new_markdown_cell(part.source))
            continue
        outputs = [
            v4.new_output("stream", name="stdout", text=one[PRINTED])
            if PRINTED in one
            else v4.new_output("display_data", data=one)
            for one in part.outputs
        ]
        cells.append(v4.new_code_cell(part.source, id=part.id, outputs=outputs))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    about = {"kernelspec": kernel, "generator": "Benchbook"}
    return f"{writes(v4.new_notebook(cells=cells, metadata=about))}\n"


def surroundings(added: dict[str, str], scratch: str) -> dict[str, str]:
    """Return the environment of cells, without the user's configuration of Jupyter, which Quarto starts."""
    package_root = str(Path(__file__).resolve().parents[2])
    paths = [package_root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)),
        "IPYTHONDIR": scratch,
        "JUPYTER_CONFIG_DIR": scratch,
        "JUPYTER_RUNTIME_DIR": scratch,
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "PYTHONHASHSEED": "0",
        "POLARS_MAX_THREADS": "1",  # frames of a run are small: threads cost more than they save
        **added,
    }


OPTIONS = {"echo": False, "output": True, "include": True, "eval": True, "fig-cap": "", "warning": True}
"""Cell options that both renderers honour, with their defaults."""
SILENT = {"label", "fig-alt"}
"""Cell options that change no output; a label is the id of its cell, which is not counted in the ids of the others."""
HEADER = {"title", "subtitle", "lang", "execute", "format", "jupyter", "description"}
"""Header entries that a .qmd may have; only Quarto uses ``format`` and ``jupyter``."""

BLOCK = re.compile(r"^\s*(`{3,}|~{3,})\s*(.*?)\s*$")
CODE_SPAN = re.compile(r"(`+)(?!`).*?\1")
REFUSED = {
    "inline code, `{…} …`": re.compile(r"`\{"),
    "a fenced div, :::": re.compile(r"^\s*:::"),
    "a shortcode, {{< … >}}": re.compile(r"\{\{<"),
    "attributes, {#… .…}": re.compile(r"\{[^{}]*[#.=][^{}]*\}"),
    "a footnote, [^…]": re.compile(r"\[\^[^\]]+\]|\^\["),
    "a cross reference or citation, @…": re.compile(r"(?<![\w.@])@[A-Za-z]"),
    "mathematics, $…$": re.compile(r"(?<![\\$])\$\$?(?=\S)[^$]*(?<=\S)\$(?!\d)"),
    "a definition list": re.compile(r"^ {0,3}[:~] +\S"),
}
"""Markdown that only Quarto understands → how to find it in a line."""

OPTION_LINE = re.compile(r"^#\|\s?(.*)$")
FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)


def read(path: Path, title: str = "") -> Document:
    """Read a .qmd; raise RequestError if it is unreadable or uses what the two renderers render differently.

    ``title`` replaces that of the header.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path}: cannot read the report ({error})."
        raise RequestError(message, f"Check its name with: {command('list')}") from error
    front = FRONT.match(text)
    header = _header(path, front.group(1) if front else "")
    body = text[front.end() :] if front else text
    defaults = {**OPTIONS, **_execute(path, header)}
    parts: list[Text | Cell] = []
    for code, source in _blocks(path, body, text.count("\n") - body.count("\n")):
        parts.append(_cell(path, len(parts), source, defaults) if code else Text(source))
    return Document(
        path=path,
        title=title or str(header.get("title") or path.stem),
        subtitle=str(header.get("subtitle") or ""),
        lang=str(header.get("lang") or "en"),
        parts=parts,
        description=str(header.get("description") or ""),
    )


def _blocks(path: Path, body: str, before: int) -> Iterator[tuple[bool, str]]:
    """Yield the parts of a body: whether it is a cell, and its source without fences.

    ``before`` are the lines above the body. Raises RequestError for Markdown that Quarto alone understands.
    """
    fence, code, lines = "", False, list[str]()
    for number, line in enumerate(body.split("\n"), before + 1):
        block = BLOCK.match(line)
        if fence:
            closed = bool(block and block[1].startswith(fence) and not block[2])
            if not (closed and code):
                lines.append(line)
            else:
                yield True, "\n".join(lines)
                code, lines = False, []
            fence = "" if closed else fence
            continue
        found = [name for name, pattern in REFUSED.items() if pattern.search(_without_code(name, line))]
        if block:
            fence, kind = block[1], block[2]
            found = [f"a block of {kind}"] if kind.startswith("{") and kind != "{python}" else []
            code = kind == "{python}"
        if found:
            raise RequestError(
                f"{path}, line {number}: Benchbook's own renderer does not support {found[0]}.",
                "Use plain Markdown or a {python} cell. Otherwise pages with and without Quarto would differ.",
            )
        if not code:
            lines.append(line)
            continue
        if above := "\n".join(lines).strip("\n"):
            yield False, above
        lines = []
    if code:
        raise RequestError(
            f"{path}: its last {{python}} cell has no end.", f"Add a line {fence} below its code."
        )
    if rest := "\n".join(lines).strip("\n"):
        yield False, rest


def _without_code(name: str, line: str) -> str:
    """Return a line of Markdown without its code spans, except to find inline code."""
    return line if name.startswith("inline") else CODE_SPAN.sub("", line)


def _header(path: Path, text: str) -> dict[str, Any]:
    header = _mapping(f"{path}: the header", text)
    for key in header:
        _known(f"{path}: the header", key, HEADER)
    return header


def _execute(path: Path, header: dict[str, Any]) -> dict[str, Any]:
    execute = header.get("execute") or {}
    for key in execute:
        _known(f"{path}: the header's execute", key, OPTIONS)
    return dict(execute)


def _cell(path: Path, number: int, text: str, defaults: dict[str, Any]) -> Cell:
    """Return a cell with the ``#|`` options above its code."""
    lines = text.split("\n")
    stated = []
    while lines and (found := OPTION_LINE.match(lines[0])):
        stated.append(found.group(1))
        lines.pop(0)
    where = f"{path}: cell {number}"
    options = _mapping(f"{where}: its #| options", "\n".join(stated))
    for key in options:
        _known(where, key, set(OPTIONS) | SILENT)
    chosen = {**defaults, **options}
    return Cell(
        source="\n".join(lines).strip("\n"),
        id=str(chosen.get("label") or f"cell-{number:03d}"),
        include=bool(chosen["include"]),
        echo=bool(chosen["echo"]),
        output=bool(chosen["output"]),
        eval=bool(chosen["eval"]),
        caption=str(chosen["fig-cap"] or ""),
    )


def _mapping(where: str, text: str) -> dict[str, Any]:
    import yaml  # type: ignore[import-untyped]

    try:
        value = yaml.safe_load(text) if text.strip() else {}
    except RecursionError:
        raise RequestError(f"{where} is nested too deep.", "Correct it and render again.") from None
    except yaml.YAMLError as error:
        problem = " ".join(str(error).split())
        raise RequestError(
            f"{where} is not valid YAML: {problem}.", "Correct it and render again."
        ) from error
    if not isinstance(value, dict):
        raise RequestError(f"{where} must have lines of the form key: value.", "Correct it and render again.")
    return value


def _known(where: str, key: str, allowed: set[str] | dict[str, Any]) -> None:
    if key in allowed:
        return
    guess = nearest(key, allowed)
    hint = (
        f'Did you mean "{guess}"?'
        if guess
        else "Remove it. Otherwise pages with and without Quarto would differ."
    )
    raise RequestError(f'{where} has the option "{key}"; allowed: {", ".join(sorted(allowed))}.', hint)
