"""What misled readers once: each function makes it happen again, and returns what happens now.

Each raises ``Misled`` with what a reader would believe if the present program still misleads.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchbook.analyse.comparison import judged
from benchbook.report.limits import limits
from tests.outside.project import INFLUX, LOAD, OTHER, Project

BASIC = (LOAD, ("ask", "query", 'type = "1-host-1-hr", queries = 20, warmup = 3'))
QUOTA = Path("/sys/fs/cgroup/cpu/benchbook-outside")


class Misled(Exception):
    """A reader would believe something wrong."""


def require(condition: object, otherwise: str) -> None:
    """Raise Misled unless something holds."""
    if not condition:
        raise Misled(otherwise)


def rates_of_few_answers(at: Project) -> str:
    """Rates of few slow answers were whole numbers, as in "2.00 (2.00-2.00)", or 0 where a phase was shorter."""
    upstream = at.server()
    a, b = at.stand_in(upstream, "--late=1.02"), at.stand_in(upstream, "--late=0.33")
    at.declare("slow", [INFLUX, OTHER], LOAD, ("ask", "query", 'type = "1-host-1-hr", duration = "1s"'))
    at.run("slow", "--system", f"{INFLUX}={a}", "--system", f"{OTHER}={b}")
    rates = at.values("queries_per_second", "ask")
    require(len(rates) == 6, f"{len(rates)} of 6 trials are valid")
    require(min(rates) > 0.5, f"a server that answers in 1.02 s has the rate {min(rates)}")
    require(not any(rate == round(rate) for rate in rates), f"the rates are whole numbers: {rates}")
    return f"rates from {min(rates):.3f} to {max(rates):.3f} per second, none of them whole"


def empty_while_timed(at: Project) -> str:
    """A server that answers nothing while it is timed was "53.5 times as fast, the answers agree"."""
    upstream = at.server()
    b = at.stand_in(upstream, "--empty=3,202")
    at.declare(
        "timed", [INFLUX, OTHER], LOAD, ("ask", "query", 'type = "8-host-1-hr", queries = 200, warmup = 3')
    )
    at.run("timed", "--system", f"{INFLUX}=http://127.0.0.1:{upstream}", "--system", f"{OTHER}={b}")
    found = [one for one in judged(at.analysed()) if one.pair.above.phase == "ask"]
    words = [f"{one.word} ({one.pair.value:.3g})" for one in found]
    valid = sum(one["status"] == "ok" for one in at.trials())
    require(valid < 6 or not found, f"all trials are valid, the work counts as the same, and it is {words}")
    return f"{valid} of 6 trials are valid, verdicts: {words or 'none'}"


def saturated_open_loop(at: Project) -> str:
    """A rate that no server reached was read as "no system is faster"."""
    b = at.stand_in(at.server(), "--late=0.02")
    at.declare(
        "open",
        [OTHER],
        LOAD,
        ("ask", "query", 'type = "1-host-1-hr", duration = "2s", warmup = 3, rate = 200'),
    )
    at.run("open", "--system", f"{OTHER}={b}")
    reached, saturated = at.values("queries_per_second", "ask"), at.values("saturated", "ask")
    require(saturated == [1.0] * 3, f"200 per second were offered, {reached} reached, saturated: {saturated}")
    return f"saturated: 200 per second offered, {max(reached):.0f} reached"


def _launched(at: Project, script: str) -> list[str]:
    """Run a start script as the server; require that nothing is left of it; return the status of each trial."""
    at.declare("launched", [INFLUX], *BASIC)
    at.run("launched", "--system", f"{INFLUX}={at.script(script)}")
    left = at.left_running()
    for pid in left:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    require(not left, f"{len(left)} processes are left running")
    return [str(one["status"]) for one in at.trials()]


def _measured(at: Project) -> str:
    cpu, memory = at.values("server_cpu_seconds", "load"), at.values("server_rss_peak_bytes", "load")
    require(min(cpu, default=0.0) > 0.02, f"the server's processor time is {cpu}")
    require(min(memory, default=0.0) > 20e6, f"the server's memory is {memory}")
    return f"nothing is left; the server used {min(cpu):.2f} s and {min(memory) / 1e6:.0f} MB or more"


def server_as_daemon(at: Project) -> str:
    """A server that makes itself a daemon kept running after each trial."""
    statuses = _launched(at, "daemon.sh")
    require("ok" not in statuses or _measured(at), "a trial is valid without its server's processes")
    return f"nothing is left; {statuses.count('failed')} of 3 trials failed: {at.trials()[0]['reason']}"


def server_in_another_session(at: Project) -> str:
    """A server in a session of its own used 0 s and 1.8 MB, by the record, and kept running."""
    require(_launched(at, "detached.sh") == ["ok"] * 3, "trials are not valid")
    return _measured(at)


def helper_left_behind(at: Project) -> str:
    """A helper in a session of its own outlived the server."""
    require(_launched(at, "helper.sh") == ["ok"] * 3, "trials are not valid")
    return _measured(at)


def restart_between_phases(at: Project) -> str:
    """A server that a supervisor started again between two phases was still "warm"."""
    kill = f"kill -9 $(cat {at.folder}/pids); sleep 2"
    crash = f'tool = "kill", runs = 2, warmup = 0, counts = "nothing", commands = {{ kill = "{kill}" }}'
    at.declare("crash", [INFLUX], *BASIC, ("crash", "command", crash), ("again", *BASIC[1][1:]))
    at.run("crash", "--system", f"{INFLUX}={at.script('supervisor.sh')}")
    states = [(one["status"], one["cache_state"]) for one in at.trials()]
    require(("ok", "warm") not in states, f"trials are {states}")
    return f"trials are {states}"


def pipeline_that_fails(at: Project) -> str:
    """A pipeline whose first program fails was "220 times as fast"."""
    commands = 'commands = { good = "sleep 0.2 | cat", bad = "false | cat" }'
    options = f'tool = "good", runs = 2, counts = "nothing", {commands}'
    at.declare("pipe", ["null-server"], ("do", "command", options), factors='tool = ["good", "bad"]')
    at.run("pipe")
    found = {str(one["cell"]).rpartition("tool=")[2]: one["status"] for one in at.trials()}
    require(found == {"good": "ok", "bad": "failed"}, f"trials are {found}")
    return f"trials are {found}"


def warm_after_cold(at: Project) -> str:
    """A phase after one with cold caches, for which the system was started again, was "warm"."""
    ask = 'type = "1-host-1-hr", queries = 20'
    cold = ("cold", "query", f'{ask}, cache = "cold"')
    at.declare(
        "reopen", ["sqlite", "duckdb"], LOAD, ("first", "query", ask), cold, ("after", "query", ask), trials=1
    )
    at.run("reopen")
    states = [one["cache_state"] for one in at.trials()]
    require("warm" not in states, f"the trials' caches are {states}")
    return f"the trials' caches are {states}"


def phases_of_milliseconds(at: Project) -> str:
    """A phase of milliseconds was "19.5 times as fast", where a claim says that it is too short."""
    at.declare(
        "brief", ["sqlite", "duckdb"], LOAD, ("one", "query", 'type = "1-host-1-hr", queries = 1'), trials=5
    )
    at.run("brief")
    found = [one for one in judged(at.analysed()) if one.pair.above.phase == "one"]
    words = [f"{one.word} ({one.pair.value:.3g})" for one in found]
    require(
        not any(one.word in ("better", "worse") for one in found), f"one query of milliseconds is {words}"
    )
    return f"one query of milliseconds is {words}"


@contextlib.contextmanager
def _from_the_middle(
    at: Project, prepare: Callable[[], object] | None, act: Callable[[], object]
) -> Iterator[None]:
    """Run six trials; call ``act`` when the second has ended."""
    at.declare("conditions", ["sqlite", "duckdb"], *BASIC)
    with at.start("conditions") as process:
        if prepare:
            (QUOTA / "cgroup.procs").write_text(str(process.pid))
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("bench: [2/"):
                act()
        process.wait()
    yield


def quota_from_the_middle(at: Project) -> str:
    """A CPU quota from the middle of a run left no trace on its page."""
    QUOTA.mkdir(exist_ok=True)
    try:
        with _from_the_middle(at, lambda: None, lambda: (QUOTA / "cpu.cfs_quota_us").write_text("100000")):
            said = [one for one in limits(at.analysed()) if "quota" in one]
    finally:
        QUOTA.rmdir()
    require(said, "the page does not name it")
    return said[0]


def busy_from_the_middle(at: Project) -> str:
    """Six busy programs beside the second half of a run left no trace on its page."""
    busy: list[subprocess.Popen[bytes]] = []
    loop = [sys.executable, "-S", "-c", "while True: pass"]
    try:
        with _from_the_middle(at, None, lambda: busy.extend(subprocess.Popen(loop) for _ in range(6))):
            said = [one for one in limits(at.analysed()) if one.startswith("Other programs")]
    finally:
        for one in busy:
            one.kill()
            one.wait()
    require(said, "the page does not name them")
    return said[0]


EVERY: tuple[Callable[[Project], str], ...] = (
    rates_of_few_answers, empty_while_timed, saturated_open_loop, server_as_daemon, server_in_another_session,
    helper_left_behind, restart_between_phases, pipeline_that_fails, warm_after_cold, phases_of_milliseconds,
    quota_from_the_middle, busy_from_the_middle,
)  # fmt: skip
