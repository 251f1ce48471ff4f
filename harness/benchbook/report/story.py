"""Import ``experiments/<slug>/story.py``: charts and sentences for the report of one experiment."""

from __future__ import annotations

from types import ModuleType

from benchbook.declare import plugin
from benchbook.errors import RequestError


def story(slug: str) -> ModuleType:
    """Import the story of an experiment once; raise RequestError if it has none."""
    found = plugin.module(slug, "story")
    if found is None:
        raise RequestError(
            f"experiments/{slug} has no story.py, the file with charts for this experiment alone.",
            "Write one, or use only the charts of benchbook.report.",
        )
    return found
