"""Workloads: what a trial does to a system and times; one module each, named as in experiment.toml.

The declarations and both wings load these modules through ``declare/workload.py``. Therefore a module imports only the
ground at its top; what belongs to the running wing is imported inside the functions that run.
"""
