"""A thread's repetitions of one operation, from a real trace: what figure 4.1 of the thesis explains."""

import dataclasses
import json
import pathlib

import numpy

from .measure import score
from .plan import Extent
from .programs import Programs, run

SHOWN = 2000  # dots of the whole run
WINDOW = 40  # calls that are drawn one by one


@dataclasses.dataclass(frozen=True)
class Sequences:
    starts: numpy.ndarray  # ns since the thread began, evenly chosen among its calls
    durations: numpy.ndarray
    fastest: float
    window: tuple[numpy.ndarray, numpy.ndarray]  # of neighbouring calls: starts, durations
    caption: str


def record(programs: Programs, extent: Extent, folder: pathlib.Path) -> Sequences | None:
    """Of a run of its own, at a delay of the first sweep there is at which some calls meet others, and some none: the thread that lost most."""
    if not (sweeps := extent.chosen_sweeps()):
        return None
    point = sweeps[0].points()[len(sweeps[0].delays_ns) // 4]
    trace, columns = folder / "drawn.bin", folder / "columns"
    score(programs, extent.words(point), folder, keep=trace)
    run([programs.rdam, "export", "--columns", columns, "--no-rules", trace], folder)
    return read(columns, point.operation)


def read(columns: pathlib.Path, operation: str) -> Sequences:
    contents = json.loads((columns / "columns.json").read_text())
    calls = {name: numpy.load(columns / "calls" / f"{name}.npy") for name in ("function", "thread", "start", "duration", "sequence", "outermost")}
    function = [row["name"] for row in contents["functions"]].index(operation)
    rows = numpy.flatnonzero((calls["function"] == function) & calls["outermost"] & ~numpy.isnan(calls["duration"]))
    sequences = [rows[calls["sequence"][rows] == one] for one in numpy.unique(calls["sequence"][rows])]
    own, durations, lost = max(((own, durations, float((durations - durations.min()).sum())) for own in sequences
                                for durations in [calls["duration"][own]]), key=lambda one: one[2])
    thread = contents["threads"][int(calls["thread"][own[0]])]
    life = (thread["end"] or float(calls["start"].max())) - thread["start"]
    starts = (calls["start"][own] - thread["start"]).astype(float)
    chosen = numpy.unique(numpy.linspace(0, len(own) - 1, SHOWN).round().astype(int))
    first = _typical_window(durations)
    window = slice(first, first + WINDOW)
    return Sequences(
        starts[chosen], durations[chosen], float(durations.min()), (starts[window], durations[window]),
        f"The idea of the thesis's figure 4.1, from a trace: the {len(own):,} calls of {operation} of one thread (above: {len(chosen):,} of them; "
        f"below: {min(WINDOW, len(own))} neighbours). What each took longer than the fastest is lost: {lost / life:.2f} of the thread's life.")


def _typical_window(durations: numpy.ndarray) -> int:
    """Where the neighbours lost nearly as much as all calls did on average."""
    if not (count := len(durations) // WINDOW):
        return 0
    means = durations[: count * WINDOW].reshape(count, WINDOW).mean(axis=1)
    return int(numpy.abs(means - durations.mean()).argmin()) * WINDOW
