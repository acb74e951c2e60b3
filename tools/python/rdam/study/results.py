"""A study's file as arrays, and what is concluded from them."""

import dataclasses
import itertools
import os
import pathlib
from collections.abc import Sequence

import numpy

from rdam.study import causes, journal, series, settings, verdicts
from rdam.trace import Error

LEAST_RUNS = 3  # of which there are statistics
QUIET = 0.02  # of the processors, which others may take of a run
MOST = 0.5  # of a function's spread between runs, to name a thread
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
    "placed_areas": Measure("areas of memory placed by a policy", ""),
    "placed_pages": Measure("pages that were looked at when they had been placed", ""),
    "pages_elsewhere": Measure("of these, pages on another node than planned", ""),
    "areas_left_alone": Measure("areas of memory for which there was a policy, and that were left alone", ""),
    "placing_ns": Measure("time that placing memory took", "ns"),
    "most_memory_bytes": Measure("memory", "bytes"),
    "cycles": Measure("cycles", ""),
    "instructions": Measure("instructions", ""),
    "last_level_misses": Measure("last-level cache misses", ""),
    "frequency_khz": Measure("mean frequency", "kHz"),
    "least_frequency_khz": Measure("least frequency", "kHz"),
    "greatest_frequency_khz": Measure("greatest frequency", "kHz"),
}


# What may make a run longer and is no other name for its length, as CPU time would be.
CAUSES = ("minor_faults", "major_faults", "involuntary_switches", "migrations", "moved_regions", "first_thread_waited_ns",
          "last_level_misses", "frequency_khz")

# What interrupts a program, by the kernel's source: fields of a run, and how they are told. Their number grows with a run's length, whatever that
# comes from, and so explains nothing; how many came in a second may. Clocks are left out: they tick while processors are busy, so that a
# run that computes for longer, and waits as long as others, has a higher rate of them.
SOURCES = {"interrupts": "interrupts", "softirqs": "softirqs", "osnoise": "noise"}
CLOCKS = {"LOC", "TIMER", "HRTIMER", "SCHED", "RCU", "timer", "rtc0", "hpet"}


def value_of(line: dict, name: str):
    """Of a run; None: the machine cannot count it."""
    return line["user_ns"] + line["system_ns"] if name == "cpu_ns" else line.get(name)


@dataclasses.dataclass(frozen=True)
class Metric:
    """A value that the program prints, many times in a run: between runs its medians vary, inside a run its repetitions do."""

    name: str
    medians: numpy.ndarray  # one for each run
    least: numpy.ndarray  # of each run's repetitions
    greatest: numpy.ndarray
    inside: numpy.ndarray  # coefficients of variation; NaN: it was printed once
    rounds: numpy.ndarray  # of these runs


