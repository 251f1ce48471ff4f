"""Factors and their levels in sentences: "batches of 10,000" for batch_size=10000."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from benchbook.analyse import quantity
from benchbook.host.texts import number

FACTORS = {
    "arm": "configuration", "size": "object size", "workers": "number in flight", "in_flight": "number in flight",
    "stocks": "number of stocks", "table_rows": "rows",
}  # fmt: skip
"""Factor → its name in a sentence; others only lose their underscores."""
LEVELS = {
    "arm": "configuration {}", "size": "objects of {}", "workers": "{} operations in flight",
    "in_flight": "{} reads in flight", "storage": "its files on {}", "cache": "{} caches", "stocks": "{} stocks",
    "batch_size": "batches of {}", "batch": "{} objects per transaction", "count": "{} objects",
    "clients": "{} clients", "table_rows": "{} rows",
}  # fmt: skip
"""Factor → a level of it in a sentence."""
STORAGES = {
    "local": "the local disk", "minio-s3fs": "a MinIO bucket mounted by s3fs", "tmpfs": "tmpfs",
    "loop-ext4": "a loop device", "loop-ext3": "ext3 on a loop device", "loop-xfs": "XFS on a loop device",
    "loop-disks": "four loop devices",
    "slow-disk": "one slow disk", "slow-disks": "four slow disks",
}  # fmt: skip
"""Storage → its name in a sentence; others keep theirs."""


def factor_words(factor: str) -> str:
    """Return the name of a factor in a sentence.

    >>> factor_words("size"), factor_words("batch_size")
    ('object size', 'batch size')
    """
    return FACTORS.get(factor, factor.replace("_", " "))


def level_words(factor: str, level: str) -> str:
    """Return a level in a sentence.

    >>> level_words("batch_size", "10000"), level_words("in_flight", "published")
    ('batches of 10,000', 'reads in flight as published')
    >>> level_words("workers", "1"), level_words("workers", "8")
    ('1 operation in flight', '8 operations in flight')
    >>> level_words("size", "20000"), level_words("size", "uniform:8000:12000"), level_words("size", "4KiB")
    ('objects of 20 kB', 'objects of 8 to 12 kB', 'objects of 4 KiB')
    """
    if (factor, level) == ("arm", "vanilla"):
        return "the default configuration"
    if (factor, level) == ("arm", "published"):
        return "the published configuration"
    if factor in ("in_flight", "method") and level.endswith("published"):
        return "reads in flight as published" if factor == "in_flight" else "the published method"
    if factor == "size":
        return LEVELS[factor].format(size_words(level))
    shown = (
        f"{int(level):,}"
        if number(level) is not None
        else STORAGES.get(level, level)
        if factor == "storage"
        else level
    )
    words = LEVELS.get(factor, f"{factor.replace('_', ' ')} {{}}").format(shown)
    return re.sub(r"^1 (\w+)s\b", r"1 \1", words)


def label_words(factor: str, level: str) -> str:
    """Return a level in a label, where space is short: the factor and the level as declared.

    >>> label_words("arm", "safe"), label_words("batch_size", "10000"), label_words("size", "4KiB")
    ('configuration safe', 'batch size 10000', 'objects of 4 KiB')
    """
    if factor == "size":
        return level_words(factor, level)
    return f"{'configuration' if factor == 'arm' else factor.replace('_', ' ')} {level}"


def listing(found: Sequence[str], last: str = "and") -> str:
    """Return names as a list in words; ``last`` stands before the last one.

    >>> listing(["a", "b", "c"])
    'a, b and c'
    """
    return f" {last} ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)


def some(names: Sequence[str]) -> str:
    """Return the first three names and the number of others."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def together(words: Sequence[str]) -> str:
    """Return levels in words as a list that says their common beginning once.

    >>> together(["batches of 1", "batches of 100", "batches of 1,000"])
    'batches of 1, 100 and 1,000'
    >>> together(["1 operation in flight"])
    '1 operation in flight'
    """
    return listing([*words[:1], *_without_beginning(words, words[1:])])


def replaced(factor: str, here: Sequence[str], by: str, there: Sequence[str], last: str = "or") -> str:
    """Return the levels of a run and those of a publication in words.

    >>> replaced("batch_size", ["1000"], "instead of", ["5000", "10000"])
    'batches of 1,000 instead of 5,000 or 10,000'
    >>> replaced("workers", ["12"], "in place of", ["100"])
    '12 operations in flight in place of 100'
    >>> replaced("stocks", ["1", "10"], "in place of", ["10", "100"], last="and")
    '1 and 10 stocks in place of 10 and 100'
    """
    ours, theirs = ([level_words(factor, level) for level in levels] for levels in (here, there))
    end = LEVELS.get(factor, "").partition("{}")[2]
    short = [word.removesuffix(end).removesuffix(end[:-1]) for word in ours[:-1]]
    stated = [word.removesuffix(end) for word in _without_beginning([*ours, *theirs], theirs)]
    return f"{together([*short, *ours[-1:]])} {by} {listing(stated, last)}"


def _without_beginning(words: Sequence[str], some: Sequence[str]) -> list[str]:
    """Return some of the words without the common beginning of all."""
    common = os.path.commonprefix(words).rpartition(" ")[0] if len(words) > 1 else ""  # noqa: RUF071 - no paths
    return [word[len(common) :].strip() for word in some]


def size_words(level: str) -> str:
    """Return a size or a range of sizes in words.

    >>> size_words("20000"), size_words("uniform:8000:12000"), size_words("4KiB")
    ('20 kB', '8 to 12 kB', '4 KiB')
    """
    ends = level.removeprefix("uniform:").split(":")
    if any(number(end) is None for end in ends):
        return re.sub(r"(\d)([KMG]?i?B)$", r"\1 \2", level)
    sizes = [quantity.size(float(end)) for end in ends]
    if len(sizes) == 2 and sizes[0].partition(" ")[2] == sizes[1].partition(" ")[2]:
        sizes[0] = sizes[0].partition(" ")[0]
    return " to ".join(sizes)


# Facts that limits of a run and reasons of verdicts both name.


def shortfall(cores: Mapping[str, int] | None = None, memory_gb: Mapping[str, float] | None = None) -> str:
    """Return how a machine is smaller than the publication's.

    >>> shortfall({"here": 2, "published": 16})
    "scaled: this machine has 2 of the publication's 16 cores"
    """
    short = [f"{cores['here']} of the publication's {cores['published']} cores"] if cores else []
    short += [f"{memory_gb['here']:.0f} of its {memory_gb['published']:g} GB of memory"] if memory_gb else []
    return f"scaled: this machine has {' and '.join(short)}"


def one_device(storage: str, disks: int, device: str | None, writes_per_second: int | None) -> str:
    """Return that the disks of a storage are files on one device, without a full stop."""
    begin = f"The {disks} disks of storage {storage} are files on one device ({device})"
    if writes_per_second:
        return f"{begin}, each limited to {writes_per_second} writes per second in place of separate disks"
    return f"{begin}, which they share, so separate disks may gain more"
