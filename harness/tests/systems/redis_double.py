"""A scripted connection to Redis."""

from __future__ import annotations


class Connection:
    """Answers commands by their first word, and holds keys."""

    def __init__(self, answers=None, keys=None):
        self.answers, self.keys, self.asked, self.open = answers or {}, keys or {}, [], True
        self.waiting = []

    def execute_command(self, *words):
        self.asked.append(words)
        found = self.answers.get(" ".join(words), self.answers.get(words[0], "OK"))
        found = next(found) if hasattr(found, "__next__") else found
        if isinstance(found, Exception):
            raise found
        return found

    def ping(self):
        return self.execute_command("PING") == "OK"

    def scan_iter(self, count):
        return iter(self.keys)

    def hkeys(self, key):
        return list(self.keys[key])

    def pipeline(self, transaction):
        assert not transaction
        return self

    def type(self, key):
        self.waiting.append(b"hash" if isinstance(self.keys[key], dict) else b"string")

    def hstrlen(self, key, field):
        self.waiting.append(len(self.keys[key][field]))

    def execute(self):
        done, self.waiting = self.waiting, []
        return done

    def close(self):
        self.open = False
