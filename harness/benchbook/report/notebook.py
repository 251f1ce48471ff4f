"""Read a .qmd as a notebook and execute its cells.

The reader accepts what Quarto and Benchbook render alike: plain Markdown, ``{python}`` cells, the header entries and
the ``#|`` options below. It refuses anything else by name, so that no page differs between the two renderers.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.errors import BenchbookError, RequestError, command, nearest

if TYPE_CHECKING:
    from nbclient.exceptions import CellExecutionError
    from nbformat import NotebookNode


CELL_TIMEOUT_SECONDS = 300
START_TIMEOUT_SECONDS = 60
RARE_COLLECTION = "__import__('gc').set_threshold(200_000, 50, 100)"
"""Python looks for cycles after 700 new objects, which is a tenth of the time of a page of 10,000 trials."""


@dataclass(frozen=True)
class Work:
    """Documents to execute one after the other, which show the same run."""

    documents: Sequence[Document]
    environment: dict[str, str]
    """Environment variables of their cells, which name the run."""


def execute(works: Sequence[Work], folder: Path, finished: Callable[[Work], None] = lambda _: None) -> None:
    """Run the cells of documents in a separate Python process in ``folder``; store the outputs in their notebooks.

    All run in the same process, so later documents find the libraries and the runs already read; variables of cells
    are only shared within a work. ``finished`` is called after each work. The process needs no installed kernel.
    Raises BenchbookError, which names the .qmd and the cell, if a cell fails or takes longer than five minutes.
    """
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    documents = [one for work in works for one in work.documents]
    whole, last = _joined(works)

    def executed(cell_index: int, **_others: object) -> None:
        if cell_index in last:
            finished(last[cell_index])

    with tempfile.TemporaryDirectory(prefix="benchbook-report-") as scratch:
        # Sockets in the scratch folder need no port: pages can render concurrently, and without a network.
        manager = AsyncKernelManager(connection_file=str(Path(scratch, "kernel.json")), transport="ipc")
        manager._kernel_spec = KernelSpec(
            argv=[
                sys.executable,
                "-m",
                "ipykernel_launcher",
                "-f",
                "{connection_file}",
                "--HistoryManager.enabled=False",
                "--IPKernelApp.log_level=40",
                f"--IPKernelApp.exec_lines={RARE_COLLECTION!r}",
            ],
            display_name="Python",
            language="python",
        )
        client = NotebookClient(
            whole,
            km=manager,
            timeout=CELL_TIMEOUT_SECONDS,
            startup_timeout=START_TIMEOUT_SECONDS,
            coalesce_streams=True,
            skip_cells_with_tag="skip-execution",
            shutdown_kernel="immediate",
            resources={"metadata": {"path": str(folder)}},
            log=_quiet(),
            on_cell_executed=executed,
        )
        try:
            # By default, a client ends the process only if it created the manager.
            client.execute(env=surroundings(works[0].environment, scratch), cleanup_kc=True)
        except CellExecutionError as error:
            raise _failure(documents, error) from error
        except CellTimeoutError as error:
            where = _where(documents)
            raise BenchbookError(
                f"{where} did not finish within {CELL_TIMEOUT_SECONDS} s.",
                "Render a smaller run, or let this code cell of the page do less.",
            ) from error
        except (DeadKernelError, RuntimeError) as error:
            raise BenchbookError(
                f"{_where(documents)}: the process that runs the code of the page died ({error}).",
                f"Check the free memory and render again with: {command('report')}",
            ) from error


def _joined(works: Sequence[Work]) -> tuple[NotebookNode, dict[int, Work]]:
    """Return one notebook of all cells, and the index of the last cell that runs in each work.

    The notebook has the very cells of the documents, so each document gets its outputs. Between two works, a cell of
    its own forgets variables and replaces the environment.
    """
    from nbformat.v4 import new_code_cell, new_notebook

    whole = new_notebook()
    last: dict[int, Work] = {}
    end = -1
    for number, work in enumerate(works):
        if number:
            before = works[number - 1].environment
            gone = sorted(before.keys() - work.environment.keys())
            lines = ["get_ipython().reset(new_session=False)", "import os"]
            lines += [f"os.environ.pop({name!r}, None)" for name in gone]
            whole.cells.append(new_code_cell("\n".join([*lines, f"os.environ.update({work.environment!r})"])))
            end = len(whole.cells) - 1
        for cell in (cell for one in work.documents for cell in one.notebook.cells):
            if cell.cell_type == "code" and cell.source.strip() and not cell.metadata.get("tags"):
                end = len(whole.cells)
            whole.cells.append(cell)
        last[end] = work
    return whole, last


def _quiet() -> logging.Logger:
    """Return a logger that discards its messages; the raised error contains the details of a failure."""
    log = logging.getLogger("benchbook.report.notebook")
    log.propagate = False
    log.addHandler(logging.NullHandler())
    return log


def surroundings(added: dict[str, str], scratch: str) -> dict[str, str]:
    """Return the environment of cells, without the user's Jupyter or IPython configuration."""
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
        **added,
    }


