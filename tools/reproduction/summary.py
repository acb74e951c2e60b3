"""What the measurements come to: medians over rounds, ρ, and what is above or below a bound."""

import dataclasses
import json

from . import plan, statistics
from .benchmarks import COSTS, FINDINGS, LINKS, SWEEPS, Control, Cost, Finding, Link, Sweep
from .journal import Journal, key_of

LEAST_SPAN = 2.0  # times by which the mean must vary over a sweep for ρ to mean something
HIGHEST_CONTROL = 0.05
LEAST_FINDING = 2.0  # times the control's score from which a disturbance can be told from what the machine does


@dataclasses.dataclass(frozen=True)
class Scored:
    """A point or a control: every round of it."""

    settings: dict
    rounds: list[dict]

    def median(self, figure: str) -> float:
        return statistics.median([one[figure] for one in self.rounds])


@dataclasses.dataclass(frozen=True)
class SweepResult:
    sweep: Sweep
    points: list[Scored]
    controls: list[tuple[Control, Scored]]

    def series(self, figure: str) -> list[float]:
        return [point.median(figure) for point in self.points]

    @property
    def in_the_middle(self) -> Scored:
        """The point that has the controls' delay."""
        return self.points[self.sweep.middle]

    @property
    def rho(self) -> float | None:
        return statistics.pearson(self.series("mean_ns"), self.series("rdam"))

    @property
    def rho_of_rounds(self) -> list[float | None]:
        rounds = min(len(point.rounds) for point in self.points)
        return [statistics.pearson([point.rounds[i]["mean_ns"] for point in self.points], [point.rounds[i]["rdam"] for point in self.points])
                for i in range(rounds)]

    @property
    def span(self) -> float | None:
        return statistics.span(self.series("mean_ns"))

    @property
    def minimum_variation(self) -> float | None:
        return statistics.variation(self.series("min_ns"))

    @property
    def measurable(self) -> bool:
        return self.span is not None and self.span >= LEAST_SPAN

    @property
    def lost_calls(self) -> int:
        """Calls that are in no score: dropped, or not seen to end."""
        return sum(one["unscored"] + one["dropped"] for point in self.points for one in point.rounds)


@dataclasses.dataclass(frozen=True)
class FindingResult:
    finding: Finding
    scored: Scored
    control: Scored | None = None

    @property
    def hint(self) -> dict | None:
        """The commonest of what came first among the hints; None if that is nothing."""
        hints = [json.dumps(one.get("hint")) for one in self.scored.rounds]
        return json.loads(max(hints, key=hints.count))

    @property
    def times_the_control(self) -> float | None:
        """How many times as much was lost as without interference."""
        if self.control is None or self.control.median("rdam") <= 0:
            return None
        return self.scored.median("rdam") / self.control.median("rdam")

    @property
    def flagged(self) -> bool:
        """As a false positive, by the hints."""
        return (self.hint or {}).get("kind") == "parameter"


@dataclasses.dataclass(frozen=True)
class CostResult:
    cost: Cost
    pairs: list[dict]

    def median(self, figure: str) -> float:
        return statistics.median([pair[figure] for pair in self.pairs])

    @property
    def ratios(self) -> list[float]:
        return [pair["recorded_s"] / pair["plain_s"] for pair in self.pairs if pair["plain_s"] > 0]

    @property
    def ratio(self) -> float | None:
        return statistics.median(self.ratios)

    @property
    def interval(self) -> tuple[float, float] | None:
        return statistics.median_interval(self.ratios)


@dataclasses.dataclass(frozen=True)
class LinkResult:
    link: Link
    rounds: list[dict]  # client, server: as a point's; empty where it could not be measured
    obstacle: str | None = None

    def median(self, role: str, figure: str) -> float | None:
        return statistics.median([one[role][figure] for one in self.rounds])


@dataclasses.dataclass(frozen=True)
class Results:
    sweeps: list[SweepResult]
    findings: list[FindingResult]
    costs: list[CostResult]
    links: list[LinkResult]
    cache_line_ns: list[float]  # of each round

    def failures(self) -> list[str]:
        """What --check is about, a sentence each."""
        found = []
        for result in self.sweeps:
            rho = result.rho
            if result.measurable and (rho is None or rho < result.sweep.thesis_rho):
                found.append(f"{result.sweep.name}: ρ {number(rho)} is below the thesis's {result.sweep.thesis_rho}")
            for control, scored in result.controls:
                if scored.median("rdam") >= HIGHEST_CONTROL:
                    found.append(f"{result.sweep.name}, {control.name}: a control with a score of {scored.median('rdam'):.3f}")
        found += [f"{one.finding.name}, {one.finding.variant}: a false positive that the hints do not tell" for one in self.findings
                  if one.finding.false_positive and not one.flagged]
        return found


def number(value: float | None, form: str = ".3f") -> str:
    return "—" if value is None else format(value, form)


def _findings(rounds: dict[str, list[dict]], extent: plan.Extent) -> list[FindingResult]:
    there = [one for one in FINDINGS if one.name in extent.only]
    scored = {(one.name, one.variant): Scored({}, rounds[plan.group_of_finding(one)]) for one in there}
    return [FindingResult(one, scored[one.name, one.variant], scored.get((one.name, one.control))) for one in there]


def gather(extent: plan.Extent, journal: Journal, place: dict, obstacles: dict[str, str]) -> Results:
    """Of a run in which every task has been measured."""
    rounds: dict[str, list[dict]] = {}
    for task in plan.tasks(extent, obstacles):
        rounds.setdefault(task.group, []).append(journal.result(key_of(plan.identified(task, place))))
    sweeps = []
    for sweep in SWEEPS:
        if sweep.name in extent.only:
            scored = [Scored(settings, rounds[group]) for group, settings in plan.points(sweep, extent)]
            count = len(sweep.delays_ns)
            sweeps.append(SweepResult(sweep, scored[:count], list(zip(sweep.controls, scored[count:], strict=True))))
    findings = _findings(rounds, extent)
    costs = [CostResult(cost, rounds[plan.group_of_cost(cost)]) for cost in COSTS if cost.name in extent.only]
    links = [LinkResult(link, rounds.get(plan.group_of_link(link), []), obstacles.get(link.name)) for link in LINKS
             if "network" in extent.only]
    return Results(sweeps, findings, costs, links, [one["mean_ns"] for one in rounds["cache line"]])
