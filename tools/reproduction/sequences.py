"""A thread's repetitions of one operation, from a real trace: what figure 4.1 of the thesis explains."""

import dataclasses
import json
import pathlib

import numpy

from .measure import score
from .programs import Programs, run

SHOWN = 2000  # dots of the whole run
WINDOW = 40  # calls that are drawn one by one


@dataclasses.dataclass(frozen=True)
class Sequences:
    starts: list[float]  # ns since the thread began, evenly chosen among its calls
    durations: list[float]
    fastest: float
    window: list[tuple[float, float]]  # neighbouring calls: start, duration
    caption: str


def record(programs: Programs, settings: dict, folder: pathlib.Path) -> Sequences:
    """Of a run of its own: the thread that lost most."""
    trace = folder / "drawn.bin"
    score(programs, settings, folder, keep=trace)
    columns = folder / "columns"
    run([programs.rdam, "export", "--columns", columns, "--no-rules", trace], folder)
    return read(columns, settings["operation"])


def read(columns: pathlib.Path, operation: str) -> Sequences:
    contents = json.loads((columns / "columns.json").read_text())
    function = [row["name"] for row in contents["functions"]].index(operation)
    calls = {name: numpy.load(columns / "calls" / f"{name}.npy") for name in ("function", "thread", "start", "duration", "sequence", "outermost")}
    rows = (calls["function"] == function) & calls["outermost"] & ~numpy.isnan(calls["duration"])
    best: tuple[float, numpy.ndarray] | None = None
    for sequence in numpy.unique(calls["sequence"][rows]):
        own = numpy.flatnonzero(rows & (calls["sequence"] == sequence))
        durations = calls["duration"][own]
        lost = float((durations - durations.min()).sum())
        if best is None or lost > best[0]:
            best = lost, own
    lost, own = best
    thread = contents["threads"][int(calls["thread"][own[0]])]
    starts = (calls["start"][own] - thread["start"]).astype(float)
    durations = calls["duration"][own]
    life = (thread["end"] or float(calls["start"].max())) - thread["start"]
    fastest = float(durations.min())
    chosen = numpy.unique(numpy.linspace(0, len(own) - 1, SHOWN).round().astype(int))
    first = _typical_window(durations)
    window = slice(first, first + WINDOW)
    return Sequences(
        starts[chosen].tolist(), durations[chosen].tolist(), fastest,
        list(zip(starts[window].tolist(), durations[window].tolist(), strict=True)),
        f"The idea of the thesis's figure 4.1, from a trace: the {len(own):,} calls of {operation} of one thread (above: {len(chosen):,} of them; "
        f"below: {min(WINDOW, len(own))} neighbours). What each took longer than the fastest is lost: {lost / life:.2f} of the thread's life.")


def _typical_window(durations: numpy.ndarray) -> int:
    """Where the neighbours lost nearly as much as all calls did on average."""
    count = len(durations) // WINDOW
    if count == 0:
        return 0
    sums = durations[: count * WINDOW].reshape(count, WINDOW).sum(axis=1)
    return int(numpy.abs(sums - durations.mean() * WINDOW).argmin()) * WINDOW
