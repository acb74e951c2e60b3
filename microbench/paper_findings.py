"""What three papers found of run-to-run variation and pinning, and how each finding is looked for with `rdam study`:

A: A. Mazouz, S. Touati, D. Barthou, Measuring and Analysing the Variations of Program Execution Times on Multicore Platforms: Case Study,
   INRIA report inria-00514548, 2010.
B: the same authors, Performance evaluation and analysis of thread pinning strategies on multi-core platforms, HPCS 2011.
D: M. Cui, N. Papadopoulou, M. Pericàs, Analysis and Characterization of Performance Variability for OpenMP Runtime, SC-W 2023.

`microbench/papers` is the command; docs/papers.md has the findings beside what one machine shows."""

import dataclasses
import enum
import itertools
from collections.abc import Callable, Iterable, Mapping

import numpy
from rdam.study import series, verdicts
from rdam.study.results import Metric, Row, SettingRuns
from scipy import stats

RISK = verdicts.RISK
NOTICEABLE = 0.02  # a coefficient of variation that the report's text would call variation: its sequential runs are below it


@dataclasses.dataclass(frozen=True)
class Made:
    """A study that is made: its rows by label, in the order of the settings."""

    rows: dict[str, Row]

    def __iter__(self):
        return iter(self.rows.values())

    def __getitem__(self, label: str) -> Row:
        return self.rows[label]

    def first(self) -> Row:
        return next(iter(self))

    def where(self, **levels: str) -> list[Row]:
        """Those with these levels of factors, named as `rdam study` names them, an underscore for a dash."""
        wanted = {(factor.replace("_", "-"), level) for factor, level in levels.items()}
        return [row for row in self if wanted <= {(factor, level) for factor, level in row.setting.levels}]


Studies = Mapping[str, Made]


class Agreement(enum.Enum):
    """Of a machine with a paper."""

    YES = "yes"
    NO = "no"  # the contrary is shown
    NOT_SHOWN = "not shown"  # neither is, with these runs
    UNTOLD = "-"  # to be read beside the paper


@dataclasses.dataclass(frozen=True)
class Answer:
    agrees: Agreement
    text: str  # what this machine shows


@dataclasses.dataclass(frozen=True)
class Finding:
    name: str
    place: str
    text: str
    studies: tuple[str, ...]  # of STUDIES
    judge: Callable[[Studies], Answer] | None = None  # None: what the studies print stands for itself
    needs: str = ""  # of NEEDS; "": two processors do
    lacks: str = ""  # what rdam cannot do yet


def compared(first: SettingRuns, second: SettingRuns, name: str = "wall_ns") -> verdicts.Verdict:
    """Of one of the values of every run."""
    pair = [setting.with_rounds(values) for setting in (first, second) if (values := setting.values(name)) is not None]
    return verdicts.study([(pair[0], pair[1])])[0]


def beside_first(rows: Iterable[Row]) -> list[verdicts.Verdict]:
    """Those of the study itself."""
    return [beside.verdict for row in rows for beside in row.compared]


def metric_of(setting: SettingRuns, name: str) -> Metric:
    return next(metric for metric in setting.metrics() if metric.name == name)


def of_metric(first: SettingRuns, second: SettingRuns, name: str) -> verdicts.Verdict:
    one, two = (metric_of(setting, name) for setting in (first, second))
    return verdicts.study([(verdicts.Runs(one.medians, one.rounds), verdicts.Runs(two.medians, two.rounds))])[0]


def relative(first: SettingRuns, second: SettingRuns) -> verdicts.Verdict:
    """Of each run's time over the median of its setting: which varies more, for its length?"""
    return verdicts.study([tuple(setting.with_rounds(setting.values("wall_ns") / numpy.median(setting.values("wall_ns")))  # type: ignore[misc]
                                 for setting in (first, second))])[0]


def seen(found: bool) -> Agreement:
    """Of what needs no test."""
    return Agreement.YES if found else Agreement.NO


def sided(side: int, wanted: int) -> Agreement:
    """Of a verdict's sides: 0 is that no difference is shown."""
    return Agreement.NOT_SHOWN if side == 0 else seen(side == wanted)


def side_of(verdict: verdicts.Verdict) -> int:
    """1: the second is less, -1: it is more, 0: neither is shown, or mean and median contradict each other."""
    sides = {verdict.mean, verdict.median} - {0}
    return sides.pop() if len(sides) == 1 else 0


