"""A program that a declaration runs by a command: ``[source] command = "pigz -c {file}"``."""

from __future__ import annotations

from benchbook.systems.tool import Tool


class Command(Tool):
    """The program in one trial; the workload ``program`` fills in its command and runs it."""

    def version(self) -> str:
        """Return the version that its version command printed when the program was found."""
        return self.place.program.version


driver = Command
