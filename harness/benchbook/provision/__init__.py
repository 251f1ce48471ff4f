"""Sources of pinned systems: ``find.find`` tries every source in a fixed order."""
