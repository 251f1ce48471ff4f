"""Where a pinned system comes from: one function, ``find``, that tries every source in a fixed order."""

from benchbook.provision.order import NAMES, find, preview, previews
from benchbook.provision.request import Request

__all__ = ["NAMES", "Request", "find", "preview", "previews"]
