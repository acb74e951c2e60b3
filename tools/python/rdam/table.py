"""Columns of one length."""

import pathlib

import numpy


def load(path: pathlib.Path) -> numpy.ndarray:
    """The file's elements, mapped into memory: nothing is read before it is looked at, nothing is copied."""
    try:
        return numpy.load(path, mmap_mode="r").view(numpy.ndarray)
    except ValueError:  # a column without elements cannot be mapped
        return numpy.load(path)


def texts(values) -> numpy.ndarray:
    """Python's strings, one object each however often an index refers to it."""
    column = numpy.empty(len(values), dtype=object)
    column[:] = values
    return column


class Table(dict):
    """Columns by name, numpy arrays of one length: what pandas, Polars and DuckDB take for a table."""

    def __len__(self) -> int:
        """Rows."""
        return len(next(iter(self.values()), ()))

    def __bool__(self) -> bool:
        return len(self) > 0

    def __repr__(self) -> str:
        columns = ", ".join(f"{name}: {column.dtype}" for name, column in self.items())
        return f"<{len(self)} rows of {columns}>"
