"""Import ``experiments/<slug>/story.py``: charts and sentences for the report of one experiment."""

from __future__ import annotations

import functools
import importlib.util
import sys
from types import ModuleType

from benchbook.declare.catalogue import Catalogue, root
from benchbook.errors import RequestError


@functools.cache
def story(slug: str) -> ModuleType:
    """Import the story of an experiment once; raise RequestError if it has none."""
    file = root() / "experiments" / slug / "story.py"
    # A story is code, and its name may come from a run: it must be an experiment of this checkout.
    if slug not in Catalogue().names("experiment") or not file.is_file():
        raise RequestError(
            f"experiments/{slug} has no story.py, the file with charts for this experiment alone.",
            "Write one, or use only the charts of benchbook.report.",
        )
    name = f"benchbook_story_{slug.replace('-', '_')}"
    specification = importlib.util.spec_from_file_location(name, file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module  # dataclasses look up their module by name
    specification.loader.exec_module(module)
    return module
