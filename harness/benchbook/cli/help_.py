"""``bench help [COMMAND | PAGE]``: the same as ``--help``, and the pages of the documentation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.cli import options
from benchbook.errors import command as typed
from benchbook.errors import unknown

PAGES = "pages"


def command(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar=options.optional("COMMAND|PAGE"),
            help="The command or the page of the documentation to show, or `pages`, their list; by default, all"
            " commands.",
        ),
    ] = None,
) -> int:
    """Show the commands, or the options of one, as --help does; or a page of the documentation."""
    bench = context.find_root().command
    found = list(words or [])
    if len(found) == 1 and found[0] not in getattr(bench, "commands", {}):
        print(_page(found[0], list(getattr(bench, "commands", {}))), end="")
        return 0
    return int(bench.main([*found, "--help"], prog_name=typed(), standalone_mode=False) or 0)


def _page(name: str, commands: list[str]) -> str:
    """Return the text of a page, or the list of pages; raise RequestError for an unknown name."""
    from benchbook.declare.checkout import built_in

    pages = {path.stem: path for path in sorted((built_in() / "docs").glob("*.md")) if path.stem != "README"}
    if name == PAGES:
        # A command has its name first.
        shown = {f"{stem}.md" if stem in commands else stem: path for stem, path in pages.items()}
        width = max(map(len, shown), default=0)
        listed = "".join(f"  {name:<{width}}  {_title(path)}\n" for name, path in shown.items())
        return f"{listed}\nRead one: {typed('help your-own-project')}\n"
    wanted = Path(name).stem  # messages name a page as docs/claims.md
    if wanted not in pages:
        raise unknown("command or page", name, [*commands, PAGES, *pages])
    return pages[wanted].read_text(encoding="utf-8")


def _title(page: Path) -> str:
    """Return the heading of a page."""
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
