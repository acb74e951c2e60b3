"""Whether two settings of a program differ: the Speedup-Test, its risk kept on a machine that drifts and is disturbed in bursts.

**The published procedure** is the Speedup-Test (Touati, Worms, Briais, *The Speedup-Test: a statistical methodology for programme speedup
analysis and computation*, CCPE 25(10), 2013; report inria-00443839): means by a one-sided t test, after Shapiro-Wilk and Fisher's F;
medians by the one-sided Wilcoxon-Mann-Whitney test, after Kolmogorov-Smirnov. All its p-values are in `Comparison`.

**What decides.** These tests take runs as independent. Runs on one machine are not: they are made in rounds, each setting once in each, in
an order that is drawn, and what disturbs a round disturbs all of it. This order is the only thing that is random for certain, so it is what
the deciding p-values are computed from (Fisher, *The Design of Experiments*, 1935, §21): if two settings take the same time, the two times
of a round might as well have come the other way round, whatever the machine did. Each round's two times are swapped or not in all ways (up
to 15 rounds) or in SWAPS random ones, and p is the share of those in which the statistic is at least as large. No assumption on drift,
bursts, shape or independence is needed. The statistic is, for the mean, the sum of the rounds' differences, and for the median
- the Wilcoxon-Mann-Whitney rank sum over all runs, if the two runs of a round are not alike (intraclass correlation of the ranks), or
- Wilcoxon's signed-rank sum of the rounds' differences, if they are: then a round's differences are less disturbed than its times.
The correlation does not change when a round is swapped, so that the choice does not bias what is chosen. Without rounds, the Speedup-Test's
own p-values decide. The variance test is the same for both designs (`Comparison.spread_test`). `microbench/verdicts` measures the rates of
these and of the alternatives; docs/study-statistics.md has them.

**The risk** is the probability that anything false is declared in a whole study: the family-wise error. Each comparison has six one-sided
hypotheses, (mean, median, variance) × (second is not less, second is not greater); with m comparisons, Holm's procedure (Scand. J. Statist.
6, 1979) over all 6 m of them keeps the probability that one true hypothesis is rejected at most the risk, however the tests depend on each
other. So both directions, all tests and all comparisons count once and together. Hypotheses that the Speedup-Test does not allow to be
tested yet stay in the family with p = 1.
"""

import bisect
import dataclasses
import functools
import math
from collections.abc import Sequence

import numpy

from rdam.study.series import RESAMPLES, SEED, Interval, checked, shapiro

RISK = 0.05
POWER = 0.95
SWAPS = 19_999  # of random swaps: the least p-value is 1 / 20,000
ALL_SWAPS = 15  # rounds up to which every swap is made: 2^15
ENOUGH = 30  # runs above which means and rank sums of any shape are normal enough: Speedup-Test, §3
HYPOTHESES = 6  # of a comparison


@dataclasses.dataclass(frozen=True, eq=False)
class Runs:
    """One setting's runs. `rounds` has the round of each run, or is None if settings were not run in rounds of drawn order."""

    times: numpy.ndarray
    rounds: numpy.ndarray | None = None


@dataclasses.dataclass(frozen=True)
class OneSided:
    """Two p-values: that the second setting's value is less (for times: it is faster), and that it is greater."""

    less: float
    greater: float

    def least(self) -> float:
        return min(self.less, self.greater)


