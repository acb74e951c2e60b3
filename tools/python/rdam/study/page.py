"""A study as one page for a browser: it loads nothing and needs no scripts. Its pictures are the papers': violins with median, quartiles and every
run (Mazouz, Touati, Barthou, inria-00514548, section 2.2), the order of time, and run time against what may explain it."""

import dataclasses
import html
import math
import pathlib
from collections.abc import Sequence

import numpy

from rdam.study import present, verdicts
from rdam.study.results import CAUSES, MEASURES, Metric, Row, Study

STYLE = pathlib.Path(__file__).with_name("page.css")
WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 70, 12, 12, 44
WIDEST = 70  # half of a violin
MOST_CAUSES = 6  # functions whose lost time has a picture


@dataclasses.dataclass(frozen=True)
class Scale:
    """Values between `low` and `high` on pixels from `begin` to `end`."""

    low: float
    high: float
    begin: float
    end: float

    @classmethod
    def of(cls, values, begin: float, end: float) -> "Scale":
        low, high = float(numpy.min(values)), float(numpy.max(values))
        margin = (high - low or abs(high) or 1) * 0.05
        return cls(low - margin, high + margin, begin, end)

    def __call__(self, value: float) -> float:
        return self.begin + (value - self.low) / (self.high - self.low) * (self.end - self.begin)

    def ticks(self) -> list[float]:
        """Some three to six round values."""
        step = 10 ** math.floor(math.log10((self.high - self.low) / 3))
        step *= next(factor for factor in (1, 2, 5, 10) if (self.high - self.low) / (step * factor) <= 6)
        first = math.ceil(self.low / step)
        return [number * step for number in range(first, math.floor(self.high / step) + 1)]


def colour(number: int) -> str:
    """Far from those of its neighbours, and readable on dark and on light paper."""
    return f"hsl({number * 137.5 % 360:.0f} 60% 48%)"


def text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def dot(x: float, y: float, number: int, words: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{colour(number)}" fill-opacity=".75"><title>{html.escape(words)}</title></circle>'


def value_of(value: float, unit: str) -> str:
    if value == 0:
        return "0"
    return present.scaled(value) if unit == "ns" else f"{value:.4g}"


def up_axis(scale: Scale, unit: str, right: float) -> list[str]:
    return [part for tick in scale.ticks() for part in (line(LEFT, scale(tick), right, scale(tick), "grid-line"),
                                                        text(LEFT - 6, scale(tick) + 4, value_of(tick, unit), "end"))]


def picture(parts: Sequence[str], width: int, label: str) -> str:
    return (f'<div class="scroll"><svg viewBox="0 0 {width} {HEIGHT}" style="min-width:{width if width > WIDTH else 0}px" role="img" '
            f'aria-label="{html.escape(label)}">{"".join(parts)}</svg></div>')


def figure(title: str, drawing: str, words: str = "") -> str:
    return f"<figure><figcaption>{html.escape(title)}</figcaption>{drawing}{f'<p>{html.escape(words)}</p>' if words else ''}</figure>"


def beside(middle: float, half: float, run: int) -> float:
    """Runs of equal time lie side by side: the same place in each drawing."""
    return middle + half * 0.6 * ((run * 0.618) % 1 - 0.5)


def violin(times: numpy.ndarray, middle: float, half: float, scale: Scale, number: int, unit: str) -> list[str]:
    """Its width is the density of the runs; of equal runs there is none."""
    from scipy import stats
    parts = []
    if numpy.ptp(times) > 0:
        at = numpy.linspace(times.min(), times.max(), 80)
        density = stats.gaussian_kde(times)(at)
        outline = [(middle + side * half * wide / density.max(), scale(value))
                   for side, order in ((1, 1), (-1, -1)) for value, wide in list(zip(at, density, strict=True))[::order]]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in outline)
        parts.append(f'<polygon points="{points}" fill="{colour(number)}" fill-opacity=".22" stroke="{colour(number)}"/>')
    first, median, third = numpy.quantile(times, (0.25, 0.5, 0.75))
    parts += [dot(beside(middle, half, i), scale(value), number, value_of(value, unit)) for i, value in enumerate(times)]
    parts.append(line(middle, scale(first), middle, scale(third), "box"))
    parts.append(f'<circle class="median" cx="{middle:.1f}" cy="{scale(median):.1f}" r="4"><title>median {value_of(median, unit)}</title></circle>')
    return parts


