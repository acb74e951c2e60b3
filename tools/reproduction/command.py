"""The command line of tools/reproduce."""

import argparse
import contextlib
import dataclasses
import pathlib
import re
import signal
import sys
import tempfile
from collections.abc import Iterator

from . import machine, network, plan
from .benchmarks import NAMES, SWEEPS, Sweep, log_spaced
from .journal import Journal
from .measure import cache_line, cost, score
from .programs import Programs
from .summary import Results, gather
from .sweep import measure_all, sessions
from .text import report
from .trouble import Trouble

DONE, BAD, USAGE = 0, 1, 2
PAGE = machine.ROOT / "docs/reproduction.md"

DESCRIPTION = """Runs the evaluation of the metric (the thesis's chapter 5) on this machine: sweeps of four benchmarks with known
interference, the network benchmark, and the cost of recording; prints the figures beside the thesis's, and writes a page with
drawings. Leave the machine alone meanwhile. An interrupted run goes on where it was when it is started again."""


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _names(text: str) -> tuple[str, ...]:
    names = tuple(filter(None, text.split(",")))
    unknown = [name for name in names if name not in NAMES]
    if unknown or not names:
        raise argparse.ArgumentTypeError(f"unknown benchmark '{','.join(unknown)}'; there are {', '.join(NAMES)}")
    return tuple(name for name in NAMES if name in names)


UNITS = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6}


def _delays(text: str) -> tuple[str, tuple[int, ...]]:
    """Of NAME=LOW..HIGH, as many log-spaced points as the sweep has."""
    found = re.fullmatch(r"(\w+)=([\d.]+)(ns|us|µs|ms)\.\.([\d.]+)(ns|us|µs|ms)", text)
    counts = {sweep.name: len(sweep.delays_ns) for sweep in SWEEPS}
    try:
        name, low, low_unit, high, high_unit = found.groups()
        least, most = float(low) * UNITS[low_unit], float(high) * UNITS[high_unit]
        if name not in counts or not 1 <= least < most:
            raise ValueError
        return name, log_spaced(least, most, counts[name])
    except (AttributeError, ValueError):
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=LOW..HIGH as in lock=1us..100us; names: {', '.join(counts)}") from None


def _with_delays(given: list[tuple[str, tuple[int, ...]]]) -> tuple[Sweep, ...]:
    other = dict(given)
    return tuple(dataclasses.replace(sweep, delays_ns=other.get(sweep.name, sweep.delays_ns)) for sweep in SWEEPS)


class Parser(argparse.ArgumentParser):
    def error(self, message: str):
        print(f"{self.prog}: {message}; see --help", file=sys.stderr)
        sys.exit(USAGE)


def parse(words: list[str] | None) -> argparse.Namespace:
    parser = Parser(prog="tools/reproduce", description=DESCRIPTION)
    parser.add_argument("--quick", action="store_true", help="the same points in two minutes: fewer rounds and calls")
    parser.add_argument("--only", type=_names, default=NAMES, metavar="NAME,…", help=f"of {', '.join(NAMES)} [all]")
    parser.add_argument("--build", type=pathlib.Path, default=machine.ROOT / "build", metavar="DIR", help="the build directory [build]")
    parser.add_argument("--output", type=pathlib.Path, metavar="DIR", help="measurements, page and drawings [BUILD/reproduction]")
    parser.add_argument("--fresh", action="store_true", help="measure anew what is already in the output folder")
    parser.add_argument("--page", nargs="?", type=pathlib.Path, const=PAGE, metavar="FILE",
                        help="write the page to this file, drawings into the folder of its name [OUTPUT/reproduction.md; "
                             "without FILE: docs/reproduction.md]. What was written by hand between its markers stays")
    parser.add_argument("--path", metavar="DIR", help="where io reads: a folder of a local disk, or a block device [the output folder]")
    parser.add_argument("--delays", type=_delays, action="append", default=[], metavar="NAME=LOW..HIGH",
                        help="sweep over another range with as many points: lock=1us..100us")
    parser.add_argument("--rounds", type=_count, metavar="N", help="measure everything N times")
    parser.add_argument("--iterations", type=_count, metavar="N", help="calls of each thread, in all benchmarks")
    parser.add_argument("--check", action="store_true",
                        help="exit with 1 if a ρ is below the thesis's where the mean varies at least twofold, a control is not below 0.05, "
                             "or a false positive is not flagged")
    return parser.parse_args(words)


