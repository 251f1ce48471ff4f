"""The sums of what process trees used, which processes that come and go neither lose nor double.

While a process lives its own counters are read. When it is gone, what it had used is either among the times
of the parent that waited for it, or, if nobody counts it on, kept here as it was last seen. The harness waits
for the roots of the trees itself: what its own children used in the end comes from getrusage, of those too
short to be ever seen too, which count as the client's. So a sum never goes backwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from benchbook.measure.usage import NOTHING, Process, Usage, children, forget_peak, read


@dataclass
class Followed:
    """A process that belongs to one or both trees, from its first sight until it is gone."""

    last: Process
    base: Usage
    """What it had used before the trial: not ours to count."""
    trees: set[str]
    peak_base: int
    """The kernel's peak RSS when the phase began."""
    rss_most: int
    """The most RSS seen in this phase."""

    def see(self, now: Process) -> None:
        """Take a new reading, keeping bytes that are no longer readable as they were."""
        if self.last.bytes_known and not now.bytes_known:
            usage = now.usage._replace(read=self.last.usage.read, written=self.last.usage.written)
            now = now._replace(usage=usage, bytes_known=True)
        self.last = now
        self.rss_most = max(self.rss_most, now.rss)

    @property
    def whole(self) -> Usage:
        """Its own usage and that of children it waited for, since it started."""
        return self.last.usage.plus(self.last.reaped)

    @property
    def total(self) -> Usage:
        """The part of it that was used since the trial began."""
        return self.whole.minus(self.base)

    @property
    def inherited(self) -> Usage:
        """What grows when a child was waited for. The kernel adds a child's bytes to the parent's own."""
        return self.last.reaped._replace(read=self.last.usage.read, written=self.last.usage.written)

    @property
    def peak(self) -> int:
        """Its peak RSS in this phase: the kernel's where that rose, else the most seen."""
        return self.last.rss_peak if self.last.rss_peak > self.peak_base else self.rss_most


@dataclass
class Tree:
    """The sums of one process tree."""

    gone: Usage = NOTHING
    """What processes used that are gone and whose use no living parent counts on."""
    bytes_known: bool = True
    usage: Usage = NOTHING
    """Cumulative; never goes backwards."""
    living: list[Followed] = field(default_factory=list)


@dataclass(frozen=True)
class Owed:
    """Use that was kept for a dead process, and that its parent may count a sample later."""

    parent: int
    trees: frozenset[str]
    usage: Usage


