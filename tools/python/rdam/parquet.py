"""The columns of a trace as one Parquet file: python3 -m rdam.parquet FOLDER FILE (`rdam export` calls it)."""

import collections
import os
import sys

import numpy
import pyarrow
import pyarrow.parquet

from rdam.trace import Error, Trace

ROWS = 1 << 18  # of a row group: what is in memory at a time


def indexed(numbers: numpy.ndarray, names: numpy.ndarray) -> pyarrow.Array:
    """`names[numbers]`, each name stored once; null where the number is negative."""
    used, index = numpy.unique(numbers, return_inverse=True)
    index = index.reshape(numbers.shape).astype(numpy.int32)
    mask = None
    if len(used) and used[0] < 0:
        mask = numbers < 0
        used, index = used[1:], index - 1
        index[mask] = 0
    texts = pyarrow.array([str(name) for name in names[used]], type=pyarrow.string())
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(index, mask=mask), texts)


class ValueColumn:
    """A parameter or result of one function, null in the rows of the others."""

    def __init__(self, name: str, calls: numpy.ndarray, values: numpy.ndarray, there: numpy.ndarray | None,
                 texts: numpy.ndarray | None = None):
        """`texts`: what the values are numbers of."""
        self.name, self.calls, self.values, self.there, self.texts = name, calls, values, there, texts
        self.type = pyarrow.from_numpy_dtype(values.dtype) if texts is None else pyarrow.dictionary(pyarrow.int32(), pyarrow.string())

    def rows(self, begin: int, end: int) -> pyarrow.Array:
        first, behind = numpy.searchsorted(self.calls, (begin, end))
        if first == behind:
            return pyarrow.nulls(end - begin, self.type)
        values = numpy.zeros(end - begin, dtype=self.values.dtype)
        mask = numpy.ones(end - begin, dtype=bool)
        rows = self.calls[first:behind] - begin
        values[rows] = self.values[first:behind]
        mask[rows] = False if self.there is None else ~self.there[first:behind]
        if self.texts is not None:
            kept = (values > 0) & (values < len(self.texts)) & ~mask
            return indexed(numpy.where(kept, values, -1), self.texts)
        return pyarrow.array(values, mask=mask)


def function_names(trace: Trace) -> list[str]:
    """Each with its module where the name alone says too little, and with its number where that does, too."""
    names = list(trace.functions["name"])
    full = [f"{module}:{name}" for module, name in zip(trace.functions["module"], names, strict=True)]
    of_name, of_full = collections.Counter(names), collections.Counter(full)
    for i, name in enumerate(names):
        if of_name[name] > 1:
            names[i] = full[i] if of_full[full[i]] == 1 else f"{full[i]}#{i}"
    return names


def value_columns(trace: Trace, names: list[str]) -> list[ValueColumn]:
    columns = []
    for number, name in enumerate(names):
        table = trace.values(number)
        calls, returned = table.pop("call"), table.pop("returned", None)
        are_texts = trace.text_columns(number)
        for value, array in table.items():
            columns.append(ValueColumn(f"{name}.{value}", calls, array, returned if value == "return" else None,
                                       trace.texts if value in are_texts else None))
    return columns


def row_group(trace: Trace, names: numpy.ndarray, values: list[ValueColumn], begin: int, end: int) -> pyarrow.Table:
    part = {name: column[begin:end] for name, column in trace.calls.items()}
    ends = numpy.array(trace.info["end"], dtype=object)
    sequence = part["sequence"]
    ids = numpy.where(sequence >= 0, trace.sequences["id"][sequence], 0) if len(trace.sequences) else \
        numpy.zeros(len(sequence), dtype=numpy.uint64)
    columns = {
        "call": pyarrow.array(numpy.arange(begin, end)),
        "tid": pyarrow.array(trace.threads["tid"][part["thread"]]),
        "thread": pyarrow.array(part["thread"]),
        "thread_name": indexed(part["thread"], trace.threads["name"]),
        "function": indexed(part["function"], names),
        "module": indexed(part["function"], trace.functions["module"]),
        "start": pyarrow.array(part["start"]),
        "duration": pyarrow.array(part["duration"], mask=numpy.isnan(part["duration"])),
        "self": pyarrow.array(part["self"], mask=numpy.isnan(part["self"])),
        "cpu_enter": pyarrow.array(part["cpu_enter"], mask=part["cpu_enter"] < 0),
        "cpu_leave": pyarrow.array(part["cpu_leave"], mask=part["cpu_leave"] < 0),
        **({"instructions": pyarrow.array(part["instructions"], mask=part["instructions"] == 0)} if "instructions" in part else {}),
        "caller": pyarrow.array(part["caller"]),
        "parent": pyarrow.array(part["parent"], mask=part["parent"] < 0),
        "sequence": pyarrow.array(ids, mask=sequence < 0),
        "sequence_name": indexed(sequence, trace.sequences["name"]),
        "weight": pyarrow.array(part["weight"]),
        "end": indexed(part["end"], ends),
        "outermost": pyarrow.array(part["outermost"]),
        "held": pyarrow.array(part["held"]),
        "doubt": pyarrow.array(part["doubt"], mask=numpy.isnan(part["doubt"])),
    }
    for value in values:
        columns[value.name] = value.rows(begin, end)
    return pyarrow.table(columns)


def write(folder: str, file: str):
    trace = Trace(folder)
    names = function_names(trace)
    values = value_columns(trace, names)
    names = numpy.array(names, dtype=object)
    rows = len(trace.calls)
    whole = os.path.join(folder, "whole.parquet")  # the folder is beside the file, and goes however this ends
    schema = row_group(trace, names, values, 0, 0).schema
    with open(whole, "wb") as output, pyarrow.parquet.ParquetWriter(output, schema, compression="zstd") as writer:
        for begin in range(0, rows, ROWS):
            writer.write_table(row_group(trace, names, values, begin, min(begin + ROWS, rows)))
    os.replace(whole, file)


def main(arguments: list[str]) -> int:
    try:
        write(*arguments)
    except (Error, OSError, pyarrow.ArrowException) as error:
        print(str(error).replace("\n", " "), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
