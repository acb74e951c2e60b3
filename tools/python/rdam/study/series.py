"""The runs of one setting: what they are like, whether they changed in the order of time, and whether they have two modes.

Everything is a pure function of numpy arrays. Random numbers come from a given seed, so that the same runs always give the same result.
"""

import dataclasses
import math

import numpy

SEED = 2010
RESAMPLES = 1999


@dataclasses.dataclass(frozen=True)
class Interval:
    """An estimate and between which limits it is, with the confidence that the limits have. The unit is that of the estimate."""

    value: float
    low: float  # NaN: too few runs for an interval of this confidence
    high: float
    confidence: float  # what the limits really have, in [0, 1]


@dataclasses.dataclass(frozen=True)
class Summary:
    """What `runs` runs were like. Times have the unit in which they were given."""

    runs: int
    least: float
    greatest: float
    median: Interval
    mean: Interval
    deviation: float  # standard deviation, divisor runs - 1
    variance: float
    variation: float  # coefficient of variation: deviation / mean
    least_to_mean: float  # minimum and maximum over the mean: Cui, Papadopoulou, Pericàs, SC-W 2023, §4.2
    greatest_to_mean: float
    quartiles: tuple[float, float]
    skewness: float  # adjusted Fisher-Pearson coefficient G1
    shapiro: float  # Shapiro-Wilk's W; NaN if all runs are equal
    shapiro_p: float


def checked(times) -> numpy.ndarray:
    """The times as an array of floats. Raises ValueError if there are fewer than three, or one is not a number."""
    array = numpy.asarray(times, dtype=float).ravel()
    if len(array) < 3:
        raise ValueError(f"{len(array)} runs: statistics need at least 3, give --runs 3 or more")
    if not numpy.isfinite(array).all():
        raise ValueError("a run's value is not a finite number: leave this run out")
    return array


def shapiro(times: numpy.ndarray) -> tuple[float, float]:
    """Shapiro-Wilk's W and its p-value; NaN where all values are equal, since nothing can be said about their shape then."""
    from scipy import stats

    if numpy.ptp(times) == 0:
        return math.nan, math.nan
    found = stats.shapiro(times)
    return float(found.statistic), float(found.pvalue)


def median_interval(times: numpy.ndarray, confidence: float = 0.95) -> Interval:
    """The exact interval by order statistics: the number of runs below the median is binomial (n, 1/2) whatever the distribution. It has at
    least the confidence asked for, and says which it has (Conover, Practical Nonparametric Statistics, §3.2)."""
    from scipy import stats

    ordered, middle = numpy.sort(times), float(numpy.median(times))
    outside = int(stats.binom.ppf((1 - confidence) / 2, len(ordered), 0.5))  # the limits are the runs of this rank, from both ends
    if outside == 0:
        return Interval(middle, math.nan, math.nan, math.nan)
    within = 1 - 2 * float(stats.binom.cdf(outside - 1, len(ordered), 0.5))
    return Interval(middle, float(ordered[outside - 1]), float(ordered[-outside]), within)


def summarize(times, confidence: float = 0.95) -> Summary:
    """The mean's interval is Student's t, right for normal runs and nearly for more than 30; the median's is exact for any distribution. Both
    take the runs as independent: `order_of_time` says whether they are."""
    from scipy import stats

    times = checked(times)
    mean, deviation = float(times.mean()), float(times.std(ddof=1))
    low, high = stats.t.interval(confidence, len(times) - 1, mean, deviation / math.sqrt(len(times))) if deviation else (mean, mean)
    statistic, p = shapiro(times)
    share = (lambda value: value / mean) if mean else (lambda value: math.nan)
    first, third = numpy.quantile(times, (0.25, 0.75))
    return Summary(runs=len(times), least=float(times.min()), greatest=float(times.max()), median=median_interval(times, confidence),
                   mean=Interval(mean, float(low), float(high), confidence), deviation=deviation, variance=deviation**2,
                   variation=share(deviation), least_to_mean=share(float(times.min())), greatest_to_mean=share(float(times.max())),
                   quartiles=(float(first), float(third)), skewness=float(stats.skew(times, bias=False)) if deviation else 0.0,
                   shapiro=statistic, shapiro_p=p)


@dataclasses.dataclass(frozen=True)
class ChangePoint:
    """From the run `at` (counted from 0) on, times were others."""

    at: int
    before: float  # medians
    after: float
    p: float


