"""No file of the package imports, directly or through others, a file that imports it.

import-linter (``pyproject.toml``) holds the order of the packages. These tests look at the files. Imports inside
functions count, and so do imports for types alone.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "benchbook"


def modules(package: Path) -> dict[str, Path]:
    """Return the file of each module of a package, by its dotted name."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imported(tree: ast.AST, known: Mapping[str, Path], types: bool) -> Iterator[str]:
    """Yield the modules that code imports; those under ``TYPE_CHECKING`` only with ``types``."""
    for node in ast.iter_child_nodes(tree):
        if not types and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in known else node.module for name in names)
        yield from imported(node, known, types)


def circles(package: Path, types: bool) -> list[list[str]]:
    """Return the groups of modules that all reach each other through imports."""
    known = modules(package)
    trees = {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in known.items()}
    edges = {name: set(imported(tree, known, types)) for name, tree in trees.items()}

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            new = edges[waiting.pop()] - seen
            seen |= new
            waiting += new
        return seen

    reach = {name: reached(name) for name in edges}
    groups = {tuple(sorted(other for other in reach[name] if name in reach[other])) for name in edges}
    return [list(group) for group in sorted(groups) if group]


@pytest.mark.parametrize("types", [False, True])
def test_no_file_reaches_itself(types: bool) -> None:
    assert circles(PACKAGE, types) == []


def test_a_circle_is_found(tmp_path: Path) -> None:
    package = tmp_path / "ring"
    package.mkdir()
    files = {
        "__init__": "",
        "a": "from ring import b",
        "b": "def later():\n    from ring.c import name",
        "c": "import ring.a",
        "d": "from ring import a",
        "e": """
            if TYPE_CHECKING:
                from ring.f import F
        """,
        "f": "from ring.e import E",
    }
    for name, text in files.items():
        (package / f"{name}.py").write_text(textwrap.dedent(text))
    ring = ["ring.a", "ring.b", "ring.c"]
    assert circles(package, types=False) == [ring]
    assert circles(package, types=True) == [ring, ["ring.e", "ring.f"]]