def less(verdict: verdicts.Verdict) -> Agreement:
    return sided(side_of(verdict), 1)


def more(verdict: verdicts.Verdict) -> Agreement:
    return sided(side_of(verdict), -1)


def same(verdict: verdicts.Verdict) -> Agreement:
    """Within NOTICEABLE, with the interval of the ratio of medians; not the same: a difference beyond it is declared."""
    limits = verdict.comparison.median_ratio
    if max(abs(1 / limits.low - 1), abs(1 / limits.high - 1)) < NOTICEABLE:
        return Agreement.YES
    return Agreement.NO if side_of(verdict) and abs(ratio(verdict) - 1) > NOTICEABLE else Agreement.NOT_SHOWN


def together(found: Iterable[Agreement]) -> Agreement:
    """All of a finding's parts."""
    every = set(found)
    return next((each for each in (Agreement.NO, Agreement.NOT_SHOWN) if each in every), Agreement.YES)


def ratio(verdict: verdicts.Verdict) -> float:
    """The second's median over the first's."""
    return 1 / verdict.comparison.median_ratio.value


def told(verdict: verdicts.Verdict) -> str:
    word = "declared" if verdict.mean or verdict.median else "not declared"
    return f"× {ratio(verdict):.3g} ({word})"


def share(value: float) -> str:
    return f"{100 * value:.2g} %"


def variation(row: Row) -> str:
    return share(row.times.variation)


def variations(rows: list[Row]) -> str:
    return ", ".join(f"{row.setting.label} {variation(row)}" for row in rows)


def first_thread(row: Row) -> series.Summary:
    return series.summarize(row.setting.values("first_thread_ns"))


PROGRAMS = ("chunk_kernel_sequential_O2", "chunk_kernel_sequential", "chunk_kernel", "primes", "stream", "omp_constructs_libomp", "omp_constructs")

# What is run. The words in braces are the PROGRAMS of microbench/variation; {threads} and other names in braces are the study's own.
THREADS = ["--setting", "sequential={chunk_kernel_sequential} mb_64_24576 --passes 300",
           *itertools.chain.from_iterable(("--setting", (f"{count} thread{'s' if count > 1 else ''}={{chunk_kernel}} mb_64_24576 --passes 300 "
                                           f"--threads {count}")) for count in (1, 2, 4))]
