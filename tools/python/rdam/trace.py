"""One opened trace."""

import builtins
import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import weakref

import numpy

from rdam.table import Table, load, texts

CONTENTS = "columns.json"
FORMAT = ("rdam columns", 1)


class Error(Exception):
    """What the rdam command said, or what is wrong with a folder of columns."""


def program() -> str:
    """The rdam that this module came with, else the one in PATH. RDAM_PROGRAM names another."""
    if chosen := os.environ.get("RDAM_PROGRAM"):
        return chosen
    for parent in pathlib.Path(__file__).resolve().parents:
        for place in ("bin/rdam", "tools/rdam/rdam"):  # installed; build tree
            candidate = parent / place
            if candidate.is_file() and os.access(candidate, os.X_OK):
                return str(candidate)
    if found := shutil.which("rdam"):
        return found
    raise Error("the rdam command is neither beside this module nor in PATH: set RDAM_PROGRAM")


def run(*arguments) -> bytes:
    done = subprocess.run([program(), *map(str, arguments)], check=False, capture_output=True,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise Error(done.stderr.decode(errors="replace").strip().removeprefix("rdam: "))
    return done.stdout


def words_of(settings: dict) -> list[str]:
    """The options of the command that stand for the settings of an export."""
    words = []
    for name, value in settings.items():
        option = "--" + name.replace("_", "-")
        if name == "rules":
            words += [f"--rules={value}"] if value else ["--no-rules"]
        elif name in ("since_ns", "until_ns"):
            words += [] if value is None else [f"--{name.removesuffix('_ns')}={value:f}ns"]
        elif isinstance(value, bool):
            words += [option] if value else []
        else:
            words += [f"{option}={entry}" for entry in ([value] if isinstance(value, str) else value)]
    return words


def open(path="trace.bin", *, folder=None, rules=None, key=(), no_key=(), split_by_context=(), ignore=(), deep_keys=False,
         fold_loops=False, since=(), until=(), thread=(), function=()) -> "Trace":
    """Opens a trace, or the folder that `rdam export --columns` has made of one.

    A trace is exported first: into `folder`, which then stays, or into a temporary one that goes when the Trace does
    (in the place that TMPDIR names; it takes about 70 bytes a call, parameters and results besides). The other
    arguments are the options of `rdam export` with the same names; `rules` is a rules file, or False for none, even if
    there is an rdam.toml beside the trace or in the current folder. `since` and `until` are texts like "1.5s".
    """
    path = pathlib.Path(path)
    if path.is_dir():
        return Trace(path)
    settings = {"key": key, "no_key": no_key, "split_by_context": split_by_context, "ignore": ignore, "deep_keys": deep_keys,
                "fold_loops": fold_loops, "since": since, "until": until, "thread": thread, "function": function}
    if rules is not None:
        settings["rules"] = rules
    words = words_of(settings)
    if folder is not None:
        run("export", "--columns", folder, *words, path)
        return Trace(folder)
    temporary = tempfile.mkdtemp(prefix="rdam-columns-")
    try:
        run("export", "--columns", temporary, *words, path)
        return Trace(temporary, temporary=True)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def read_contents(folder: pathlib.Path) -> dict:
    try:
        with builtins.open(folder / CONTENTS, encoding="utf-8") as file:
            contents = json.load(file)
    except FileNotFoundError:
        raise Error(f"{folder}: has no {CONTENTS}: it is no folder that rdam export --columns has finished") from None
    found = (contents.get("format"), contents.get("version"))
    if found != FORMAT:
        raise Error(f"{folder}: is {found[0]}, version {found[1]}, not {FORMAT[0]}, version {FORMAT[1]}: export again")
    return contents


class Trace:
    """The calls of one process. The arrays are views of files: read only, and there after close() as well."""

    def __init__(self, folder, temporary: bool = False):
        self.folder = pathlib.Path(folder)
        self.info = read_contents(self.folder)
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True) if temporary else None

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Takes the temporary folder away. Arrays that were handed out stay; no others can be had."""
        if self._remove is not None:
            self._remove()

    @functools.cached_property
    def calls(self) -> Table:
        """One row for each call: those of one thread after the other, each in the order in which they began."""
        return Table({name: load(self.folder / file)
                      for name, file in self.info["tables"]["calls"]["columns"].items()})

    @functools.cached_property
    def sequences(self) -> Table:
        """One row for each sequence of each thread; the row's number is `calls["sequence"]`."""
        files = dict(self.info["tables"]["sequences"]["columns"])
        ends = load(self.folder / files.pop("name_end"))
        names = load(self.folder / files.pop("name")).tobytes()
        begins = numpy.concatenate(([0], ends[:-1])) if len(ends) else ends
        table = Table(sequence=numpy.arange(len(ends)))
        table.update({name: load(self.folder / file) for name, file in files.items()})
        table["name"] = texts([names[begin:end].decode(errors="replace")
                               for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)])
        return table

    @functools.cached_property
    def off_cpu(self) -> Table | None:
        """One row for each time in which a thread was on no processor, by thread and time; None: not recorded."""
        table = self.info["tables"].get("off_cpu")
        return table and Table({name: load(self.folder / file) for name, file in table["columns"].items()})

    @functools.cached_property
    def threads(self) -> Table:
        """One row for each thread; the row's number is `calls["thread"]`. Times in ns, NaN where they were not seen."""
        rows = self.info["threads"]
        whole = {"tid": numpy.uint32, "first_call": numpy.int64, "calls": numpy.int64, "dropped": numpy.uint64}
        table = Table(thread=numpy.arange(len(rows)))
        table.update({name: numpy.array([row[name] for row in rows], dtype=kind) for name, kind in whole.items()})
        for name in ("start", "end"):
            table[name] = numpy.array([row[name] for row in rows], dtype=numpy.float64)
        table["name"] = texts([row["name"] for row in rows])
        return table

    @functools.cached_property
    def functions(self) -> Table:
        """One row for each function; the row's number is `calls["function"]`."""
        rows = self.info["functions"]
        table = Table(function=numpy.arange(len(rows)))
        table.update({name: texts([row[name] for row in rows])
                      for name in ("name", "module", "source", "linkage_name")})
        return table

    def function(self, name) -> int:
        """The number of the function with this name, or `module:name`."""
        rows = self.info["functions"]
        if not isinstance(name, str):
            return range(len(rows))[name]
        found = [i for i, row in enumerate(rows) if name in (row["name"], f"{row['module']}:{row['name']}")]
        if len(found) == 1:
            return found[0]
        if not found:
            raise Error(f"{name}: the trace has no such function")
        names = ", ".join(f"{i} ({rows[i]['module']}:{rows[i]['name']})" for i in found)
        raise Error(f"{name}: there are several: name one by its number: {names}")

    @functools.cached_property
    def texts(self) -> numpy.ndarray:
        """What numbers of texts stand for: `trace.texts[values["name"]]`. 0: none."""
        return texts(["", *self.info.get("texts", [])])

    def values(self, function) -> Table:
        """Parameters and return values: one row for each call of the function (its name or number).

        `call` is the row in `calls`; then the parameters by name; `return`, which says something where `returned` is
        true. Of a parameter that is a text, numbers: `texts` has them.
        """
        values = self.info["functions"][self.function(function)].get("values")
        if values is None:
            return Table({"call": numpy.empty(0, dtype=numpy.int64)})
        return Table({column["name"]: load(self.folder / column["file"]) for column in values["columns"]})

    def text_columns(self, function) -> set[str]:
        """The columns of `values(function)` that are numbers of `texts`."""
        values = self.info["functions"][self.function(function)].get("values", {"columns": []})
        return {column["name"] for column in values["columns"] if column.get("kind") == "text"}

    @functools.cached_property
    def report(self) -> dict:
        """What `rdam analyze --json` says of the trace with the settings of the export: docs/json.md."""
        file = self.info["trace"]["file"]
        if not os.path.exists(file):
            raise Error(f"{file}: scores are computed from the trace, which no longer exists")
        # Folders from before there were rules have none.
        words = words_of({"rules": None, **self.info["settings"]})
        return json.loads(run("analyze", "--json", "--sequences", "--top", 0, *words, file))

    @property
    def scores(self) -> list[dict]:
        """A function each, highest score first, with its sequences: `functions` of the report."""
        return self.report["functions"]
