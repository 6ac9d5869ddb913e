# SPDX-License-Identifier: Apache-2.0
"""check.py KIND FILE: is the JSON that report, tree or watch printed what Shop did in 100 rounds, or in a day?"""
import json
import os
import re
import sys

ROUNDS = 100
CALLS = {
    "Shop.round(I)V": ROUNDS,
    "Shop$Cart.checkout(Ljava/lang/String;[JLShop$Shy;)Z": ROUNDS,
    "Shop$Cart.total()I": ROUNDS + ROUNDS // 2,
    "Shop$Cart.total(Ljava/lang/String;)I": ROUNDS,
    "Shop$Cart.deeper(I)V": 4 * ROUNDS,
    "Shop.price(LShop$Line;)I": 2 * (ROUNDS + ROUNDS // 2),
}


def fail(why):
    sys.exit("check: " + why)


def same(what, got, want):
    if got != want:
        fail(f"{what} is {got!r}, not {want!r}")


def report(out):
    methods = {m["method"]: m for m in out["methods"]}
    for name, calls in CALLS.items():
        m = methods[name]
        same(name + " calls", m["calls"], calls)
        same(name + " level", m["level"], "timed")
        if not m["low_ns"] <= m["compensated_ns"] <= m["high_ns"]:
            fail(name + " is not within its interval")
        if not 0 < m["min_ns"] <= m["p50_ns"] <= m["p90_ns"] <= m["p99_ns"] <= m["max_ns"]:
            fail(name + " has percentiles out of order")
        if m["timed"] == m["calls"] and not m["max_ns"] <= m["raw_ns"]:
            fail(name + " has a total below its longest call")
    checkout = methods["Shop$Cart.checkout(Ljava/lang/String;[JLShop$Shy;)Z"]
    same("errors", checkout["errors"], ROUNDS // 10)
    same("calibrated", out["calibrated"], True)
    if checkout["self_ns"] > checkout["raw_ns"]:
        fail("self is above the total")
    same("rules", out["agent"]["rules"], 1)
    same("contexts_lost", out["agent"]["contexts_lost"], 0)
    same("left alone", out["left"], [
        {"reason": "native: the code is not Java", "count": 1, "example": "Shop"},
        {"reason": "refused by the JVM", "count": 1, "example": "Shop$Broken",
         "why": "the program cannot use this class: the JVM could not link or initialise it"}])
    jvm = out["jvm"]
    if not (jvm["heap_max"] >= jvm["heap_used"] >= 0 and jvm["threads"] > 1 and jvm["cpu_ns"] > 0 and jvm["read_bytes"] > 0):
        fail("the JVM cannot be like this: %s" % jvm)


def tree(out):
    (root,) = [r for r in out["roots"] if r["method"].startswith("Shop.round")]
    same("calls of the root", root["calls"], ROUNDS)
    (checkout,) = [c for c in root["children"] if ".checkout" in c["method"]]
    names = sorted(c["method"] for c in checkout["children"])
    same("children", names, ["Shop$Cart.deeper(I)V", "Shop$Cart.total()I",
                             "Shop$Cart.total(Ljava/lang/String;)I"])
    totals = [c["total_ns"] for c in checkout["children"]]
    same("order of the children", totals, sorted(totals, reverse=True))
    depth, node = 0, [c for c in checkout["children"] if ".deeper" in c["method"]][0]
    while node["children"]:
        same("calls of a level", node["calls"], ROUNDS)
        depth, node = depth + 1, node["children"][0]
    same("depth of the recursion", depth, 3)


def watch(calls):
    same("calls", len(calls), 10)
    for k, c in enumerate(calls):
        id = k + 1
        same("method", c["method"], "Shop$Cart.checkout(Ljava/lang/String;[JLShop$Shy;)Z")
        same("args", c["args"], ['"SALE"' if id % 2 == 0 else "null",
                                 "long[2]{1, %d}" % id, "Shop$Shy{value=7}"])
        line = ('Shop$Line{sku="a \\"b\\"\\n\\u001b[31m\u00e4\U0001f600", count=3, '
                'password=***, headers=Map(1)@H}')
        this = re.sub("@[0-9a-f]+", "@H", c["this"])
        same("this", this, "Shop$Cart{id=%d, lines=Shop$Line[2]{%s, %s}}" % (id, line, line))
        same("thread", c["thread"], "main")
        if id == 10:
            same("error", c["error"], True)
            same("thrown", c["thrown"], "java.lang.IllegalStateException")
            same("message", c["message"], "out of stock: 10")
        else:
            same("result", c["result"], "true")
        if c["elapsed_ns"] <= 0 or c["when_ns"] < 1.6e18:
            fail("a time makes no sense")


MS = 1_000_000
STATES = ("cpu_ns", "blocked_ns", "waiting_ns", "descheduled_ns")


def parts(what, m, self=""):
    """Run, blocked, waiting and descheduled time are all there is of it."""
    got = [m[self + key] for key in STATES]
    whole = m[self + "metered_ns"]
    if abs(sum(got) - whole) > 0.02 * whole + 2 * MS:
        fail(f"{what}: {self} {got} is not {whole}")


def stolen_ns():
    """What the host took from this machine meanwhile, by the account of the kernel; the script has asked."""
    return int(os.environ.get("STOLEN", 0)) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def states(out):
    """Each method of Day passes 100 ms in its own way; a busy machine may add to it."""
    methods = {m["method"].split("(")[0][len("Shop$Day."):]: m for m in out["methods"] if ".Day." in m["method"].replace("$", ".")}
    for name, key in (("enter", "blocked_ns"), ("waits", "waiting_ns"), ("sleeps", "waiting_ns"), ("parks", "waiting_ns"), ("runs", "cpu_ns")):
        m = methods[name]
        parts(name, m)
        least = 90 * MS * m["calls"]
        if m["self_" + key] < least:
            fail(f"{name}: {key} is {m['self_' + key]}, not {least}: {m}")
        for other in STATES[:3]:
            most = 0.25 * least
            if other == "waiting_ns" and name == "runs":
                # Who never gives up its processor does not wait, whatever the host takes; but at a safepoint it
                # waits for threads that stand in line as it does.
                most += 0.5 * m["self_descheduled_ns"]
            elif other == "waiting_ns":
                most += stolen_ns()
            if other != key and m["self_" + other] > most:
                fail(f"{name}: {other} is {m['self_' + other]}: {m}")
    runs = methods["runs"]
    same("calls of runs", runs["calls"] > 2, True)
    # One more than there are processors: together they stand in line for the time of one of them at least.
    if runs["descheduled_ns"] < 50 * MS:
        fail("nobody stood in line: %s" % runs)
    whole, blocked = methods["whole"], methods["blocked"]
    parts("whole", whole)
    if whole["blocked_ns"] < 90 * MS or blocked["blocked_ns"] < 90 * MS:
        fail("what blocks a callee is not in its callers: %s %s" % (whole, blocked))
    if blocked["self_blocked_ns"] > 25 * MS or whole["self_blocked_ns"] > 25 * MS:
        fail("what blocks a callee is in its callers' own: %s %s" % (whole, blocked))


def states_tree(out):
    (root,) = [r for r in out["roots"] if r["method"].startswith("Shop$Day.whole")]
    (blocked,) = [c for c in root["children"] if ".blocked" in c["method"]]
    (enter,) = [c for c in blocked["children"] if ".enter" in c["method"]]
    for node in (root, blocked, enter):
        parts(node["method"], node)
        if node["blocked_ns"] < 90 * MS:
            fail("a node is not blocked: %s" % node)
    if enter["self_blocked_ns"] < 90 * MS or blocked["self_blocked_ns"] > 25 * MS:
        fail("a node has what is another one's: %s" % blocked)


def sequences(out):
    """Shop enters, returns and throws; no time between two events is shorter than the shortest."""
    ways = set()
    for s in out["sequences"]:
        ways.add((s["begin"], s["end"]))
        # The low one is between buckets of a histogram.
        if not (0 < s["min_ns"] <= s["low_ns"] + 1 and s["calls"] > 0 and s["min_ns"] + 1 >= s["from_ns"]):
            fail("a sequence that cannot be: %s" % s)
    wanted = {("enter", "enter"), ("enter", "return"), ("return", "enter"), ("return", "return"), ("return", "exception"), ("exception", "return")}
    if not wanted <= ways:
        fail("there should be %s, too" % (wanted - ways))


def placed(out):
    """Of calls that were made while hooks were closed not even the errors are counted."""
    (checkout,) = [m for m in out["methods"] if ".checkout" in m["method"]]
    if not 0.08 < checkout["errors"] / checkout["calls"] < 0.12:
        fail("not every tenth call failed: %s" % checkout)


kind, path = sys.argv[1:]
with open(path, encoding="utf-8") as f:
    if kind == "watch":
        watch([json.loads(line) for line in f])
    else:
        {"report": report, "tree": tree, "sequences": sequences, "placed": placed, "states": states, "states_tree": states_tree}[kind](json.load(f))
