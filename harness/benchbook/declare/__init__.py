"""Declare: TOML files for systems, storages, datasets and experiments, checked before anything runs."""
