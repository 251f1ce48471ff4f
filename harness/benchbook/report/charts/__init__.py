"""Charts of a report: functions that take a run and return a figure, or a sentence if there is no data."""
