"""What the measurements come to: medians over rounds, ρ, and what is above or below a bound."""

import collections
import dataclasses
import itertools

from . import plan, statistics
from .benchmarks import FINDINGS, LINKS, Control, Cost, Finding, Link, Sweep
from .journal import Measurements, key_of

LEAST_SPAN = 2.0  # times by which the mean must vary over a sweep for ρ to mean something
HIGHEST_CONTROL = 0.05
MOST_VARIATION = 0.1  # of the minimum over a sweep: its coefficient of variation
LEAST_FINDING = 2.0  # times the control's score from which a disturbance can be told from what the machine does


@dataclasses.dataclass(frozen=True)
class Scored:
    """A point or a control: every round of it."""

    settings: dict
    rounds: list[dict]

    def median(self, figure: str) -> float:
        return statistics.median([one[figure] for one in self.rounds])

    @property
    def low(self) -> bool:
        """As the score of a control must be."""
        return self.median("rdam") < HIGHEST_CONTROL


@dataclasses.dataclass(frozen=True)
class ControlResult:
    """A control at one delay."""

    control: Control
    scored: Scored
    disturbed: Scored  # the sweep's point with the same delay
    bounded: bool  # whether its score must be low


@dataclasses.dataclass(frozen=True)
class SweepResult:
    sweep: Sweep
    points: list[Scored]
    controls: list[ControlResult]

    def series(self, figure: str) -> list[float]:
        return [point.median(figure) for point in self.points]

    @property
    def rho(self) -> float | None:
        return statistics.pearson(self.series("mean_ns"), self.series("rdam"))

    @property
    def rho_of_rounds(self) -> list[float | None]:
        rounds = min(len(point.rounds) for point in self.points)
        return [statistics.pearson([point.rounds[i]["mean_ns"] for point in self.points], [point.rounds[i]["rdam"] for point in self.points])
                for i in range(rounds)]

    def reaches_thesis(self, rho: float | None) -> bool:
        return rho is not None and rho >= self.sweep.thesis_rho

    @property
    def span(self) -> float | None:
        return statistics.span(self.series("mean_ns"))

    @property
    def minimum_variation(self) -> float | None:
        return statistics.variation(self.series("min_ns"))

    @property
    def good_rounds(self) -> int:
        """How many single rounds reach the thesis's ρ."""
        return sum(map(self.reaches_thesis, self.rho_of_rounds))

    @property
    def minimum_stays(self) -> bool:
        return self.minimum_variation is not None and self.minimum_variation < MOST_VARIATION

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
    def hints(self) -> list[tuple[str, str, int]]:
        """What came first among the hints: kind, parameter, in how many rounds; the commonest first."""
        first = [one["hint"] for one in self.scored.rounds]
        counted = collections.Counter((hint.get("kind", ""), hint.get("parameter", "")) for hint in first)
        return [(kind, parameter, count) for (kind, parameter), count in counted.most_common()]

    @property
    def times_the_control(self) -> float | None:
        """How many times as much was lost as without interference."""
        if self.control is None or self.control.median("rdam") <= 0:
            return None
        return self.scored.median("rdam") / self.control.median("rdam")

    def _tells(self, hint: dict) -> bool:
        return hint.get("kind") == "parameter" and hint.get("parameter") == self.finding.depends_on

    @property
    def flagged_rounds(self) -> int:
        """In how many the hints tell the false positive, by what it depends on."""
        return sum(self._tells(one["hint"]) for one in self.scored.rounds)

    @property
    def flagged(self) -> bool:
        return 2 * self.flagged_rounds > len(self.scored.rounds)

    @property
    def left(self) -> float | None:
        """The score that is left with that as a key."""
        return statistics.median([one["rdam_with_key"] for one in self.scored.rounds if self._tells(one["hint"])])


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
    rounds: dict[int, list[dict]]  # by the number of clients: client, server, as a point's; empty where it could not be measured
    obstacle: str | None = None

    def of_rounds(self, clients: int, role: str, figure: str) -> list[float]:
        return [one[role][figure] for one in self.rounds[clients]]

    def median(self, clients: int, role: str, figure: str) -> float:
        return statistics.median(self.of_rounds(clients, role, figure))

    @property
    def shared(self) -> float:
        """The clients' score where they share it."""
        return self.median(max(self.link.clients), "client", "rdam")

    @property
    def alone(self) -> float:
        return self.median(min(self.link.clients), "client", "rdam")

    @property
    def of_server(self) -> float:
        return self.median(max(self.link.clients), "server", "rdam")


