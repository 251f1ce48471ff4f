"""Files of a folder that a declaration names by a pattern, such as ``questions/*.sql``."""

from __future__ import annotations

from pathlib import Path

from benchbook.errors import RequestError


def matching(folder: Path, pattern: str, where: str) -> list[Path]:
    """Return the files of a pattern below a folder, sorted by path.

    Raise RequestError, which names the key ``where``, if there are none or if one is outside the folder.
    """
    if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
        raise RequestError(
            f'{where}: "{pattern}" leads out of {folder}.', "Name files below this folder, without `..`."
        )
    try:
        found = sorted(path for path in folder.glob(pattern) if path.is_file())
    except ValueError as error:
        raise RequestError(f'{where}: "{pattern}": {error}.', "Correct the pattern.") from None
    if not found:
        raise RequestError(f'{where}: no file matches "{pattern}" in {folder}.', "Correct the pattern.")
    for path in found:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise RequestError(f"{where}: {path} leads out of {folder}.", "Put the file itself there.")
    return found
