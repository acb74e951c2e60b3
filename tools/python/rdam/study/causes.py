"""Which recorded cause the spread between runs comes from, or tells slow runs from fast ones.

A cause is a number for each recorded run: the time lost in one function by one thread, migrations, a frequency, page faults, interrupts.
There are often more causes than runs, so that some cause always fits: a name is only given if the fit is one that no cause reaches in 95 %
of all permutations of the runs, and never for more causes than the runs can carry.

Of some candidates it is known which way they can work (`towards`): 1, more of it makes a run longer; -1, less of it does. Where the runs say
the opposite it is no cause.

What takes the same share of each run, or comes as often in each second of it, is another name for the run's length, whatever that comes from. So
candidates are shares and rates, of which a cause has more in longer runs; a cause's share of the spread is that of its amount (`amounts`).
"""

import dataclasses
import itertools
import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy

from rdam.study.series import RESAMPLES, SEED, Interval, checked

RISK = 0.05
RUNS_PER_CAUSE = 10  # Harrell, Regression Modeling Strategies, §4.4
LEAST_TOLD = 0.01  # a share of the spread that is worth a sentence
MOST_CAUSES = 4  # kept, so that shares are averages over 24 orders at most
INDISTINCT = 0.95  # correlation above which two causes are one to the runs
PERMUTATIONS = 1999


@dataclasses.dataclass(frozen=True)
class Cause:
    """One that is named."""

    name: str
    share: Interval  # of the variance between runs, in [0, 1], with its bootstrap interval
    p: float  # corrected for all candidates
    instead: tuple[str, ...]  # candidates that these runs cannot tell from it
    where: str = ""  # more of it, for people


@dataclasses.dataclass(frozen=True)
class Explanation:
    """`causes` by share, the greatest first; empty if no cause is significant."""

    runs: int
    candidates: int
    carried: int  # how many causes these runs can carry
    causes: tuple[Cause, ...]
    rest: float  # share of the variance that no named cause explains


@dataclasses.dataclass(frozen=True)
class Separator:
    """A cause that tells the runs of the slow mode from the others."""

    name: str
    area: float  # AUC: how often a slow run has more of it than a fast one, ties half; below 1/2, slow runs have less
    p: float  # exact, corrected for all candidates


def _columns(times: numpy.ndarray, candidates: Mapping[str, numpy.ndarray]) -> tuple[list[str], numpy.ndarray]:
    """Those that vary and are known for each run, and runs × candidates. Raises ValueError for one of another length."""
    names, columns = [], []
    for name, values in candidates.items():
        column = numpy.asarray(values, dtype=float).ravel()
        if len(column) != len(times):
            raise ValueError(f"cause {name}: {len(column)} values for {len(times)} runs; give one for each")
        if numpy.isfinite(column).all() and numpy.ptp(column) > 0:
            names.append(name)
            columns.append(column)
    return names, numpy.array(columns).T.reshape(len(times), len(names))


def _without(values: numpy.ndarray, kept: numpy.ndarray) -> numpy.ndarray:
    """What a regression on `kept` (runs × causes) and a constant leaves, each column scaled to length 1 (0: nothing is left)."""
    basis, _ = numpy.linalg.qr(numpy.column_stack([numpy.ones(len(values)), kept]))
    before = values - values.mean(axis=0)
    left = values - basis @ (basis.T @ values)
    length, whole = numpy.linalg.norm(left, axis=0), numpy.linalg.norm(before, axis=0)
    return numpy.where(length > 1e-6 * whole, left / numpy.maximum(length, 1e-300), 0.0)


