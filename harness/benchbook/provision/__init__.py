"""Where a pinned system comes from: ``find.find`` tries every source in a fixed order."""
