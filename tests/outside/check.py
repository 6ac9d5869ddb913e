# SPDX-License-Identifier: Apache-2.0
"""check.py CASE FILE: are these the hot spots of truth.c?  2: there are too few samples to tell."""
import json
import sys

case, hot = sys.argv[1], json.load(open(sys.argv[2], encoding="utf-8"))
functions = {f["name"]: f for f in hot["functions"]}
self = {name: f["self"] / max(hot["samples"], 1) for name, f in functions.items()}


def want(good, what):
    if not good:
        print(f"{case}: {what}: {sorted(self.items(), key=lambda x: -x[1])[:8]} broken {hot['broken']}")
        sys.exit(1)


if hot["samples"] < 300:
    sys.exit(2)
want("outside" in hot["engine"], "not from outside")
want(0.65 < self.get("three_parts", 0) < 0.82, "three_parts is not three quarters")
want(0.17 < self.get("one_part", 0) < 0.33, "one_part is not a quarter")
want("in_child" not in self, "the child process is in it")
if case == "deep":
    cut = hot["ends"].get("beyond the part of the stack that was copied", 0)
    want(cut == hot["broken"] > 0.98 * hot["samples"], "stacks are not cut where the copy ends")
else:
    want(hot["broken"] <= 0.01 * hot["samples"], "stacks are broken")
    top = "late" if case == "late" else "main"
    want(functions[top]["total"] >= 0.98 * hot["samples"], top + " is not in all stacks")