@contextlib.contextmanager
def _to_output(path: pathlib.Path) -> Iterator[None]:
    """Around what writes there: says what to do where that is refused."""
    try:
        yield
    except OSError as error:
        raise Trouble(f"{path}: {error.strerror}; name a folder that can be written with --output") from None


def _open_journal(folder: pathlib.Path, fresh: bool) -> Journal:
    path = folder / "measurements.jsonl"
    with _to_output(path):
        if fresh:
            path.unlink(missing_ok=True)
        return Journal(path)


def _refuse_memory(extent: plan.Extent, output: pathlib.Path) -> None:
    """The io benchmark would read from it, and see no disk."""
    place = pathlib.Path(extent.io_path) if extent.io_path else output
    if "io" in extent.only and machine.file_system(place) in ("tmpfs", "ramfs"):
        raise Trouble(f"{place}: is in memory, not on a disk; name a folder of a local disk with --path, or leave io out with --only")


def _measured(options: argparse.Namespace, programs: Programs, extent: plan.Extent, output: pathlib.Path, page: pathlib.Path) -> Results:
    from . import page as pages  # matplotlib takes a second, and may not be there: said before anything is measured

    pages.by_hand(page)
    _refuse_memory(extent, output)
    this = machine.describe()
    place = {"programs": programs.identity(), "processor": this["processor"], "processors": this["processors"]}
    obstacles = network.obstacles() if "network" in extent.only else {}
    journal = _open_journal(output, options.fresh)
    with tempfile.TemporaryDirectory(prefix="run-", dir=output) as scratch:
        folder = pathlib.Path(scratch)

        def measure(task: plan.Task) -> dict:
            if task.kind == "cost":
                return cost(programs, task.settings, folder, recorded_first=task.round % 2 == 1)
            if task.kind == "network":
                return network.measure(programs, task.settings, folder)
            if task.kind == "line":
                return cache_line(programs, task.settings, folder)
            return score(programs, task.settings, folder)

        tasks = plan.tasks(extent, obstacles)
        before = measure_all(tasks, place, journal, measure)
        if before:
            print(f"{before} of {len(tasks)} measurements were in {journal.path} already (--fresh measures them anew)\n", file=sys.stderr)
        results = gather(extent, journal, place, obstacles)
        parts = sessions(tasks, place, journal)
        uncontrolled = machine.uncontrolled(this, parts, results.cache_line_ns)
        sequences = pages.real_trace(programs, extent, folder)
    pages.write(page, results, sequences, pages.About(this, uncontrolled, parts, programs.version(), extent))
    print(report(results, uncontrolled))
    print(f"\nthe page: {page}")
    return results


def _run(options: argparse.Namespace) -> int:
    programs = Programs(options.build.resolve())
    output = (options.output or options.build / "reproduction").resolve()
    with _to_output(output):
        output.mkdir(parents=True, exist_ok=True)
    extent = plan.Extent(options.only, options.quick, options.rounds, options.iterations,
                         str(pathlib.Path(options.path).resolve()) if options.path else None, _with_delays(options.delays))
    results = _measured(options, programs, extent, output, options.page or output / "reproduction.md")
    failures = results.failures()
    for failure in failures:
        print(f"tools/reproduce: {failure}", file=sys.stderr)
    return BAD if failures and options.check else DONE


def _interrupt(number: int, _frame) -> None:
    raise KeyboardInterrupt(number)


def main(words: list[str] | None = None) -> int:
    options = parse(words)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _interrupt)
    try:
        return _run(options)
    except KeyboardInterrupt as interrupt:
        number = interrupt.args[0]
        print("tools/reproduce: interrupted; what has been measured is kept: the same command goes on from there", file=sys.stderr)
        return 128 + number
    except (Trouble, OSError) as trouble:
        print(f"tools/reproduce: {trouble}", file=sys.stderr)
        return BAD
