"""The command line of tools/reproduce."""

import argparse
import dataclasses
import pathlib
import re
import sys

from . import machine
from .benchmarks import NAMES, SWEEPS, log_spaced
from .plan import Extent

USAGE = 2
PAGE = machine.ROOT / "docs/reproduction.md"

DESCRIPTION = """Runs the evaluation of the metric (the thesis's chapter 5) on this machine: sweeps of four benchmarks with known
interference, the network benchmark, and the cost of recording; prints the figures beside the thesis's, and writes a page with
drawings. Leave the machine alone meanwhile. An interrupted run goes on where it was when it is started again."""


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _threads(text: str) -> int:
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of threads that can meet; name 2 or more (the controls have one anyway)")
    return int(text)


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


def extent_of(options: argparse.Namespace) -> Extent:
    """What is to be measured, with the delays and the threads that were asked for."""
    other = dict(options.delays)
    sweeps = tuple(dataclasses.replace(sweep.with_threads(options.threads), delays_ns=other.get(sweep.name, sweep.delays_ns)) for sweep in SWEEPS)
    path = str(pathlib.Path(options.path).resolve()) if options.path else None
    return Extent(options.only, options.quick, options.rounds, options.iterations, path, sweeps, options.threads)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str):
        print(f"{self.prog}: {message}; see --help", file=sys.stderr)
        sys.exit(USAGE)


def parse(words: list[str]) -> argparse.Namespace:
    parser = _Parser(prog="tools/reproduce", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--quick", action="store_true",
                        help="the same points in two minutes: fewer rounds and calls, so few that a ρ may miss the thesis's by chance")
    parser.add_argument("--only", type=_names, default=NAMES, metavar="NAME,…", help=f"of {', '.join(NAMES)} [all]")
    parser.add_argument("--build", type=pathlib.Path, default=machine.ROOT / "build", metavar="DIR", help="the build directory [build]")
    parser.add_argument("--output", type=pathlib.Path, metavar="DIR", help="measurements, page and drawings [BUILD/reproduction]")
    parser.add_argument("--fresh", action="store_true", help="measure anew what this command would find in the output folder; the rest there stays")
    parser.add_argument("--page", nargs="?", type=pathlib.Path, const=PAGE, metavar="FILE",
                        help="write the page to this file, drawings into the folder of its name [OUTPUT/reproduction.md; "
                             "without FILE: docs/reproduction.md]. What was written by hand between its markers stays")
    parser.add_argument("--beside", type=pathlib.Path, action="append", default=[], metavar="JOURNAL",
                        help="set an earlier run with the same settings beside this one: its measurements.jsonl, as it is or packed "
                             "(.jsonl.xz), which is only read; again for another one")
    parser.add_argument("--path", metavar="DIR", help="where io reads: a folder of a local disk, or a block device [the output folder]")
    parser.add_argument("--delays", type=_delays, action="append", default=[], metavar="NAME=LOW..HIGH",
                        help="sweep over another range with as many points: lock=1us..100us")
    parser.add_argument("--threads", type=_threads, metavar="N",
                        help="threads of lock, spinlock and io (the thesis: as many as processors, less one; false sharing has two there, and "
                             "here) [2 of the locks, 32 of io]. More threads meet at a lock at longer delays: see --delays")
    parser.add_argument("--rounds", type=_count, metavar="N", help="measure everything N times")
    parser.add_argument("--iterations", type=_count, metavar="N", help="calls of each thread, in all benchmarks")
    parser.add_argument("--check", action="store_true",
                        help="exit with 1 if a ρ is below the thesis's where the mean varies at least twofold, a control is not below 0.05, "
                             "a false positive is not flagged, or the clients' score does not fall as the network gets faster")
    options = parser.parse_args(words)
    if options.page is not None and options.page.resolve() == PAGE and set(options.only) != set(NAMES):
        parser.error(f"--page would write a page of {', '.join(options.only)} alone over {PAGE.relative_to(machine.ROOT)}, which is of all "
                     "benchmarks; leave --only out, or name another file: --page FILE")
    return options