KERNEL = ["{chunk_kernel}", "mb_64_24576", "--passes", "100", "--threads", "{threads}"]
CONSTRUCTS = ["for", "single", "ordered", "reduction", "parallel", "barrier", "critical", "lock", "atomic"]
SYNC = [*itertools.chain.from_iterable(("--metric", f"{name}=.constructs.{name}.repetitions_us.*") for name in CONSTRUCTS)]
SCHEDULES = ("static_1", "dynamic_1", "guided_1")
SCHED = [*itertools.chain.from_iterable(("--metric", f"{name}=.schedules.{name}.repetitions_us.*") for name in SCHEDULES)]
SCHED_COMMAND = ["{omp_constructs}", "sched", "--schedules", ",".join(SCHEDULES), "--repetitions", "2", "--threads", "{threads}"]
KERNELS = ("copy", "mul", "add", "triad", "dot")
STREAM = [*itertools.chain.from_iterable(("--metric", f"{name}=.kernels.{name}.repetitions.*") for name in KERNELS)]
STREAM_COMMAND = ["{stream}", "--repetitions", "10", "--threads", "{threads}"]
TEN = ["--runs", "10"]  # as in D
STUDIES: dict[str, list[str]] = {
    "environment, -O2": ["--env-size", "0..4095/63", "--", "{chunk_kernel_sequential_O2}", "mb_64_24576", "--passes", "30"],
    "environment, -O3": ["--env-size", "0..4095/63", "--", "{chunk_kernel_sequential}", "mb_64_24576", "--passes", "30"],
    "threads": THREADS,
    "runtimes": ["--setting", "gcc, libgomp={omp_constructs} sync --repetitions 10 --threads 2",
                 "--setting", "clang, libomp={omp_constructs_libomp} sync --repetitions 10 --threads 2", *SYNC],
    "co-runners": ["--threads", "2", "--pin", "none,compact", "--co-runners", "0,1xbusy,2xbusy,4xbusy", "--", *KERNEL],
    "co-runners, chunks of 3/8 of the shared cache": ["--threads", "2", "--co-runners", "0,1xbusy,2xbusy", "--", "{chunk_kernel}",
                                                      "--scale-to-cache", "--passes", "2", "--threads", "{threads}"],
    "chunks": ["--threads", "2", "--values", "name=mb_8_196608,mb_64_24576,mb_256_6144,mb_512_3072", "--co-runners", "0,2xbusy", "--",
               "{chunk_kernel}", "{name}", "--passes", "100", "--threads", "{threads}"],
    "shared and unshared": ["--threads", "4", "--pin", "compact,scatter", "--co-runners", "0,1xbusy,2xbusy,4xbusy", "--", "{chunk_kernel}",
                            "mb_4_196608", "--passes", "100", "--threads", "{threads}"],
    "prefetcher": ["--threads", "4", "--pin", "compact", "--prefetcher", "on,off", "--co-runners", "0,2xbusy", "--", "{chunk_kernel}",
                   "mb_4_196608", "--passes", "100", "--threads", "{threads}"],
    "prefetcher and pages": ["--threads", "4", "--pin", "compact", "--prefetcher", "on,off", "--pages", "small,large", "--co-runners", "0,2xbusy",
                             "--", "{chunk_kernel}", "mb_4_196608", "--passes", "100", "--threads", "{threads}"],
    "pages": ["--threads", "2", "--pages", "small,large", "--co-runners", "0,2xbusy", "--", "{chunk_kernel}", "mb_8_196608", "--passes", "100",
              "--threads", "{threads}"],
    "primes": ["--threads", "2", "--pin", "none,compact", "--co-runners", "0,1xbusy,4xbusy", "--", "{primes}", "--up-to", "40000",
               "--threads", "{threads}"],
    "sleepers": ["--threads", "2", "--co-runners", "0,1xsleep:10ms,1xsleep:10us,1xbusy", "--", *KERNEL],
    "arrays": ["--threads", "2", "--co-runners", "0,1xarray:196608", "--", "{chunk_kernel}", "mb_4_196608", "--passes", "200",
               "--threads", "{threads}"],
    "pinning": ["--threads", "2", "--pin", "none,random,compact", "--", *KERNEL],
    "strategies, 16 threads": ["--runs", "35", "--threads", "16", "--pin", "none,random,compact,scatter", "--", *KERNEL],
    "strategies, 96 threads": ["--runs", "35", "--threads", "96", "--pin", "none,compact,scatter", "--", *KERNEL],
    "migrations": ["--threads", "2", "--pin", "none", "--co-runners", "1xsleep:100us@free", "--regions", "--", "{omp_constructs}", "sync",
                   "--constructs", "parallel", "--repetitions", "10", "--threads", "{threads}"],
    "nothing": ["--env", "NOTHING=1,2,3,4", "--", "{chunk_kernel}", "mb_64_24576", "--passes", "100", "--threads", "2"],
    "schedbench": [*TEN, "--threads", "1,2,4", *SCHED, "--", *SCHED_COMMAND],
    "syncbench": [*TEN, "--threads", "1,2,4", *SYNC, "--", "{omp_constructs}", "sync", "--repetitions", "10", "--threads", "{threads}"],
    "stream": [*TEN, "--threads", "1,2", *STREAM, "--", *STREAM_COMMAND],
    "schedbench, pinned": [*TEN, "--threads", "2", "--pin", "none,compact", *SCHED, "--", *SCHED_COMMAND],
    "syncbench, pinned": [*TEN, "--threads", "2", "--pin", "none,compact", *SYNC, "--", "{omp_constructs}", "sync", "--repetitions", "10",
                          "--threads", "{threads}"],
    "stream, pinned": [*TEN, "--threads", "2", "--pin", "none,compact", *STREAM, "--", *STREAM_COMMAND],
    "second socket": [*TEN, "--threads", "2,16,30,32", "--pin", "compact", *SYNC, "--", "{omp_constructs}", "sync", "--threads", "{threads}"],
    "hardware threads": [*TEN, "--threads", "32", "--pin", "compact", "--smt", "use,spare", *SYNC, "--", "{omp_constructs}", "sync",
                         "--threads", "{threads}"],
    "two nodes": [*TEN, "--threads", "16", "--pin", "compact,scatter", "--frequencies", *SYNC, "--", "{omp_constructs}", "sync",
                  "--threads", "{threads}"],
}


