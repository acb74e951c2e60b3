"""The drawings, as SVG that is the same whenever the figures are."""

import pathlib
import textwrap

from .summary import LinkResult, SweepResult, number
from .text import UNITS, counted
from .trouble import Trouble

try:
    import matplotlib

    from .sequences import Sequences
except ImportError as missing:
    raise Trouble(f"{missing.name} is not installed: 'apt install python3-matplotlib python3-numpy'") from None
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


def _save(figure, caption: str, path: pathlib.Path) -> None:
    lines = textwrap.wrap(caption, CAPTION_WIDTH)
    height = figure.get_figheight()
    room = 0.19 * len(lines) + 0.08
    figure.set_figheight(height + room)
    figure.tight_layout(rect=(0, room / (height + room), 1, 1))
    figure.text(0.02, 0.06 / (height + room), "\n".join(lines), fontsize=8, verticalalignment="bottom")
    figure.savefig(path, format="svg", metadata={"Date": None})
    pyplot.close(figure)


def _extent(axes, xs: list[float], result: SweepResult, figure: str, size: float, color: str) -> None:
    lows, highs = ([bound(one[figure] for one in point.rounds) / size for point in result.points] for bound in (min, max))
    axes.vlines(xs, lows, highs, color=color, linewidth=1, alpha=0.5)


def caption_of(result: SweepResult) -> str:
    sweep = result.sweep
    rounds = counted(len(result.points[0].rounds), "round")
    return (f"As the thesis's figure {sweep.figure}: {sweep.title}, {sweep.threads} threads. Medians of {rounds}, thin lines from the least to the "
            f"greatest round. ρ of mean and score {number(result.rho)}, the thesis's {sweep.thesis_rho}.")


def draw_sweep(result: SweepResult, path: pathlib.Path) -> None:
    """Completion time and score over the delay."""
    delay_size, delay_unit = _unit(result.sweep.delays_ns[-1])
    size, unit = _unit(max(result.series("mean_ns")))
    xs = [delay / delay_size for delay in result.sweep.delays_ns]
    with pyplot.rc_context(STYLE):
        figure, (times, scores) = pyplot.subplots(2, 1, sharex=True, figsize=(WIDTH, 4.4), height_ratios=(3, 2))
        for name, label, color, marker in (("mean_ns", "mean", MEAN, "o"), ("min_ns", "minimum", LEAST, "s")):
            _extent(times, xs, result, name, size, color)
            times.plot(xs, [value / size for value in result.series(name)], color=color, marker=marker, markersize=4, label=label)
        times.set_ylabel(f"completion time ({unit})")
        times.set_ylim(bottom=0)
        times.legend()
        _extent(scores, xs, result, "rdam", 1, SCORE)
        scores.plot(xs, result.series("rdam"), color=SCORE, marker="o", markersize=4)
        scores.set_ylabel("score (RDAM)")
        scores.set_ylim(0, 1)
        scores.set_xscale("log")
        scores.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        scores.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
        scores.xaxis.set_minor_formatter(ticker.NullFormatter())
        scores.set_xlabel(f"delay between two operations ({delay_unit})")
        _save(figure, caption_of(result), path)


def draw_links(results: list[LinkResult], path: pathlib.Path) -> None:
    """Table 5.4: the scores of both ends of a connection."""
    measured = [result for result in results if not result.obstacle]
    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(figsize=(WIDTH, 2.8))
        for offset, role, color in ((-0.2, "client", SCORE), (0.2, "server", LEAST)):
            places = [index + offset for index in range(len(measured))]
            bars = axes.bar(places, [result.median(result.link.clients[0], role, "rdam") for result in measured], width=0.36, color=color, label=role)
            axes.bar_label(bars, fmt="%.3f", fontsize=8)
        axes.set_xticks(range(len(measured)), [result.link.name for result in measured])
        axes.set_xlabel("network (rate)")
        axes.set_ylabel("score (RDAM)")
        axes.set_ylim(0, 1)
        axes.grid(visible=False, axis="x")
        axes.legend()
        missing = "".join(f" {result.link.name} was not measured." for result in results if result.obstacle)
        _save(figure, "As the thesis's table 5.4: what the clients, two at a time, and their server lost over networks of different "
              f"rates.{missing}", path)


def draw_sequences(sequences: Sequences, path: pathlib.Path) -> None:
    """The idea of figure 4.1: the repetitions of one sequence of a thread, and what each lost against the fastest."""
    with pyplot.rc_context(STYLE):
        figure, (whole, part) = pyplot.subplots(2, 1, figsize=(WIDTH, 4.6), height_ratios=(2, 2))
        size, unit = _unit(max(sequences.durations))
        span, span_unit = _unit(sequences.starts[-1])
        whole.plot([start / span for start in sequences.starts], [duration / size for duration in sequences.durations], ".", color=MEAN,
                   markersize=2, rasterized=False)
        whole.axhline(sequences.fastest / size, color=SCORE, linewidth=1, label="the fastest")
        whole.set_yscale("log")
        whole.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
        whole.set_ylabel(f"duration ({unit})")
        whole.set_xlabel(f"time since the thread began ({span_unit})")
        whole.legend(loc="upper right")
        begin = sequences.window[0][0]
        window, window_unit = _unit(sum(sequences.window[-1]) - begin)
        for start, duration in sequences.window:
            left = (start - begin) / window
            part.barh(0, sequences.fastest / window, left=left, height=1, align="edge", color=LEAST)
            part.barh(0, (duration - sequences.fastest) / window, left=left + sequences.fastest / window, height=1, align="edge", color=LOST)
        part.set_ylim(0, 2)
        part.set_yticks([])
        part.set_ylabel("the operation")
        part.set_xlabel(f"time ({window_unit})")
        part.legend(handles=[matplotlib.patches.Patch(color=LEAST, label="as the fastest"), matplotlib.patches.Patch(color=LOST, label="lost")],
                    loc="upper right", ncols=2)
        _save(figure, sequences.caption, path)
