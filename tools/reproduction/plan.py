"""Which measurements a run consists of, and in which order.

Round by round: in a round everything is measured once, in an order of its own, so that what disturbs the machine for some seconds
disturbs neither all repeats of one point nor the same neighbours twice. The order depends on nothing but the round's number: an
interrupted run goes on as it would have gone.
"""

import dataclasses
import functools
import hashlib
import json
import random
from collections.abc import Collection

from .benchmarks import CACHE_LINE, COSTS, FINDINGS, LINKS, SWEEPS, Setting, Sweep

CLIENTS = (2, 1)  # of each link
# A 95 % interval of a median needs six values: --quick has none.
FULL_ROUNDS = {"score": 9, "cost": 9, "network": 7, "line": 9}
QUICK_ROUNDS = 3


@dataclasses.dataclass(frozen=True)
class Task:
    kind: str  # as that of a Setting
    group: str
    round: int
    settings: dict  # what the measurement depends on: in another place, or with other words, it is another one

    @functools.cached_property
    def key(self) -> str:
        text = json.dumps(self.settings, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclasses.dataclass(frozen=True)
class Extent:
    """How much is measured."""

    only: tuple[str, ...]
    quick: bool = False
    rounds: int | None = None  # instead of those above
    iterations: int | None = None  # instead of the benchmarks' own
    io_path: str | None = None
    sweeps: tuple[Sweep, ...] = SWEEPS  # of all benchmarks, also those not in `only`
    threads: int | None = None  # what the sweeps were given; for the page

    def chosen_sweeps(self) -> list[Sweep]:
        return [sweep for sweep in self.sweeps if sweep.name in self.only]

    def findings(self) -> list[Setting]:
        return [one for one in FINDINGS if one.benchmark in self.only]

    def costs(self) -> list[Setting]:
        """Those of a sweep have its number of threads."""
        threads = {sweep.name: sweep.threads for sweep in self.sweeps}
        return [dataclasses.replace(one, threads=threads.get(one.benchmark, one.threads)) for one in COSTS if one.benchmark in self.only]

    def other_delays(self) -> list[str]:
        """NAME=LOW..HIGH of the sweeps whose delays are not the usual ones."""
        usual = {sweep.name: sweep.delays_ns for sweep in SWEEPS}
        return [f"{sweep.name}={sweep.delays_ns[0]}ns..{sweep.delays_ns[-1]}ns" for sweep in self.chosen_sweeps()
                if sweep.delays_ns != usual[sweep.name]]

    def rounds_of(self, kind: str) -> int:
        return self.rounds or (QUICK_ROUNDS if self.quick else FULL_ROUNDS[kind])

    def words(self, setting: Setting) -> dict:
        """How it is started."""
        iterations = self.iterations or (setting.quick_iterations if self.quick else setting.iterations)
        paths = ("--path", self.io_path) if setting.benchmark == "io" and self.io_path else ()
        words = {"benchmark": setting.benchmark, "operation": setting.operation, "delay_ns": setting.delay_ns, "threads": setting.threads,
                 "iterations": iterations, "options": [*setting.options, *paths]}
        return {**words, "iterations": setting.iterations, "of": [self.quick, self.iterations]} if setting.kind == "line" else words

    def everything(self, obstacles: Collection[str] = ()) -> list[tuple[Setting, dict]]:
        """What is measured in a round, with its words. `obstacles`: names of links that cannot be measured here."""
        swept = [one for sweep in self.chosen_sweeps() for one in sweep.settings()]
        found = [(one, self.words(one)) for one in (*swept, *self.findings(), *self.costs(), CACHE_LINE)]
        return found + [(one, {"link": link.name, "rate_mbit": link.rate_mbit, "iterations": self.words(one)["iterations"],
                               "options": ["--threads", str(clients), *one.options]})
                        for link in LINKS if "network" in self.only and link.name not in obstacles
                        for clients in CLIENTS for one in [link.clients(clients)]]


def tasks(extent: Extent, place: dict, obstacles: Collection[str] = ()) -> list[Task]:
    """All of a run. `place`: the machine and the build."""
    everything, found = extent.everything(obstacles), []
    for number in range(max(map(extent.rounds_of, FULL_ROUNDS))):
        of_round = [Task(one.kind, one.group, number, {"kind": one.kind, "round": number, "place": place, **words})
                    for one, words in everything if number < extent.rounds_of(one.kind)]
        random.Random(number).shuffle(of_round)
        found += of_round
    return found
