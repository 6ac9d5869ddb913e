#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accuracy.py generate SOURCE TARGET | OUT JDK_HOME MAJOR CLASSES: how right are the figures of hooked methods?

The methods are there twice, in two classes of the same code, and the program times both by itself, in slices of milliseconds
that take turns.  One of the two is hooked, and measured in place, meanwhile: what it is told to take is compared with
what the other one takes at the same time.  Then the hooks are taken out, and the other one is hooked; and so on.  Truths that
were taken before and after differed by 5 to 70 %, since the machine is not as fast all the time, and not for all kinds of
work.  How far the two differ while neither is hooked is told beside it: the JVM does not compile the same code to the
same each time.  What methods do is in methods of its own, one a kind, which nobody hooks and which are not compiled into their callers.
In a last turn every call is timed, for raw figures and for the way of VisualVM (one constant a call, which an empty method
shows), and a process with JFR's method timing says what that finds (JEP 520), where there is one."""
import json
import math
import os
import re
import statistics
import subprocess
import sys

from victim import Java, show_bar, sonde

KINDS = ["hash", "sums", "walk", "root", "branch"]
LENGTHS = [5, 20, 100, 300, 1000, 10000, 100000, 1000000]
NEST_NS = 80
MIX_CALLS = [1, 2, 3, 5, 8, 12, 18, 27, 40, 60]
SECONDS = float(os.environ.get("SECONDS_IN_PLACE", "10"))  # a turn
TURNS = int(os.environ.get("TURNS", "4"))
WARM = min(4, SECONDS)
TRUTH = min(4, SECONDS)
ONLY = os.environ.get("METHODS", ".")  # a pattern: only these have loops
COPIES = ("Bodies", "Twin")
ROUNDS = 3  # in which methods are measured with nothing below, each time compiled anew
PROBING = 200  # steps of each body when it is found out how long a step takes
BELOW = dict({"nest%d" % i: i - 1 for i in range(1, 11)}, fanTop=110, fanMiddle=10, fibRoot=465)


def bodies():
    """[(method, kind, ns)], in the order of Main.STEPS from 1 on."""
    mix = [("mix%d" % (i + 1), KINDS[i % 5], 3000 * 0.8**i / c) for i, c in enumerate(MIX_CALLS)]
    return [("%s%d" % (k, n), k, n) for k in KINDS for n in LENGTHS] + mix


SHAPES = [n for n in ("nest10", "fanTop", "fibRoot", "mixAll") if re.search(ONLY, n)]
LOOPED = [n for n in [b[0] for b in bodies()] if re.search(ONLY, n)] + ["empty"] + SHAPES


def generate(source, target):
    line = "    static long %s(long x) { return Kinds.do%s(x, Main.STEPS[%d]); }\n"
    methods = [line % (n, k.capitalize(), i + 1) for i, (n, k, _) in enumerate(bodies())]
    methods.append("    static long empty(long x) { return x + 1; }\n")
    mix = "    static long mixAll(long x) {\n%s        return x;\n    }\n" % "".join(
        "        for (int i = 0; i < %d; i++) x = mix%d(x);\n" % (c, i + 1) for i, c in enumerate(MIX_CALLS))
    loops = "".join("        (x, n) -> { for (int i = 0; i < n; i++) x = %s.%s(x); return x; },\n" % (c, n)
                    for n in LOOPED for c in COPIES)
    shapes = "    static final int SHAPES = %d;\n" % len(SHAPES)
    for name in ("Bodies", "Kinds", "Loops", "Main"):
        text = open("%s/%s.java" % (source, name)).read()
        text = text.replace("//@BODIES\n", "".join(methods)).replace("//@MIX\n", mix)
        text = text.replace("//@LOOPS\n", loops).replace("//@SHAPES\n", shapes)
        open("%s/%s.java" % (target, name), "w").write(text)
        if name == COPIES[0]:
            open("%s/%s.java" % (target, COPIES[1]), "w").write(text.replace("class Bodies", "class Twin").replace("Bodies()", "Twin()"))


class Victim(Java):
    def __init__(self, home, classes, *options):
        Java.__init__(self, home + "/bin/java", *options, "-XX:CompileCommand=quiet",
                      "-XX:CompileCommand=dontinline,bench.accuracy.Kinds::*", "-XX:+UseSerialGC", "-Xmx256m", "-cp", classes,
                      "bench.accuracy.Main")

    def steps(self, steps):
        self.say("steps " + " ".join(map(str, steps)))

    def run(self, seconds):
        """{class: {method: ns a call}}"""
        all = [float(w) for w in self.ask("run %d" % (1000 * seconds))]
        return {c: dict(zip(LOOPED, all[i::2])) for i, c in enumerate(COPIES)}