# What a finding needs that two processors of a virtual machine do not have, in words.
NEEDS = {
    "caches": "at least four cores, some of which share a cache and some do not",
    "msr": "the hardware prefetcher's switch: root on a bare machine, four cores",
    "sockets": "at least two sockets",
    "counters": "a processor that counts last-level misses for this user",
    "16": "16 processors on several nodes",
    "96": "96 processors on several nodes",
    "smt": "cores with two hardware threads, at least 32 of them",
    "cpufreq": "two nodes of 16 cores whose frequency can be read (cpufreq)",
}


def a1(studies: Studies) -> Answer:
    parts, found = [], []
    for name in ("environment, -O2", "environment, -O3"):
        rows = list(studies[name])
        medians = [row.times.median.value for row in rows]
        declared = sum(side_of(verdict) != 0 for verdict in beside_first(rows))
        moved = max(medians) / min(medians) - 1
        parts.append(f"{name.removeprefix('environment, ')}: {len(rows)} medians within {share(moved)}, {declared} declared to differ from the first")
        found.append(Agreement.YES if moved < 0.01 else Agreement.NO if declared else Agreement.NOT_SHOWN)
    return Answer(together(found), "; ".join(parts))


def a2(studies: Studies) -> Answer:
    rows = [studies["threads"][label] for label in ("sequential", "1 thread")]
    return Answer(seen(all(row.times.variation <= NOTICEABLE for row in rows)), f"CV: {variations(rows)}")


def a3(studies: Studies) -> Answer:
    one, two, four = (studies["threads"][label] for label in ("1 thread", "2 threads", "4 threads"))
    faster = compared(one.setting, two.setting)
    wider = {row.setting.label: sided(relative(one.setting, row.setting).stability, -1) for row in (two, four)}
    return Answer(together([less(faster), *wider.values()]), f"2 threads beside 1 {told(faster)}; CV: {variations([one, two, four])}; more variation "
                  f"for its length: {', '.join(f'{label} {each.value}' for label, each in wider.items())}")


def a4(studies: Studies) -> Answer:
    rows = [studies["threads"][label] for label in ("2 threads", "4 threads")]
    return Answer(Agreement.YES if any(row.times.shapiro_p < RISK for row in rows) else Agreement.NOT_SHOWN,
                  "; ".join(f"{row.setting.label}: p = {row.times.shapiro_p:.2g}, skewness {row.times.skewness:.2g}" for row in rows))


def a5(studies: Studies) -> Answer:
    first, second = studies["runtimes"]
    found = [(name, of_metric(first.setting, second.setting, name)) for name in CONSTRUCTS]
    apart = [f"{name} {told(verdict)}" for name, verdict in found if side_of(verdict)]
    steady = [name for name, verdict in found if verdict.stability]
    return Answer(Agreement.YES if apart else Agreement.NOT_SHOWN,
                  f"libomp beside libgomp: {', '.join(apart) or 'no construct declared to differ'}; other variance declared: "
                  f"{', '.join(steady) or 'none'}")


def a6(studies: Studies) -> Answer:
    judged = [verdict for study in studies.values() for verdict in beside_first(study)]
    other = sum(any("minimum and median" in note for note in verdict.notes) for verdict in judged)
    return Answer(Agreement.YES if other else Agreement.NOT_SHOWN, f"minimum and median disagree in {other} of {len(judged)} comparisons")


def a7(studies: Studies) -> Answer:
    made = studies["threads"]
    one, two = (compared(made["sequential"].setting, made[label].setting) for label in ("1 thread", "2 threads"))
    return Answer(more(one), f"beside the sequential build, 1 thread {told(one)}, 2 threads {told(two)}")


def grows_and_falls(rows: list[Row]) -> tuple[Agreement, Agreement, str]:
    """Whether real time grows and the first thread's CPU time falls, of the settings behind the first."""
    real = [compared(rows[0].setting, row.setting) for row in rows[1:]]
    user = [compared(rows[0].setting, row.setting, "first_thread_ns") for row in rows[1:]]
    text = "; ".join(f"{dict(row.setting.levels)['co-runners']}: real time {told(one)}, the first thread's CPU time {told(two)}"
                     for row, one, two in zip(rows[1:], real, user, strict=True))
    return together(map(more, real)), together(map(less, user)), text


