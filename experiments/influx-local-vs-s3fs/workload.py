"""The workloads of this experiment alone: those of the published tools inch and influx-stress, in its own client."""

from __future__ import annotations

from .inch import workload as inch
from .stress import workload as stress

workloads = {inch.name: inch, stress.name: stress}
