"""Numbers as a person reads them, and the report on the terminal."""

from collections.abc import Sequence

from . import several
from .benchmarks import Sweep
from .summary import (HIGHEST_CONTROL, LEAST_FINDING, LEAST_SPAN, MOST_VARIATION, ControlResult, CostResult, FindingResult, LinkResult, Results,
                      SweepResult, number)

UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))


def duration(ns: float) -> str:
    """Three digits and the unit: 1.25 µs."""
    for size, unit in UNITS:
        if ns >= size * 0.9995:
            return f"{_three_digits(ns / size)} {unit}"
    return f"{_three_digits(ns)} ns"


def _three_digits(value: float) -> str:
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f}"


def counted(number_of: int, what: str) -> str:
    return f"{number_of} {what}" if number_of == 1 else f"{number_of} {what}s"


def percent(share: float | None) -> str:
    return "—" if share is None else f"{share * 100:.1f} %"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Columns of equal width, the first one to the left."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = []
    for row in [head, *rows]:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)


def extent(scores: list[float]) -> str:
    return f"{min(scores):.3f}–{max(scores):.3f}"


def point_rows(result: SweepResult) -> list[list[str]]:
    rows = []
    for point in result.points:
        rows.append([duration(point.settings["delay_ns"]), duration(point.median("mean_ns")), duration(point.median("min_ns")),
                     f"{point.median('rdam'):.3f}", extent([one["rdam"] for one in point.rounds])])
    return rows


POINT_HEAD = ["delay", "mean", "minimum", "score", "of the rounds"]


def verdict(result: SweepResult) -> str:
    if not result.measurable:
        return f"not measurable here: the mean varies {number(result.span, '.2f')}× over the sweep, less than {LEAST_SPAN:.0f}×"
    return "at least the thesis's" if result.reaches_thesis(result.rho) else "below the thesis's"


def of_rounds(result: SweepResult) -> str:
    rhos = [rho for rho in result.rho_of_rounds if rho is not None]
    if not rhos:
        return "—"
    return f"{min(rhos):.3f} to {max(rhos):.3f}; {result.good_rounds} of {len(result.rho_of_rounds)} reach the thesis's"


def of_minimum(result: SweepResult) -> str:
    said = "constant (below" if result.minimum_stays else "NOT constant (not below"
    return f"{percent(result.minimum_variation)}, {said} {MOST_VARIATION * 100:.0f} %)"


def control_verdict(result: ControlResult) -> str:
    return "yes" if result.scored.low else "NO"


def control_delay(result: ControlResult) -> str:
    return duration(result.scored.settings["delay_ns"]) if result.control.delayed else "any"


def controls_in_short(results: list[SweepResult]) -> str:
    """How many of all controls are as low as a control should be, at whatever delay, and which are not."""
    every = [(result, one) for result in results for one in result.controls]
    high = [f"{result.sweep.name}, {one.control.name}, {control_delay(one)} ({one.scored.median('rdam'):.3f})" for result, one in every
            if not one.scored.low]
    which = f": {'; '.join(high)}" if high else ""
    return f"Of {counted(len(every), 'control')}, at all delays, {len(every) - len(high)} are below {HIGHEST_CONTROL} and {len(high)} are not{which}."


def workload(sweep: Sweep, settings: dict) -> str:
    return f"{settings['threads']} threads, {settings['iterations']:,} calls each, {len(sweep.delays_ns)} delays"


def sweep_text(result: SweepResult) -> str:
    sweep = result.sweep
    rounds = len(result.points[0].rounds)
    lines = [f"{sweep.name} ({sweep.title}): {workload(sweep, result.points[0].settings)}, medians of {counted(rounds, 'round')}",
             table(POINT_HEAD, point_rows(result)),
             f"  ρ of mean and score {number(result.rho)}, thesis {sweep.thesis_rho}: {verdict(result)} (single rounds {of_rounds(result)})",
             f"  the mean varies {number(result.span, '.2f')}×; the minimum's coefficient of variation is {of_minimum(result)}"]
    lines += [f"  control, {one.control.name}, {control_delay(one)}: score {one.scored.median('rdam'):.3f} instead of "
              f"{one.disturbed.median('rdam'):.3f}, below {HIGHEST_CONTROL}: {control_verdict(one)}" for one in result.controls]
    if result.lost_calls:
        lines.append(f"  {result.lost_calls} calls are not part of any score: dropped, or not seen to end")
    return "\n".join(lines)


