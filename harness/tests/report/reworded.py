"""Import ``benchbook.report`` and ``benchbook.site`` with each word of their sentences changed."""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import itertools
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, ModuleType
from typing import Any, get_args

from benchbook.analyse import comparison, grade, judgement, rules

PACKAGES = ("benchbook.report", "benchbook.site")
CODES = {
    *get_args(judgement.Word), *get_args(judgement.Holds), *get_args(judgement.Size), *get_args(rules.Mark),
    *get_args(grade.Weakness),
    comparison.NO_DIFFERENCE, comparison.NO_VERDICT, comparison.NOT_RANKED,
}  # fmt: skip
"""Codes that have a space. All other literals with one are sentences, or parts of them."""
WORD = re.compile(r"(?<![\w'{}%./-])[^\W\d_]+(?![\w'{}%]|[./-]\w)")
"""A word that stands alone: no part of an address, a name or a placeholder."""
MARK = "°"


def marked(text: str, module: int) -> str:
    """Mark each word of a sentence with the module that has it, so that no module finds the words of another.

    >>> marked("had {} times as many", 7), marked("not run", 7)
    ('had°7 {} times°7 as°7 many°7', 'not run')
    """
    sentence = " " in text and text not in CODES and "<" not in text
    return WORD.sub(rf"\g<0>{MARK}{module}", text) if sentence else text


def original(text: str) -> str:
    """Return a text without its marks."""
    return re.sub(rf"{MARK}\d+", "", text)


class _Rewording(ast.NodeTransformer):
    def __init__(self, module: int) -> None:
        self._module = module

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str):
            return ast.copy_location(ast.Constant(marked(node.value, self._module)), node)
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        """Leave formats, such as ``,.2f``, as they are."""
        node.value = self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        """Leave patterns as they are."""
        called = node.func.value if isinstance(node.func, ast.Attribute) else None
        return node if isinstance(called, ast.Name) and called.id == "re" else self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """Leave docstrings as they are."""
        return node if isinstance(node.value, ast.Constant) else self.generic_visit(node)  # type: ignore[return-value]


_numbers = itertools.count(1)


class _Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = _Rewording(next(_numbers)).visit(ast.parse(self.get_data(path)))
        return compile(ast.fix_missing_locations(tree), path, "exec")


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> Any:
        found = importlib.machinery.PathFinder.find_spec(name, path) if _is_ours(name) else None
        if found is not None and found.origin is not None:
            found.loader = _Loader(name, found.origin)
        return found


def _is_ours(name: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in PACKAGES)


@contextmanager
def reworded() -> Iterator[None]:
    """Let imports inside the ``with`` block find the reworded modules."""
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_ours(name)}
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if _is_ours(name)]:
            del sys.modules[name]
        sys.modules |= before
        for package in PACKAGES:
            if package in before:
                setattr(sys.modules["benchbook"], package.rpartition(".")[2], before[package])
