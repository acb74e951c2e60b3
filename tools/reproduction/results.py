"""What the measurements come to: medians over rounds, ρ, and what is above or below a bound."""

import collections
import dataclasses
import itertools
import statistics

from rdam.study import series

from .benchmarks import LINKS, Control, Link, Setting, Sweep
from .journal import Measurements
from .plan import CLIENTS, Extent, Task

LEAST_SPAN = 2.0  # times by which the mean must vary over a sweep for ρ to mean something
HIGHEST_CONTROL = 0.05
MOST_VARIATION = 0.1  # of the minimum over a sweep: its coefficient of variation
LEAST_FINDING = 2.0  # times the control's score from which a disturbance can be told from what the machine does

Rounds = dict[str, list[dict]]  # what each round measured, by the setting's group


@dataclasses.dataclass(frozen=True)
class Measured:
    """A setting, and every round of it."""

    setting: Setting
    rounds: list[dict]

    def of_rounds(self, figure: str) -> list:
        return [one[figure] for one in self.rounds]

    def median(self, figure: str) -> float:
        return statistics.median(self.of_rounds(figure))

    @property
    def score(self) -> float:
        return self.median("rdam")

    @property
    def is_low(self) -> bool:
        """As the score of a control must be."""
        return self.score < HIGHEST_CONTROL

    def of(self, role: str) -> "Measured":
        """One side of a connection."""
        return Measured(self.setting, self.of_rounds(role))


@dataclasses.dataclass(frozen=True)
class ControlResult(Measured):
    """A control at one delay."""

    control: Control
    disturbed: Measured  # the sweep's point with the same delay
    bounded: bool  # whether its score must be low


def pearson(xs: list[float], ys: list[float]) -> float | None:
    """Pearson's ρ; None where one of the two does not vary."""
    return statistics.correlation(xs, ys) if len(set(xs)) > 1 and len(set(ys)) > 1 else None


@dataclasses.dataclass(frozen=True)
class SweepResult:
    sweep: Sweep
    iterations: int  # of each thread
    points: list[Measured]
    controls: list[ControlResult]

    def series(self, figure: str) -> list[float]:
        return [point.median(figure) for point in self.points]

    @property
    def rounds(self) -> int:
        return len(self.points[0].rounds)

    @property
    def rho(self) -> float | None:
        return pearson(self.series("mean_ns"), self.series("rdam"))

    @property
    def rho_of_rounds(self) -> list[float | None]:
        return [pearson(*([point.rounds[i][figure] for point in self.points] for figure in ("mean_ns", "rdam"))) for i in range(self.rounds)]

    def reaches_thesis(self, rho: float | None) -> bool:
        return rho is not None and rho >= self.sweep.thesis_rho

    @property
    def good_rounds(self) -> int:
        """How many single rounds reach the thesis's ρ."""
        return sum(map(self.reaches_thesis, self.rho_of_rounds))

    @property
    def span(self) -> float:
        """How many times the least mean the greatest is."""
        return max(self.series("mean_ns")) / min(self.series("mean_ns"))

    @property
    def is_measurable(self) -> bool:
        return self.span >= LEAST_SPAN

    @property
    def minimum_variation(self) -> float:
        """The coefficient of variation of the minimum."""
        return statistics.stdev(self.series("min_ns")) / statistics.mean(self.series("min_ns"))

    @property
    def lost_calls(self) -> int:
        """Calls that are in no score: dropped, or not seen to end."""
        return sum(one["unscored"] + one["dropped"] for point in self.points for one in point.rounds)

    def failures(self) -> list[str]:
        missed = self.is_measurable and not self.reaches_thesis(self.rho)
        return [*([f"{self.sweep.name}: ρ {number(self.rho)} is below the thesis's {self.sweep.thesis_rho}"] if missed else []),
                *(f"{self.sweep.name}, {one.control.name}: a control with a score of {one.score:.3f}" for one in self.controls
                  if one.bounded and not one.is_low)]


