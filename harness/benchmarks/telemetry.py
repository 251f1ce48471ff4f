"""Measure the cost of telemetry: processor time of the sampling as a share of one core.

    PYTHONPATH=harness python harness/benchmarks/telemetry.py --seconds 20

Starts a server of several processes with threads and a client, which sleep; samples them at the usual rate and
prints a JSON object. The goal is ``core_fraction`` below 0.005.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchbook.measure.sampler import Telemetry

GOAL = 0.005

MEMBER = """
import subprocess, sys, threading
threads, children = int(sys.argv[1]), int(sys.argv[2])
for _ in range(threads - 1):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
held = bytearray(32 << 20)
started = [subprocess.Popen([sys.executable, "-S", "-c", sys.argv[3], str(threads), "0", ""], stdin=-1)
           for _ in range(children)]
sys.stdin.read()
"""


def member(threads: int, children: int) -> subprocess.Popen:
    arguments = [str(threads), str(children), MEMBER]
    return subprocess.Popen([sys.executable, "-S", "-c", MEMBER, *arguments], stdin=subprocess.PIPE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--processes", type=int, default=4, help="of the server; the client is one more")
    parser.add_argument("--threads", type=int, default=12, help="of each process")
    asked = parser.parse_args()
    server, client = member(asked.threads, asked.processes - 1), member(asked.threads, 0)
    time.sleep(1)
    with tempfile.TemporaryDirectory() as folder, Path(folder, "telemetry.jsonl").open("w") as file:

        def sink(samples: list[dict]) -> None:
            file.writelines(json.dumps(sample, separators=(",", ":")) + "\n" for sample in samples)

        with Telemetry(lambda: [server.pid], lambda: [client.pid], Path(folder), sink) as telemetry:
            telemetry.phase("sampled")
            time.sleep(asked.seconds)
        size = file.tell()
    for process in (server, client):
        process.communicate()
    cost = telemetry.cost()
    found = {
        "processes": asked.processes + 1,
        "threads": asked.threads * (asked.processes + 1),
        "seconds": asked.seconds,
        "samples": cost.samples,
        "cpu_seconds": round(cost.cpu_seconds, 6),
        "core_fraction": round(cost.cpu_seconds / asked.seconds, 6),
        "goal": GOAL,
        "longest_sample_seconds": round(cost.longest_seconds, 6),
        "bytes_written": size,
    }
    print(json.dumps(found))
    sys.exit(found["core_fraction"] >= GOAL)


if __name__ == "__main__":
    main()
