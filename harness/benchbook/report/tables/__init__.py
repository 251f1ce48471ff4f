"""The tables of a report, one a file; each function takes a run and returns a table or a sentence."""