def a8(studies: Studies) -> Answer:
    found = [(f"pin {pin}", studies["co-runners"].where(pin=pin)) for pin in ("none", "compact")]
    found.append(("chunks of 3/8 of the shared cache", list(studies["co-runners, chunks of 3/8 of the shared cache"])))
    judged = [(name, *grows_and_falls(rows)) for name, rows in found]
    grows, falls = together(each for _, each, _, _ in judged), together(each for _, _, each, _ in judged)
    return Answer(together([grows, falls]), f"real time grows: {grows.value}; the first thread's CPU time falls: {falls.value}. "
                  + ". ".join(f"{name}: {text}" for name, _, _, text in judged))


def a9(studies: Studies) -> Answer:
    parts, falls, alone = [], {}, {}
    for name in ("mb_8_196608", "mb_64_24576", "mb_256_6144", "mb_512_3072"):
        quiet, busy = studies["chunks"].where(name=name)
        verdict = compared(quiet.setting, busy.setting, "first_thread_ns")
        falls[name], alone[name] = verdict, quiet.times.median.value
        parts.append(f"{name} {told(verdict)}")
    fastest = min(alone, key=lambda name: alone[name])
    small = sided(side_of(falls["mb_512_3072"]), -1)
    return Answer(together([*(less(falls[name]) for name in ("mb_8_196608", "mb_64_24576", "mb_256_6144")), small, seen(fastest == "mb_512_3072")]),
                  f"first thread's CPU time with 2 co-runners a processor: {', '.join(parts)}; fastest alone: {fastest}")


def a10(studies: Studies) -> Answer:
    shared, apart = (grows_and_falls(studies["shared and unshared"].where(pin=pin)) for pin in ("compact", "scatter"))
    return Answer(together([shared[1], seen(apart[1] is not Agreement.YES)]), f"sharing: {shared[2]}. Not sharing: {apart[2]}")


def a12(studies: Studies) -> Answer:
    small, large = (studies["pages"].where(pages=pages) for pages in ("small", "large"))
    alone = compared(small[0].setting, large[0].setting, "first_thread_ns")
    helped = compared(large[0].setting, large[1].setting, "first_thread_ns")
    faults = [int(numpy.median(rows[0].setting.values("minor_faults"))) for rows in (small, large)]
    return Answer(together([less(alone), less(helped)]), f"first thread's CPU time: large pages {told(alone)}, with them 2 co-runners a processor "
                  f"{told(helped)}; page faults {faults[0]} and {faults[1]}")


def a14(studies: Studies) -> Answer:
    parts, found = [], []
    for pin in ("none", "compact"):
        rows = studies["primes"].where(pin=pin)
        grows = [compared(rows[0].setting, row.setting) for row in rows[1:]]
        user = [compared(rows[0].setting, row.setting, "first_thread_ns") for row in rows[1:]]
        found += [*map(more, grows), *map(same, user)]
        spread = max(first_thread(row).variation for row in rows)
        parts.append(f"pin {pin}: real time {', '.join(map(told, grows))}, the first thread's CPU time {', '.join(map(told, user))}, "
                     f"its CV at most {share(spread)}")
    return Answer(together(found), "1 and 4 co-runners a processor, " + "; ".join(parts))


def a15(studies: Studies) -> Answer:
    none, long, short, busy = (row.setting for row in studies["sleepers"])
    verdict, beside_busy = compared(none, long, "first_thread_ns"), compared(busy, short)
    return Answer(together([same(verdict), same(beside_busy)]),
                  f"co-runners that sleep 10 ms: the first thread's CPU time {told(verdict)}; that sleep 10 µs: real time "
                  f"{told(compared(none, short))}, beside busy ones {told(beside_busy)}, busy {told(compared(none, busy))}")


def a16(studies: Studies) -> Answer:
    none, array = studies["arrays"]
    user, real = (compared(none.setting, array.setting, name) for name in ("first_thread_ns", "wall_ns"))
    return Answer(together([more(user), sided(user.stability, -1)]),
                  f"the first thread's CPU time {told(user)}, its CV {share(first_thread(none).variation)} alone and "
                  f"{share(first_thread(array).variation)}; real time {told(real)}, CV {variation(none)} and {variation(array)}")


