"""Calls, sequences and scores of traces that `rdam record` has written, as numpy arrays.

    import rdam
    with rdam.open("trace.bin") as trace:
        slow = trace.calls["duration"] > 1e6

What the columns mean: docs/columns.md.
"""

from rdam.table import Table
from rdam.trace import Error, Trace, open

__all__ = ["Error", "Table", "Trace", "open"]
