"""Write a path so that a configuration file gives it back, whatever characters it has.

A path of ordinary characters stays as it is, as do the placeholders of folders.
"""

from __future__ import annotations

import re

ORDINARY = re.compile(r"[\w./:,@%+={}-]*", re.ASCII)


def in_quotes(path: str) -> str:
    r"""Return a path for Redis, Kvrocks, MySQL, MariaDB and YAML.

    >>> in_quotes("/data"), in_quotes('/a b/"ü"')
    ('/data', '"/a b/\\"ü\\""')
    """
    if ORDINARY.fullmatch(path):
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def in_properties(path: str) -> str:
    r"""Return a path for a file of Java's properties, which is read as Latin-1.

    >>> in_properties("/a b/ü\\")
    '/a b/\\u00fc\\\\'
    """
    return re.sub(r"[^\x20-\x7e]", lambda found: f"\\u{ord(found[0]):04x}", path.replace("\\", "\\\\"))
