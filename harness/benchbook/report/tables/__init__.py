"""Tables of a report: functions that take a run and return a table, or a sentence if there is no data."""
