"""The machine of a run: its facts, its controls, and the provenance of the code."""