def violins(settings: Sequence[tuple[int, numpy.ndarray]], unit: str, label: str, inside: Sequence[tuple[numpy.ndarray, numpy.ndarray]] = ()) -> str:
    """Of (setting's number, its runs). `inside` has the least and the greatest repetition of each of its runs."""
    width = max(WIDTH, LEFT + RIGHT + 90 * len(settings))
    scale = Scale.of(numpy.concatenate([values for _, values in settings] + [limits for pair in inside for limits in pair]), HEIGHT - BOTTOM, TOP)
    each = (width - LEFT - RIGHT) / len(settings)
    parts = up_axis(scale, unit, width - RIGHT)
    for place, (number, values) in enumerate(settings):
        middle, half = LEFT + each * (place + 0.5), min(0.45 * each, WIDEST)
        for i, (least, greatest) in enumerate(zip(*inside[place], strict=True) if inside else ()):
            across = beside(middle, half, i)
            parts.append(line(across, scale(least), across, scale(greatest), "inside"))
        parts += violin(values, middle, half, scale, number, unit)
        parts.append(text(middle, HEIGHT - BOTTOM + 18, str(number + 1)))
    return picture(parts, width, f"{label} of every run by setting")


def scattered(points: Sequence[tuple[int, numpy.ndarray, numpy.ndarray]], unit: str, across: str) -> str:
    """Of (setting, across, run time)."""
    right = Scale.of(numpy.concatenate([x for _, x, _ in points]), LEFT, WIDTH - RIGHT)
    up = Scale.of(numpy.concatenate([y for _, _, y in points]), HEIGHT - BOTTOM, TOP)
    parts = up_axis(up, "ns", WIDTH - RIGHT)
    parts += [text(right(tick), HEIGHT - BOTTOM + 16, value_of(tick, unit)) for tick in right.ticks()]
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, across))
    parts += [dot(right(x), up(y), number, f"{value_of(x, unit)}: {present.scaled(y)}")
              for number, xs, ys in points for x, y in zip(xs, ys, strict=True)]
    return picture(parts, WIDTH, f"run time against {across}")


def of_measure(rows: Sequence[Row], name: str, words: str = "") -> str:
    drawn = violins([(number, row.setting.values(name)) for number, row in enumerate(rows)], MEASURES[name].unit, MEASURES[name].name)
    return figure(f"{MEASURES[name].name[:1].upper()}{MEASURES[name].name[1:]} by setting", drawn, words)


def of_metrics(rows: Sequence[Row]) -> list[str]:
    """One picture of the variation between runs and inside them for each metric."""
    found: dict[str, list[tuple[int, Metric]]] = {}
    for number, row in enumerate(rows):
        for metric in row.setting.metrics():
            found.setdefault(metric.name, []).append((number, metric))
    figures = []
    for name, each in found.items():
        repeated = any(not numpy.isnan(metric.inside).all() for _, metric in each)
        inside = [(metric.least, metric.greatest) for _, metric in each] if repeated else ()
        words = "Dots are the medians of runs; a line spans the repetitions inside a run." if repeated else ""
        figures.append(figure(f"{name} by setting", violins([(number, metric.medians) for number, metric in each], "", name, inside), words))
    return figures


def in_order(study: Study, rows: Sequence[Row]) -> str:
    begin = study.lines[0]["at"]
    points = [(number, numpy.array([(run["at"] - begin) * 1e9 for run in row.setting.lines]), row.setting.values("wall_ns"))
              for number, row in enumerate(rows)]
    return figure("Order of time", scattered(points, "ns", "when the run began, after the first"),
                  "A trend, or a step, comes from the machine: it affects all settings alike, as each round has every setting.")


