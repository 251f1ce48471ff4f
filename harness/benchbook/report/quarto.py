"""Rendering by Quarto, where it is on PATH: the same .qmd, into a folder of its own, then moved into place."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchbook.errors import BenchbookError

TIMEOUT_SECONDS = 900
TARGETS = {"html": "html", "pdf": "typst"}
"""Our formats in Quarto's words: PDF is set by typst, which Quarto brings along."""

LAST_LINES = 12
"""Lines of Quarto's own words that an error repeats."""


def found() -> str | None:
    """Return the path of Quarto, or None where it is not on PATH."""
    return shutil.which("quarto")


def render(program: str, source: Path, environment: dict[str, str], target: Path, to: str) -> None:
    """Let Quarto render ``source`` to ``target``.

    The .qmd is copied beside nothing else, so that Quarto neither writes into ``reports/`` nor renders the site.
    The page carries the same style and code for charts as the one made without Quarto.
    Raises BenchbookError with Quarto's last words where it fails.
    """
    with tempfile.TemporaryDirectory(prefix="benchbook-quarto-") as scratch:
        folder = Path(scratch)
        copy = folder / source.name
        shutil.copyfile(source, copy)
        name = f"report{target.suffix}"
        arguments = [program, "render", copy.name, "--to", TARGETS[to], "--output", name]
        arguments += ["--execute-dir", str(source.parent), "--no-execute-daemon"]
        arguments += ["--metadata", "embed-resources:true", "--metadata", "toc:true"]
        if to == "html":
            arguments += _page_parts(folder)
        done = _run(arguments, folder, environment, source)
        made = folder / name
        if done.returncode != 0 or not made.is_file():
            words = "\n".join(
                (done.stderr or done.stdout or "it printed nothing").strip().splitlines()[-LAST_LINES:]
            )
            raise BenchbookError(
                f"{source}: Quarto could not render it (exit code {done.returncode}). Its last words:\n{words}",
                "Correct the cell it names, or take quarto off PATH to render without it.",
            )
        neighbour = target.with_name(f".{target.name}.new")
        shutil.copyfile(made, neighbour)
        neighbour.replace(target)


def _page_parts(folder: Path) -> list[str]:
    """Write the style and the code for charts beside the copy and return the arguments that include them."""
    from benchbook.report.bundle import bundle
    from benchbook.report.page import part

    (folder / "benchbook.css").write_text(part("figures.css"), encoding="utf-8")
    code = f'<script type="module" id="bb-bundle">{bundle()}\n{part("charts.js")}</script>\n'
    (folder / "benchbook.html").write_text(code, encoding="utf-8")
    return ["--css", "benchbook.css", "--include-after-body", "benchbook.html"]


def _run(
    arguments: list[str], folder: Path, environment: dict[str, str], source: Path
) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    added = {"PYTHONPATH": path, "QUARTO_PYTHON": sys.executable, **environment}
    try:
        return subprocess.run(
            arguments,
            cwd=folder,
            env={**os.environ, **added},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BenchbookError(
            f"{source}: Quarto could not be run to its end ({error}).",
            "Take quarto off PATH to render without it.",
        ) from error
