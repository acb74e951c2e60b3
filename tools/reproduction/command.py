"""The run that the command line asks for."""

import argparse
import contextlib
import pathlib
import shlex
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator

from . import Trouble, machine, network, plan, session
from .journal import Journal
from .measure import cache_line, cost, score
from .options import extent_of, parse
from .programs import Programs

DONE, BAD = 0, 1


@contextlib.contextmanager
def _to_output(path: pathlib.Path) -> Iterator[None]:
    """Around what writes there: says what to do where that is refused."""
    try:
        yield
    except OSError as error:
        raise Trouble(f"{path}: {error.strerror}; name a folder that can be written with --output") from None


def _refuse_memory(extent: plan.Extent, output: pathlib.Path) -> None:
    """The io benchmark would read from it, and see no disk."""
    place = pathlib.Path(extent.io_path) if extent.io_path else output
    if "io" in extent.only and not place.is_block_device() and machine.file_system(place) in ("tmpfs", "ramfs"):
        raise Trouble(f"{place}: is in memory, not on a disk; name a folder of a local disk with --path, or leave io out with --only")


def measuring(programs: Programs, folder: pathlib.Path) -> Callable[[plan.Task], dict]:
    measures = {"score": score, "cost": cost, "network": network.measure, "line": cache_line}
    return lambda task: measures[task.kind](programs, task.settings, folder)


def _run(options: argparse.Namespace) -> int:
    programs = Programs(options.build.resolve())
    output = (options.output or options.build / "reproduction").resolve()
    page = options.page or output / "reproduction.md"
    with _to_output(output):
        output.mkdir(parents=True, exist_ok=True)
    try:  # takes a second, and may not be there: said before anything is measured
        import scipy  # noqa: F401

        from . import compared, report, results, sequences
    except ImportError as missing:
        raise Trouble(f"{missing.name} is not installed: 'apt install python3-matplotlib python3-numpy python3-scipy'") from None
    extent = extent_of(options)
    report.by_hand(page)
    _refuse_memory(extent, output)
    earlier = [compared.read(path, extent) for path in options.beside]
    this = machine.describe()
    place = {"programs": programs.identity(), "processor": this["processor"], "processors": this["processors"]}
    obstacles = network.obstacles() if "network" in extent.only else {}
    tasks = plan.tasks(extent, place, obstacles)
    with _to_output(output / "measurements.jsonl"):
        opened = Journal(output / "measurements.jsonl")
    with contextlib.closing(opened) as journal, tempfile.TemporaryDirectory(prefix="run-", dir=output) as scratch:
        if options.fresh:
            journal.forget(tasks)
        before = session.measure_all(tasks, journal, measuring(programs, pathlib.Path(scratch)))
        if before:
            print(f"{before} of {len(tasks)} measurements were in {journal.path} already (--fresh measures them anew)\n", file=sys.stderr)
        found = results.gather(extent, tasks, journal, obstacles)
        parts = session.parts_of(tasks, journal)
        drawn = sequences.record(programs, extent, pathlib.Path(scratch))
    runs = [*earlier, compared.column(found.sweeps, found.costs, parts, place)] if earlier else []
    uncontrolled = machine.uncontrolled(this, parts, found.cache_line_ns)
    print(report.write(page, found, drawn, report.About(this, uncontrolled, parts, programs.version(), place["programs"], extent, runs)))
    print(f"\nthe page: {page}")
    failures = found.failures()
    for failure in failures:
        print(f"tools/reproduce: {failure}", file=sys.stderr)
    return BAD if failures and options.check else DONE


def _interrupt(number: int, _frame) -> None:
    raise KeyboardInterrupt(number)


def main(words: list[str] | None = None) -> int:
    words = sys.argv[1:] if words is None else words
    options = parse(words)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        # Not one that is ignored: nohup means that a run goes on when its terminal is gone.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        return _run(options)
    except KeyboardInterrupt as interrupt:
        number = interrupt.args[0]
        missing = shlex.join(["tools/reproduce", *(word for word in words if word != "--fresh")])
        print(f"tools/reproduce: interrupted; what has been measured is kept: '{missing}' goes on from there", file=sys.stderr)
        return 128 + number
    except (Trouble, OSError) as trouble:
        print(f"tools/reproduce: {trouble}", file=sys.stderr)
        return BAD