@dataclasses.dataclass(frozen=True)
class OrderOfTime:
    """How times changed in the order in which the runs were made."""

    drift: Interval  # Theil-Sen slope times the number of steps: what the last run takes more than the first, over the median (0.03 is 3 %)
    drift_p: float  # Kendall's tau against the order (Mann-Kendall), two-sided
    drifts: bool
    changes: tuple[ChangePoint, ...]
    serial: float  # lag-1 correlation of the ranks, after the drift is taken out
    serial_p: float  # two-sided, by permutation
    correlated: bool


def _pettitt(times: numpy.ndarray, axis: int = -1) -> numpy.ndarray:
    """U_k of Pettitt (1979) for every k: by how much the first k ranks differ from what they would add up to without a change."""
    from scipy import stats

    ranks = stats.rankdata(times, axis=axis)
    count = times.shape[axis]
    return 2 * numpy.cumsum(ranks, axis=axis) - (numpy.arange(1, count + 1) * (count + 1))


def change_points(times, risk: float = 0.05, shortest: int = 5, seed: int = SEED) -> tuple[ChangePoint, ...]:
    """Where the level of a series changed: Pettitt's statistic max |U_k| with a p-value by permutation of the runs (ties count as they
    are), then the same in each of the two parts (binary segmentation) as long as a part has 2 `shortest` runs. The risk is halved at each
    level, so that a series without changes is given one with the probability `risk` at most. A drift has change points as well."""
    from scipy import stats

    times = checked(times)

    def within(begin: int, end: int, level: float) -> list[ChangePoint]:
        part = times[begin:end]
        if len(part) < 2 * shortest or numpy.ptp(part) == 0:
            return []
        found = stats.permutation_test((part,), lambda x, axis: numpy.abs(_pettitt(x, axis)).max(axis=axis), permutation_type="pairings",
                                       vectorized=True, alternative="greater", n_resamples=RESAMPLES, random_state=seed)
        allowed = numpy.abs(_pettitt(part))[shortest - 1:len(part) - shortest]
        at = begin + shortest + int(allowed.argmax())
        if found.pvalue > level:
            return []
        change = ChangePoint(at, float(numpy.median(times[begin:at])), float(numpy.median(times[at:end])), float(found.pvalue))
        return [*within(begin, at, level / 2), change, *within(at, end, level / 2)]

    return tuple(within(0, len(times), risk))


def order_of_time(times, risk: float = 0.05, seed: int = SEED) -> OrderOfTime:
    """`times` in the order of the runs. Kendall's p-value takes the runs as independent but for
    the drift: where `correlated` is true, a drift is only said to be possible."""
    from scipy import stats

    times = checked(times)
    steps = numpy.arange(len(times))
    middle = float(numpy.median(times))
    slope, _, low, high = stats.theilslopes(times, steps, alpha=1 - risk)
    scale = (len(times) - 1) / middle if middle else math.nan
    drift_p = float(stats.kendalltau(steps, times).pvalue) if numpy.ptp(times) else 1.0
    ranks = stats.rankdata(times - slope * steps)

    def lagged(x, axis):
        first, second = numpy.moveaxis(x, axis, -1)[..., :-1], numpy.moveaxis(x, axis, -1)[..., 1:]
        return (first * second).sum(axis=-1)

    centred = ranks - ranks.mean()
    spread = float((centred**2).sum())
    serial_p = 1.0
    if spread:
        serial_p = float(stats.permutation_test((centred,), lagged, permutation_type="pairings", vectorized=True, n_resamples=RESAMPLES,
                                                random_state=seed).pvalue)
    serial = float(lagged(centred, 0)) / spread if spread else 0.0
    return OrderOfTime(drift=Interval(slope * scale, low * scale, high * scale, 1 - risk), drift_p=drift_p, drifts=drift_p <= risk,
                       changes=change_points(times, risk, seed=seed), serial=serial, serial_p=serial_p, correlated=serial_p <= risk)


@dataclasses.dataclass(frozen=True)
class Modes:
    """Whether runs have two modes. Without (`bimodal` false) the other members are those of the best two groups, which are not modes."""

    bimodal: bool
    slow: numpy.ndarray  # bool for each run: it belongs to the slower one
    share: float  # of the runs, in the slower one
    medians: tuple[float, float]  # of the faster and the slower runs
    separation: float  # Ashman's D
    valley: float  # density between the modes over that of the lower one: 1 if there is no valley
    gain: float  # BIC of one component less that of two


