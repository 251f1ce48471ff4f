"""How to do a run again: the exact commands."""

from __future__ import annotations

import json
import shlex

from benchbook.report.markup import escape_html
from benchbook.report.results import Run
from benchbook.report.words import Words


def words(run: Run) -> Words:
    """Return the command that repeats the run with the same order, and the one it was started with."""
    info = run.info
    again = f"./bench rerun {shlex.quote(run.run_id)}"
    nix = f"nix run .#benchbook -- rerun {shlex.quote(run.run_id)}"
    given = json.loads(info["argv"] or "[]")
    options = shlex.join(given[given.index("run") + 1 :] if "run" in given else [info["experiment"]])
    seed = "" if "--order-seed" in options else f" --order-seed {info['order_seed']}"
    revision = f"git checkout {info['git_revision']}\n" if info["git_revision"] else ""
    dirty = "\n\nThe checkout had changes that were not committed, so its revision alone does not give the same program." if info["git_dirty"] else ""
    return Words(
        f"With the results at hand, in the same order:\n\n<pre><code>{escape_html(again)}\n{escape_html(nix)}</code></pre>\n\n"
        "From nothing but a checkout:\n\n"
        f"<pre><code>{escape_html(revision)}{escape_html(f'./bench run {options}{seed}')}</code></pre>{dirty}"
    )
