"""Run the cells of pages, one after the other, in this process: ``python -m benchbook.report.cells``.

Standard input has the works as JSON: ``[{"environment": {name: value}, "cells": [source, …]}, …]``. For each cell, a
line of JSON is written to standard output: a list of outputs, or ``{"name": …, "message": …}`` of the exception that
ends the process. Cells of a work share their variables; the next work starts without them and with its own environment.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import io
import json
import os
import sys
from typing import Any

Output = dict[str, str]
"""MIME type → what a cell displays, or ``stdout`` → what it prints."""

PRINTED = "stdout"
REPRESENTATIONS = {
    "text/html": "_repr_html_", "text/markdown": "_repr_markdown_", "image/svg+xml": "_repr_svg_",
}  # fmt: skip
"""MIME type → the method by which libraries display a value in a notebook."""
RARE_COLLECTION = (200_000, 50, 100)
"""Python looks for cycles after 700 new objects, which is a tenth of the time of a page of 10,000 trials."""


def displayed(value: object) -> Output:
    """Return a value as a notebook shows it; as ``repr`` if it has no other form."""
    found: Any = None
    if not isinstance(value, type):
        if (bundle := getattr(value, "_repr_mimebundle_", None)) is not None:
            found = bundle()
        else:
            made = {kind: getattr(value, method, None) for kind, method in REPRESENTATIONS.items()}
            found = {kind: method() for kind, method in made.items() if method is not None}
    if isinstance(found, tuple):  # the bundle and its metadata
        found = found[0]
    texts = {kind: text for kind, text in (found or {}).items() if isinstance(text, str)}
    return texts or {"text/plain": repr(value)}


class Cells:
    """Runs cells and collects their outputs."""

    def __init__(self) -> None:
        self._outputs: list[Output] = []
        self._names: dict[str, Any] = {}
        self.forget()

    def forget(self) -> None:
        """Forget all variables."""
        self._names.clear()
        self._names.update(__name__="__main__", display=self._display)

    def run(self, source: str) -> list[Output]:
        """Run a cell; return what it prints and displays.

        Its last expression is displayed, unless it ends with ``;``.
        """
        self._outputs = []
        tree = ast.parse(source, "<cell>")
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
        with contextlib.redirect_stdout(_Printed(self._outputs)):
            exec(compile(tree, "<cell>", "exec"), self._names)  # noqa: S102 - the code of the page
            if last is not None:
                value = eval(compile(last, "<cell>", "eval"), self._names)  # noqa: S307 - the code of the page
                if value is not None and not source.rstrip().endswith(";"):
                    self._display(value)
        return self._outputs

    def _display(self, *values: object) -> None:
        self._outputs.extend(displayed(value) for value in values)


class _Printed(io.TextIOBase):
    """Adds printed text to outputs; consecutive texts become one."""

    def __init__(self, outputs: list[Output]) -> None:
        self._outputs = outputs

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        if self._outputs and PRINTED in self._outputs[-1]:
            self._outputs[-1][PRINTED] += text
        elif text:
            self._outputs.append({PRINTED: text})
        return len(text)


def main() -> None:
    """Run the works of standard input."""
    gc.set_threshold(*RARE_COLLECTION)
    works = json.load(sys.stdin)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    # Programs that a cell starts must not write among the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    cells = Cells()
    given: dict[str, str] = {}
    for work in works:
        cells.forget()
        for name in given.keys() - work["environment"].keys():
            os.environ.pop(name, None)
        given = work["environment"]
        os.environ.update(given)
        for source in work["cells"]:
            try:
                answer: object = cells.run(source)
            except Exception as error:
                answer = {"name": type(error).__name__, "message": str(error)}
            answers.write(f"{json.dumps(answer)}\n")
            answers.flush()
            if isinstance(answer, dict):
                return


if __name__ == "__main__":
    main()
