#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accuracy.py generate SOURCE TARGET | OUT JDK_HOME MAJOR CLASSES: how right are the figures of hooked methods?

The methods are there three times, in three classes of the same code, and the program times all by itself, in slices of
milliseconds that take turns.  One of the first two is hooked, and measured in place, meanwhile: what it is told to take is compared with
what the other one takes at the same time.  Then the hooks are taken out, and the other one is hooked; and so on.  Truths that
were taken before and after differed by 5 to 70 %, since the machine is not as fast all the time, and not for all kinds of
work.  The third class is never hooked.  It is compared with the other unhooked one in the same way and in the same seconds: so far
are two truths apart on this machine, and nothing can be shown to be nearer than that.  What methods do is in methods of
its own, one a kind, which nobody hooks and which are not compiled into their callers.
In a last turn every call is timed, for raw figures and for the way of VisualVM (one constant a call, which an empty method
shows), and a process with JFR's method timing says what that finds (JEP 520), where there is one."""
import json
import math
import os
import re
import statistics
import subprocess
import sys

from victim import Asked, Java, show_bar, sonde, steal

KINDS = ["hash", "sums", "walk", "root", "branch"]
LENGTHS = [5, 20, 100, 300, 1000, 10000, 100000, 1000000]
NEST_NS = 80
MIX_CALLS = [1, 2, 3, 5, 8, 12, 18, 27, 40, 60]
SECONDS = float(os.environ.get("SECONDS_IN_PLACE", "24"))  # a turn
TURNS = int(os.environ.get("TURNS", "4"))
WARM = min(4, SECONDS)
TRUTH = min(4, SECONDS)
PIECE = 0.5  # seconds after which it is asked whether a round is over
FEW = 10  # pieces of which none is far out
ONLY = os.environ.get("METHODS", ".")  # a pattern: only these have loops
COPIES = ("Bodies", "Twin", "Third")
ROUNDS = 3  # in which methods are measured with nothing below, each time compiled anew
PROBING = 200  # steps of each body when it is found out how long a step takes
BELOW = dict({"nest%d" % i: i - 1 for i in range(1, 11)}, fanTop=110, fanMiddle=10, fibRoot=465,
             mixAll=sum(MIX_CALLS))


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
    parts = "".join(line.replace("mix", "part") for line in methods if " mix" in line)
    mix = parts + "    static long mixAll(long x) {\n%s        return x;\n    }\n" % "".join(
        "        for (int i = 0; i < %d; i++) x = part%d(x);\n" % (c, i + 1) for i, c in enumerate(MIX_CALLS))
    loops = "".join("        (x, n) -> { for (int i = 0; i < n; i++) x = %s.%s(x); return x; },\n" % (c, n)
                    for n in LOOPED for c in COPIES)
    shapes = "    static final int SHAPES = %d;\n    static final int COPIES = %d;\n" % (len(SHAPES), len(COPIES))
    for name in ("Bodies", "Kinds", "Loops", "Main"):
        text = open("%s/%s.java" % (source, name)).read()
        text = text.replace("//@BODIES\n", "".join(methods)).replace("//@MIX\n", mix)
        text = text.replace("//@LOOPS\n", loops).replace("//@SHAPES\n", shapes)
        open("%s/%s.java" % (target, name), "w").write(text)
        for copy in COPIES[1:] if name == COPIES[0] else ():
            open("%s/%s.java" % (target, copy), "w").write(text.replace("class Bodies", "class " + copy).replace("Bodies()", copy + "()"))


class Victim(Java):
    def __init__(self, home, classes, *options):
        Java.__init__(self, home + "/bin/java", *options, "-XX:CompileCommand=quiet",
                      "-XX:CompileCommand=dontinline,bench.accuracy.Kinds::*", "-XX:+UseSerialGC", "-Xmx256m", "-cp", classes,
                      "bench.accuracy.Main")

    def steps(self, steps):
        self.say("steps " + " ".join(map(str, steps)))

    def run(self, seconds):
        """{class: {method: pieces}}"""
        stolen = steal()
        timed, dropped, *all = self.ask("run %d" % (1000 * seconds))
        PIECES["timed"] += int(timed)
        PIECES["dropped"] += int(dropped)
        PIECES["steal"] += steal() - stolen
        PIECES["seconds"] += seconds
        pieces = [[tuple(map(float, p.split(":"))) for p in w.split(",")] if w != "-" else [] for w in all]
        return {c: dict(zip(LOOPED, pieces[i::len(COPIES)])) for i, c in enumerate(COPIES)}

    def means(self, seconds):
        return {c: means_of([ran]) for c, ran in self.run(seconds).items()}


