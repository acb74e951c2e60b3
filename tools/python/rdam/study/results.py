"""A study's file as arrays, and what is concluded from them."""

import dataclasses
import os
import pathlib
from collections.abc import Sequence

import numpy

from rdam.study import causes, journal, series, verdicts
from rdam.trace import Error

QUIET = 0.02  # of the processors, which others may take of a run
TICK = 1 / os.sysconf("SC_CLK_TCK")  # seconds, in which the kernel counts what all have taken


@dataclasses.dataclass(frozen=True)
class Measure:
    """One value of every run."""

    name: str
    unit: str  # "ns", "", ...


# Values of rdam-study-run, as they are named in the journal.
MEASURES = {
    "wall_ns": Measure("wall time", "ns"),
    "cpu_ns": Measure("CPU time", "ns"),
    "first_thread_ns": Measure("CPU time of the first thread", "ns"),
    "first_thread_waited_ns": Measure("the first thread's wait for a processor", "ns"),
    "minor_faults": Measure("page faults without disk", ""),
    "major_faults": Measure("page faults from disk", ""),
    "voluntary_switches": Measure("waits", ""),
    "involuntary_switches": Measure("preemptions", ""),
    "migrations": Measure("migrations", ""),
    "regions": Measure("parallel regions", ""),
    "moved_regions": Measure("parallel regions in which a thread had moved", ""),
    "moves": Measure("moves of threads between parallel regions", ""),
    "most_memory_bytes": Measure("memory", "bytes"),
    "cycles": Measure("cycles", ""),
    "instructions": Measure("instructions", ""),
    "last_level_misses": Measure("last-level cache misses", ""),
}


# What may make a run longer and is no other name for its length, as CPU time would be.
CAUSES = ("minor_faults", "major_faults", "involuntary_switches", "migrations", "moved_regions", "first_thread_waited_ns",
          "last_level_misses")


def value_of(line: dict, name: str):
    """Of a run; None: the machine cannot count it."""
    return line["user_ns"] + line["system_ns"] if name == "cpu_ns" else line.get(name)


@dataclasses.dataclass(frozen=True)
class Metric:
    """A value that the program prints, many times in a run: between runs its medians vary, inside a run its repetitions do."""

    name: str
    medians: numpy.ndarray  # one for each run
    inside: numpy.ndarray  # coefficients of variation; NaN: it was printed once


@dataclasses.dataclass(frozen=True)
class SettingRuns:
    label: str
    levels: list[tuple[str, str]]
    lines: list[dict]  # of its runs, warm-ups and recorded ones left out, in the order of time
    recorded: list[dict]

    def values(self, name: str) -> numpy.ndarray | None:
        """None: the machine cannot count it."""
        found = [value_of(line, name) for line in self.lines]
        return None if any(value is None for value in found) else numpy.array(found, dtype=float)

    def with_rounds(self, values: numpy.ndarray) -> verdicts.Runs:
        """Of one value for each of its runs."""
        return verdicts.Runs(values, numpy.array([line["round"] for line in self.lines]))

    def runs(self, name: str = "wall_ns") -> verdicts.Runs | None:
        values = self.values(name)
        return None if values is None else self.with_rounds(values)

    def when_recorded(self) -> verdicts.Runs:
        return verdicts.Runs(numpy.array([line["wall_ns"] for line in self.recorded], dtype=float),
                             numpy.array([line["round"] for line in self.recorded]))

    def program_ns(self) -> numpy.ndarray:
        """Of each recorded run, without the recorder's own start."""
        return numpy.array([line["program_ns"] for line in self.recorded], dtype=float)

    def lost(self) -> dict[str, numpy.ndarray]:
        """By function: ns in all threads, of each recorded run. One that was not called lost nothing."""
        names = dict.fromkeys(each["name"] for line in self.recorded for each in line["functions"])
        lost = [{each["name"]: each["lost_ns"] for each in line["functions"]} for line in self.recorded]
        return {name: numpy.array([run.get(name, 0.0) for run in lost]) for name in names}

    def explanation(self, recorded: bool) -> tuple[causes.Explanation, tuple[causes.Separator, ...]]:
        """What its runs' times go with: of recorded ones what their functions lost, too. Needs three runs. What others took of the processors is
        no candidate: the longer a run is, for whatever reason, the more that is. What they did to the run is in its waits and preemptions."""
        lines = self.recorded if recorded else self.lines
        times = self.program_ns() if recorded else self.values("wall_ns")
        candidates = {MEASURES[name].name: numpy.array([line[name] for line in lines], dtype=float) for name in CAUSES
                      if all(line.get(name) is not None for line in lines)}
        if recorded:
            candidates.update({f"time lost in {name}": lost for name, lost in self.lost().items()})
        modes = series.modes(times)
        return causes.explain(times, candidates), causes.separators(times, modes.slow, candidates) if modes.bimodal else ()

    def metrics(self) -> list[Metric]:
        found = []
        for name in (self.lines[0].get("metrics") or {}) if self.lines else ():
            runs = [numpy.array(line["metrics"][name], dtype=float) for line in self.lines]
            inside = [run.std(ddof=1) / run.mean() if len(run) > 1 and run.mean() else numpy.nan for run in runs]
            found.append(Metric(name, numpy.array([numpy.median(run) for run in runs]), numpy.array(inside)))
        return found