def mean_of(runs):
    """{method: ns a call} of several runs; a run may have none of a method."""
    all = {n: [r[n] for r in runs if r[n]] for n in LOOPED}
    return {n: statistics.mean(v) for n, v in all.items() if v}


class Sonde:
    """What is asked of the agent in a victim."""

    def __init__(self, out, victim):
        self.out, self.pid, self.victim = out, str(victim.java.pid), victim

    def ask(self, command, *words):
        return sonde(self.out, command, *words)

    def hook(self, name, level):
        self.ask("hook", self.pid, "bench.accuracy.%s::* %s" % (name, level))

    def unhook(self):
        self.ask("unhook", self.pid, "all")

    def report_raw(self, seconds):
        self.ask("report", self.pid, "--raw", "--reset", "--once")
        ran = self.victim.run(seconds)
        return told(json.loads(self.ask("report", self.pid, "--json", "--raw"))), ran

    def report(self, seconds, name):
        """What is told of the methods of a class, measured for so long; and what those of the other take meanwhile: while
        the methods of which the figures are are hooked alone, but for when the JVM compiles them anew."""
        self.ask("report", self.pid, "--raw", "--reset", "--once")
        asked = subprocess.Popen([self.out + "/sonde", "report", self.pid, "--json", "--in-place=%g" % seconds, "--bare=4"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        runs, kept = [], []
        while asked.poll() is None:
            ran = self.victim.run(1)
            if re.search(name + r"::\w+.* timed", self.ask("hooks", self.pid)):
                runs.append(ran)
            else:
                kept += runs[-max(1, round(seconds / ROUNDS)):]
                runs = []
        answer, error = asked.communicate()
        if asked.returncode or not kept:
            raise SystemExit("sonde report: " + error)
        return told(json.loads(answer)), mean_of([r[COPIES[name == COPIES[0]]] for r in kept])


def told(answer):
    """{method: figures}, ns a call."""
    found = {}
    for m in answer["methods"]:
        name = m["method"].split("(")[0].split(".")[-1]
        if m["timed"] and m["calls"]:
            found[name] = {k: (m[k] or 0) / m["calls"] for k in ("raw_ns", "compensated_ns", "low_ns", "high_ns")}
            found[name]["in_place"] = m["in_place"]
    return found


def find_steps(v):
    """How many steps the bodies need to be as long as they should."""
    v.steps([60] + [PROBING] * len(bodies()))
    v.run(WARM)
    plain = v.run(WARM)[COPIES[0]]
    of = {k: [plain[n] for n, kind, _ in bodies() if kind == k and plain.get(n)] for k in KINDS}
    per = {k: statistics.median(v) / PROBING if v else 1 for k, v in of.items()}
    return [max(1, round(NEST_NS / per["hash"]))] + [max(1, round(ns / per[k])) for _, k, ns in bodies()]


def by_turns(out, home, classes):
    """Steps; how far the two copies differ while neither is hooked; for each turn the figures told and the truth; and the
    others' for the last one."""
    v = Victim(home, classes, "-agentpath:%s/libsonde.so" % out)
    asked = Sonde(out, v)
    steps = find_steps(v)
    v.steps(steps)
    v.run(2 * WARM)
    both = v.run(TRUTH)
    apart = {n: both[COPIES[0]][n] / both[COPIES[1]][n] - 1 for n in LOOPED if both[COPIES[1]][n]}
    turns = []
    for turn in range(TURNS):
        name = COPIES[turn % 2]
        asked.hook(name, "timed")
        v.run(WARM)
        turns.append(asked.report(SECONDS, name))
        asked.unhook()
    asked.hook(COPIES[0], "timed 1/1")
    v.run(2 * WARM)
    raw = by_constant(*asked.report_raw(TRUTH))
    v.end()
    return steps, apart, turns, raw


def by_constant(rows, ran):
    """How far off raw figures are, and what VisualVM's way makes of them."""
    hooked, plain = ran[COPIES[0]], ran[COPIES[1]]
    own, pair = rows["empty"]["raw_ns"], hooked["empty"] - plain["empty"]
    return {name: (r["raw_ns"] / plain[name], max(0, r["raw_ns"] - own - BELOW.get(name, 0) * pair) / plain[name])
            for name, r in rows.items() if plain.get(name)}


def jep520(home, classes, steps):
    """{method: told / truth}"""
    if not os.path.exists(home + "/bin/jfr") or "MethodTiming" not in subprocess.run(
            [home + "/bin/jfr", "metadata", "--events", "jdk.MethodTiming"], capture_output=True, text=True).stdout:
        return {}
    file = classes + "/jep520.jfr"
    v = Victim(home, classes, "-Xlog:disable", "-XX:StartFlightRecording:method-timing=bench.accuracy.Bodies,filename=" + file)
    v.steps(steps)
    v.run(WARM)
    truth = v.run(TRUTH)[COPIES[1]]
    v.end()
    text = subprocess.run([home + "/bin/jfr", "print", "--json", "--events", "jdk.MethodTiming", file],
                          capture_output=True, text=True).stdout
    found = {}
    for e in json.loads(text)["recording"]["events"]:
        value = e["values"]
        found[value["method"]["name"]] = seconds_of(value["average"]) * 1e9  # the last one counts
    return {n: v / truth[n] for n, v in found.items() if truth.get(n)}


def seconds_of(text):
    m = re.fullmatch(r"PT(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?", text)
    return sum(float(v or 0) * f for v, f in zip(m.groups(), (3600, 60, 1))) if m else 0


def percent(ratio):
    return "%8.1f%%" % (100 * (ratio - 1)) if ratio is not None else "        -"


def rows_of(turns, apart, raw, jep):
    """One a method: medians over the turns."""
    rows = []
    for name in LOOPED:
        have = [(f[name], t[name]) for f, t in turns if name in f and name in t]
        if name == "empty" or not have:
            continue
        if not all(f["in_place"] for f, _ in have):
            print("%s was not always measured in place" % name)
        row = {"method": name, "apart": apart.get(name, 0), "turns": [
            {"truth": t, "told": f["compensated_ns"], "low": f["low_ns"], "high": f["high_ns"]} for f, t in have]}
        for key in ("truth", "told", "low", "high"):
            row[key] = statistics.median(t[key] for t in row["turns"])
        row["off"] = statistics.median(t["told"] / t["truth"] for t in row["turns"])
        row["raw"], row["constant"] = raw.get(name, (None, None))
        row["jep520"] = jep.get(name)
        rows.append(row)
    return rows


def show(title, rows):
    print("\n%s: ns a call, and how far off the others are; !N: in N turns the interval does not hold the truth; apart: how far "
          "the two copies are while neither is hooked" % title)
    print("%-14s %11s %7s %11s  %-27s  %9s %9s %9s %9s" % ("method", "truth", "apart", "in place", "interval", "in place",
                                                            "raw", "VisualVM", "JEP 520"))
    for r in rows:
        missed = sum(not holds(t) for t in r["turns"])
        print("%-14s %11.1f %6.1f%% %11.1f  [%10.1f, %10.1f] %-2s %s %s %s %s" %
              (r["method"], r["truth"], 100 * r["apart"], r["told"], r["low"], r["high"], "!%d" % missed if missed else "",
               percent(r["off"]), percent(r["raw"]), percent(r["constant"]), percent(r["jep520"])))


def show_kinds(rows):
    """The median error by kind and length: what is off, and where."""
    print("\nhow far off the median of a kind is, over its turns\n%-8s" % "" + "".join("%10d" % n for n in LENGTHS))
    for k in KINDS:
        of = {r["method"]: r["off"] - 1 for r in rows}
        print("%-8s" % k + "".join("%9.1f%%" % (100 * of.get("%s%d" % (k, n), math.nan)) for n in LENGTHS))


def holds(r):
    return r["low"] <= r["truth"] <= r["high"]


def plot(path, rows):
    """The error of each way over the length of a call."""
    ways = (("raw", "#c33"), ("constant", "#e90"), ("jep520", "#999"), ("off", "#27c"))
    marks = []
    for r in rows:
        for way, colour in ways:
            if r[way] is None or r["truth"] <= 1:
                continue
            x = 60 + 120 * math.log10(r["truth"])
            y = 200 - 60 * max(-3, min(3, math.asinh(100 * (r[way] - 1)) / 2))
            marks.append('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (x, y, colour))
    lines = ['<line x1="60" x2="800" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="55" y="%.1f" text-anchor="end">%+g %%</text>'
             % (y, y, y + 4, e) for e in (-100, -10, -1, 0, 1, 10, 100) for y in [200 - 60 * math.asinh(e) / 2]]
    ticks = ['<text x="%d" y="400" text-anchor="middle">%s</text>' % (60 + 120 * i, t)
             for i, t in enumerate(("1 ns", "10 ns", "100 ns", "1 us", "10 us", "100 us", "1 ms"))]
    open(path, "w").write('<svg xmlns="http://www.w3.org/2000/svg" width="820" height="420" font-family="sans-serif" '
                          'font-size="11"><rect width="820" height="420" fill="#fff"/><text x="60" y="14">error over the length of '
                          'a call: red raw, orange one constant (VisualVM), grey JEP 520, blue Sonde in place</text>%s</svg>\n'
                          % "".join(lines + ticks + marks))


def within(name, rows, limit, want):
    errors = sorted(abs(r["off"] - 1) for r in rows)
    unsteady = sum(abs(r["apart"]) > limit for r in rows)
    figure = "%.1f %% at most, half within %.1f %%" % (100 * errors[-1], 100 * errors[len(errors) // 2]) if errors else "nothing"
    if unsteady:
        figure += "; of %d methods %d differ by more from the same code when neither is hooked" % (len(rows), unsteady)
    return show_bar(name, figure, want, errors and errors[-1] <= limit)


def order(of):
    return " ".join(n for n, _ in sorted(of.items(), key=lambda i: -i[1]))


def ranking(rows, major):
    """The mix by what its methods take in all.  Two whose intervals overlap are as good as equal, for every way."""
    calls = dict(("mix%d" % (i + 1), c) for i, c in enumerate(MIX_CALLS))
    mix = {r["method"]: r for r in rows if r["method"] in calls and r["raw"] is not None}
    truth, ours, raw = ({n: calls[n] * f(r) for n, r in mix.items()} for f in (
        lambda r: r["truth"], lambda r: r["told"], lambda r: r["raw"] * r["truth"]))
    print("\nhottest first: truth    %s\n               in place %s\n               raw      %s" % tuple(map(order, (truth, ours, raw))))
    told = [(a, b) for a in mix for b in mix if calls[a] * mix[a]["low"] > calls[b] * mix[b]["high"]]
    wrong = [sum(of[a] < of[b] for a, b in told) for of in (truth, raw)]
    pairs = len(mix) * (len(mix) - 1) // 2
    return show_bar("ranking-" + major, "of %d pairs %d are told apart, %d of them wrong; raw has %d of these wrong" %
                    (pairs, len(told), wrong[0], wrong[1]), "no pair of the ten hottest is told in the wrong order, where raw is", told and
                    not wrong[0] and wrong[1])


def bars_of(rows, major):
    shapes = [r for r in rows if r["method"] in SHAPES]
    single = [r for r in rows if r["method"] not in SHAPES]
    turns = [holds(t) for r in rows for t in r["turns"]]
    widths = [(t["high"] - t["low"]) / 2 / t["truth"] for r in single if r["truth"] >= 100 for t in r["turns"]]
    width = statistics.median(widths or [0])
    return [
        within("total-" + major, shapes, 0.02, "totals of nested, fanned out, recursive and mixed calls within 2 %"),
        within("1us-" + major, [r for r in single if r["truth"] >= 1000], 0.01, "at most 1 % for calls from 1 us on"),
        within("100ns-" + major, [r for r in single if 100 <= r["truth"] < 1000], 0.03,
               "at most 3 % for calls from 100 ns on"),
        show_bar("interval-" + major, "%.1f %% of %d methods in %d turns; of calls from 100 ns on half are narrower than +-%.0f %%" %
                 (100 * sum(turns) / len(turns), len(rows), TURNS, 100 * width),
                 "the interval holds the truth in 95 %", sum(turns) >= 0.95 * len(turns)),
        ranking(rows, major),
    ]


def main():
    if sys.argv[1] == "generate":
        generate(*sys.argv[2:])
        return
    out, home, major, classes = sys.argv[1:5]
    steps, apart, turns, raw = by_turns(out, home, classes)
    rows = rows_of(turns, apart, raw, jep520(home, classes, steps))
    show("JDK " + major, rows)
    show_kinds(rows)
    bars = bars_of(rows, major)
    plot("%s/bench/accuracy-%s.svg" % (out, major), rows)
    json.dump({"bars": bars, "rows": rows}, open("%s/bench/accuracy-%s.json" % (out, major), "w"))


main()
