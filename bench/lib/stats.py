# SPDX-License-Identifier: Apache-2.0
"""Statistics of benches: medians, and intervals that hold what is looked for with 95 %."""
import math
import statistics

# Student's t for 1, 2 ... degrees of freedom, for both sides together.
T = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23]


def median(values):
    """0 of none."""
    return statistics.median(values) if values else 0


def mean_interval(values, beyond):
    """The mean and the half width of its interval; None: of fewer than two.  beyond: t for more than T has."""
    n = len(values)
    mean = sum(values) / n
    if n < 2:
        return mean, None
    t = T[n - 2] if n - 2 < len(T) else beyond
    return mean, t * math.sqrt(sum((x - mean) ** 2 for x in values) / (n - 1) / n)


def shift(before, after):
    """How much more `after` is than `before`, of as many values: the median of all differences, and the interval from
    their ranks."""
    q = len(before)
    d = sorted(b - a for a in before for b in after)
    low = max(len(d) // 2 - int(1.96 * math.sqrt(q * q * (2 * q + 1) / 12)), 0)
    return median(d), d[low], d[len(d) - 1 - low]
