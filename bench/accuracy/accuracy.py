#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accuracy.py generate SOURCE TARGET | OUT JDK_HOME MAJOR CLASSES: how right are the figures of hooked methods?

Truth and figures come from one process, by turns: the program times its own methods while they are not hooked; then
they are hooked, and measured in place; then the hooks are taken out again, which gives back the original byte code; and so
on.  Each time the JVM compiles the methods anew, and the same code is not as fast each time: how much the truth differs between
turns is told beside it.  The machine is not as fast all the time either, for seconds, and not the same for all kinds of work;
so what methods do is in methods of its own, one a kind, which nobody hooks and which are not compiled into their callers.
The program calls these itself now and then, and all figures of a turn are those of a machine that is as fast for that kind as it
is in the median.  In the last turn every call is timed, for raw figures and for the way of VisualVM (one constant
a call, which an empty method shows).  A process without agent shows whether the truth is the truth, and one with JFR's
method timing what that says (JEP 520), where there is one."""
import json
import math
import os
import re
import statistics
import subprocess
import sys

KINDS = ["hash", "sums", "walk", "root", "branch"]
LENGTHS = [5, 20, 100, 300, 1000, 10000, 100000, 1000000]
NEST_NS = 80
MIX_CALLS = [1, 2, 3, 5, 8, 12, 18, 27, 40, 60]
SECONDS = float(os.environ.get("SECONDS_IN_PLACE", "10"))  # a turn
TURNS = int(os.environ.get("TURNS", "4"))
WARM = min(4, SECONDS)
TRUTH = min(4, SECONDS)
PROBING = 200  # steps of each body when it is found out how long a step takes
BELOW = dict({"nest%d" % i: i - 1 for i in range(1, 11)}, fanTop=110, fanMiddle=10, fibRoot=465)


def bodies():
    """[(method, kind, ns)], in the order of Main.STEPS from 1 on."""
    mix = [("mix%d" % (i + 1), KINDS[i % 5], 3000 * 0.8**i / c) for i, c in enumerate(MIX_CALLS)]
    return [("%s%d" % (k, n), k, n) for k in KINDS for n in LENGTHS] + mix


LOOPED = [b[0] for b in bodies()] + ["empty", "nest10", "fanTop", "fibRoot", "mixAll"]


def generate(source, target):
    line = "    static long %s(long x) { return Kinds.do%s(x, Main.STEPS[%d]); }\n"
    methods = [line % (n, k.capitalize(), i + 1) for i, (n, k, _) in enumerate(bodies())]
    methods.append("    static long empty(long x) { return x + 1; }\n")
    mix = "    static long mixAll(long x) {\n%s        return x;\n    }\n" % "".join(
        "        for (int i = 0; i < %d; i++) x = mix%d(x);\n" % (c, i + 1) for i, c in enumerate(MIX_CALLS))
    loops = "".join("        (x, n) -> { for (int i = 0; i < n; i++) x = Bodies.%s(x); return x; },\n" % n for n in LOOPED)
    for name in ("Bodies", "Kinds", "Loops", "Main"):
        text = open("%s/%s.java" % (source, name)).read()
        text = text.replace("//@BODIES\n", "".join(methods)).replace("//@MIX\n", mix).replace("//@LOOPS\n", loops)
        open("%s/%s.java" % (target, name), "w").write(text)


class Victim:
    def __init__(self, home, classes, *options):
        self.java = subprocess.Popen([home + "/bin/java", *options, "-XX:CompileCommand=quiet",
                                      "-XX:CompileCommand=dontinline,bench.accuracy.Kinds::*", "-XX:+UseSerialGC", "-Xmx256m", "-cp", classes,
                                      "bench.accuracy.Main"],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                     bufsize=1)
        self.line("ready")

    def line(self, begin):
        text = self.java.stdout.readline()
        while text and not text.startswith(begin):
            text = self.java.stdout.readline()
        if not text:
            raise SystemExit("the program ended")
        return text

    def say(self, text):
        self.java.stdin.write(text + "\n")
        self.java.stdin.flush()

    def steps(self, steps):
        self.say("steps " + " ".join(map(str, steps)))

    def begin(self, seconds):
        self.say("run %d" % (1000 * seconds))

    def ran(self):
        """{method: ns a call}; those of kinds are of what is never hooked"""
        return dict(zip(KINDS + LOOPED, [float(w) for w in self.line("ran").split()[1:]]))

    def run(self, seconds):
        self.begin(seconds)
        return self.ran()

    def end(self):
        self.java.stdin.close()
        self.java.wait()


class Sonde:
    """What is asked of the agent in a victim."""

    def __init__(self, out, victim):
        self.out, self.pid, self.victim = out, str(victim.java.pid), victim

    def ask(self, command, *words):
        done = subprocess.run([self.out + "/sonde", command, *words], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit("sonde %s: %s" % (command, done.stderr))
        return done.stdout

    def hook(self, level):
        self.ask("hook", self.pid, "bench.accuracy.Bodies::* " + level)

    def unhook(self):
        self.ask("unhook", self.pid, "all")

    def report(self, seconds, *options):
        """What is told of the methods while the program runs, measured for so long, with how fast the machine was then; and
        what the program's own clock says."""
        self.ask("report", self.pid, "--raw", "--reset", "--once")
        if "--raw" in options:
            ran = self.victim.run(seconds)
            answer = self.ask("report", self.pid, "--json", *options)
            return told(json.loads(answer)), ran
        asked = subprocess.Popen([self.out + "/sonde", "report", self.pid, "--json", "--in-place=%g" % seconds, "--bare=4"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        speeds = []
        while asked.poll() is None:
            ran = self.victim.run(1)
            if re.search(r"Bodies::\w+.* timed", self.ask("hooks", self.pid)):  # nothing else is woven now
                speeds.append(ran)
        answer, error = asked.communicate()
        if asked.returncode or not speeds:
            raise SystemExit("sonde report: " + error)
        speeds = speeds[-int(seconds):]
        return dict(told(json.loads(answer)), **{k: statistics.mean(s[k] for s in speeds) for k in KINDS}), ran


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
    plain = v.run(WARM)
    per = {k: plain["%s%d" % (k, LENGTHS[0])] / PROBING for k in KINDS}
    return [max(1, round(NEST_NS / per["hash"]))] + [max(1, round(ns / per[k])) for _, k, ns in bodies()]


def by_turns(out, home, classes):
    """Steps; how long the loop takes that is never hooked; the truths; for each turn the figures told; and the others' for
    the last one."""
    v = Victim(home, classes, "-agentpath:%s/libsonde.so" % out)
    sonde = Sonde(out, v)
    steps = find_steps(v)
    v.steps(steps)
    truths, figures = [], []
    for turn in range(TURNS + 1):
        v.run(WARM if turn else 2 * WARM)
        truths.append(v.run(TRUTH))
        sonde.hook("timed" if turn < TURNS else "timed 1/1")
        v.run(WARM)
        if turn < TURNS:
            figures.append(sonde.report(SECONDS)[0])
        else:
            raw = by_constant(*sonde.report(TRUTH, "--raw"), truths[-1])
        sonde.unhook()
    v.end()
    usual = {k: statistics.median(t[k] for t in truths) for k in KINDS}
    for k in KINDS:
        print("%-7s where it is never hooked: %5.1f us; by turns, unhooked and hooked: %s" % (k, usual[k] / 1000, " ".join(
            "%+.1f%%" % (100 * (t[k] / usual[k] - 1)) for pair in zip(truths, figures + [usual]) for t in pair)))
    return steps, usual, [at_speed(t, usual) for t in truths], [at_speed(f, usual) for f in figures], raw


def at_speed(of, usual):
    """The same figures on a machine as fast as usual."""
    kinds = dict((b[0], b[1]) for b in bodies())
    done = {}
    for name, m in of.items():
        k = kinds.get(name, "hash")
        f = usual[k] / of[k]
        done[name] = {k: v if k == "in_place" else f * v for k, v in m.items()} if isinstance(m, dict) else f * m
    return done


def by_constant(rows, hooked, plain):
    """Raw figures, and what VisualVM's way makes of them."""
    own, pair = rows["empty"]["raw_ns"], hooked["empty"] - plain["empty"]
    return {name: (r["raw_ns"], max(0, r["raw_ns"] - own - BELOW.get(name, 0) * pair)) for name, r in rows.items() if name not in KINDS}


def never_hooked(home, classes, steps):
    v = Victim(home, classes)
    v.steps(steps)
    v.run(2 * WARM)
    truth = v.run(TRUTH)
    v.end()
    return truth


def jep520(home, classes, steps):
    if not os.path.exists(home + "/bin/jfr") or "MethodTiming" not in subprocess.run(
            [home + "/bin/jfr", "metadata", "--events", "jdk.MethodTiming"], capture_output=True, text=True).stdout:
        return {}
    file = classes + "/jep520.jfr"
    v = Victim(home, classes, "-Xlog:disable", "-XX:StartFlightRecording:method-timing=bench.accuracy.Bodies,filename=" + file)
    v.steps(steps)
    v.run(WARM)
    v.run(TRUTH)
    v.end()
    text = subprocess.run([home + "/bin/jfr", "print", "--json", "--events", "jdk.MethodTiming", file],
                          capture_output=True, text=True).stdout
    found = {}
    for e in json.loads(text)["recording"]["events"]:
        value = e["values"]
        found[value["method"]["name"]] = seconds_of(value["average"]) * 1e9  # the last one counts
    return found


def seconds_of(text):
    m = re.fullmatch(r"PT(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?", text)
    return sum(float(v or 0) * f for v, f in zip(m.groups(), (3600, 60, 1))) if m else 0


def percent(value, truth):
    return "%8.1f%%" % (100 * (value / truth - 1)) if value is not None and truth else "        -"


def rows_of(truths, figures, raw, jep):
    """One a method: medians over the turns; the truth of a turn is the mean of the two that it lies between."""
    rows = []
    for name in LOOPED:
        told_of = [f.get(name) for f in figures]
        if name == "empty" or not all(told_of):
            continue
        if not all(f["in_place"] for f in told_of):
            print("%s was not always measured in place" % name)
        at = [(truths[i][name] + truths[i + 1][name]) / 2 for i in range(len(figures))]
        row = {"method": name, "truth": statistics.median(t[name] for t in truths), "turns": [
            {"truth": t, "told": f["compensated_ns"], "low": f["low_ns"], "high": f["high_ns"]} for t, f in zip(at, told_of)]}
        row["scatter"] = statistics.median(abs(t[name] / row["truth"] - 1) for t in truths)
        for key in ("told", "low", "high"):
            row[key] = statistics.median(t[key] for t in row["turns"])
        row["raw"], row["constant"] = raw.get(name, (None, None))
        row["jep520"] = jep.get(name)
        rows.append(row)
    return rows


def show(title, rows):
    print("\n%s: ns a call, and how far off the others are; !N: in N turns the interval does not hold the truth" % title)
    print("%-14s %11s %7s %11s  %-27s  %9s %9s %9s %9s" % ("method", "truth", "scatter", "in place", "interval", "in place",
                                                            "raw", "VisualVM", "JEP 520"))
    for r in rows:
        missed = sum(not holds(t) for t in r["turns"])
        print("%-14s %11.1f %6.1f%% %11.1f  [%10.1f, %10.1f] %-2s %s %s %s %s" %
              (r["method"], r["truth"], 100 * r["scatter"], r["told"], r["low"], r["high"], "!%d" % missed if missed else "",
               percent(r["told"], r["truth"]), percent(r["raw"], r["truth"]), percent(r["constant"], r["truth"]),
               percent(r["jep520"], r["truth"])))


def show_kinds(rows):
    """The median error by kind and length: what is off, and where."""
    print("\nhow far off the median of a kind is, over its turns\n%-8s" % "" + "".join("%10d" % n for n in LENGTHS))
    for k in KINDS:
        of = {r["method"]: statistics.median(t["told"] / t["truth"] - 1 for t in r["turns"]) for r in rows}
        print("%-8s" % k + "".join("%9.1f%%" % (100 * of.get("%s%d" % (k, n), math.nan)) for n in LENGTHS))


def show_never(rows, truth):
    """Is a method that was hooked once as fast as one that never was?"""
    ratios = sorted(r["truth"] / truth[r["method"]] - 1 for r in rows)
    n = len(ratios)
    print("\nin a process that was never hooked methods take another time: ours is %+.1f %% off in the median, "
          "half of them between %+.1f and %+.1f %%" % tuple(100 * ratios[i] for i in (n // 2, n // 4, 3 * n // 4)))


def holds(r):
    return r["low"] <= r["truth"] <= r["high"]


def plot(path, rows):
    """The error of each way over the length of a call."""
    ways = (("raw", "#c33"), ("constant", "#e90"), ("jep520", "#999"), ("told", "#27c"))
    marks = []
    for r in rows:
        for way, colour in ways:
            if r[way] is None or r["truth"] <= 1:
                continue
            x = 60 + 120 * math.log10(r["truth"])
            y = 200 - 60 * max(-3, min(3, math.asinh(100 * (r[way] / r["truth"] - 1)) / 2))
            marks.append('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (x, y, colour))
    lines = ['<line x1="60" x2="800" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="55" y="%.1f" text-anchor="end">%+g %%</text>'
             % (y, y, y + 4, e) for e in (-100, -10, -1, 0, 1, 10, 100) for y in [200 - 60 * math.asinh(e) / 2]]
    ticks = ['<text x="%d" y="400" text-anchor="middle">%s</text>' % (60 + 120 * i, t)
             for i, t in enumerate(("1 ns", "10 ns", "100 ns", "1 us", "10 us", "100 us", "1 ms"))]
    open(path, "w").write('<svg xmlns="http://www.w3.org/2000/svg" width="820" height="420" font-family="sans-serif" '
                          'font-size="11"><rect width="820" height="420" fill="#fff"/><text x="60" y="14">error over the length of '
                          'a call: red raw, orange one constant (VisualVM), grey JEP 520, blue Sonde in place</text>%s</svg>\n'
                          % "".join(lines + ticks + marks))


def bar(name, figure, want, met):
    print("accuracy/%s: %s (bar: %s) %s" % (name, figure, want, "met" if met else "short"))
    return {"name": name, "figure": figure, "bar": want, "met": bool(met)}


def within(name, rows, limit, want):
    errors = sorted(abs(r["told"] / r["truth"] - 1) for r in rows)
    unsteady = sum(r["scatter"] > limit for r in rows)
    figure = "%.1f %% at most, half within %.1f %%" % (100 * errors[-1], 100 * errors[len(errors) // 2]) if errors else "nothing"
    if unsteady:
        figure += "; of %d methods %d have a truth that itself differs by more between turns" % (len(rows), unsteady)
    return bar(name, figure, want, errors and errors[-1] <= limit)


def order(rows, way):
    """The mix by what its methods take in all, the hottest first."""
    calls = dict(("mix%d" % (i + 1), c) for i, c in enumerate(MIX_CALLS))
    mix = [r for r in rows if r["method"] in calls and r[way] is not None]
    return [r["method"] for r in sorted(mix, key=lambda r: -calls[r["method"]] * r[way])]


def bars_of(rows, major):
    shapes = [r for r in rows if r["method"] in ("nest10", "fanTop", "fibRoot", "mixAll")]
    single = [r for r in rows if r["method"][-1].isdigit() and not r["method"].startswith("nest")]
    turns = [holds(t) for r in rows for t in r["turns"]]
    truth = order(rows, "truth")
    print("\nhottest first: truth    %s\n               in place %s\n               raw      %s" %
          tuple(" ".join(order(rows, w)) for w in ("truth", "told", "raw")))
    return [
        within("total-" + major, shapes, 0.02, "totals of nested, fanned out, recursive and mixed calls within 2 %"),
        within("1us-" + major, [r for r in single if r["truth"] >= 1000], 0.01, "at most 1 % for calls from 1 us on"),
        within("100ns-" + major, [r for r in single if 100 <= r["truth"] < 1000], 0.03,
               "at most 3 % for calls from 100 ns on"),
        bar("interval-" + major, "%.0f %% of %d methods in %d turns" % (100 * sum(turns) / len(turns), len(rows), TURNS),
            "the interval holds the truth in 95 %", sum(turns) >= 0.95 * len(turns)),
        bar("ranking-" + major, "in place %s, raw %s" % ("the same" if order(rows, "told") == truth else "another",
                                                        "the same" if order(rows, "raw") == truth else "another"),
            "the ten hottest methods are in the order of the truth", order(rows, "told") == truth),
    ]


def main():
    if sys.argv[1] == "generate":
        generate(*sys.argv[2:])
        return
    out, home, major, classes = sys.argv[1:5]
    steps, usual, truths, figures, raw = by_turns(out, home, classes)
    rows = rows_of(truths, figures, raw, jep520(home, classes, steps))
    show("JDK " + major, rows)
    show_kinds(rows)
    show_never(rows, at_speed(never_hooked(home, classes, steps), usual))
    bars = bars_of(rows, major)
    plot("%s/bench/accuracy-%s.svg" % (out, major), rows)
    json.dump({"bars": bars, "rows": rows}, open("%s/bench/accuracy-%s.json" % (out, major), "w"))


main()
