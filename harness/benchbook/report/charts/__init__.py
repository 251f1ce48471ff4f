"""The charts of a report, one a file; each function takes a run and returns a figure or a sentence."""