def against(rows: Sequence[Row]) -> list[str]:
    """Run time against what may explain it, where that varies."""
    figures = []
    for name in CAUSES:
        values = [row.setting.values(name) for row in rows]
        if any(value is None for value in values) or numpy.ptp(numpy.concatenate(values)) == 0:
            continue
        points = [(number, value, row.setting.values("wall_ns")) for number, (row, value) in enumerate(zip(rows, values, strict=True))]
        figures.append(figure(f"Run time against {MEASURES[name].name}", scattered(points, MEASURES[name].unit, MEASURES[name].name)))
    recorded = [(number, row, row.setting.lost()) for number, row in enumerate(rows) if len(row.setting.recorded) >= 3]
    total: dict[str, float] = {}
    for _, _, lost in recorded:
        for name, values in lost.items():
            total[name] = total.get(name, 0) + float(values.sum())
    for name in sorted(total, key=total.get, reverse=True)[:MOST_CAUSES]:
        points = [(number, lost[name], row.setting.program_ns()) for number, row, lost in recorded if name in lost]
        if numpy.ptp(numpy.concatenate([x for _, x, _ in points])) > 0:
            figures.append(figure(f"Recorded runs: run time against time lost in {name}", scattered(points, "ns", f"time lost in {name}")))
    return figures


def table_of(head: Sequence[str], body: Sequence[Sequence[str]], chips: bool = False) -> str:
    """With `chips` each row has the colour of its setting. Nothing without a body."""
    if not body:
        return ""
    cells = "".join(f'<th class="{"n" if i else "name"}">{html.escape(cell)}</th>' for i, cell in enumerate(head))
    marks = [f'<span class="chip" style="background:{colour(number)}"></span>' if chips else "" for number in range(len(body))]
    lines = "".join("<tr>" + "".join(f'<td class="{"n" if i else "name"}">{"" if i else mark}{html.escape(cell)}</td>' for i, cell in enumerate(row))
                    + "</tr>" for mark, row in zip(marks, body, strict=True))
    return f'<div class="scroll"><table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table></div>'


def section(title: str, lines: Sequence[str]) -> str:
    return f"<h2>{html.escape(title)}</h2>" + "".join(f"<p>{html.escape(each)}</p>" for each in lines if each) if lines else ""


def page(study: Study, rows: Sequence[Row]) -> str:
    """The whole document."""
    head, body = present.times_table(rows)
    numbered = [[f"{number + 1}. {row[0]}", *row[1:]] for number, row in enumerate(body)]
    lost, recorded = present.recordings(rows)
    printed, declared, of_metrics_judged = present.metrics(rows)
    request = study.head["request"]
    command = " ".join(study.head["command"]) or ", ".join([*request.get("setting", []), *request.get("program", [])])
    title, compared, limits = present.comparisons(rows)
    judged = [f"{label}: {verdicts.sentence(verdict)}." + "".join(f" {note[:1].upper()}{note[1:]}." for note in verdict.notes)
              for label, verdict in compared]
    parts = [f"<h1>{html.escape(command)}</h1>", f'<p class="faint">{len(study.lines)} runs by rdam study, seed {study.head["seed"]}</p>',
             table_of(head, numbered, chips=True),
             section(title, [*judged, *limits]), table_of(*present.programs_table(rows)),
             section("Over the runs", present.series_of(rows)), section("Where the spread between runs comes from", present.why(rows)),
             section("Recorded runs", recorded), table_of(*lost),
             "<h2>What runs print</h2>" if printed[1] else "", table_of(*printed), section(declared, of_metrics_judged),
             section("Parallel regions", present.regions(study, rows)), section("Memory", present.placed_memory(rows)),
             section("The machine", present.remarks(study)), '<h2>Every run</h2><div class="grid">',
             of_measure(rows, "wall_ns", "Dots are runs, the bar spans the quartiles, the ring is the median."), of_measure(rows, "cpu_ns"),
             *of_metrics(rows), in_order(study, rows), *against(rows), "</div>"]
    return ("<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width,initial-scale=1'>"
            "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">"
            f"<title>{html.escape(command)}: rdam study</title><style>{STYLE.read_text()}{OWN_STYLE}</style>"
            f"<main id=app>{''.join(parts)}</main></html>\n")


OWN_STYLE = """
svg { display: block; width: 100%; height: auto; font-size: 12px; fill: var(--ink); }
svg .grid-line { stroke: var(--line); } svg .box { stroke: var(--ink); stroke-width: 5; }
svg .inside { stroke: var(--ink); stroke-opacity: .35; } .chip { display: inline-block; width: .7em; height: .7em; margin-right: .4em; }
svg .median { fill: var(--paper); stroke: var(--ink); stroke-width: 2; }
"""