def _where(documents: Sequence[Document]) -> str:
    """Return the name of the cell that started last."""
    started = [
        (document, number)
        for document in documents
        for number, cell in enumerate(document.notebook.cells)
        if cell.cell_type == "code" and cell.get("execution_count")
    ]
    document, number = started[-1] if started else (documents[0], 0)
    return _named(document, number, document.notebook.cells[number].source)


def _failure(documents: Sequence[Document], error: CellExecutionError) -> BenchbookError:
    """Return the error for a cell's exception, with file, cell and message."""
    document, number, source = documents[0], 0, ""
    name, value = str(error.ename), str(error.evalue)
    for one in documents:
        for place, cell in enumerate(one.notebook.cells):
            for output in cell.get("outputs", []):
                if output.output_type == "error":
                    document, number, source = one, place, cell.source
                    name, value = output.ename, output.evalue
    message = " ".join(value.split()) or "(no message)"
    kinds: dict[str, Any] = {"RequestError": RequestError}
    kind = kinds.get(name, BenchbookError)
    made: BenchbookError = kind(
        f"{_named(document, number, source)} failed with {name}: {message}",
        f"The results of the run are unchanged. Render again with: {command('report')}",
    )
    return made


def _named(document: Document, number: int, source: str) -> str:
    first = source.strip().splitlines()[0] if source.strip() else ""
    return f"{document.path}: cell {number} ({first})"


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


@dataclass(frozen=True)
class Document:
    """A .qmd as a notebook, ready for execution."""

    path: Path
    title: str
    subtitle: str
    lang: str
    notebook: NotebookNode
    description: str = ""
    """Text for search engines and previews of links; by default the page's first paragraph."""


def read(path: Path, title: str = "") -> Document:
    """Read a .qmd; raise RequestError if it is unreadable or uses what the two renderers render differently.

    ``title`` replaces that of the header.
    """
    import jupytext

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path}: cannot read the report ({error})."
        raise RequestError(message, f"Check its name with: {command('list')}") from error
    front = FRONT.match(text)
    header = _header(path, front.group(1) if front else "")
    body = text[front.end() :] if front else text
    _refuse(path, body, text.count("\n") - body.count("\n"))
    notebook = jupytext.reads(body, fmt="Rmd")
    defaults = {**OPTIONS, **_execute(path, header)}
    unnamed = 0
    for number, cell in enumerate(notebook.cells):
        cell["metadata"] = {}
        label = _apply(path, number, cell, defaults) if cell.cell_type == "code" else ""
        cell["id"] = label or f"cell-{unnamed:03d}"
        unnamed += not label
    return Document(
        path=path,
        title=title or str(header.get("title") or path.stem),
        subtitle=str(header.get("subtitle") or ""),
        lang=str(header.get("lang") or "en"),
        notebook=notebook,
        description=str(header.get("description") or ""),
    )


def _refuse(path: Path, body: str, before: int) -> None:
    """Raise RequestError for Markdown that Quarto alone understands; ``before`` are the lines above the body."""
    fence = ""
    for number, line in enumerate(body.split("\n"), before + 1):
        block = BLOCK.match(line)
        if fence:
            if block and block[1].startswith(fence) and not block[2]:
                fence = ""
            continue
        found = [name for name, pattern in REFUSED.items() if pattern.search(_without_code(name, line))]
        if block:
            fence, kind = block[1], block[2]
            found = [f"a block of {kind}"] if kind.startswith("{") and kind != "{python}" else []
        if found:
            raise RequestError(
                f"{path}, line {number}: Benchbook's own renderer does not support {found[0]}.",
                "Use plain Markdown or a {python} cell. Otherwise pages with and without Quarto would differ.",
            )


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


def _apply(path: Path, number: int, cell: NotebookNode, defaults: dict[str, Any]) -> str:
    """Move the ``#|`` options of a cell from its source into its metadata; return its label."""
    lines = cell.source.split("\n")
    stated = []
    while lines and (found := OPTION_LINE.match(lines[0])):
        stated.append(found.group(1))
        lines.pop(0)
    where = f"{path}: cell {number}"
    options = _mapping(f"{where}: its #| options", "\n".join(stated))
    for key in options:
        _known(where, key, set(OPTIONS) | SILENT)
    chosen = {**defaults, **options}
    cell["source"] = "\n".join(lines).strip("\n")
    cell["metadata"] = {
        "benchbook": {
            "include": bool(chosen["include"]),
            "echo": bool(chosen["echo"]),
            "output": bool(chosen["output"]),
            "caption": str(chosen["fig-cap"] or ""),
            "eval": bool(chosen["eval"]),
        },
        "tags": [] if chosen["eval"] else ["skip-execution"],
    }
    return str(chosen.get("label") or "")


def _mapping(where: str, text: str) -> dict[str, Any]:
    import yaml  # type: ignore[import-untyped]

    try:
        value = yaml.safe_load(text) if text.strip() else {}
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
