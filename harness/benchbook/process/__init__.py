"""Processes: start, limit, contain and sweep them; ports, users, secrets, containers, remote machines."""