@dataclasses.dataclass(frozen=True)
class FindingResult(Measured):
    control: Measured | None

    @property
    def hints(self) -> list[tuple[str, str, int]]:
        """What came first among the hints: kind, parameter, in how many rounds; the commonest first."""
        counted = collections.Counter((hint.get("kind", ""), hint.get("parameter", "")) for hint in self.of_rounds("hint"))
        return [(*hint, count) for hint, count in counted.most_common()]

    @property
    def times_the_control(self) -> float | None:
        """How many times as much was lost as without interference."""
        return self.score / self.control.score if self.control is not None and self.control.score > 0 else None

    @property
    def flagged(self) -> list[dict]:
        """The rounds in which the first hint shows the false positive, by what it depends on."""
        wanted = ("parameter", self.setting.depends_on)
        return [one for one in self.rounds if (one["hint"].get("kind"), one["hint"].get("parameter")) == wanted]

    @property
    def is_flagged(self) -> bool:
        return 2 * len(self.flagged) > len(self.rounds)

    @property
    def left(self) -> float | None:
        """The score that is left with that as a key."""
        return statistics.median(one["rdam_with_key"] for one in self.flagged) if self.flagged else None


@dataclasses.dataclass(frozen=True)
class CostResult(Measured):
    @property
    def ratio(self) -> series.Interval:
        """Of the seconds with the recorder to those without it: the median of the pairs' ratios."""
        return series.median_interval([pair["recorded_s"] / pair["plain_s"] for pair in self.rounds])


@dataclasses.dataclass(frozen=True)
class LinkResult:
    link: Link
    measured: list[Measured]  # for each of CLIENTS; without rounds if there is an obstacle
    obstacle: str | None

    @property
    def shared(self) -> float:
        """The clients' score where they share it."""
        return self.measured[0].of("client").score

    def failures(self) -> list[str]:
        """Of table 5.4: the server's score stays low. Where a rate is limited, it is what the clients share."""
        server, alone = self.measured[0].of("server").score, self.measured[-1].of("client").score
        found = [f"the server's score is {server:.3f}"] if not server < HIGHEST_CONTROL else []
        if not self.shared >= LEAST_FINDING * alone:
            found.append(f"the clients' score of {self.shared:.3f} is not told from the {alone:.3f} of one alone")
        return [f"network, {self.link.name}: {one}" for one in found if self.link.rate_mbit is not None]


@dataclasses.dataclass(frozen=True)
class Results:
    sweeps: list[SweepResult]
    findings: list[FindingResult]
    costs: list[CostResult]
    links: list[LinkResult]
    cache_line_ns: list[float]  # of each round

    def failures(self) -> list[str]:
        """What --check is about, a sentence each."""
        measured = [one for one in self.links if not one.obstacle]
        return [*(failure for one in self.sweeps for failure in one.failures()),
                *(f"{one.setting.title}: a false positive that the hints do not tell" for one in self.findings
                  if one.setting.depends_on and not one.is_flagged),
                *(f"network: the clients' score over {faster.link.name} is {faster.shared:.3f}, not below the {slower.shared:.3f} over "
                  f"{slower.link.name}" for slower, faster in itertools.pairwise(measured) if not faster.shared < slower.shared),
                *(failure for one in measured for failure in one.failures())]


def number(value: float | None, form: str = ".3f") -> str:
    return "—" if value is None else format(value, form)


def swept(sweep: Sweep, rounds: Rounds, extent: Extent) -> SweepResult:
    points = [Measured(one, rounds[one.group]) for one in sweep.points()]
    return SweepResult(sweep, extent.words(sweep.points()[0])["iterations"], points,
                       [ControlResult(one, rounds[one.group], control, points[which], bounded=which == sweep.middle)
                        for control, which, one in sweep.control_points()])


def rounds_of(tasks: list[Task], measured: Measurements) -> Rounds:
    """All of the tasks have been measured."""
    rounds: Rounds = collections.defaultdict(list)
    for task in tasks:
        rounds[task.group].append(measured.entries[task.key]["result"])
    return rounds


def costs_of(extent: Extent, rounds: Rounds) -> list[CostResult]:
    return [CostResult(one, rounds[one.group]) for one in extent.costs() if one.group in rounds]


def gather(extent: Extent, tasks: list[Task], measured: Measurements, obstacles: dict[str, str]) -> Results:
    """Of a run in which all of its tasks have been measured."""
    rounds = rounds_of(tasks, measured)
    findings = {one.title: Measured(one, rounds[one.group]) for one in extent.findings()}
    return Results([swept(sweep, rounds, extent) for sweep in extent.chosen_sweeps()],
                   [FindingResult(one.setting, one.rounds, findings.get(one.setting.control)) for one in findings.values()],
                   costs_of(extent, rounds),
                   [LinkResult(link, [Measured(one, rounds[one.group]) for one in map(link.clients, CLIENTS)], obstacles.get(link.name))
                    for link in LINKS if "network" in extent.only],
                   [one["mean_ns"] for one in rounds["cache line"]])

