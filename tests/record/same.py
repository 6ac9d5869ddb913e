#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# same.py LIVE RECORDED: do both reports of tests/record/Fan say the same?  The length of a tick is known
# the better the longer the agent is in (by some 20 millionths here), so raw figures differ, and by as many ns what is
# left of them when the cost of hooks, which is known in ns, has been taken out.
import json
import sys

live, recorded = (json.load(open(path)) for path in sys.argv[1:3])
assert live["calibrated"] and recorded["calibrated"], "not compensated"
assert live["pid"] == recorded["pid"], "another process"
figures = ("raw_ns", "compensated_ns", "low_ns", "high_ns", "self_ns")
by_name = {m["method"]: m for m in recorded["methods"]}
for m in live["methods"]:
    other = by_name[m["method"]]
    if ".main(" in m["method"]:
        continue  # it has ended since
    assert m["calls"] == other["calls"], m["method"]
    for key in figures:
        assert abs(m[key] - other[key]) <= 0.0005 * m["raw_ns"] + 2, (m["method"], key, m[key], other[key])
fib = next(m for m in live["methods"] if ".fib(" in m["method"])
assert fib["calls"] == 300 * 177, fib["calls"]
work = next(m for m in live["methods"] if ".work(" in m["method"])
assert fib["raw_ns"] <= work["raw_ns"], "a recursion counts once"
assert 0 <= work["low_ns"] <= work["compensated_ns"] <= work["high_ns"]
assert work["compensated_ns"] < work["raw_ns"], "hooks cost something"
