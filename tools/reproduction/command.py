"""The run that the command line asks for."""

import argparse
import contextlib
import pathlib
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator

from . import machine, network, plan, several
from .journal import Journal, key_of
from .measure import cache_line, cost, score
from .options import chosen_sweeps, parse
from .programs import Programs
from .summary import Results, gather
from .sweep import Measure, measure_all, sessions
from .text import report
from .trouble import Trouble

DONE, BAD = 0, 1


@contextlib.contextmanager
def _to_output(path: pathlib.Path) -> Iterator[None]:
    """Around what writes there: says what to do where that is refused."""
    try:
        yield
    except OSError as error:
        raise Trouble(f"{path}: {error.strerror}; name a folder that can be written with --output") from None


def _open_journal(folder: pathlib.Path) -> Journal:
    path = folder / "measurements.jsonl"
    with _to_output(path):
        return Journal(path)


def _refuse_memory(extent: plan.Extent, output: pathlib.Path) -> None:
    """The io benchmark would read from it, and see no disk."""
    place = pathlib.Path(extent.io_path) if extent.io_path else output
    if "io" in extent.only and not place.is_block_device() and machine.file_system(place) in ("tmpfs", "ramfs"):
        raise Trouble(f"{place}: is in memory, not on a disk; name a folder of a local disk with --path, or leave io out with --only")


def measuring(programs: Programs, folder: pathlib.Path) -> Measure:
    def measure(task: plan.Task) -> dict:
        if task.kind == "cost":
            return cost(programs, task.settings, folder, recorded_first=task.round % 2 == 1)
        if task.kind == "network":
            return network.measure(programs, task.settings, folder)
        if task.kind == "line":
            return cache_line(programs, task.settings, folder)
        return score(programs, task.settings, folder)

    return measure


def _measured(options: argparse.Namespace, programs: Programs, extent: plan.Extent, output: pathlib.Path, page: pathlib.Path) -> Results:
    from . import page as pages  # matplotlib takes a second, and may not be there: said before anything is measured

    pages.by_hand(page)
    _refuse_memory(extent, output)
    earlier = [several.read(path, extent) for path in options.beside]
    this = machine.describe()
    place = {"programs": programs.identity(), "processor": this["processor"], "processors": this["processors"]}
    obstacles = network.obstacles() if "network" in extent.only else {}
    tasks = plan.tasks(extent, obstacles)
    with contextlib.closing(_open_journal(output)) as journal, tempfile.TemporaryDirectory(prefix="run-", dir=output) as scratch:
        if options.fresh:
            journal.forget({key_of(plan.identified(task, place)) for task in tasks})
        before = measure_all(tasks, place, journal, measuring(programs, pathlib.Path(scratch)))
        if before:
            print(f"{before} of {len(tasks)} measurements were in {journal.path} already (--fresh measures them anew)\n", file=sys.stderr)
        results = gather(extent, journal, place, obstacles)
        parts = sessions(tasks, place, journal)
        uncontrolled = machine.uncontrolled(this, parts, results.cache_line_ns)
        sequences = pages.real_trace(programs, extent, pathlib.Path(scratch))
    runs = [*earlier, several.column(results.sweeps, results.costs, parts, place)] if earlier else []
    pages.write(page, results, sequences, pages.About(this, uncontrolled, parts, programs.version(), place["programs"], extent, runs))
    print(report(results, uncontrolled, runs))
    print(f"\nthe page: {page}")
    return results


def _run(options: argparse.Namespace) -> int:
    programs = Programs(options.build.resolve())
    output = (options.output or options.build / "reproduction").resolve()
    with _to_output(output):
        output.mkdir(parents=True, exist_ok=True)
    extent = plan.Extent(options.only, options.quick, options.rounds, options.iterations,
                         str(pathlib.Path(options.path).resolve()) if options.path else None, chosen_sweeps(options), options.threads)
    results = _measured(options, programs, extent, output, options.page or output / "reproduction.md")
    failures = results.failures()
    for failure in failures:
        print(f"tools/reproduce: {failure}", file=sys.stderr)
    return BAD if failures and options.check else DONE


def _interrupt(number: int, _frame) -> None:
    raise KeyboardInterrupt(number)


def _catch_interruptions() -> None:
    """Not those that are ignored: nohup means that a run goes on when its terminal is gone."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _going_on(words: list[str]) -> str:
    """The command that measures what is missing."""
    return shlex.join(["tools/reproduce", *(word for word in words if word != "--fresh")])


def main(words: list[str] | None = None) -> int:
    words = sys.argv[1:] if words is None else words
    options = parse(words)
    _catch_interruptions()
    try:
        return _run(options)
    except KeyboardInterrupt as interrupt:
        number = interrupt.args[0]
        print(f"tools/reproduce: interrupted; what has been measured is kept: '{_going_on(words)}' goes on from there", file=sys.stderr)
        return 128 + number
    except (Trouble, OSError) as trouble:
        print(f"tools/reproduce: {trouble}", file=sys.stderr)
        return BAD