PIECES = {"timed": 0, "dropped": 0, "steal": 0, "seconds": 0}


def mean_of(pieces):
    """Of all calls, but for pieces that are far out, as in plan/stats/steady.h: farther from the middle half than three times its
    width, and twice or half as long; a tenth at each end, at most."""
    all = sorted(pieces)
    n, low, high = len(all), 0, 0
    if n >= FEW:
        first, last = all[n // 4][0], all[n - 1 - n // 4][0]
        far = 3 * (last - first)
        while low < n // 10 and all[low][0] < min(first - far, first / 2):
            low += 1
        while high < n // 10 and all[n - 1 - high][0] > max(last + far, last * 2):
            high += 1
    kept = all[low:n - high]
    return sum(ns * calls for ns, calls in kept) / sum(calls for _, calls in kept)


def means_of(runs):
    """{method: ns a call} of several runs of a class; a run may have none of a method."""
    all = {n: [p for r in runs for p in r[n]] for n in LOOPED}
    return {n: mean_of(p) for n, p in all.items() if p}


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
        ran = self.victim.means(seconds)
        return told(json.loads(self.ask("report", self.pid, "--json", "--raw"))), ran

    def report(self, seconds, name):
        """What is told of the methods of a class, measured for so long; and what those of the others take meanwhile, the
        truth first: while the methods of which the figures are are hooked alone, but for when the JVM compiles them anew."""
        self.ask("report", self.pid, "--raw", "--reset", "--once")
        asked = Asked(self.out, "report", self.pid, "--json", "--in-place=%g" % seconds, "--bare=4")
        runs, kept = [], []
        while not asked.is_done():
            ran = self.victim.run(PIECE)
            if re.search(name + r"::\w+.* timed", self.ask("hooks", self.pid)):
                runs.append(ran)
            else:
                kept += runs[-max(1, round(seconds / ROUNDS / PIECE)):]
                runs = []
        answer = asked.answer()
        if not kept:
            raise SystemExit("sonde report ended too early")
        others = COPIES[name == COPIES[0]], COPIES[2]
        return (told(json.loads(answer)), *(means_of([r[c] for r in kept]) for c in others))


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
    plain = v.means(WARM)[COPIES[0]]
    of = {k: [plain[n] for n, kind, _ in bodies() if kind == k and plain.get(n)] for k in KINDS}
    per = {k: statistics.median(v) / PROBING if v else 1 for k, v in of.items()}
    return [max(1, round(NEST_NS / per["hash"]))] + [max(1, round(ns / per[k])) for _, k, ns in bodies()]


def by_turns(out, home, classes):
    """Steps; for each turn the figures told, the truth, and what the third copy took; and the others' for the last one."""
    v = Victim(home, classes, "-agentpath:%s/libsonde.so" % out)
    asked = Sonde(out, v)
    steps = find_steps(v)
    v.steps(steps)
    v.run(2 * WARM)
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
    return steps, turns, raw


def by_constant(rows, ran):
    """How far off raw figures are, and what VisualVM's way makes of them."""
    hooked, plain = ran[COPIES[0]], ran[COPIES[1]]
    own, pair = rows["empty"]["raw_ns"], hooked.get("empty", 0) - plain.get("empty", 0)
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
    truth = v.means(TRUTH)[COPIES[1]]
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


def rows_of(turns, raw, jep):
    """One a method: medians over the turns, and the mean error with its standard error."""
    rows = []
    for name in LOOPED:
        have = [(f[name], t[name], o[name]) for f, t, o in turns if name in f and name in t and name in o]
        if name == "empty" or not have:
            continue
        if not all(f["in_place"] for f, _, _ in have):
            print("%s was not always measured in place" % name)
        row = {"method": name, "turns": [{"truth": t, "other": o, "told": f["compensated_ns"], "low": f["low_ns"], "high": f["high_ns"]}
                                         for f, t, o in have]}
        for key in ("truth", "told", "low", "high"):
            row[key] = statistics.median(t[key] for t in row["turns"])
        row["off"] = statistics.median(t["told"] / t["truth"] for t in row["turns"])
        row["floor"] = statistics.median(t["other"] / t["truth"] for t in row["turns"])
        row["bias"] = mean_and_error([t["told"] / t["truth"] - 1 for t in row["turns"]])
        row["raw"], row["constant"] = raw.get(name, (None, None))
        row["jep520"] = jep.get(name)
        rows.append(row)
    return rows


def mean_and_error(errors):
    n = len(errors)
    return statistics.mean(errors), statistics.stdev(errors) / math.sqrt(n) if n > 1 else math.nan


def show(title, rows):
    print("\n%s: ns a call, and how far off the others are; !N: in N turns the interval does not hold the truth; third: how far a copy "
          "that is never hooked is from the truth; mean: of the turns, with its standard error" % title)
    print("%-14s %11s %7s %11s  %-27s  %9s %16s %9s %9s %9s" % ("method", "truth", "third", "in place", "interval", "in place", "mean",
                                                                 "raw", "VisualVM", "JEP 520"))
    for r in rows:
        missed = sum(not holds(t) for t in r["turns"])
        print("%-14s %11.1f %6.1f%% %11.1f  [%10.1f, %10.1f] %-2s %s %7.1f%% +-%5.1f%% %s %s %s" %
              (r["method"], r["truth"], 100 * (r["floor"] - 1), r["told"], r["low"], r["high"], "!%d" % missed if missed else "",
               percent(r["off"]), *(100 * b for b in r["bias"]), percent(r["raw"]), percent(r["constant"]), percent(r["jep520"])))


def show_kinds(rows):
    """The mean error by kind and length, over the turns, and of all kinds with its standard error: what is off, and where."""
    of = {r["method"]: r for r in rows}
    print("\nthe mean error of a kind over its turns; of all kinds, with the standard error; and of the third copy\n%-8s" % "" +
          "".join("%15d" % n for n in LENGTHS))
    for k in KINDS:
        print("%-8s" % k + "".join("%14.1f%%" % (100 * of["%s%d" % (k, n)]["bias"][0]) if "%s%d" % (k, n) in of else " " * 15
                                   for n in LENGTHS))
    for way in ("told", "other"):
        line = "%-8s" % {"told": "all", "other": "third"}[way]
        for n in LENGTHS:
            errors = [t[way] / t["truth"] - 1 for k in KINDS if "%s%d" % (k, n) in of for t in of["%s%d" % (k, n)]["turns"]]
            line += "%6.1f +-%5.1f%%" % tuple(100 * e for e in mean_and_error(errors)) if errors else " " * 15
        print(line)


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
    errors, floor = (sorted(abs(r[key] - 1) for r in rows) for key in ("off", "floor"))
    if not rows:
        return show_bar(name, "nothing", want, False)
    figure = "%.1f %% at most, half within %.1f %%; two copies that are not hooked: %.1f %%, half within %.1f %%" % tuple(
        100 * e for of in (errors, floor) for e in (of[-1], of[len(of) // 2]))
    if floor[-1] > limit:
        figure += ", so this bar cannot be shown to be met here"
    return show_bar(name, figure, want, errors[-1] <= limit)


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
    steps, turns, raw = by_turns(out, home, classes)
    rows = rows_of(turns, raw, jep520(home, classes, steps))
    show("JDK " + major, rows)
    show_kinds(rows)
    print("the host took %.1f %% of %.0f s of %d processors; %d of %d pieces were dropped, since the program had no processor in a "
          "part of them" % (100 * PIECES["steal"] / PIECES["seconds"] / os.cpu_count(), PIECES["seconds"], os.cpu_count(),
                            PIECES["dropped"], PIECES["timed"]))
    bars = bars_of(rows, major)
    plot("%s/bench/accuracy-%s.svg" % (out, major), rows)
    json.dump({"bars": bars, "rows": rows, "pieces": PIECES}, open("%s/bench/accuracy-%s.json" % (out, major), "w"))


main()
