#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# same.py LIVE RECORDED: do both reports of tests/record/Fan say the same?  The length of a tick is known
# the better the longer the agent is in, hence the thousandth.  And since the cost of hooks is known in ns, what is left
# when it has been taken out, however little that is, shifts by as many ns as the raw figure.
import json
import sys

live, recorded = (json.load(open(path)) for path in sys.argv[1:3])
assert live["calibrated"] and recorded["calibrated"], "not compensated"
assert live["pid"] == recorded["pid"], "another process"
figures = ("compensated_ns", "low_ns", "high_ns", "self_ns")
by_name = {m["method"]: m for m in recorded["methods"]}
for m in live["methods"]:
    other = by_name[m["method"]]
    if ".main(" in m["method"]:
        continue  # it has ended since
    assert m["calls"] == other["calls"], m["method"]
    shift = abs(m["raw_ns"] - other["raw_ns"])
    assert shift <= 0.001 * m["raw_ns"] + 2, (m["method"], m["raw_ns"], other["raw_ns"])
    for key in figures:
        assert abs(m[key] - other[key]) <= shift + 0.001 * m[key] + 2, (m["method"], key, m[key], other[key])
fib = next(m for m in live["methods"] if ".fib(" in m["method"])
assert fib["calls"] == 300 * 177, fib["calls"]
work = next(m for m in live["methods"] if ".work(" in m["method"])
assert fib["raw_ns"] <= work["raw_ns"], "a recursion counts once"
assert 0 <= work["low_ns"] <= work["compensated_ns"] <= work["high_ns"]
assert work["compensated_ns"] < work["raw_ns"], "hooks cost something"
