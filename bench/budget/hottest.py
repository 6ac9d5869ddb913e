# SPDX-License-Identifier: Apache-2.0
"""hottest.py KIND COLLAPSED REPORT: are the ten methods that take most time by samples (COLLAPSED), their own time,
among the hooked ones that REPORT (JSON) says are open, or are they below such a one in most of their samples?"""
import collections
import json
import re
import sys

JAVA = re.compile(r"[\w$./-]+\.[\w$<>-]+\([^)]*\)[\[\w]")  # class, name, descriptor

kind, stacks, report = sys.argv[1:]
with open(report) as f:
    methods = json.load(f)["methods"]
# What is called a few times only, as what a thread runs, says nothing of what is below it.
OFTEN = 1000
open_ones = {m["method"] for m in methods if not m["closed"] and m["calls"] >= OFTEN}
own, covered = collections.Counter(), collections.Counter()
nearest = collections.defaultdict(collections.Counter)  # of a method: (the open one above it, how many calls up)
with open(stacks) as f:
    for line in f:
        frames, count = line.rsplit(" ", 1)
        java = [x.split("_[")[0].replace(":", ";") for x in frames.split(";") if JAVA.match(x)]
        if not java:
            continue
        own[java[-1]] += int(count)
        up = next((i for i, x in enumerate(reversed(java)) if x in open_ones), None)
        if up is not None:
            covered[java[-1]] += int(count)
            nearest[java[-1]][java[-1 - up].split("(")[0], up] += int(count)

good = 0
for name, count in own.most_common(10):
    share = covered[name] / count
    good += name in open_ones or share > 0.5
    said = "open"
    if name not in open_ones:
        said = f"{share:.0%} of its samples below an open one"
        for (above, up), _ in nearest[name].most_common(1):
            said += f", mostly {above}, {up} up"
    print(f"  {count:6d} {name.split('(')[0]}: {said}")
print(f"budget: {kind}: {len(open_ones)} of {len(methods)} hooked methods are open and were called {OFTEN:,} times")
print(f"budget/{kind}-hottest: {good} of {min(10, len(own))} open or below (bar: 10 of 10)",
      "met" if good >= min(10, len(own)) > 0 else "short")