@dataclasses.dataclass(frozen=True)
class Study:
    path: pathlib.Path
    head: dict
    settings: list[SettingRuns]
    lines: list[dict]  # every run, warm-ups too
    states: list[dict]  # of the machine, before and after each part of the study
    before: list[dict]  # of these the former

    @classmethod
    def read(cls, path: pathlib.Path) -> "Study":
        """Raises Error for a file that is none of a study's."""
        head, *rest = journal.lines(path)
        runs = [line for line in rest if "setting" in line]
        counted = [line for line in runs if not line["warm_up"]]
        settings = [SettingRuns(label, levels, *([line for line in counted if line["setting"] == number and line["recorded"] == recorded]
                                                 for recorded in (False, True)))
                    for number, (label, levels) in enumerate(zip(head["labels"], head["levels"], strict=True))]
        states = [line for line in rest if "machine" in line]
        return cls(path, head, settings, runs, [line["machine"] for line in states], [line["machine"] for line in states if line["before"]])

    def complete(self) -> list[SettingRuns]:
        """Those with enough runs to say anything. Raises Error where there is none."""
        found = [setting for setting in self.settings if len(setting.lines) >= 3]
        if not found:
            raise Error(f"{self.path}: has fewer than three runs of each setting; go on by --resume {self.path}")
        return found

    def equal(self) -> list[tuple[str, str]]:
        """Labels of settings that were not run, and of those that are the same on the machine."""
        return [(later, earlier) for later, earlier in self.head["equal"]]

    def disturbed(self) -> list[bool]:
        """Of each plain run, whether others took more than QUIET of the processors, and more than ticks can be wrong: one for each processor.
        In warm-ups the study itself looks at threads, in recorded runs rdam is at work."""
        processors = self.head["processors"]
        return [line["others_s"] + line["stolen_s"] > processors * (QUIET * line["wall_ns"] / 1e9 + TICK)
                for setting in self.settings for line in setting.lines]


@dataclasses.dataclass(frozen=True)
class Row:
    setting: SettingRuns
    times: series.Summary
    cpu: series.Summary
    order: series.OrderOfTime
    modes: series.Modes
    verdict: verdicts.Verdict | None  # beside the first setting; None: it is the first


def rows(study: Study, risk: float) -> list[Row]:
    settings = study.complete()
    pairs = [(settings[0].runs(), setting.runs()) for setting in settings[1:]]
    judged: Sequence[verdicts.Verdict | None] = [None, *verdicts.study(pairs, risk)] if pairs else [None]
    return [Row(setting, series.summarize(setting.values("wall_ns")), series.summarize(setting.values("cpu_ns")),
                series.order_of_time(setting.values("wall_ns")), series.modes(setting.values("wall_ns")), verdict)
            for setting, verdict in zip(settings, judged, strict=True)]
