"""Plan: from an experiment and a profile to trials in a stored order."""
