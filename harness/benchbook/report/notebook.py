"""A .qmd as a notebook: what Quarto would read from it, read by us, so that both render it alike.

Read are plain Markdown, ``{python}`` cells, the header's ``title``, ``subtitle``, ``lang`` and ``execute``,
and the ``#|`` options below. Anything else that changes a page is refused by name, so no page silently
differs between the two renderers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.errors import RequestError, nearest

if TYPE_CHECKING:
    from nbformat import NotebookNode

OPTIONS = {"echo": False, "output": True, "include": True, "eval": True, "fig-cap": "", "warning": True}
"""Cell options that both renderers honour, with what holds where neither the cell nor the header says it."""
SILENT = {"label", "fig-alt"}
"""Cell options that change nothing in the page here."""
HEADER = {"title", "subtitle", "lang", "execute", "format", "jupyter", "description"}
"""Header entries that may stand in a .qmd; ``format``, ``jupyter`` and ``description`` are for Quarto alone."""

OPTION_LINE = re.compile(r"^#\|\s?(.*)$")
FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Document:
    """A .qmd, ready to be executed."""

    path: Path
    title: str
    subtitle: str
    lang: str
    notebook: NotebookNode


def read(path: Path) -> Document:
    """Read a .qmd.

    Raises RequestError where the file cannot be read or uses what the two renderers would not render alike.
    """
    import jupytext

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        words = f"{path}: the report cannot be read ({error})."
        raise RequestError(words, "Check its name with: bench list") from error
    front = FRONT.match(text)
    header = _header(path, front.group(1) if front else "")
    body = text[front.end() :] if front else text
    notebook = jupytext.reads(body, fmt="Rmd")
    defaults = {**OPTIONS, **_execute(path, header)}
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number:03d}"
        cell["metadata"] = {}
        if cell.cell_type == "code":
            _apply(path, number, cell, defaults)
    return Document(
        path=path,
        title=str(header.get("title") or path.stem),
        subtitle=str(header.get("subtitle") or ""),
        lang=str(header.get("lang") or "en"),
        notebook=notebook,
    )


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


def _apply(path: Path, number: int, cell: NotebookNode, defaults: dict[str, Any]) -> None:
    """Take the ``#|`` lines out of a cell and keep what they say in its metadata."""
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


def _mapping(where: str, text: str) -> dict[str, Any]:
    import yaml  # type: ignore[import-untyped]

    try:
        value = yaml.safe_load(text) if text.strip() else {}
    except yaml.YAMLError as error:
        words = " ".join(str(error).split())
        raise RequestError(f"{where} is not valid YAML: {words}.", "Correct it and render again.") from error
    if not isinstance(value, dict):
        raise RequestError(f"{where} must be lines of the form key: value.", "Correct it and render again.")
    return value


def _known(where: str, key: str, allowed: set[str] | dict[str, Any]) -> None:
    if key in allowed:
        return
    guess = nearest(key, allowed)
    hint = (
        f'Did you mean "{guess}"?'
        if guess
        else "Leave it out: it would not render alike with and without Quarto."
    )
    raise RequestError(f'{where} has the option "{key}"; allowed: {", ".join(sorted(allowed))}.', hint)