@dataclasses.dataclass(frozen=True)
class SettingRuns:
    label: str
    levels: list[tuple[str, str]]
    lines: list[dict]  # of its runs, warm-ups and recorded ones left out, in the order of time
    recorded: list[dict]

    @property
    def program(self) -> str | None:
        return settings.program_of(self.levels)

    @property
    def label_in_program(self) -> str:
        return self.label.removeprefix(f"{self.program}, ")

    def values(self, name: str) -> numpy.ndarray | None:
        """None: the machine cannot count it."""
        found = [value_of(line, name) for line in self.lines]
        return None if any(value is None for value in found) else numpy.array(found, dtype=float)

    def with_rounds(self, values: numpy.ndarray) -> verdicts.Runs:
        """Of one value for each of its runs."""
        return verdicts.Runs(values, numpy.array([line["round"] for line in self.lines]))

    def runs(self) -> verdicts.Runs:
        return self.with_rounds(self.values("wall_ns"))

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

    def where_lost(self, function: str, lost: numpy.ndarray) -> str:
        """Which thread most of the function's spread between runs is in: its share is the covariance of what the thread and what all lose, over
        the variance of the latter, so that the shares of all threads add up to 1. "" where there is one thread, or none has most of it."""
        each = [next((row.get("threads", {}) for row in line["functions"] if row["name"] == function), {}) for line in self.recorded]
        threads = sorted({thread for run in each for thread in run}, key=int)
        shares = {thread: float(numpy.cov(numpy.array([run.get(thread, 0.0) for run in each]), lost)[0, 1] / lost.var(ddof=1)) for thread in threads}
        first = max(threads, key=lambda thread: shares[thread], default=None)
        if len(threads) < 2 or shares[first] < MOST:
            return ""
        return f"{100 * min(shares[first], 1):.0f} % of that in {'the main thread' if first == '0' else f'thread {first}'}"

    @staticmethod
    def rates(lines: Sequence[dict]) -> dict[str, numpy.ndarray]:
        """Of these runs: how many interrupts a second each source made, or ns of noise. One that is not named in a run made none."""
        seconds = numpy.array([line["wall_ns"] / 1e9 for line in lines])
        found = {}
        for field, kind in SOURCES.items():
            counts = [line.get(field) for line in lines]
            if any(each is None for each in counts):
                continue
            for name in sorted({name for each in counts for name in each} - CLOCKS):
                found[f"{name} {kind} a second"] = numpy.array([each.get(name, 0) for each in counts], dtype=float) / seconds
        return found

    def explanation(self, recorded: bool) -> tuple[causes.Explanation, tuple[causes.Separator, ...]]:
        """What its runs' times go with: of recorded ones what their functions lost, too. Needs three runs. What others took of the processors is
        no candidate: the longer a run is, for whatever reason, the more that is. What they did to the run is in its waits and preemptions."""
        lines = self.recorded if recorded else self.lines
        times = self.program_ns() if recorded else self.values("wall_ns")
        counts = {MEASURES[name].name: numpy.array([line[name] for line in lines], dtype=float) for name in CAUSES
                  if all(line.get(name) is not None for line in lines)}
        frequency = {name: counts.pop(name) for name in (MEASURES["frequency_khz"].name,) if name in counts}
        lost = {f"time lost in {name}": (name, values) for name, values in self.lost().items()} if recorded else {}
        amounts = {**counts, **{told: values for told, (_, values) in lost.items()}}
        candidates = {**{name: values / times for name, values in amounts.items()}, **self.rates(lines), **frequency}
        how = {"towards": {**dict.fromkeys(candidates, 1), **dict.fromkeys(frequency, -1)}, "amounts": amounts}
        modes = series.modes(times)
        found = causes.explain(times, candidates, **how)
        placed = tuple(dataclasses.replace(cause, where=self.where_lost(*lost[cause.name])) if cause.name in lost else cause
                       for cause in found.causes)
        return (dataclasses.replace(found, causes=placed),
                causes.separators(times, modes.slow, candidates, **how) if modes.bimodal else ())

    def metrics(self) -> list[Metric]:
        """Of which it has three runs at least: one that did not print a value lacks it."""
        found = []
        for name in dict.fromkeys(name for line in self.lines for name in line.get("metrics") or ()):
            lines = [line for line in self.lines if (line.get("metrics") or {}).get(name)]
            runs = [numpy.array(line["metrics"][name], dtype=float) for line in lines]
            inside = [run.std(ddof=1) / run.mean() if len(run) > 1 and run.mean() else numpy.nan for run in runs]
            of_runs = (numpy.array([middle(run) for run in runs]) for middle in (numpy.median, numpy.min, numpy.max))
            if len(runs) >= LEAST_RUNS:
                found.append(Metric(name, *of_runs, numpy.array(inside), numpy.array([line["round"] for line in lines])))
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
        every = [SettingRuns(label, levels, *([line for line in counted if line["setting"] == number and line["recorded"] == recorded]
                                              for recorded in (False, True)))
                 for number, (label, levels) in enumerate(zip(head["labels"], head["levels"], strict=True))]
        states = [line for line in rest if "machine" in line]
        return cls(path, head, every, runs, [line["machine"] for line in states], [line["machine"] for line in states if line["before"]])

    def complete(self) -> list[SettingRuns]:
        """Those with enough runs to say anything. Raises Error where there is none."""
        found = [setting for setting in self.settings if len(setting.lines) >= LEAST_RUNS]
        if not found:
            raise Error(f"{self.path}: has fewer than three runs of each setting; continue with --resume {self.path}")
        return found

    def metrics(self) -> list[str]:
        """The names of what was to be found in the output of each run."""
        return [text.partition("=")[0] for text in self.head["request"].get("metric", [])]

    def equal(self) -> list[tuple[str, str]]:
        """Labels of settings that were not run, and of those that are the same on the machine."""
        return [(later, earlier) for later, earlier in self.head["equal"]]

    def labels(self) -> dict[frozenset[tuple[str, str]], str]:
        """By levels, those of settings that were not run as well."""
        known = {frozenset(map(tuple, setting.levels)): setting.label for setting in self.settings}
        if self.equal():
            known.update({frozenset(setting.levels): setting.label for setting in settings.crossed(self.head["request"])})
        return known

    def disturbed(self) -> list[bool]:
        """Of each plain run, whether others took more than QUIET of the processors, and more than ticks can be wrong: one for each processor.
        In warm-ups the study itself looks at threads, in recorded runs rdam is at work."""
        def processors(line: dict) -> int:
            return len(line["half"]) if "half" in line else self.head["processors"]

        return [line["others_s"] + line["stolen_s"] > processors(line) * (QUIET * line["wall_ns"] / 1e9 + TICK)
                for setting in self.settings for line in setting.lines]


