"""How to do a run again: the exact commands."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from benchbook.declare.catalogue import root
from benchbook.report.markup import escape_html
from benchbook.report.results import Run
from benchbook.report.words import Words
from benchbook.run.rerun import made_by


def words(run: Run) -> Words:
    """Return the command that repeats the run with the same order, and the one it was started with."""
    info = run.info
    published = _published(run)
    name = published or run.run_id
    again = f"./bench rerun {shlex.quote(name)}"
    nix = f"nix run .#benchbook -- rerun {shlex.quote(name)}"
    does, given = made_by(json.loads(info["argv"] or "[]"))
    options = shlex.join([info["experiment"]] if given is None else given)
    seed = "" if "--order-seed" in options else f" --order-seed {info['order_seed']}"
    revision = f"git checkout {info['git_revision']}\n" if info["git_revision"] else ""
    parts = [
        f"{'In a clone of Benchbook' if published else 'With the results at hand'}, in the same order:",
        f"<pre><code>{escape_html(again)}\n{escape_html(nix)}</code></pre>",
        "From nothing but a checkout:",
        f"<pre><code>{escape_html(revision)}{escape_html(f'./bench {does} {options}{seed}')}</code></pre>",
    ]
    if "…/" in options:
        parts.append("… stands for a folder of the machine that ran it: name the place of yours.")
    if info["git_dirty"]:
        parts.append(
            "The checkout had changes that were not committed: its revision alone is another program."
        )
    return Words("\n\n".join(parts))


def _published(run: Run) -> str | None:
    """Return where every clone has this run, None for a run that is not the published one of its experiment."""
    place = Path("reports/data") / run.info["experiment"]
    try:
        facts = json.loads((root() / place / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return str(place) if isinstance(facts, dict) and facts.get("run_id") == run.run_id else None
