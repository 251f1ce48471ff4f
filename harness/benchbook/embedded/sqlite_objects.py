"""Objects as rows of a table in SQLite: the key, and the bytes, as PostgreSQL's are kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchbook.embedded.objects import Item

CREATE = "CREATE TABLE IF NOT EXISTS objects (key TEXT PRIMARY KEY, content BLOB NOT NULL)"
INSERT = "INSERT INTO objects (key, content) VALUES (?, ?)"
READ = "SELECT content FROM objects WHERE key = ?"
REMOVE = "DELETE FROM objects WHERE key = ?"


class SQLiteObjects:
    """One connection; it waits for others that write, as long as it was opened for."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.execute(CREATE)

    def put(self, items: Sequence[Item]) -> None:
        """Insert the objects in one transaction."""
        if len(items) == 1:
            self._connection.execute(INSERT, (items[0].key, items[0].content))
            return
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._connection.executemany(INSERT, [(item.key, item.content) for item in items])
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def get(self, key: str) -> bytes | None:
        """Select one object."""
        found = self._connection.execute(READ, (key,)).fetchone()
        return None if found is None else bytes(found[0])

    def delete(self, key: str) -> bool:
        """Delete one object."""
        return self._connection.execute(REMOVE, (key,)).rowcount == 1

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
