"""Which measurements a run consists of, and in which order.

Round by round: in a round everything is measured once, in an order of its own, so that what disturbs the machine for some seconds
disturbs neither all repeats of one point nor the same neighbours twice. The order depends on nothing but the round's number: an
interrupted run goes on as it would have gone.
"""

import dataclasses
import random

from .benchmarks import CACHE_LINE, COSTS, FINDINGS, LINKS, SWEEPS, Control, Cost, Finding, Link, Sweep


@dataclasses.dataclass(frozen=True)
class Extent:
    """How much is measured."""

    only: tuple[str, ...]
    quick: bool = False
    rounds: int | None = None  # instead of those below
    iterations: int | None = None  # instead of the benchmarks' own
    io_path: str | None = None
    sweeps: tuple[Sweep, ...] = SWEEPS  # of all benchmarks, also those not in `only`
    threads: int | None = None  # what the sweeps were told; for what is said about the run

    def chosen_sweeps(self) -> list[Sweep]:
        return [sweep for sweep in self.sweeps if sweep.name in self.only]

    def other_delays(self) -> list[str]:
        """NAME=LOW..HIGH of the sweeps whose delays are not the usual ones."""
        usual = {sweep.name: sweep.delays_ns for sweep in SWEEPS}
        return [f"{sweep.name}={sweep.delays_ns[0]}ns..{sweep.delays_ns[-1]}ns" for sweep in self.chosen_sweeps()
                if sweep.delays_ns != usual[sweep.name]]

    def chosen_costs(self) -> list[Cost]:
        """Those of a sweep have its number of threads."""
        threads = {sweep.name: sweep.threads for sweep in self.sweeps}
        return [dataclasses.replace(cost, threads=threads.get(cost.name, cost.threads)) for cost in COSTS if cost.name in self.only]

    def rounds_of(self, kind: str) -> int:
        return self.rounds or (QUICK_ROUNDS if self.quick else FULL_ROUNDS)[kind]

    def iterations_of(self, benchmark) -> int:
        return self.iterations or (benchmark.quick_iterations if self.quick else benchmark.iterations)


# A 95 % interval of a median needs six values: --quick has none.
FULL_ROUNDS = {"score": 9, "cost": 9, "network": 7}
QUICK_ROUNDS = {"score": 3, "cost": 3, "network": 3}


@dataclasses.dataclass(frozen=True)
class Task:
    kind: str  # score, cost, network or line
    group: str  # what is summarized together; also what the progress line says
    round: int
    settings: dict = dataclasses.field(hash=False)


def _settings(benchmark, extent: Extent, delay_ns: int, threads: int, options: tuple[str, ...]) -> dict:
    paths = ("--path", extent.io_path) if benchmark.name == "io" and extent.io_path else ()
    return {"benchmark": benchmark.name, "operation": benchmark.operation, "delay_ns": delay_ns, "threads": threads,
            "iterations": extent.iterations_of(benchmark), "options": [*options, *paths]}


def points(sweep: Sweep, extent: Extent) -> list[tuple[str, dict]]:
    """(group, settings) of each point of a sweep."""
    return [(f"{sweep.name} {delay} ns", _settings(sweep, extent, delay, sweep.threads, sweep.options)) for delay in sweep.delays_ns]


def control_points(sweep: Sweep, control: Control, extent: Extent) -> list[tuple[int, str, dict]]:
    """(which of the delays, group, settings) of a control: at the least delay, where the operation has the greatest share of a life,
    and at the middle one; at this alone if the delay does not change it."""
    return [(which, f"{sweep.name} {control.name} {sweep.delays_ns[which]} ns",
             _settings(sweep, extent, sweep.delays_ns[which], control.threads, sweep.options + control.options))
            for which in ((0, sweep.middle) if control.delayed else (sweep.middle,))]


def groups_of_sweep(sweep: Sweep, extent: Extent) -> list[str]:
    """Of its points and controls."""
    return [*(group for group, _ in points(sweep, extent)),
            *(group for control in sweep.controls for _, group, _ in control_points(sweep, control, extent))]


def group_of_cost(cost: Cost) -> str:
    return f"cost of {cost.name} {cost.label}"


def group_of_link(link: Link, clients: int) -> str:
    return f"network {link.name}, {clients} clients"


def group_of_finding(finding: Finding) -> str:
    return f"{finding.name}, {finding.variant}"


def _of_round(extent: Extent, obstacles: dict[str, str], number: int) -> list[Task]:
    found = []
    if number < extent.rounds_of("score"):
        for sweep in extent.chosen_sweeps():
            found += [Task("score", group, number, settings) for group, settings in points(sweep, extent)]
            found += [Task("score", group, number, settings) for control in sweep.controls
                      for _, group, settings in control_points(sweep, control, extent)]
        found += [Task("score", group_of_finding(one), number, _settings(one, extent, one.delay_ns, one.threads, one.options))
                  for one in FINDINGS if one.name in extent.only]
    if number < extent.rounds_of("cost"):
        found += [Task("cost", group_of_cost(one), number, _settings(one, extent, one.delay_ns, one.threads, one.options))
                  for one in extent.chosen_costs()]
    if "network" in extent.only and number < extent.rounds_of("network"):
        found += [Task("network", group_of_link(link, clients), number,
                       {"link": link.name, "rate_mbit": link.rate_mbit, "iterations": extent.iterations_of(link),
                        "options": ["--threads", str(clients), *link.options]})
                  for link in LINKS if link.name not in obstacles for clients in link.clients]
    if number < extent.rounds_of("score"):
        found.append(Task("line", "cache line", number, {**CACHE_LINE, "of": [extent.quick, extent.iterations]}))
    random.Random(number).shuffle(found)
    return found


def tasks(extent: Extent, obstacles: dict[str, str]) -> list[Task]:
    """All of a run. `obstacles`: names of links that cannot be measured here."""
    rounds = max(extent.rounds_of(kind) for kind in FULL_ROUNDS)
    return [task for number in range(rounds) for task in _of_round(extent, obstacles, number)]


def identified(task: Task, place: dict) -> dict:
    """What a measurement depends on: with another machine, build or setting it is another one."""
    return {"kind": task.kind, "round": task.round, "place": place, **task.settings}