LEAST_SEPARATION = 2.0  # Ashman, Bird, Zepf, AJ 108 (1994): "D > 2 is required for a clean separation"
LEAST_SHARE = 0.1
LEAST_RUNS = 3
DEEPEST = 0.3  # valley over the lower mode
LEAST_GAIN = 10.0  # "very strong": Kass, Raftery, JASA 90 (1995), §3.2
ITERATIONS = 200


def _two_components(values: numpy.ndarray) -> tuple[float, numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    """Log-likelihood, weights, means and deviations of the best mixture of two normal components, by EM from nine splits of the ordered
    values. A deviation is at least a twentieth of all values', since a component on two equal runs has no bound, and half of the smallest step
    between two different values, which is the clock's where times are rounded."""
    count = len(values)
    floor = max(values.std() / 20, float(numpy.diff(numpy.unique(values)).min()) / 2)
    splits = numpy.quantile(values, numpy.arange(1, 10) / 10)
    above = (values[None, :] > splits[:, None]).astype(float)
    member = numpy.stack([1 - above, above])  # component, start, run
    for _ in range(ITERATIONS):
        size = member.sum(axis=2) + 1e-9
        means = (member * values).sum(axis=2) / size
        deviations = numpy.maximum(numpy.sqrt((member * (values - means[..., None])**2).sum(axis=2) / size), floor)
        density = (size / count / deviations)[..., None] * numpy.exp(-((values - means[..., None]) / deviations[..., None])**2 / 2)
        total = density.sum(axis=0) + 1e-300
        updated = density / total
        if numpy.abs(updated - member).max() < 1e-6:
            break
        member = updated
    likelihood = numpy.log(total / math.sqrt(2 * math.pi)).sum(axis=1)
    best = int(likelihood.argmax())
    order = numpy.argsort(means[:, best])
    return float(likelihood[best]), size[order, best] / count, means[order, best], deviations[order, best]


def modes(times) -> Modes:
    """Bimodal are runs whose logarithms are described better by two normal components than by one, where
    - the BIC of two (5 parameters) is below that of one (2 parameters) by at least LEAST_GAIN,
    - Ashman's D = √2 |μ₁ - μ₂| / √(σ₁² + σ₂²) is above LEAST_SEPARATION,
    - each has at least LEAST_SHARE of the runs, and LEAST_RUNS of them,
    - between the two, the density falls to DEEPEST of the lower one's or less: the tail of a skewed distribution is also described best
      by two components, but there is no valley before it.
    A run belongs to the component that has the greater density there. `microbench/verdicts` measures how often this is wrong. Raises
    ValueError for times that are not positive."""
    from scipy import stats

    times = checked(times)
    if times.min() <= 0:
        raise ValueError("a run's value is not positive: modes are looked for in logarithms")
    values = numpy.log(times)
    count = len(values)
    middle = float(numpy.median(times))
    if numpy.ptp(values) < 1e-12:
        return Modes(False, numpy.zeros(count, dtype=bool), 0.0, (middle, middle), 0.0, 1.0, 0.0)
    likelihood, weights, means, deviations = _two_components(values)
    one = float(stats.norm.logpdf(values, values.mean(), values.std()).sum())
    gain = (2 * math.log(count) - 2 * one) - (5 * math.log(count) - 2 * likelihood)
    separation = float(math.sqrt(2) * (means[1] - means[0]) / math.hypot(*deviations))

    def density(at: numpy.ndarray) -> numpy.ndarray:
        return weights[:, None] * stats.norm.pdf(at[None, :], means[:, None], deviations[:, None])

    grid = numpy.linspace(means[0], means[1], 201)
    along = density(grid).sum(axis=0)
    valley = float(along.min() / min(along[0], along[-1]))
    each = density(values)
    slow = each[1] > each[0]
    # A wide component is the denser one on both sides of a narrow one; a mode has only one side.
    slow = numpy.where(values >= means[1], True, numpy.where(values <= means[0], False, slow))
    size = int(slow.sum())
    bimodal = (gain >= LEAST_GAIN and separation > LEAST_SEPARATION and valley <= DEEPEST
               and min(size, count - size) >= max(LEAST_RUNS, LEAST_SHARE * count))
    medians = tuple(float(numpy.median(times[chosen])) if chosen.any() else middle for chosen in (~slow, slow))
    return Modes(bool(bimodal), slow, size / count, medians, separation, valley, gain)
