"""Commands that are run in turns, and what each run took."""

import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable


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
    """95 %, from order statistics: the binomial distribution of how many values are below the median."""
    ordered = sorted(values)
    count, below, chance = len(ordered), 0, 0.0
    while below < count // 2:
        chance += math.comb(count, below) / 2**count
        if chance > 0.025:
            break
        below += 1
    lowest = max(0, below - 1)
    return ordered[lowest], ordered[count - 1 - lowest]


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
