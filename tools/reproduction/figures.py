"""The drawings, as SVG that is the same whenever the figures are."""

import contextlib
import pathlib
import textwrap

import matplotlib

from .results import LinkResult, Results, SweepResult, number
from .sequences import Sequences
from .units import UNITS, counted

matplotlib.use("svg")
from matplotlib import pyplot, ticker  # noqa: E402  a backend is chosen first

STYLE = {"svg.hashsalt": "rdam", "svg.fonttype": "none", "font.family": ["DejaVu Sans", "sans-serif"],
         "font.size": 9, "axes.grid": True, "axes.axisbelow": True,
         "grid.color": "#dddddd", "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False}
MEAN, LEAST, SCORE, LOST = "#1f4e79", "#7a9cc0", "#b5402a", "#d9705a"
WIDTH = 6.4
CAPTION_WIDTH = 100


def _unit(ns: float) -> tuple[float, str]:
    return next((size, unit) for size, unit in UNITS if ns >= size or unit == "ns")


@contextlib.contextmanager
def _drawing(caption: str, path: pathlib.Path, *shape, **options):
    """Gives the axes of a figure, and saves it with its caption below."""
    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(*shape, **options)
        yield axes
        lines = textwrap.wrap(caption, CAPTION_WIDTH)
        height = figure.get_figheight()
        room = 0.19 * len(lines) + 0.08
        figure.set_figheight(height + room)
        figure.tight_layout(rect=(0, room / (height + room), 1, 1))
        figure.text(0.02, 0.06 / (height + room), "\n".join(lines), fontsize=8, verticalalignment="bottom")
        figure.savefig(path, format="svg", metadata={"Date": None})
        pyplot.close(figure)


def _series(axes, xs: list[float], result: SweepResult, figure: str, size: float, color: str, **options) -> None:
    """The medians of a figure in units of `size`, and thin lines from the least to the greatest round."""
    lows, highs = ([bound(point.of_rounds(figure)) / size for point in result.points] for bound in (min, max))
    axes.vlines(xs, lows, highs, color=color, linewidth=1, alpha=0.5)
    axes.plot(xs, [value / size for value in result.series(figure)], color=color, markersize=4, **options)


def caption_of(result: SweepResult) -> str:
    sweep = result.sweep
    return (f"As the thesis's figure {sweep.figure}: {sweep.title}, {sweep.threads} threads. Medians of {counted(result.rounds, 'round')}, thin "
            f"lines from the least to the greatest round. ρ of mean and score {number(result.rho)}, the thesis's {sweep.thesis_rho}.")


def _draw_sweep(result: SweepResult, path: pathlib.Path) -> None:
    """Completion time and score over the delay."""
    delay_size, delay_unit = _unit(result.sweep.delays_ns[-1])
    size, unit = _unit(max(result.series("mean_ns")))
    xs = [delay / delay_size for delay in result.sweep.delays_ns]
    with _drawing(caption_of(result), path, 2, 1, sharex=True, figsize=(WIDTH, 4.4), height_ratios=(3, 2)) as (times, scores):
        _series(times, xs, result, "mean_ns", size, MEAN, marker="o", label="mean")
        _series(times, xs, result, "min_ns", size, LEAST, marker="s", label="minimum")
        times.set(ylabel=f"completion time ({unit})", ylim=(0, None))
        times.legend()
        _series(scores, xs, result, "rdam", 1, SCORE, marker="o")
        scores.set(xlabel=f"delay between two operations ({delay_unit})", xscale="log", ylabel="score (RDAM)", ylim=(0, 1))
        scores.xaxis.set(major_locator=ticker.LogLocator(subs=(1, 2, 5)), major_formatter="%g", minor_formatter=ticker.NullFormatter())


def _draw_links(results: list[LinkResult], path: pathlib.Path) -> None:
    """Table 5.4: the scores of both ends of a connection."""
    measured = [result for result in results if not result.obstacle]
    missing = "".join(f" {result.link.name} was not measured." for result in results if result.obstacle)
    caption = f"As the thesis's table 5.4: what the clients, two at a time, and their server lost over networks of different rates.{missing}"
    with _drawing(caption, path, figsize=(WIDTH, 2.8)) as axes:
        for offset, role, color in ((-0.2, "client", SCORE), (0.2, "server", LEAST)):
            places = [index + offset for index in range(len(measured))]
            bars = axes.bar(places, [result.measured[0].of(role).score for result in measured], width=0.36, color=color, label=role)
            axes.bar_label(bars, fmt="%.3f", fontsize=8)
        axes.set_xticks(range(len(measured)), [result.link.name for result in measured])
        axes.set(xlabel="network (rate)", ylabel="score (RDAM)", ylim=(0, 1))
        axes.grid(visible=False, axis="x")
        axes.legend()


def _draw_sequences(sequences: Sequences, path: pathlib.Path) -> None:
    """The idea of figure 4.1: the repetitions of one sequence of a thread, and what each lost against the fastest."""
    with _drawing(sequences.caption, path, 2, 1, figsize=(WIDTH, 4.6), height_ratios=(2, 2)) as (whole, part):
        size, unit = _unit(max(sequences.durations))
        span, span_unit = _unit(sequences.starts[-1])
        whole.plot(sequences.starts / span, sequences.durations / size, ".", color=MEAN, markersize=2)
        whole.axhline(sequences.fastest / size, color=SCORE, linewidth=1, label="the fastest")
        whole.set(xlabel=f"time since the thread began ({span_unit})", yscale="log", ylabel=f"duration ({unit})")
        whole.yaxis.set_major_formatter("%g")
        whole.legend(loc="upper right")
        starts, durations = sequences.window
        window, window_unit = _unit(starts[-1] + durations[-1] - starts[0])
        left, fastest = (starts - starts[0]) / window, sequences.fastest / window
        part.bar(left, 1, fastest, align="edge", color=LEAST, label="as the fastest")
        part.bar(left + fastest, 1, durations / window - fastest, align="edge", color=LOST, label="lost")
        part.set(xlabel=f"time ({window_unit})", yticks=[], ylabel="the operation", ylim=(0, 2))
        part.legend(loc="upper right", ncols=2)


def draw(results: Results, sequences: Sequences | None, folder: pathlib.Path) -> None:
    """All there are, each under the name by which the page shows it."""
    for result in results.sweeps:
        _draw_sweep(result, folder / f"{result.sweep.name}.svg")
    if any(not result.obstacle for result in results.links):
        _draw_links(results.links, folder / "network.svg")
    if sequences is not None:
        _draw_sequences(sequences, folder / "sequences.svg")
