"""The site by Quarto: a copy of ``reports/`` with only the pages that are rendered, one page after the other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchbook.errors import BenchbookError
from benchbook.report.bundle import bundle
from benchbook.report.page import part
from benchbook.report.quarto import LAST_LINES, TIMEOUT_SECONDS
from benchbook.site.navigation import FIXED, Page


def render(program: str, root: Path, pages: list[Page], results: Path, output: Path) -> None:
    """Let Quarto render the pages into ``output``.

    Each page is rendered by itself because each shows its own run. Raises BenchbookError with Quarto's last words.
    """
    from benchbook.site.render import SCRIPT, environment, script

    with tempfile.TemporaryDirectory(prefix="benchbook-quarto-") as scratch:
        project = Path(scratch)
        for one in pages:
            shutil.copyfile(one.source, project / one.source.name)
        (project / "_quarto.yml").write_text(configuration(pages), encoding="utf-8")
        (project / "benchbook.css").write_text(part("figures.css"), encoding="utf-8")
        tag = f'<script src="{SCRIPT}" id="bb-bundle"></script>\n'
        (project / "benchbook.html").write_text(tag, encoding="utf-8")
        for one in pages:
            _run(program, project, one, environment(root, results, one), root / "reports")
        shutil.copytree(project / "_site", output, dirs_exist_ok=True)
    (output / SCRIPT).write_text(script(bundle()), encoding="utf-8")


def configuration(pages: list[Page]) -> str:
    """Return the project's _quarto.yml, written as JSON, which is YAML: only pages that exist stand in it."""
    links = [{"href": f"{name}.qmd", "text": words} for name, words in FIXED]
    stated = {
        "project": {"type": "website", "output-dir": "_site", "render": [one.source.name for one in pages]},
        "website": {"title": "Benchbook", "search": False, "navbar": {"left": links}},
        "format": {
            "html": {
                "toc": True,
                "theme": {"light": "cosmo", "dark": "darkly"},
                "css": "benchbook.css",
                "include-after-body": "benchbook.html",
            }
        },
        "execute": {"echo": False, "freeze": False},
    }
    return json.dumps(stated, indent=2) + "\n"


def _run(program: str, project: Path, one: Page, added: dict[str, str], folder: Path) -> None:
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH", "")]))
    command = [program, "render", one.source.name, "--to", "html", "--execute-dir", str(folder.resolve())]
    command += ["--no-execute-daemon"]
    try:
        done = subprocess.run(
            command,
            cwd=project,
            env={**os.environ, "PYTHONPATH": path, "QUARTO_PYTHON": sys.executable, **added},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BenchbookError(
            f"{one.source}: Quarto could not be run to its end ({error}).",
            "Take quarto off PATH to render without it.",
        ) from error
    if done.returncode != 0 or not (project / "_site" / f"{one.name}.html").is_file():
        said = (done.stderr or done.stdout or "it printed nothing").strip().splitlines()[-LAST_LINES:]
        words = "\n".join(said)
        raise BenchbookError(
            f"{one.source}: Quarto could not render it (exit code {done.returncode}). Its last words:\n{words}",
            "Correct the cell it names, or take quarto off PATH to render without it.",
        )