def a17(studies: Studies) -> Answer:
    none, _, pinned = studies["pinning"]
    return Answer(sided(relative(none.setting, pinned.setting).stability, 1), f"CV unpinned {variation(none)}, pinned {variation(pinned)}")


def a18(studies: Studies) -> Answer:
    rows = {"mb_64_24576": studies["pinning"]["pin compact"], "stream": studies["stream, pinned"]["pin compact"],
            "syncbench": studies["syncbench, pinned"]["pin compact"], "schedbench": studies["schedbench, pinned"]["pin compact"]}
    text = ", ".join(f"{name} {variation(row)}" for name, row in rows.items())
    return Answer(seen(any(row.times.variation > NOTICEABLE for row in rows.values())), f"CV of pinned programs: {text}")


def goes_with_time(setting: SettingRuns, name: str) -> tuple[Agreement, str]:
    values = setting.values(name)
    if values is None or not numpy.ptp(values):
        return Agreement.UNTOLD, "it is not counted here" if values is None else "it is the same in all runs"
    found = stats.spearmanr(setting.values("wall_ns"), values)
    agrees = Agreement.NOT_SHOWN if found.pvalue >= RISK else seen(found.statistic > 0)
    return agrees, f"{values.min():.0f} to {values.max():.0f} a run, rank correlation with its time {found.statistic:.2g}, p = {found.pvalue:.2g}"


def a20(studies: Studies) -> Answer:
    agrees, text = goes_with_time(studies["pinning"].first().setting, "last_level_misses")
    return Answer(agrees, f"misses of the last cache: {text}")


def a21(studies: Studies) -> Answer:
    agrees, text = goes_with_time(studies["migrations"].first().setting, "moved_regions")
    return Answer(agrees, f"parallel regions in which a thread had moved: {text}")


def b1(studies: Studies) -> Answer:
    none, *others = studies["pinning"]
    found = [compared(none.setting, row.setting).comparison for row in others]
    text = "; ".join(f"{row.setting.label}: of means {each.mean_ratio.value:.3f}, of medians {each.median_ratio.value:.3f}"
                     for row, each in zip(others, found, strict=True))
    inside = all(0.944 <= value <= 1.032 for each in found for value in (each.mean_ratio.value, each.median_ratio.value))
    return Answer(seen(inside), f"speed-up, {text}")


def b2(studies: Studies) -> Answer:
    none, random, pinned = studies["pinning"]
    return Answer(together(sided(relative(row.setting, pinned.setting).stability, 1) for row in (none, random)),
                  "variance, ms²: " + ", ".join(f"{row.setting.label} {row.times.variance / 1e12:.3g}" for row in (none, random, pinned)))


def b6(studies: Studies) -> Answer:
    found = beside_first(studies["nothing"])
    declared = sum(verdict.declared for verdict in found)
    ratios = ", ".join(f"{verdict.comparison.median_ratio.value:.3f}" for verdict in found)
    return Answer(seen(declared == 0), f"three settings that do nothing: ratios of medians {ratios}; {declared} declared")


def middle(row: Row, name: str) -> float:
    return float(numpy.median(metric_of(row.setting, name).medians))


def between(row: Row, name: str) -> float:
    return series.summarize(metric_of(row.setting, name).medians).variation


def inside(row: Row, name: str) -> float:
    return float(numpy.nanmedian(metric_of(row.setting, name).inside))


def d1(studies: Studies) -> Answer:
    one, two, four = studies["schedbench"]
    floor = 8192 * 15
    times = [middle(row, "dynamic_1") for row in (one, two, four)]
    sync = [middle(row, "reduction") for row in studies["syncbench"]]
    return Answer(seen(times[0] >= floor and times[0] < times[1] < times[2] and sync[0] < sync[1] < sync[2]),
                  f"with 1, 2, 4 threads on two processors: dynamic_1 {', '.join(f'{time:,.0f}' for time in times)} µs (floor {floor:,}), "
                  f"reduction {', '.join(f'{time:.3g}' for time in sync)} µs")


def d3(studies: Studies) -> Answer:
    two = studies["syncbench"]["threads 2"]
    times = sorted(((middle(two, name), name) for name in CONSTRUCTS), reverse=True)
    return Answer(seen(times[0][1] == "reduction"), "2 threads, µs: " + ", ".join(f"{name} {time:.3g}" for time, name in times))


