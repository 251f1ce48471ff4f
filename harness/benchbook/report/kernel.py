"""The execution of a report's cells, in a Python process of their own that needs no installed kernel."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.errors import BenchbookError, RequestError
from benchbook.report.notebook import Document

if TYPE_CHECKING:
    from nbclient.exceptions import CellExecutionError

CELL_TIMEOUT_SECONDS = 300
START_TIMEOUT_SECONDS = 60


def execute(document: Document, environment: dict[str, str], folder: Path) -> None:
    """Run the cells of ``document`` in ``folder``; their outputs are then in its notebook.

    ``environment`` is added to the process's own. Raises BenchbookError naming the .qmd and the cell
    where one fails or takes longer than five minutes.
    """
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    with tempfile.TemporaryDirectory(prefix="benchbook-report-") as scratch:
        # Sockets in the scratch folder: no port is taken, so pages rendered side by side cannot meet, and a machine
        # without any network renders too.
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
            ],
            display_name="Python",
            language="python",
        )
        client = NotebookClient(
            document.notebook,
            km=manager,
            timeout=CELL_TIMEOUT_SECONDS,
            startup_timeout=START_TIMEOUT_SECONDS,
            coalesce_streams=True,
            skip_cells_with_tag="skip-execution",
            shutdown_kernel="immediate",
            resources={"metadata": {"path": str(folder)}},
            log=_quiet(),
        )
        try:
            # A client ends a process by itself only if it made its manager too.
            client.execute(env=_environment(environment, scratch), cleanup_kc=True)
        except CellExecutionError as error:
            raise _failure(document, error) from error
        except CellTimeoutError as error:
            where = _where(document)
            raise BenchbookError(
                f"{where} did not end within {CELL_TIMEOUT_SECONDS} s.",
                "Render a smaller run, or simplify the cell.",
            ) from error
        except (DeadKernelError, RuntimeError) as error:
            raise BenchbookError(
                f"{document.path}: the process that runs its cells ended by itself ({error}).",
                "Check the memory that is free and render again with: bench report",
            ) from error


def _quiet() -> logging.Logger:
    """Return a log that nobody reads: what matters of a failure is in the error that is raised."""
    log = logging.getLogger("benchbook.report.kernel")
    log.propagate = False
    log.addHandler(logging.NullHandler())
    return log


def _environment(added: dict[str, str], scratch: str) -> dict[str, str]:
    """Return the kernel's environment: nothing of the user's Jupyter or IPython set-up takes part."""
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


def _where(document: Document) -> str:
    """Name the cell that has been started last and has no end."""
    cells = document.notebook.cells
    number = next(
        (
            number
            for number, cell in reversed(list(enumerate(cells)))
            if cell.cell_type == "code" and cell.get("execution_count")
        ),
        next((number for number, cell in enumerate(cells) if cell.cell_type == "code"), 0),
    )
    return _named(document, number, cells[number].source)


def _failure(document: Document, error: CellExecutionError) -> BenchbookError:
    """Turn a cell's exception into one message that names the file, the cell and what was raised."""
    number, source = 0, ""
    name, said = str(error.ename), str(error.evalue)
    for place, cell in enumerate(document.notebook.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                number, source, name, said = place, cell.source, output.ename, output.evalue
    words = " ".join(said.split()) or "it says nothing more"
    kinds: dict[str, Any] = {"RequestError": RequestError}
    kind = kinds.get(name, BenchbookError)
    made: BenchbookError = kind(
        f"{_named(document, number, source)} failed with {name}: {words}",
        "The run's numbers are untouched; render again with: bench report",
    )
    return made


def _named(document: Document, number: int, source: str) -> str:
    first = source.strip().splitlines()[0] if source.strip() else ""
    return f"{document.path}: cell {number} ({first})"