def _shares(correlations: numpy.ndarray) -> numpy.ndarray:
    """LMG shares from correlation matrices (sample, 1 + causes, 1 + causes) whose first row is the time: R² that a cause adds, averaged over
    all orders in which causes can be added (Lindeman, Merenda, Gold 1980; Grömping, JSS 17(1), 2006; the Shapley value)."""
    causes = correlations.shape[-1] - 1
    explained = {frozenset(): numpy.zeros(len(correlations))}
    for size in range(1, causes + 1):
        for chosen in itertools.combinations(range(causes), size):
            index = numpy.array(chosen) + 1
            among = correlations[:, index[:, None], index[None, :]]
            with_time = correlations[:, index, 0]
            weights = numpy.einsum("sij,sj->si", numpy.linalg.pinv(among, hermitian=True), with_time)
            explained[frozenset(chosen)] = (weights * with_time).sum(axis=1)
    shares = numpy.zeros((len(correlations), causes))
    for order in itertools.permutations(range(causes)):
        for place, cause in enumerate(order):
            shares[:, cause] += explained[frozenset(order[:place + 1])] - explained[frozenset(order[:place])]
    return shares / math.factorial(causes)


def _correlations(data: numpy.ndarray) -> numpy.ndarray:
    """Of samples (sample, run, variable); 0 where a variable does not vary in a sample."""
    centred = data - data.mean(axis=1, keepdims=True)
    scale = numpy.sqrt((centred**2).sum(axis=1, keepdims=True))
    centred = numpy.where(scale > 1e-12, centred / numpy.maximum(scale, 1e-300), 0)
    return numpy.swapaxes(centred, 1, 2) @ centred


def _possible(fits: numpy.ndarray, ways: numpy.ndarray) -> numpy.ndarray:
    """How well candidates (the last axis) go with the time, 0 where they go with it the other way than they can work."""
    return numpy.where(ways == 0, numpy.abs(fits), numpy.maximum(fits * ways, 0))