def d4(studies: Studies) -> Answer:
    one, two = studies["stream"]
    found = {name: of_metric(one.setting, two.setting, name) for name in KERNELS}
    return Answer(together(map(less, found.values())),
                  "2 threads beside 1: " + ", ".join(f"{name} {told(verdict)}" for name, verdict in found.items()))


def d5(studies: Studies) -> Answer:
    names = {"syncbench": "reduction", "stream": "copy", "schedbench": "dynamic_1"}
    spread = {study: [between(row, metric) for row in studies[study]] for study, metric in names.items()}
    grows = {study: values[0] < values[-1] for study, values in spread.items()}
    text = "; ".join(f"{study} ({names[study]}) {', '.join(map(share, values))}" for study, values in spread.items())
    return Answer(seen(grows["syncbench"] and grows["stream"] and spread["schedbench"][-1] < NOTICEABLE), f"CV between runs by threads: {text}")


def d6(studies: Studies) -> Answer:
    one, two = (studies["syncbench"][f"threads {count}"] for count in (1, 2))
    parts = [f"{name} {share(between(one, name))} and {share(between(two, name))}" for name in ("reduction", "barrier", "for")]
    return Answer(seen(all(between(one, name) < between(two, name) for name in ("reduction", "barrier", "for"))),
                  "CV between runs with one of two processors in use and with both: " + ", ".join(parts))


def d7(studies: Studies) -> Answer:
    names = {"schedbench, pinned": "dynamic_1", "syncbench, pinned": "reduction", "stream, pinned": "copy"}
    parts, steadier = [], 0
    for study, metric in names.items():
        none, pinned = studies[study]
        extremes = [float(values.max() / values.min()) for row in (none, pinned)
                    for values in [metric_of(row.setting, metric).medians]]
        steadier += extremes[1] < extremes[0]
        parts.append(f"{study.removesuffix(', pinned')} ({metric}) {extremes[0]:.3g} and {extremes[1]:.3g}")
    return Answer(seen(steadier == len(names)), "slowest run over fastest, unpinned and pinned: " + "; ".join(parts))


def d8(studies: Studies) -> Answer:
    names = {"syncbench": "reduction", "stream": "copy", "schedbench": "dynamic_1"}
    rows = {study: studies[study]["threads 2"] for study in names}
    pairs = {study: (between(row, names[study]), inside(row, names[study])) for study, row in rows.items()}
    return Answer(seen(any(max(pair) > 2 * min(pair) for pair in pairs.values())),
                  "CV between runs and inside a run, 2 threads: " + "; ".join(f"{study} ({names[study]}) {share(one)} and {share(two)}"
                                                                              for study, (one, two) in pairs.items()))


