"""Commands that are run, in turns or once, what they print and what each run took."""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable


ROOT = pathlib.Path(__file__).resolve().parents[1]


def benchmark_parser(description: str, **options) -> argparse.ArgumentParser:
    """Of a benchmark's command line, with --build."""
    parser = argparse.ArgumentParser(prog=f"microbench/{pathlib.Path(sys.argv[0]).name}", description=description, **options)
    parser.add_argument("--build", type=lambda text: pathlib.Path(text).resolve(), default=ROOT / "build", metavar="FOLDER",
                        help="the build directory [build]")
    return parser


def output(command: list, **options) -> str:
    """What a command prints. Ends the program when it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


def analyzed(rdam: str | pathlib.Path, trace: str | pathlib.Path, *options: str) -> dict:
    """The report on a trace."""
    return json.loads(output([rdam, "analyze", "--json", *options, trace]))


class Run:
    """Ends the program when the command fails. Linux counts what this process has in memory as the command's: keep it small until then."""

    def __init__(self, command: list[str]):
        begin = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            errors = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {process.returncode}: {errors.decode()[-300:]}")
        self.seconds = time.monotonic() - begin
        self.cpu = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss * 1024


Runs = dict[str, list[Run]]


def in_turns(commands: dict[str, list[str]], rounds: int) -> Runs:
    runs: Runs = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(Run(command))
    return runs


def middle(runs: list[Run]) -> float:
    return statistics.median(run.seconds for run in runs)


def ratio(runs: Runs, name: str, peer: str) -> float:
    """Of the seconds: the median over the rounds."""
    return statistics.median(run.seconds / other.seconds for run, other in zip(runs[name], runs[peer], strict=True))


def cpu_ratio(runs: Runs, name: str, peer: str) -> float:
    """Of the processors' seconds, which other programs change less."""
    return statistics.median(run.cpu / other.cpu for run, other in zip(runs[name], runs[peer], strict=True))


def interval_of_median(values: list[float]) -> tuple[float, float]:
    """95 %, from order statistics; of fewer than six values, the least and the greatest."""
    sys.path.append(str(ROOT / "tools/python"))
    from rdam.study.series import median_interval  # large: see Run

    found = median_interval(values)
    return (min(values), max(values)) if math.isnan(found.low) else (found.low, found.high)


def largest(runs: list[Run]) -> int:
    return max(run.memory for run in runs)


def spread(values: list[float], digits: int = 2) -> str:
    return f"{min(values):.{digits}f}–{max(values):.{digits}f}"


def print_runs(runs: Runs, peer: str, sizes: dict[str, int]) -> None:
    """`sizes`: of what the commands wrote, in bytes."""
    print(f"{'':28}{'s, median':>10}{'spread':>14}{'/ ' + peer:>16}{'CPU, s':>9}{'/ ' + peer:>16}{'memory, MB':>12}{'output, MB':>12}")
    for name, each in runs.items():
        size = f"{sizes[name] / 1e6:.1f}" if name in sizes else ""
        wall = f"{middle(each):10.2f}{spread([run.seconds for run in each]):>14}{ratio(runs, name, peer):16.2f}"
        cpu = f"{statistics.median(run.cpu for run in each):9.2f}{cpu_ratio(runs, name, peer):16.2f}"
        print(f"{name:28}{wall}{cpu}{largest(each) / 1e6:12.0f}{size:>12}", flush=True)


def print_bars(bars: list[tuple[str, float, float, Callable[[float], str]]]) -> None:
    """Each: of what, what was measured, the most it may be, and how such a figure is written."""
    for what, measured, most, text in bars:
        print(f"    {what:44}{text(measured):>12}, at most {text(most)}: {'kept' if measured <= most else 'MISSED'}", flush=True)


def megabytes(size: float) -> str:
    return f"{size / 1e6:.2f} MB" if size < 10e6 else f"{size / 1e6:.0f} MB"


def in_seconds(seconds: float) -> str:
    return f"{seconds:.1f} s"


def number(text: str) -> int:
    """`k` and `M` stand for thousands and millions."""
    factor = {"k": 1000, "M": 1_000_000}.get(text[-1:], 1)
    return round(float(text if factor == 1 else text[:-1]) * factor)
