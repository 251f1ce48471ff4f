"""What server, client, machine and harness use while a trial runs, sampled once a second from /proc."""

from benchbook.measure.sampler import Telemetry

__all__ = ["Telemetry"]