FINDINGS = [
    Finding("A1", "§3, figs. 2, 3", "An environment of 0 to 4,095 bytes moves sequential programs by less than 1 %, at -O2 and -O3.",
            ("environment, -O2", "environment, -O3"), a1),
    Finding("A2", "§4, obs. 1", "Sequential runs, and those of OpenMP with one thread, do not vary noticeably.", ("threads",), a2),
    Finding("A3", "§4, obs. 2", "From two threads on, runs are shorter, but spread.", ("threads",), a3),
    Finding("A4", "§4, obs. 2", "Shapiro-Wilk rejects that the times are normal; they are often skewed.", ("threads",), a4),
    Finding("A5", "§4, obs. 3", "The compiler's OpenMP runtime decides time and stability.", ("runtimes",), a5),
    Finding("A6", "§4, obs. 4", "The minimum says faster where the median says equal.", ("threads", "co-runners", "pinning", "nothing"), a6),
    Finding("A7", "§4, obs. 5", "OpenMP with one thread is slower than the sequential build (ammp: 25 %).", ("threads",), a7),
    Finding("A8", "§5.1, figs. 11, 12", "With more co-runners real time grows, and thread 0's user time falls, bound or not.",
            ("co-runners", "co-runners, chunks of 3/8 of the shared cache"), a8),
    Finding("A9", "§5.2.2, figs. 13, 14", "A8 holds for chunks above the L1 data cache only; chunks of 24 KB are the fastest.", ("chunks",), a9),
    Finding("A10", "§5.2.3, figs. 15–18", "A8 needs threads that share a cache.", ("shared and unshared",), a10, needs="caches"),
    Finding("A11", "§5.3, figs. 19, 20", "Without the prefetcher there are still many misses, and co-runners still help (−31 %).", ("prefetcher",),
            needs="msr"),
    Finding("A12", "§5.3, figs. 21, 22", "Large pages are 25 % faster, and co-runners still help.", ("pages",), a12),
    Finding("A13", "§5.3, figs. 23, 24", "Large pages without the prefetcher are 37 % faster; co-runners add 1 %.", ("prefetcher and pages",),
            needs="msr"),
    Finding("A14", "§5.4, figs. 25, 26", "Of prime numbers the user time depends on neither co-runners nor placement; real time grows.", ("primes",),
            a14),
    Finding("A15", "§5.5.1, figs. 27, 28", "Co-runners that sleep 10 ms leave the median as it is; those that sleep 10 µs do what busy ones do.",
            ("sleepers",), a15),
    Finding("A16", "§5.5.2, figs. 29, 30", "Co-runners that fill the shared cache raise the median and the spread of user time.", ("arrays",), a16),
    Finding("A17", "§6, obs. 1, 2", "Unpinned runs spread; pinned ones hardly do.", ("pinning",), a17),
    Finding("A18", "§6, obs. 3, 5", "Some programs vary though they are pinned.",
            ("pinning", "stream, pinned", "syncbench, pinned", "schedbench, pinned"), a18),
    Finding("A19", "§6, obs. 4", "Scatter is faster for 7 of 9 programs, compact for ammp and galgel.", ("shared and unshared",), needs="sockets"),
    Finding("A20", "§6, figs. 31, 32", "Slow runs have more last-level misses.", ("pinning",), a20, needs="counters"),
    Finding("A21", "§6", "Slow runs are those in which a thread had migrated.", ("migrations",), a21),
    Finding("B1", "tab. 1, concl. 1", "On 8 cores pinning hardly changes means and medians (0.944 to 1.032).", ("pinning",), b1),
    Finding("B2", "tab. 1, concl. 1", "The variance is large unpinned or at random places, and small when pinned.", ("pinning",), b2),
    Finding("B3", "tab. 2, concl. 2", "With 16 threads on 96 cores every strategy is faster (1.024 to 1.211).", ("strategies, 16 threads",),
            needs="16"),
    Finding("B4", "tab. 3, concl. 3", "With 96 threads pinning is 1.42 to 1.57 times as fast, compact more than scatter.",
            ("strategies, 96 threads",), needs="96"),
    Finding("B5", "concl. 4", "Strategies by the application's affinity gain little over compact and scatter.", (),
            lacks="strategies by an affinity graph of memory accesses"),
    Finding("B6", "§2.3", "A speed-up is declared only by test.", ("nothing",), b6),
    Finding("B7", "§3.2", "Affinity graph, matching, partition and the nine placements.", (), lacks="an affinity graph of memory accesses"),
    Finding("D1", "tab. 2, fig. 1", "Times of schedbench and syncbench grow with threads; schedbench's floor is 122,880 µs.",
            ("schedbench", "syncbench"), d1),
    Finding("D2", "fig. 1", "Times jump at the second socket, and where two threads share a core.", ("second socket",), needs="sockets"),
    Finding("D3", "§5.1", "The reduction is the most expensive construct.", ("syncbench",), d3),
    Finding("D4", "fig. 2", "BabelStream gets faster with threads.", ("stream",), d4),
    Finding("D5", "fig. 3", "Variation grows with threads for syncbench and BabelStream, not for schedbench.",
            ("syncbench", "stream", "schedbench"), d5),
    Finding("D6", "§5.1", "With all processors in use runs vary much more; sparing two helps.", ("syncbench",), d6),
    Finding("D7", "fig. 4", "Pinning makes all three more stable.", ("schedbench, pinned", "syncbench, pinned", "stream, pinned"), d7),
    Finding("D8", "§5.1–5.3", "Variation between runs and among a run's repetitions are different things.",
            ("syncbench", "stream", "schedbench"), d8),
    Finding("D9", "fig. 5", "Two threads a core vary more than one, at the same number of threads.", ("hardware threads",), needs="smt"),
    Finding("D10", "figs. 6, 7", "16 cores over two nodes vary more than in one, with the frequency.", ("two nodes",), needs="cpufreq"),
]
