"""Planning: turn an experiment and a profile into trials in a stored order."""
