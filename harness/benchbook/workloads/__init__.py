"""Workloads: what is done to a system and timed; one module each, named as in experiment.toml."""
