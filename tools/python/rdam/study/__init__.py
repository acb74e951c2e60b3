"""Why runs of one program differ, and which of two settings is faster: the parts of `rdam study`."""