class Ledger:
    """Follows the processes of the trees ``server`` and ``client``, which may be the same processes."""

    def __init__(self, own: int, begin: int) -> None:
        """``own`` is the harness's pid; ``begin`` the whole ticks after boot at which the trial began."""
        self._own = own
        self._begin = begin
        self._followed: dict[int, Followed] = {}
        self._owed: list[Owed] = []
        self._waited: Usage | None = None
        self._shared = False
        self.trees = {"server": Tree(), "client": Tree()}

    def update(self, given: Mapping[str, Iterable[int]], waited: Usage) -> None:
        """Read all processes anew.

        ``given`` are the pids of each tree, their children are found from them; ``waited`` is what children
        used that the harness waited for, as getrusage says, read just before this call.
        """
        found = {tree: set(pids) for tree, pids in given.items()}
        self._shared = self._shared or (found["server"] == found["client"] != set())
        before = {pid: followed.inherited for pid, followed in self._followed.items()}
        gone = self._read(found)
        grown = {
            pid: followed.inherited.minus(before[pid])
            for pid, followed in self._followed.items()
            if pid in before
        }
        grown[self._own] = waited.minus(self._waited or waited)
        self._waited = waited
        whole = dict(grown)
        heirs = self._pay_back(grown) | self._bury(gone, grown, whole)
        # what no process seen explains: children of the harness that were too short to be seen, or the last
        # moments of those seen
        for name in heirs or ({"server", "client"} if self._shared else {"client"}):
            self.trees[name].gone = self.trees[name].gone.plus(grown[self._own])
        for name, tree in self.trees.items():
            tree.living = [followed for followed in self._followed.values() if name in followed.trees]
            usage = tree.gone
            for followed in tree.living:
                usage = usage.plus(followed.total)
            tree.usage = Usage(*map(max, usage, tree.usage))

    def begin_phase(self) -> None:
        """Count peaks from now on."""
        for pid, followed in self._followed.items():
            forget_peak(pid)
            now = self._look(pid) or followed.last
            followed.peak_base, followed.rss_most = now.rss_peak, now.rss

    def _read(self, found: dict[str, set[int]]) -> list[Followed]:
        """Read what is followed and what is new, parents first; return those that are gone."""
        gone = []
        for pid, followed in list(self._followed.items()):
            now = self._look(pid)
            if now is None or now.started != followed.last.started:
                gone.append(self._followed.pop(pid))
            else:
                followed.see(now)
        for tree, pids in found.items():
            others = set().union(*(other for name, other in found.items() if name != tree)) - pids
            self._descend(
                tree, [*pids, *(pid for pid, f in self._followed.items() if tree in f.trees)], others
            )
        return gone

    def _descend(self, tree: str, pids: list[int], others: set[int]) -> None:
        seen: set[int] = set()
        while pids:
            pid = pids.pop(0)
            if pid in seen or pid in others:
                continue
            seen.add(pid)
            if pid not in self._followed and not self._follow(pid):
                continue
            followed = self._followed[pid]
            followed.trees.add(tree)
            self.trees[tree].bytes_known &= followed.last.bytes_known or followed.last.rss == 0
            if pid != self._own:  # the harness's children are not all of this tree
                pids.extend(children(pid))

    def _follow(self, pid: int) -> bool:
        now = self._look(pid)
        if now is None:
            return False
        old = now.started < self._begin
        base = now.usage.plus(now.reaped) if old else NOTHING
        self._followed[pid] = Followed(now, base, set(), now.rss_peak if old else 0, now.rss)
        return True

    def _look(self, pid: int) -> Process | None:
        now = read(pid)
        # what the harness waited for is accounted for by itself, never as a part of a tree it is in
        return now._replace(reaped=NOTHING) if now and pid == self._own else now

    def _pay_back(self, grown: dict[int, Usage]) -> set[str]:
        """Settle what was kept although a parent counts it on after all; return the trees it was for."""
        heirs: set[str] = set()
        for owed in self._owed:
            back = grown.get(owed.parent, NOTHING).least(owed.usage)
            if back == NOTHING:
                continue
            grown[owed.parent] = grown[owed.parent].minus(back)
            heirs |= owed.trees if owed.parent == self._own else set()
            for name in owed.trees if owed.parent != self._own else ():
                self.trees[name].gone = self.trees[name].gone.minus(back)
        self._owed = []
        return heirs

    def _bury(self, gone: list[Followed], grown: dict[int, Usage], whole: dict[int, Usage]) -> set[str]:
        """Keep what the dead used that no living parent counts; return the trees of our own children.

        ``grown`` is what is left of a parent's growth after earlier deaths took their part, ``whole`` all of it.
        Which of several dead children a parent waited for cannot be seen: growth is given out to them in turn,
        which makes the sum right. Only one that used more than the whole growth was certainly not waited for.
        """
        heirs: set[str] = set()
        parents = {dead.last.pid: dead.last.parent for dead in gone}
        for dead in gone:
            parent = dead.last.parent
            while parent in parents and parent not in self._followed:
                parent = parents[parent]
            heir = self._followed.get(parent)
            counted = NOTHING
            if parent == self._own or (heir is not None and dead.trees <= heir.trees):
                if all(
                    more >= used
                    for more, used in zip(whole.get(parent, NOTHING)[:2], dead.whole[:2], strict=True)
                ):
                    counted = grown.get(parent, NOTHING).least(dead.whole)
                grown[parent] = grown.get(parent, NOTHING).minus(counted)
                self._owed.append(Owed(parent, frozenset(dead.trees), dead.whole.minus(counted)))
            if parent == self._own:
                heirs |= dead.trees
                counted = NOTHING  # what we waited for stands in no tree: keep all of it
            elif heir is not None:  # the parent now counts what was used before the trial too
                heir.base = heir.base.plus(dead.base.least(counted))
            kept = dead.whole.minus(counted).minus(dead.base.minus(counted))
            for name in dead.trees:
                self.trees[name].gone = self.trees[name].gone.plus(kept)
        return heirs
