"""The few statistics of the report. What cannot be computed is None, never a number that looks like one."""

import math
from collections.abc import Sequence


def mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def median(values: Sequence[float]) -> float | None:
    ordered = sorted(values)
    if not ordered:
        return None
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def pearson(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Pearson's ρ; None for fewer than two points, or where one of the two does not vary."""
    if len(xs) != len(ys):
        raise ValueError("as many x as y")
    if len(xs) < 2 or min(xs) == max(xs) or min(ys) == max(ys):
        return None
    dx, dy = _deviations(xs), _deviations(ys)
    spread = math.sqrt(math.fsum(d * d for d in dx) * math.fsum(d * d for d in dy))
    rho = math.fsum(a * b for a, b in zip(dx, dy, strict=True)) / spread
    return max(-1.0, min(1.0, rho))


def _deviations(values: Sequence[float]) -> list[float]:
    """From the mean, in units of the greatest: squares neither overflow nor vanish."""
    middle = mean(values)
    deviations = [value - middle for value in values]
    greatest = max(map(abs, deviations))
    return [deviation / greatest for deviation in deviations]


def variation(values: Sequence[float]) -> float | None:
    """The coefficient of variation: standard deviation (of a sample, n − 1) over the mean."""
    if len(values) < 2:
        return None
    if min(values) == max(values):
        return 0.0
    middle = mean(values)
    if middle == 0:
        return None
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1)) / abs(middle)


def span(values: Sequence[float]) -> float | None:
    """How many times the least value the greatest is."""
    return max(values) / min(values) if values and min(values) > 0 else None


def median_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """An interval that holds the median of what `values` are a sample of, with at least this confidence.

    From order statistics: the k-th least and the k-th greatest value, which supposes nothing about the distribution. None
    where even the least and the greatest are too close (fewer than six values for 95 %).
    """
    ordered, count = sorted(values), len(values)
    outside, rank = 0.0, 0
    while rank < count // 2:
        outside += math.comb(count, rank) / 2**count
        if 1 - 2 * outside < confidence:
            break
        rank += 1
    return (ordered[rank - 1], ordered[count - rank]) if rank > 0 else None