def explain(times, candidates: Mapping[str, numpy.ndarray], risk: float = RISK, seed: int = SEED, towards: Mapping[str, int] = MappingProxyType({}),
            amounts: Mapping[str, numpy.ndarray] = MappingProxyType({})) -> Explanation:
    """Multiple regression of the runs' times on causes that are chosen forward: the candidate with the largest partial correlation is kept
    if this is reached by the largest of all candidates in at most `risk` of PERMUTATIONS permutations of what is left to explain (Freedman,
    Lane, JBES 1, 1983; the maximum over the candidates corrects for their number, after Westfall, Young 1993: never less strict than it
    should be, and not as strict as Bonferroni where candidates are correlated). At most one cause is kept for each RUNS_PER_CAUSE runs, and
    MOST_CAUSES. Shares are LMG, of the amounts of those that have one; their intervals are percentiles over resampled runs, for the causes that were
    kept."""
    times = checked(times)
    names, columns = _columns(times, candidates)
    carried = min(MOST_CAUSES, len(times) // RUNS_PER_CAUSE)
    ways = numpy.array([towards.get(name, 0) for name in names])
    generator = numpy.random.default_rng(seed)
    orders = generator.permuted(numpy.tile(numpy.arange(len(times)), (PERMUTATIONS, 1)), axis=1)
    kept: list[int] = []
    p_values: list[float] = []
    instead: list[tuple[str, ...]] = []
    while len(kept) < min(carried, len(names)) and numpy.ptp(times) > 0:
        left = _without(times[:, None], columns[:, kept])[:, 0]
        others = _without(columns, columns[:, kept])
        partial = _possible(left @ others, ways)
        best = int(partial.argmax())
        reached = _possible(left[orders] @ others, ways).max(axis=1)
        p = (1 + int((reached >= partial[best] - 1e-12).sum())) / (1 + PERMUTATIONS)
        if p > risk or not partial[best]:
            break
        alike = numpy.abs(others[:, best] @ others)
        instead.append(tuple(name for index, name in enumerate(names)
                             if index != best and index not in kept and alike[index] > INDISTINCT and partial[index] > 0))
        kept.append(best)
        p_values.append(p)
    if not kept:
        return Explanation(len(times), len(names), carried, (), 1.0)
    columns[:, kept] = numpy.column_stack([numpy.asarray(amounts.get(names[index], columns[:, index]), dtype=float) for index in kept])
    data = numpy.column_stack([times, columns[:, kept]])
    shares = _shares(_correlations(data[None]))[0]
    drawn = generator.integers(0, len(times), (RESAMPLES, len(times)))
    limits = numpy.quantile(_shares(_correlations(data[drawn])), ((1 - 0.95) / 2, (1 + 0.95) / 2), axis=0)
    causes = [Cause(names[index], Interval(float(share), float(low), float(high), 0.95), p, same)
              for index, share, low, high, p, same in zip(kept, shares, *limits, p_values, instead, strict=True)]
    causes.sort(key=lambda cause: -cause.share.value)
    return Explanation(len(times), len(names), carried, tuple(causes), float(1 - shares.sum()))


def separators(times, slow, candidates: Mapping[str, numpy.ndarray], risk: float = RISK, seed: int = SEED,
               towards: Mapping[str, int] = MappingProxyType({}),
               amounts: Mapping[str, numpy.ndarray] = MappingProxyType({})) -> tuple[Separator, ...]:
    """Causes of which slow runs (`slow`, as `series.modes` tells them) have more or less than the others, the clearest first. p is that of the
    rank sum: exact without ties, and by permutation of the runs with ties; times the number of candidates (Bonferroni)."""
    from scipy import stats

    times, slow = checked(times), numpy.asarray(slow, dtype=bool)
    if slow.all() or not slow.any():
        return ()
    names, columns = _columns(times, candidates)
    found = []
    for name, values in zip(names, columns.T, strict=True):
        one, two = values[slow], values[~slow]
        sums = stats.mannwhitneyu(one, two, method="asymptotic")
        area = float(sums.statistic) / (len(one) * len(two))
        if (area - 0.5) * towards.get(name, 0) < 0:
            continue
        # An exact p is looked for only where an approximate one says that it could matter.
        if sums.pvalue * len(names) > 4 * risk:
            continue
        if len(numpy.unique(values)) == len(values):
            p = float(stats.mannwhitneyu(one, two, method="exact").pvalue)
        else:
            ranks = stats.rankdata(values)
            p = float(stats.permutation_test((ranks[slow], ranks[~slow]), lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
                                             vectorized=True, n_resamples=max(9999, round(10 * len(names) / risk)), batch=10_000,
                                             random_state=seed).pvalue)
        if p * len(names) <= risk:
            if name in amounts:
                values = numpy.asarray(amounts[name], dtype=float)
                area = float(stats.mannwhitneyu(values[slow], values[~slow], method="asymptotic").statistic) / (len(one) * len(two))
            found.append(Separator(name, area, min(1.0, p * len(names))))
    return tuple(sorted(found, key=lambda cause: -abs(cause.area - 0.5)))


def sentences(explanation: Explanation, separated: tuple[Separator, ...] = ()) -> list[str]:
    """"67 % of the spread between runs is pthread_mutex_lock in worker 3 (95 % interval 50 to 80 %)", one line for each cause; then what
    tells slow runs from fast ones; or the one line that says why nothing is named."""
    lines = []
    for cause in explanation.causes:
        share = cause.share
        if share.value < LEAST_TOLD:
            continue
        same = f"; these runs cannot tell it from {', '.join(cause.instead[:3])}" if cause.instead else ""
        lines.append(f"{100 * share.value:.0f} % of the spread between runs is {cause.name}{f', {cause.where}' if cause.where else ''} "
                     f"(95 % interval {100 * max(share.low, 0):.0f} to {100 * min(share.high, 1):.0f} %{same})")
    if separated:
        first = separated[0]
        than = "more" if first.area > 0.5 else "less"
        lines.append(f"slow runs have {than} {first.name} than fast ones in {100 * max(first.area, 1 - first.area):.0f} % of pairs")
    if lines:
        return lines
    if not explanation.carried:
        return [f"no cause is named: {explanation.runs} recorded runs carry none, at least {RUNS_PER_CAUSE} are needed"]
    return [f"no cause is named: none of {explanation.candidates} goes with the spread between {explanation.runs} recorded runs"]
