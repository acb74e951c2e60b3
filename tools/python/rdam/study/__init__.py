"""`rdam study`: why runs of one program take different times, and whether two settings differ."""
