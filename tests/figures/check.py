# SPDX-License-Identifier: Apache-2.0
"""check.py KIND FILE: can what report, tree (json, or as a table) or trace (json) said be true at all?"""
import json
import re
import sys

wrong = []


def hold(held, rule, *values):
    if not held:
        wrong.append(rule + ": " + " ".join(str(v) for v in values))


def at_most(a, b):
    """Each is rounded to a ns."""
    return a <= b * (1 + 1e-6) + 1.5


def method(m):
    name = m["method"]
    if m["raw_ns"] is None:
        return
    total = m["raw_ns"] if m["compensated_ns"] is None else m["compensated_ns"]
    hold(at_most(m["low_ns"], total) and at_most(total, m["high_ns"]), "a total is within its interval", name, m)
    hold(at_most(m["self_ns"], total), "self is no more than total", name, m["self_ns"], total)
    hold(at_most(m["self_low_ns"], m["self_ns"]) and at_most(m["self_ns"], m["self_high_ns"]), "self is within its interval", name, m)
    hold(at_most(m["raw_self_ns"], m["raw_ns"]), "raw self is no more than raw", name, m)
    hold(m["timed"] <= m["calls"], "no more timed than calls", name, m)
    if m["p50_ns"] is not None:
        order = [m[k] for k in ("min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns")]
        hold(all(at_most(a, b) for a, b in zip(order, order[1:])), "percentiles are in order", name, order)
    if m["bounded"]:
        hold(m["high_ns"] > 0, "a bound is above 0", name)
        return
    hold(at_most(m["min_ns"], m["avg_ns"]) and at_most(m["avg_ns"], m["max_ns"]), "a mean is between the shortest and the longest", name, m)
    if not m["recursive"] and not m["active"] and (m["one_in"] > 1 or m["timed"] == m["calls"]):
        calls = m["calls"]
        hold(abs(m["avg_ns"] * calls - total) <= 0.02 * total + calls, "the mean times calls is the total", name, m["avg_ns"] * calls, total)


def takes(n):
    return n.get("least_ns", n["total_ns"])


def node(n):
    name = n["method"]
    for c in n["children"]:
        node(c)
    if not n["timed"] or "pruned" in n:
        return
    hold(at_most(n["low_ns"], n["total_ns"]) and at_most(n["total_ns"], n["high_ns"]), "a total is within its interval", name, n["low_ns"], n["total_ns"], n["high_ns"])
    hold(at_most(n["self_ns"], n["total_ns"]), "self is no more than total", name, n["self_ns"], n["total_ns"])
    hold(n["timed"] <= n["calls"], "no more timed than calls", name, n["timed"], n["calls"])
    for c in n["children"]:
        hold(at_most(takes(c), takes(n)), "a child is within", c["method"], takes(c), name, takes(n))
    if "overlap" not in n and "least_ns" not in n:
        parts = n["self_ns"] + sum(takes(c) for c in n["children"])
        hold(parts <= takes(n) * (1 + 1e-6) + 2 + len(n["children"]), "children and self are no more than the total", name, parts, takes(n))


def within(inner, outer, rule, *values):
    hold(outer[0] - 1 <= inner[0] and inner[1] <= outer[1] + 1, rule, *values, inner, outer)


def part(p):
    """Calls stand in the order in which they began, a parent before its children."""
    calls, ended = p["calls"], {}
    for at, c in enumerate(calls):
        name, up = c["method"], c["parent"]
        span = c["begin_ns"], c["begin_ns"] + c["elapsed_ns"]
        hold(up < at, "a call comes after its parent", name, at, up)
        hold(c["elapsed_ns"] >= 0 and c["depth"] == (calls[up]["depth"] + 1 if up >= 0 else 0), "a call is one deeper than its parent", c)
        outer = calls[up] if up >= 0 else {"begin_ns": p["begin_ns"], "elapsed_ns": p["end_ns"] - p["begin_ns"]}
        within(span, (outer["begin_ns"], outer["begin_ns"] + outer["elapsed_ns"]), "a call is within its parent", name)
        hold(span[0] >= ended.get(up, span[0]) - 1, "a call begins when the one before it has ended", name, span, ended.get(up))
        ended[up] = span[1]


def transaction(t):
    hold(t["parts"], "a transaction has parts", t["root"])
    hold(t["elapsed_ns"] <= t["end_ns"] + 1, "a root ends before its transaction", t["root"], t["elapsed_ns"], t["end_ns"])
    hold(t["missing"] or t["parts"][0]["calls"][0]["method"] == t["root"], "the first call is the root", t["root"])
    for p in t["parts"]:
        hold(p["begin_ns"] <= p["end_ns"] <= t["end_ns"] + 1, "a part is within its transaction", t["root"], p["begin_ns"], p["end_ns"], t["end_ns"])
        if not t["missing"]:
            part(p)


UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9}


def time(cell):
    """In ns; None: a bound, or not known."""
    found = re.fullmatch(r"([\d.]+) (\w+)( .*)?", cell)
    return float(found[1]) * UNITS[found[2]] if found and found[2] in UNITS else None


def text(lines):
    """A table: names of columns stand above their right ends."""
    head = next(i for i, line in enumerate(lines) if re.search(r" total .*method$", line))
    names = [(m.group(), m.start(), m.end()) for m in re.finditer(r"\S+(?: \S+)*", lines[head])]
    for line in lines:
        hold("< 0 ns" not in line and "nan" not in line and "inf " not in line, "a figure that is none", line)
        margin = re.search(r"±(\d+) %", line)
        hold(not margin or int(margin[1]) <= 100, "a margin of more than all", line)
    for line in lines[head + 1:]:
        row, begin = {}, 0
        for name, _, end in names[:-1]:
            row[name] = time(line[begin:end].strip())
            begin = end
        for one, other in (("self", "total"), ("min", "p50"), ("p50", "p90"), ("p90", "p99"), ("p99", "max"), ("min", "avg"), ("avg", "max")):
            if row.get(one) is not None and row.get(other) is not None:
                hold(row[one] <= row[other] * 1.011 + 0.1, f"{one} is no more than {other}", line)


kind, path = sys.argv[1:]
with open(path, encoding="utf-8") as f:
    if kind == "text":
        text(f.read().splitlines())
    elif kind == "report":
        methods = json.load(f)["methods"]
        hold(methods, "something is measured")
        for m in methods:
            method(m)
    elif kind == "tree":
        roots = json.load(f)["roots"]
        hold(roots, "something is measured")
        for n in roots:
            node(n)
    elif kind == "trace":
        transactions = [json.loads(line) for line in f]
        hold(transactions, "something is measured")
        for t in transactions:
            transaction(t)
for line in wrong[:10]:
    print("check: " + line)
sys.exit(1 if wrong else 0)
