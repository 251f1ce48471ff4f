"""Declarations: TOML files of systems, storages, datasets and experiments, checked before anything runs."""
