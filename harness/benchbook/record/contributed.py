"""Runs of an experiment from other machines: exports in folders beside the files of the project's published run.

``reports/data/<experiment>/`` is the project's export; each ``reports/data/<experiment>/<machine>/`` is the export of
the machine that the folder names. ``<machine>-aa`` is an A/A run of that machine, which gives its noise floor.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchbook.errors import RequestError, command
from benchbook.record import manifest
from benchbook.record.manifest import FOLDERS, Export

AGAINST_ITSELF = "-aa"
"""Ends the name of an A/A run's folder, which is beside the folder of the other run."""
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
RULE = "lower-case letters, digits and single hyphens between them, such as lab-epyc-64"


def require_name(name: str) -> str:
    """Return the name of a machine; raise RequestError with the nearest valid name if it is invalid.

    >>> require_name("lab-2")
    'lab-2'
    """
    problem = ""
    if not NAME.fullmatch(name):
        problem = f"it must have only {RULE}"
    elif name in FOLDERS:
        problem = f"an export has a folder of this name; choose one other than {', '.join(FOLDERS)}"
    elif name.endswith(AGAINST_ITSELF):
        problem = f"{AGAINST_ITSELF} is added to the folder of an A/A run"
    if not problem:
        return name
    near = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-").removesuffix(AGAINST_ITSELF) or "my-machine"
    near = f"{near}-machine" if near in FOLDERS else near
    raise RequestError(f'"{name}" is not the name of a machine: {problem}.', f'Did you mean "{near}"?')


def folders(where: Path) -> list[Path]:
    """Return the folders of other machines in the folder of a published run, by name, whatever they hold."""
    if not where.is_dir():
        return []
    held = sorted(path for path in where.iterdir() if path.is_dir() and path.name not in FOLDERS)
    return [path for path in held if not path.name.startswith(".")]


def checked(where: Path) -> tuple[list[Export], list[RequestError]]:
    """Return the exports of other machines in the folder of a published run, and an error for each unusable one.

    Each is checked like an import: digests, schema and links. It must be of the same experiment and another run.
    """
    found: list[Export] = []
    problems: list[RequestError] = []
    for path in folders(where):
        try:
            found.append(_checked(path, found))
        except RequestError as error:
            message = error.message if str(path) in error.message else f"{path}: {error.message}"
            problems.append(RequestError(message, error.hint))
    return found, problems


def _checked(path: Path, found: list[Export]) -> Export:
    require_name(path.name.removesuffix(AGAINST_ITSELF))
    if not (path.parent / manifest.FILE).is_file():
        raise RequestError(
            f"{path} has no page, because {path.parent} has no run of the project.",
            f"Publish one with `{command('export RUN --publish')}`.",
        )
    export, project = manifest.checked(path), manifest.read(path.parent)
    if export.experiment != project.experiment:
        raise RequestError(
            f"{path} is a run of {export.experiment}, not of {project.experiment}.",
            f"Move it to {path.parents[1] / export.experiment / path.name}",
        )
    if export.against_itself != path.name.endswith(AGAINST_ITSELF):
        right = (
            f"{path.name}{AGAINST_ITSELF}"
            if export.against_itself
            else path.name.removesuffix(AGAINST_ITSELF)
        )
        kind = "an A/A run" if export.against_itself else "no A/A run"
        raise RequestError(f"{path} is {kind}, which its name does not say.", f"Rename it to {right}")
    if same := next((one for one in (project, *found) if one.run_id == export.run_id), None):
        raise RequestError(
            f"{path} holds the same run as {same.folder}: {export.run_id}.", "Remove one of the two folders."
        )
    return export