def _hint_words(result: FindingResult) -> str:
    words = [f"{' '.join(filter(None, (kind or 'none', parameter and f'({parameter})')))} {count}×" for kind, parameter, count in result.hints]
    return ", ".join(words)


def finding_verdict(result: FindingResult) -> str:
    if result.finding.depends_on:
        rounds = f"in {result.flagged_rounds} of {counted(len(result.scored.rounds), 'round')}"
        return f"flagged as a false positive {rounds}" if result.flagged else f"NOT flagged as a false positive, but {rounds}"
    if result.control is None:
        return "control" if result.scored.low else f"control, not below {HIGHEST_CONTROL}"
    times = result.times_the_control
    if times is not None and times < LEAST_FINDING:
        return f"not measurable here: {times:.1f} times the control's"
    return "—" if times is None else f"{times:.1f} times the control's"


def finding_rows(results: list[FindingResult]) -> list[list[str]]:
    rows = []
    for result in results:
        rows.append([f"{result.finding.name}, {result.finding.variant}", f"{result.scored.median('rdam'):.3f}",
                     duration(result.scored.median("mean_ns")), duration(result.scored.median("min_ns")),
                     _hint_words(result), number(result.left), finding_verdict(result)])
    return rows


FINDING_HEAD = ["benchmark", "score", "mean", "minimum", "first hint of the rounds", "with the parameter as key", "verdict"]


def interval(result: CostResult) -> str:
    return f"{result.interval[0]:.3f}–{result.interval[1]:.3f}" if result.interval else "—"


def cost_rows(results: list[CostResult]) -> list[list[str]]:
    return [[f"{result.cost.name}, {result.cost.label}", duration(result.median("plain_s") * 1e9), duration(result.median("recorded_s") * 1e9),
             number(result.ratio), interval(result), str(len(result.pairs))] for result in results]


COST_HEAD = ["benchmark", "without", "with rdam", "ratio", "95 % interval", "pairs"]


def link_rows(results: list[LinkResult]) -> list[list[str]]:
    rows = []
    for result in results:
        for clients in result.link.clients:
            name = f"{result.link.name}, {counted(clients, 'client')}"
            if result.obstacle:
                rows.append([name, "not measured", *[""] * (len(LINK_HEAD) - 2)])
                continue
            cells = [[f"{result.median(clients, role, 'rdam'):.3f}", extent(result.of_rounds(clients, role, "rdam")),
                      duration(result.median(clients, role, "mean_ns")), duration(result.median(clients, role, "min_ns"))]
                     for role in ("client", "server")]
            rows.append([name, *cells[0], *cells[1]])
    return rows


LINK_HEAD = ["network", "client's score", "of the rounds", "mean", "minimum", "server's score", "of the rounds", "mean", "minimum"]


def link_notes(results: list[LinkResult]) -> list[str]:
    return [f"{result.link.name}: not measured: {result.obstacle}" for result in results if result.obstacle]


def report(results: Results, uncontrolled: list[str], runs: Sequence[several.Column] = ()) -> str:
    parts = [sweep_text(result) for result in results.sweeps]
    if results.sweeps:
        parts.append(controls_in_short(results.sweeps))
    if results.findings:
        parts.append("\n".join(["findings on real programs (§5.2.5): medians", table(FINDING_HEAD, finding_rows(results.findings))]))
    if results.links:
        parts.append("\n".join(["network (table 5.4): medians", table(LINK_HEAD, link_rows(results.links)),
                                *(f"  {note}" for note in link_notes(results.links))]))
    if results.costs:
        parts.append("\n".join(["cost of recording (table 5.3): seconds of the program itself, median of the ratios of neighbouring runs,",
                                "interval from order statistics", table(COST_HEAD, cost_rows(results.costs))]))
    if runs:
        parts.append("\n".join(["several runs:", table(*several.table(runs))]))
    parts.append("\n".join(["not controlled:", *(f"  {sentence}" for sentence in uncontrolled)]))
    return "\n\n".join(parts)
