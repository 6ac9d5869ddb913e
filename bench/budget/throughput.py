# SPDX-License-Identifier: Apache-2.0
"""throughput.py KIND PAIRS JSON: of the lines "RATE-WITHOUT RATE-WITH" of PAIRS the median of the ratios, an interval
(95 %) of their mean, and the least median of a third of them."""
import sys

from stats import mean_interval, median

kind, pairs, out = sys.argv[1:]
rates = [[float(x) for x in line.split()] for line in open(pairs)]
ratios = [b / a if a > 0 else 0 for a, b in rates]
n = len(ratios)
mean, margin = mean_interval(ratios, 2.1)
margin = 1 if margin is None else margin
least = min(9, *(median(ratios[n * k // 3:n * (k + 1) // 3]) for k in range(3)))
print("budget: %s: %d and %d requests a second without and with hooks"
      % (kind, sum(a for a, _ in rates) / n, sum(b for _, b in rates) / n))
print("budget/%s: %.3f x (mean %.3f +- %.3f), %.3f x in the worst third (bar: at least 0.9 x) %s"
      % (kind, median(ratios), mean, margin, least, "met" if least >= 0.9 else "short"))
with open(out, "w") as f:
    print('{"pairs":%d,"median":%.4f,"mean":%.4f,"margin":%.4f,"least":%.4f}' % (n, median(ratios), mean, margin, least), file=f)
