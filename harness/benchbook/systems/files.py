"""Plain files, in a separate worker process: the counterpart of an embedded database that is called from Python."""

from __future__ import annotations

from benchbook.systems.python_worker import EmbeddedDriver


class Files(EmbeddedDriver):
    """One folder of files in one trial."""

    engine = "files"
    title = "Files"

    def version(self) -> str:
        """Return the version of Benchbook's worker, which writes the files."""
        return self.place.program.version


driver = Files