def _failures_of_links(links: list[LinkResult]) -> list[str]:
    """Of table 5.4: the clients' score falls as the network gets faster, the server's stays low. Where a rate is limited, it is what the
    clients share."""
    found = [f"network: the clients' score over {faster.link.name} is {faster.shared:.3f}, not below the {slower.shared:.3f} over "
             f"{slower.link.name}" for slower, faster in itertools.pairwise(links) if not faster.shared < slower.shared]
    for one in links:
        if one.link.rate_mbit is None:
            continue
        if not one.of_server < HIGHEST_CONTROL:
            found.append(f"network, {one.link.name}: the server's score is {one.of_server:.3f}")
        if not one.shared >= LEAST_FINDING * one.alone:
            found.append(f"network, {one.link.name}: the clients' score of {one.shared:.3f} is not told from the {one.alone:.3f} of one alone")
    return found


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
            if result.measurable and not result.reaches_thesis(result.rho):
                found.append(f"{result.sweep.name}: ρ {number(result.rho)} is below the thesis's {result.sweep.thesis_rho}")
            found += [f"{result.sweep.name}, {one.control.name}: a control with a score of {one.scored.median('rdam'):.3f}"
                      for one in result.controls if one.bounded and not one.scored.low]
        found += [f"{one.finding.name}, {one.finding.variant}: a false positive that the hints do not tell" for one in self.findings
                  if one.finding.depends_on and not one.flagged]
        return found + _failures_of_links([one for one in self.links if not one.obstacle])


def number(value: float | None, form: str = ".3f") -> str:
    return "—" if value is None else format(value, form)


def swept(sweep: Sweep, rounds: dict[str, list[dict]], extent: plan.Extent) -> SweepResult:
    points = [Scored(settings, rounds[group]) for group, settings in plan.points(sweep, extent)]
    controls = [ControlResult(control, Scored(settings, rounds[group]), points[which], bounded=which == sweep.middle)
                for control in sweep.controls for which, group, settings in plan.control_points(sweep, control, extent)]
    return SweepResult(sweep, points, controls)


def _findings(rounds: dict[str, list[dict]], extent: plan.Extent) -> list[FindingResult]:
    there = [one for one in FINDINGS if one.name in extent.only]
    scored = {(one.name, one.variant): Scored({}, rounds[plan.group_of_finding(one)]) for one in there}
    return [FindingResult(one, scored[one.name, one.variant], scored.get((one.name, one.control))) for one in there]


def rounds_of(tasks: list[plan.Task], place: dict, measured: Measurements) -> dict[str, list[dict]]:
    """By group. All of the tasks have been measured."""
    rounds: dict[str, list[dict]] = {}
    for task in tasks:
        rounds.setdefault(task.group, []).append(measured.result(key_of(plan.identified(task, place))))
    return rounds


def gather(extent: plan.Extent, journal: Measurements, place: dict, obstacles: dict[str, str]) -> Results:
    """Of a run in which every task has been measured."""
    rounds = rounds_of(plan.tasks(extent, obstacles), place, journal)
    sweeps = [swept(sweep, rounds, extent) for sweep in extent.chosen_sweeps()]
    findings = _findings(rounds, extent)
    costs = [CostResult(cost, rounds[plan.group_of_cost(cost)]) for cost in extent.chosen_costs()]
    links = [LinkResult(link, {clients: rounds.get(plan.group_of_link(link, clients), []) for clients in link.clients},
                        obstacles.get(link.name)) for link in LINKS if "network" in extent.only]
    return Results(sweeps, findings, costs, links, [one["mean_ns"] for one in rounds["cache line"]])
