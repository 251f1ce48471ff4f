"""Storages on which systems keep their files: one driver module per storage, with the base class in ``local.py``."""
