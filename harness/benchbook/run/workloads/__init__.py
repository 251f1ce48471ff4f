"""Workloads: what a trial does to a system and times; one module each, named as in experiment.toml."""
