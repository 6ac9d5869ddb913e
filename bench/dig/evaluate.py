# SPDX-License-Identifier: Apache-2.0
"""evaluate.py MAJOR BUDGET WINDOWS JSON: the extra processor time of each pair of windows as percent of one processor;
their mean, and the interval that holds it with 95 %.  A line of WINDOWS is a kind ("with" or "without") and what `look`
of run printed before and after."""
import sys

from stats import mean_interval

major, budget, windows, out = sys.argv[1:]
per, use, rate = {}, {}, {}
extra, slower = [], []
for number, line in enumerate(open(windows), 1):
    kind, *figures = line.split()
    before, after = [float(x) for x in figures[:5]], [float(x) for x in figures[5:]]
    n, cpu, m, cpu_alone, wall = (b - a for a, b in zip(before, after))
    if n > 0 and m > 0:
        per[kind], use[kind], rate[kind] = cpu / n / (cpu_alone / m), cpu / wall, n / m
    if number % 2 == 0:
        extra.append(100 * (per["with"] / per["without"] - 1) * use["without"])
        slower.append(rate["with"] / rate["without"])
for i, (x, s) in enumerate(zip(extra, slower), 1):
    print("dig: pair %d: %.2f %% of one processor, %.3f of the throughput" % (i, x, s))
mean, margin = mean_interval(extra, 2)
margin = -1 if margin is None else margin
if len(extra) < 3:
    said = "short: too few pairs to say"
else:
    said = "met" if mean <= float(budget) else "short"
print("dig/%s: %.2f %% +- %.2f %% of one processor (bar: %s %%) %s" % (major, mean, margin, budget, said))
with open(out, "w") as f:
    print('{"jdk":%s,"pairs":%d,"percent":%.4f,"margin":%.4f,"bar":%s,"said":"%s"}'
          % (major, len(extra), mean, margin, budget, said), file=f)