UNTESTED = OneSided(1.0, 1.0)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Everything that is known of one pair of settings, before other comparisons count. Ratios are the first setting's value over the
    second's: above 1, the second is faster (or, for the variance, more stable)."""

    runs: tuple[int, int]
    rounds: int  # in which both settings have a run; 0: the Speedup-Test alone decides
    normal: tuple[bool, bool]  # Shapiro-Wilk does not reject it
    shapiro_p: tuple[float, float]
    fisher_p: float  # F test of equal variances, two-sided
    t_test: str  # "Student" or "Welch"
    means: OneSided  # by this t test
    means_by_swaps: OneSided | None
    shapes_p: float  # Kolmogorov-Smirnov, of the runs less their medians
    ranks: OneSided  # Wilcoxon-Mann-Whitney
    ranks_by_swaps: OneSided | None
    rank_sum: str  # what was swapped: "Wilcoxon-Mann-Whitney" or "signed ranks"
    alike: float  # intraclass correlation of the ranks of a round
    first_slower: float  # P(X > Y) + P(X = Y) / 2: a run of the first setting takes longer than one of the second
    spread_test: str  # "Fisher" (both normal) or "Brown-Forsythe": which of the next two decides
    variances: OneSided  # F
    brown_forsythe: OneSided
    median_ratio: Interval
    mean_ratio: Interval
    least_ratio: float
    variance_ratio: float
    smallest: float  # relative difference that as many runs as these show with POWER
    target: float  # a smaller one, or that of the medians: what `more` runs more would show
    more: int
    notes: tuple[str, ...]  # what the Speedup-Test does not allow to be tested, and what contradicts itself

    def deciding(self) -> tuple[OneSided, OneSided, OneSided]:
        """Of the mean, the median and the variance."""
        small = min(self.runs) <= ENOUGH
        mean, median = self.means_by_swaps or self.means, self.ranks_by_swaps or self.ranks
        return (UNTESTED if small and not all(self.normal) else mean, UNTESTED if small and self.shapes_p < RISK else median,
                self.variances if self.spread_test == "Fisher" else self.brown_forsythe)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What is declared of the second setting beside the first: +1 faster (more stable), -1 slower (less stable), 0 no difference shown.
    `*_p` are the p-values of the direction that has the smaller one, adjusted by Holm: declared is what is at most the risk."""

    comparison: Comparison
    mean: int
    median: int
    stability: int
    mean_p: float
    median_p: float
    stability_p: float
    risk: float
    notes: tuple[str, ...]

    @property
    def declared(self) -> bool:
        """Whether any difference is."""
        return bool(self.mean or self.median or self.stability)


@functools.lru_cache(maxsize=8)
def _swaps(rounds: int, seed: int) -> numpy.ndarray:
    """±1 for each swap and round."""
    if rounds <= ALL_SWAPS:
        return 1.0 - 2.0 * ((numpy.arange(2**rounds)[:, None] >> numpy.arange(rounds)) & 1)
    return numpy.random.default_rng(seed).choice((-1.0, 1.0), (SWAPS, rounds))


def by_swaps(differences: numpy.ndarray, seed: int = SEED) -> OneSided:
    """p-values of the sum of first minus second in each round, among those of all swaps (exact), or of SWAPS random ones and the one that was
    made (Phipson, Smyth, SAGMB 9, 2010). As scipy.stats.permutation_test(permutation_type="samples"), by one matrix product."""
    kept = differences[differences != 0]  # a swap does not change them
    if not len(kept):
        return UNTESTED
    sums, made = _swaps(len(kept), seed) @ kept, float(kept.sum())
    same = 1e-9 * float(numpy.abs(kept).sum())
    extra = 0 if len(kept) <= ALL_SWAPS else 1
    count = len(sums) + extra
    return OneSided(less=(int((sums >= made - same).sum()) + extra) / count, greater=(int((sums <= made + same).sum()) + extra) / count)


def shapes(first: numpy.ndarray, second: numpy.ndarray) -> float:
    """The exact two-sided p-value of the Kolmogorov-Smirnov distance of two samples given their ties, which scipy.stats.ks_2samp ignores. It
    is the share of all orders of the pooled runs in which the distance between two different values is as large somewhere (Schröer,
    Trenkler, *Exact and randomization distributions of Kolmogorov-Smirnov tests for two or three samples*, CSDA 20, 1995; R's psmirnov).
    The shares are summed along lattice paths, one step of the longer sample at a time."""
    pooled = numpy.sort(numpy.concatenate([first, second]))
    one, two = len(first), len(second)
    ends = numpy.append(numpy.diff(pooled) > 0, True)  # after this many runs, both empirical distributions are at a value's end
    counts = numpy.searchsorted(numpy.sort(first), pooled[ends], side="right") / one
    distance = float(numpy.abs(counts - numpy.searchsorted(numpy.sort(second), pooled[ends], side="right") / two).max())
    # inside[i]: share of the paths to (i runs of first, total - i of second) that stayed below the distance
    index = numpy.arange(one + 1)
    inside = numpy.zeros(one + 1)
    inside[0] = 1
    for total in range(1, one + two + 1):
        of_second = total - index
        valid = (of_second >= 0) & (of_second <= two)
        left = one + two - total + 1  # runs still to be drawn; each is of the first with the probability (one - i) / left
        step = inside * numpy.maximum(two - (of_second - 1), 0) / left
        step[1:] += inside[:-1] * (one - index[:-1]) / left
        inside = numpy.where(valid, step, 0)
        if ends[total - 1]:
            inside[numpy.abs(index / one - of_second / two) >= distance - 1e-9] = 0
    return float(min(1.0, max(0.0, 1 - inside[one])))


def _spread(first: numpy.ndarray, second: numpy.ndarray) -> tuple[OneSided, OneSided]:
    """Fisher's F and Brown-Forsythe, both one-sided: less is that the second's variance is less."""
    from scipy import stats

    variances = first.var(ddof=1), second.var(ddof=1)
    if not min(variances):
        return UNTESTED, UNTESTED
    freedom = len(first) - 1, len(second) - 1
    ratio = variances[0] / variances[1]
    fisher = OneSided(float(stats.f.sf(ratio, *freedom)), float(stats.f.cdf(ratio, *freedom)))
    both = float(stats.levene(first, second, center="median").pvalue)
    wider = numpy.abs(first - numpy.median(first)).mean() > numpy.abs(second - numpy.median(second)).mean()
    return fisher, OneSided(both / 2, 1 - both / 2) if wider else OneSided(1 - both / 2, both / 2)


def _together(first: Runs, second: Runs) -> tuple[numpy.ndarray, numpy.ndarray] | None:
    """Times of the rounds in which both have a run, one row each."""
    if first.rounds is None or second.rounds is None:
        return None
    for runs in (first, second):
        if len(numpy.unique(runs.rounds)) != len(runs.times):
            raise ValueError("a setting must have one run in each of its rounds: give the runs' rounds, or none")
    common, left, right = numpy.intersect1d(first.rounds, second.rounds, assume_unique=True, return_indices=True)
    times = numpy.asarray(first.times, dtype=float), numpy.asarray(second.times, dtype=float)
    return (times[0][left], times[1][right]) if len(common) else None


def _ranks_by_swaps(one: numpy.ndarray, two: numpy.ndarray, seed: int) -> tuple[OneSided, str, float]:
    from scipy import stats

    ranks = stats.rankdata(numpy.concatenate([one, two])).reshape(2, -1)
    differences = ranks[0] - ranks[1]
    both = ranks - ranks.mean()
    spread = float((both**2).mean())
    alike = float((both[0] * both[1]).mean()) / spread if spread else 0.0  # Fisher, Statistical Methods for Research Workers, §38
    if math.atanh(max(-0.999, min(alike, 0.999))) * math.sqrt(max(len(one) - 1.5, 0)) <= stats.norm.isf(RISK):
        return by_swaps(differences, seed), "Wilcoxon-Mann-Whitney", alike
    apart = one - two
    return by_swaps(numpy.sign(apart) * stats.rankdata(numpy.abs(apart)), seed), "signed ranks", alike


def ratio_interval(first: numpy.ndarray, second: numpy.ndarray, middle, paired: bool, confidence: float = 1 - RISK, seed: int = SEED) -> Interval:
    """`middle` (numpy.mean or numpy.median) of the first over that of the second, with the percentile interval of scipy.stats.bootstrap;
    whole rounds are drawn if `paired`, so that what disturbed both is not taken for a difference."""
    from scipy import stats

    value = float(middle(first) / middle(second))
    if not (numpy.ptp(first) or numpy.ptp(second)):
        return Interval(value, value, value, confidence)
    limits = stats.bootstrap((first, second), lambda x, y, axis: middle(x, axis=axis) / middle(y, axis=axis), paired=paired, vectorized=True,
                             confidence_level=confidence, n_resamples=RESAMPLES, method="percentile", random_state=seed).confidence_interval
    return Interval(value, float(limits.low), float(limits.high), confidence)


def mean_ratio_by_swaps(one: numpy.ndarray, two: numpy.ndarray, confidence: float = 1 - RISK, seed: int = SEED) -> Interval:
    """The ratios r that the swaps do not reject for first less r times second, so that it is right where the test is. A swap's sum is as
    large as the one that was made if, over the rounds that it swaps, the times of the first are together at most r times those of the
    second: so the limits are order statistics of that ratio (typical values: Hartigan, JASA 64, 1969). NaN for fewer rounds than the
    confidence needs."""
    swapped = _swaps(len(one), seed) < 0
    swapped = swapped[swapped.any(axis=1)].astype(float)
    ratios = numpy.sort((swapped @ one) / (swapped @ two))
    outside = int((1 - confidence) / 2 * (len(ratios) + 1))
    value = float(one.mean() / two.mean())
    return Interval(value, float(ratios[outside - 1]), float(ratios[-outside]), confidence) if outside else Interval(value, math.nan, math.nan,
                                                                                                                  confidence)


class Power:
    """Which relative differences n runs a setting would show, from the spread of the runs there are: with the probability `power`, one test
    of the family would be declared at the risk / (6 m) of Holm's first step.
    - ranks: Noether, JASA 82 (1987), (z_α + z_β)² = 6 n (P - 1/2)² for Wilcoxon-Mann-Whitney, where P(X > Y) is that of the pooled runs,
      each over its setting's median, when one of two is made faster; and = 3 n (P - 1/2)² with P(D + D' > 0) for signed ranks.
      For normal runs this is the efficiency 3/π beside t.
    - means: (z_α + z_β)² = n δ² / variance of a round's difference over the mean.
    What is shown is the smaller of both, since either suffices."""

    def __init__(self, first: numpy.ndarray, second: numpy.ndarray, signed: bool, paired: bool, level: float, power: float = POWER):
        from scipy import stats

        self.demand = float(stats.norm.isf(level) + stats.norm.ppf(power))
        one, two = numpy.log(first / numpy.median(first)), numpy.log(second / numpy.median(second))
        values = one - two - numpy.median(one - two) if signed else numpy.concatenate([one, two])
        sign, share, self.noether = (1, 2, 3) if signed else (-1, 1, 6)
        chosen = numpy.triu_indices(len(values), 1)
        self.steps = numpy.sort(numpy.abs(values[chosen[0]] + sign * values[chosen[1]]) / share)
        one, two = first / first.mean(), second / second.mean()
        self.deviation = float((one - two).std(ddof=1)) if paired else math.sqrt(one.var(ddof=1) + two.var(ddof=1))

    def smallest(self, runs: int) -> float:
        """Relative difference of times: 0.02 is 2 % less."""
        by_means = self.demand * self.deviation / math.sqrt(runs)
        excess = self.demand / math.sqrt(self.noether * runs)  # of P over 1/2
        if excess >= 0.5:
            return by_means
        # The differences are symmetric around 0, so half of the excess over 1/2 lies on each side.
        return min(by_means, 1 - math.exp(-float(self.steps[math.ceil(2 * excess * (len(self.steps) - 1))])))

    def runs_for(self, difference: float) -> int:
        """The fewest runs a setting that show it; at most ten million."""
        return bisect.bisect_left(range(10_000_000), -difference, lo=3, key=lambda runs: -self.smallest(runs))


def _more(power: Power, runs: int, ratio: float) -> tuple[float, float, int]:
    """The smallest difference that these runs show, one worth looking for, and how many more runs would show that: the difference of the
    medians, or half of what is shown if that one is smaller still (or was large enough to be shown)."""
    smallest = power.smallest(runs)
    seen = abs(1 - 1 / ratio)
    target = float(f"{seen if smallest / 2 <= seen < smallest else smallest / 2:.1g}")  # one digit that counts
    return smallest, target, max(0, power.runs_for(target) - runs) if target else 0


def compare(first: Runs, second: Runs, comparisons: int = 1, risk: float = RISK, estimates: bool = True, seed: int = SEED) -> Comparison:
    """One pair, of `comparisons` in the study. Without `estimates` the intervals of ratios and what more runs would show are NaN (`more` is
    0), which saves most of the time. Raises ValueError if there are fewer than three runs of one, a value is not positive, or a setting has
    two runs in one round."""
    from scipy import stats

    x, y = checked(first.times), checked(second.times)
    if min(x.min(), y.min()) <= 0:
        raise ValueError("a run's value is not positive: ratios have no meaning, compare another metric")
    pair = _together(first, second)
    shapiro_p = shapiro(x)[1], shapiro(y)[1]
    normal = tuple(not p < RISK for p in shapiro_p)
    variances, brown_forsythe = _spread(x, y)
    fisher_p = min(1.0, 2 * variances.least())
    student = all(normal) and fisher_p >= RISK
    with numpy.errstate(all="ignore"):
        less = float(stats.ttest_ind(x, y, equal_var=student, alternative="greater").pvalue) if numpy.ptp(x) or numpy.ptp(y) else 1.0
    means = OneSided(less, 1 - less) if numpy.ptp(x) or numpy.ptp(y) else UNTESTED
    shapes_p = shapes(x - numpy.median(x), y - numpy.median(y))
    sums = [stats.mannwhitneyu(x, y, alternative=side) for side in ("greater", "less")]
    ranks = OneSided(*(1.0 if math.isnan(found.pvalue) else float(found.pvalue) for found in sums))
    means_by_swaps, ranks_by_swaps, rank_sum, alike = None, None, "Wilcoxon-Mann-Whitney", math.nan
    if pair:
        means_by_swaps = by_swaps(pair[0] - pair[1], seed)
        ranks_by_swaps, rank_sum, alike = _ranks_by_swaps(*pair, seed)
    whole = pair is not None and len(pair[0]) >= 3
    drawn = pair if whole else (x, y)
    ratios = [Interval(float(middle(x) / middle(y)), math.nan, math.nan, 1 - risk) for middle in (numpy.median, numpy.mean)]
    smallest, target, more = math.nan, math.nan, 0
    if estimates:
        found = (ratio_interval(*drawn, numpy.median, whole, 1 - risk, seed),
                 mean_ratio_by_swaps(*pair, 1 - risk, seed) if whole else ratio_interval(x, y, numpy.mean, False, 1 - risk, seed))
        ratios = [dataclasses.replace(interval, value=ratio.value) for interval, ratio in zip(found, ratios, strict=True)]
        power = Power(*drawn, rank_sum == "signed ranks" and whole, whole, risk / (HYPOTHESES * comparisons))
        smallest, target, more = _more(power, min(len(x), len(y)), ratios[0].value)
    small, notes = min(len(x), len(y)) <= ENOUGH, []
    if small and not all(normal):
        notes.append(f"the mean's test needs more than {ENOUGH} runs: Shapiro-Wilk rejects normality")
    if small and shapes_p < RISK:
        notes.append(f"the median's test needs more than {ENOUGH} runs: Kolmogorov-Smirnov rejects equal shapes")
    elif shapes_p < RISK:
        notes.append("the shapes differ: the median's test says which setting's runs are faster more often than not")
    return Comparison(runs=(len(x), len(y)), rounds=len(pair[0]) if pair else 0, normal=normal, shapiro_p=shapiro_p, fisher_p=fisher_p,
                      t_test="Student" if student else "Welch", means=means, means_by_swaps=means_by_swaps, shapes_p=shapes_p, ranks=ranks,
                      ranks_by_swaps=ranks_by_swaps, rank_sum=rank_sum, alike=alike, first_slower=float(sums[0].statistic) / (len(x) * len(y)),
                      spread_test="Fisher" if all(normal) else "Brown-Forsythe", variances=variances, brown_forsythe=brown_forsythe,
                      median_ratio=ratios[0], mean_ratio=ratios[1], least_ratio=float(x.min() / y.min()),
                      variance_ratio=float(x.var(ddof=1) / y.var(ddof=1)) if numpy.ptp(y) else math.nan, smallest=smallest, target=target,
                      more=more, notes=tuple(notes))


def holm(p_values) -> numpy.ndarray:
    """Adjusted p-values: declared at a risk is what is at most the risk (Holm 1979; R's p.adjust(method = "holm"))."""
    p_values = numpy.asarray(p_values, dtype=float)
    order = numpy.argsort(p_values, kind="stable")
    adjusted = numpy.maximum.accumulate(p_values[order] * numpy.arange(len(p_values), 0, -1))
    result = numpy.empty(len(p_values))
    result[order] = numpy.minimum(adjusted, 1)
    return result


def _minimum_disagrees(found: Comparison, side: int) -> str | None:
    """The minimum is what many report: says so where it would have told another story than the test, which declared the median (or else the
    mean) to be of this `side` (Mazouz, Touati, Barthou 2010, §4, observation 4)."""
    says = "faster" if found.least_ratio > 1 else "slower"
    if (found.least_ratio - 1) * side < 0:
        return f"minimum and median disagree: by the minimum the second is {says}, × {found.least_ratio:.3g}"
    low, high = found.median_ratio.low, found.median_ratio.high
    if not side and (found.least_ratio < low or found.least_ratio > high):
        return f"minimum and median disagree: only by the minimum the second is {says}, × {found.least_ratio:.3g}"
    return None


def verdicts(comparisons: Sequence[Comparison], risk: float = RISK) -> list[Verdict]:
    """Of all comparisons of a study together: the probability that anything false is among them is at most the risk."""
    deciding = [tests for found in comparisons for tests in found.deciding()]
    adjusted = holm([p for tests in deciding for p in (tests.less, tests.greater)]).reshape(-1, 3, 2)
    result = []
    for found, p_values in zip(comparisons, adjusted, strict=True):
        said = [(1 if less <= greater else -1) if min(less, greater) <= risk else 0 for less, greater in p_values]
        notes = [*found.notes]
        if said[0] * said[1] < 0:
            notes.append("mean and median disagree: look at the distributions")
        if disagrees := _minimum_disagrees(found, said[1] or said[0]):
            notes.append(disagrees)
        result.append(Verdict(found, *said, *(float(p.min()) for p in p_values), risk=risk, notes=tuple(notes)))
    return result


def study(pairs: Sequence[tuple[Runs, Runs]], risk: float = RISK, estimates: bool = True, seed: int = SEED) -> list[Verdict]:
    """Verdicts on all pairs (first, second) of a study."""
    return verdicts([compare(first, second, len(pairs), risk, estimates, seed) for first, second in pairs], risk)


def can_show(rounds: int, comparisons: int, risk: float = RISK) -> bool:
    """Whether so many rounds can show any difference of means or medians: Holm's first step multiplies the least p-value that the swaps have by
    the number of hypotheses."""
    ways = 2**rounds if rounds <= ALL_SWAPS else SWAPS + 1
    return HYPOTHESES * comparisons <= risk * ways


def rounds_needed(comparisons: int, risk: float = RISK) -> int | None:
    """The fewest that can; None: for so many comparisons there are not enough swaps."""
    return next((rounds for rounds in range(1, ALL_SWAPS + 2) if can_show(rounds, comparisons, risk)), None)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def sentence(verdict: Verdict, of_times: bool = True) -> str:
    """"faster, median × 1.13, confidence 95 %": the second setting's median is the first's divided by 1.13, and what the study declares is
    all true with this confidence. "no difference shown; 40 more runs would show 2 %": of each setting; a difference of 2 % would then be
    declared with the probability POWER. Of what is no time: "more, median × 1.13": the second setting's median is 1.13 times the first's."""
    found = verdict.comparison
    words = ("faster", "slower") if of_times else ("less", "more")
    confidence = f"confidence {_percent(1 - verdict.risk)}"
    ratios = {"median": found.median_ratio.value, "mean": found.mean_ratio.value}
    sides = {"median": verdict.median, "mean": verdict.mean}
    values = {name: (sides[name], ratio if of_times else 1 / ratio) for name, ratio in ratios.items()}
    shown = [name for name, (side, _) in values.items() if side]
    parts = []
    if len(shown) == 2 and verdict.median != verdict.mean:
        parts.append(", ".join(f"{name} {words[side < 0]} (× {ratio:.3g})" for name, (side, ratio) in values.items()) + f", {confidence}")
    elif shown:
        side, ratio = values[shown[0]]
        parts.append(f"{words[side < 0]}, {shown[0]} × {ratio:.3g}, {confidence}")
    else:
        more = f"{found.more} more runs" if found.more != 1 else "1 more run"
        parts.append("no difference shown" + (f"; {more} would show {_percent(found.target)}" if found.more else ""))
    if verdict.stability:
        word = "more stable" if verdict.stability > 0 else "less stable"
        parts.append(f"{word}, variance × {1 / found.variance_ratio:.3g}" + ("" if shown else f", {confidence}"))
    return "; ".join(parts)


@dataclasses.dataclass(frozen=True)
class Overall:
    """Several programs in one setting, each beside itself in another: a row of tables 1 to 3 of Mazouz, Touati, Barthou, HPCS 2011."""

    programs: int
    means: float  # overall speed-up
    medians: float
    gain_of_means: float  # the share of all programs' time that the setting saves
    gain_of_medians: float
    least_variance: float  # of the setting's runs, among the programs; in the unit of the times, squared
    greatest_variance: float
    faster: int  # programs for which the test declares it
    slower: int
    more_stable: int
    less_stable: int
    faster_share: Interval  # of programs like these: exact (Clopper-Pearson)


def overall(programs: Sequence[tuple[Runs, Runs, Verdict]]) -> Overall:
    """Of each program its runs in the one and the other setting, and the verdict on them. The overall speed-up is Σ time(one) / Σ time(other)
    with the programs' means or medians as times: those of the whole set before and after, not a mean of ratios (Speedup-Test, §4, with all
    weights 1: a program that takes long counts for more). Its gain factor is 1 - 1 / speed-up. A program is faster if its median or mean is
    declared so, and neither slower."""
    from scipy import stats

    means, medians = (sum(float(middle(one.times)) for one, _, _ in programs) / sum(float(middle(other.times)) for _, other, _ in programs)
                      for middle in (numpy.mean, numpy.median))
    variances = [float(numpy.var(other.times, ddof=1)) for _, other, _ in programs]
    sides = [{verdict.mean, verdict.median} for _, _, verdict in programs]
    faster = sum(1 in side and -1 not in side for side in sides)
    stability = [verdict.stability for _, _, verdict in programs]
    limits = stats.binomtest(faster, len(programs)).proportion_ci(0.95, method="exact")
    return Overall(programs=len(programs), means=means, medians=medians, gain_of_means=1 - 1 / means, gain_of_medians=1 - 1 / medians,
                   least_variance=min(variances), greatest_variance=max(variances), faster=faster,
                   slower=sum(-1 in side and 1 not in side for side in sides), more_stable=stability.count(1), less_stable=stability.count(-1),
                   faster_share=Interval(faster / len(programs), float(limits.low), float(limits.high), 0.95))