@dataclasses.dataclass(frozen=True)
class Beside:
    """What one setting is compared with, and the verdict on their wall times."""

    other: SettingRuns
    verdict: verdicts.Verdict


@dataclasses.dataclass(frozen=True)
class Row:
    setting: SettingRuns
    times: series.Summary
    cpu: series.Summary
    order: series.OrderOfTime
    modes: series.Modes
    compared: tuple[Beside, ...]
    risk: float  # of all comparisons of all rows together


def pairs(study: Study, beside: str | None) -> list[tuple[SettingRuns, SettingRuns]]:
    """Which settings are compared, the one that the other is beside first; always of one program. `beside` is
    - None: each with the first one
    - `all`: each with all before it
    - levels, as in a label: each with the one that has these levels and is else the same, or that was run in its place.
    Raises Error for levels that no setting has."""
    complete = study.complete()
    programs: dict[str | None, list[SettingRuns]] = {}
    for setting in complete:
        programs.setdefault(setting.program, []).append(setting)
    if beside is None:
        return [(first, setting) for first, *others in programs.values() for setting in others]
    if beside == "all":
        return [pair for same in programs.values() for pair in itertools.combinations(same, 2)]
    known = study.labels()
    wanted = settings.named_levels(beside, known)
    by_label, instead = {setting.label: setting for setting in complete}, dict(study.equal())
    found = []
    for setting in complete:
        levels = frozenset((factor, level if factor == settings.PROGRAM else wanted.get(factor, level)) for factor, level in setting.levels)
        label = known.get(levels)
        found.append((by_label.get(instead.get(label, label)), setting))
    return [(other, setting) for other, setting in found if other is not None and other is not setting]


def rows(study: Study, risk: float, beside: str | None = None) -> list[Row]:
    chosen = pairs(study, beside)
    judged = verdicts.study([(other.runs(), setting.runs()) for other, setting in chosen], risk) if chosen else []
    return [Row(setting, series.summarize(setting.values("wall_ns")), series.summarize(setting.values("cpu_ns")),
                series.order_of_time(setting.values("wall_ns")), series.modes(setting.values("wall_ns")),
                tuple(Beside(other, verdict) for (other, second), verdict in zip(chosen, judged, strict=True) if second is setting), risk)
            for setting in study.complete()]


def overall(rows: Sequence[Row]) -> list[tuple[str, str, verdicts.Overall]]:
    """Of several programs, for each setting that they have in common beside another: both labels without the program, and their times together,
    in seconds. Empty for one program."""
    programs: dict[tuple[str, str], list[tuple[verdicts.Runs, verdicts.Runs, verdicts.Verdict]]] = {}
    for row in rows:
        for beside in row.compared:
            one, other = (setting.with_rounds(setting.values("wall_ns") / 1e9) for setting in (beside.other, row.setting))
            programs.setdefault((row.setting.label_in_program, beside.other.label_in_program), []).append((one, other, beside.verdict))
    if len({row.setting.program for row in rows}) < 2:
        return []
    return [(setting, other, verdicts.overall(found)) for (setting, other), found in programs.items()]
