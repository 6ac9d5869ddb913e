#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accuracy.py generate SOURCE TARGET | OUT JDK_HOME MAJOR CLASSES: how right are the figures of hooked methods?

The truth is the same method unhooked, in the same process, in slices that take turns with hooked ones.  Three
runs of the program: measured in place; with every call timed, for raw figures and for the way of VisualVM (one
constant a call, which an empty method shows); and by JFR's method timing (JEP 520), where there is one."""
import json
import math
import os
import re
import subprocess
import sys

KINDS = ["hash", "sums", "walk", "root", "branch"]
LENGTHS = [5, 20, 100, 300, 1000, 10000, 100000, 1000000]
NEST_NS = 80
MIX_CALLS = [1, 2, 3, 5, 8, 12, 18, 27, 40, 60]
SECONDS = float(os.environ.get("SECONDS_IN_PLACE", "60"))
PROBING = 200  # steps of each body when it is found out how long a step takes
BELOW = dict({"nest%d" % i: i - 1 for i in range(1, 11)}, fanTop=110, fanMiddle=10, fibRoot=465)


def bodies():
    """[(method, kind, ns)], in the order of Main.STEPS from 1 on."""
    mix = [("mix%d" % (i + 1), KINDS[i % 5], 3000 * 0.8**i / c) for i, c in enumerate(MIX_CALLS)]
    return [("%s%d" % (k, n), k, n) for k in KINDS for n in LENGTHS] + mix


LOOPED = [b[0] for b in bodies()] + ["empty", "nest10", "fanTop", "fibRoot", "mixAll"]


def generate(source, target):
    text = open(source + "/Bodies.java").read()
    line = "    static long %s(long x) { return do%s(x, Main.STEPS[%d]); }\n"
    methods = [line % (n, k.capitalize(), i + 1) for i, (n, k, _) in enumerate(bodies())]
    methods.append("    static long empty(long x) { return x + 1; }\n")
    mix = "    static long mixAll(long x) {\n%s        return x;\n    }\n" % "".join(
        "        for (int i = 0; i < %d; i++) x = mix%d(x);\n" % (c, i + 1) for i, c in enumerate(MIX_CALLS))
    loops = "".join("        (x, n) -> { for (int i = 0; i < n; i++) x = %s(x); return x; },\n" % n for n in LOOPED)
    text = text.replace("//@BODIES\n", "".join(methods)).replace("//@MIX\n", mix).replace("//@LOOPS\n", loops)
    for copy in ("Plain", "Timed"):
        open("%s/%s.java" % (target, copy), "w").write(text.replace("Bodies", copy))
    open(target + "/Main.java", "w").write(open(source + "/Main.java").read())


class Victim:
    def __init__(self, home, classes, *options):
        self.java = subprocess.Popen([home + "/bin/java", *options, "-XX:+UseSerialGC", "-Xmx256m", "-cp", classes,
                                      "bench.accuracy.Main"],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                     bufsize=1)
        line = self.java.stdout.readline()
        while not line.startswith("ready"):
            line = self.java.stdout.readline()

    def run(self, seconds, steps):
        """({method: plain ns}, {method: hooked ns}) a call."""
        self.java.stdin.write("run %d %s\n" % (1000 * seconds, " ".join(map(str, steps))))
        self.java.stdin.flush()
        line = self.java.stdout.readline()
        while not line.startswith("ran"):
            line = self.java.stdout.readline()
        ns = [float(w) for w in line.split()[1:]]
        return dict(zip(LOOPED, ns[0::2])), dict(zip(LOOPED, ns[1::2]))

    def end(self):
        self.java.stdin.close()
        self.java.wait()


def agent(out, classes, level, *more):
    rules = "%s/rules-%s" % (classes, level.replace("/", "-").replace(" ", "-"))
    open(rules, "w").write("hook bench.accuracy.Timed::* %s\nskip bench.accuracy.*::lambda*\n"
                           "skip bench.accuracy.*::do*\n" % level)
    return "-agentpath:%s/libsonde.so=%s" % (out, ",".join(["rules=" + rules, *more]))


def report(out, pid, *options):
    done = subprocess.run([out + "/sonde", "report", *options, str(pid)], capture_output=True, text=True)
    return json.loads(done.stdout) if "--json" in options else None


def told(answer):
    """{method: figures}, ns a call."""
    found = {}
    for m in answer["methods"]:
        name = m["method"].split("(")[0].split(".")[-1]
        if m["timed"] and m["calls"]:
            found[name] = {k: (m[k] or 0) / m["calls"] for k in ("raw_ns", "compensated_ns", "low_ns", "high_ns")}
            found[name]["in_place"] = m["in_place"]
    return found


def find_steps(v, seconds):
    """How many steps the bodies need to be as long as they should."""
    plain, _ = v.run(seconds, [60] + [PROBING] * len(bodies()))
    per = {k: plain["%s%d" % (k, LENGTHS[0])] / PROBING for k in KINDS}
    return [max(1, round(NEST_NS / per["hash"]))] + [max(1, round(ns / per[k])) for _, k, ns in bodies()]


def in_place(out, home, classes):
    v = Victim(home, classes, agent(out, classes, "timed", "inplace"))
    steps = find_steps(v, min(6, SECONDS))
    v.run(min(6, SECONDS), steps)
    report(out, v.java.pid, "--raw", "--reset", "--once")
    truth, _ = v.run(SECONDS, steps)
    answer = report(out, v.java.pid, "--json")
    v.end()
    return steps, truth, told(answer)


def every_call(out, home, classes, steps):
    """Raw figures, and what VisualVM's way makes of them."""
    v = Victim(home, classes, agent(out, classes, "timed 1/1"))
    v.run(min(5, SECONDS), steps)
    report(out, v.java.pid, "--raw", "--reset", "--once")
    plain, hooked = v.run(SECONDS / 3, steps)
    rows = told(report(out, v.java.pid, "--json", "--raw"))
    v.end()
    own, pair = rows["empty"]["raw_ns"], hooked["empty"] - plain["empty"]
    return {name: (r["raw_ns"], max(0, r["raw_ns"] - own - BELOW.get(name, 0) * pair)) for name, r in rows.items()}


def jep520(home, classes, steps):
    if not os.path.exists(home + "/bin/jfr") or "MethodTiming" not in subprocess.run(
            [home + "/bin/jfr", "metadata", "--events", "jdk.MethodTiming"], capture_output=True, text=True).stdout:
        return {}
    file = classes + "/jep520.jfr"
    v = Victim(home, classes, "-Xlog:disable", "-XX:StartFlightRecording:method-timing=bench.accuracy.Timed,filename=" + file)
    v.run(min(5, SECONDS), steps)
    v.run(SECONDS / 4, steps)
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


def show(title, rows):
    print("\n%s: ns a call, and how far off the others are" % title)
    print("%-14s %11s %11s  %-25s  %9s %9s %9s %9s" % ("method", "truth", "in place", "interval", "in place", "raw",
                                                       "VisualVM", "JEP 520"))
    for r in rows:
        print("%-14s %11.1f %11.1f  [%10.1f, %10.1f]%s %s %s %s %s" %
              (r["method"], r["truth"], r["told"], r["low"], r["high"], " " if holds(r) else "!",
               percent(r["told"], r["truth"]), percent(r["raw"], r["truth"]), percent(r["constant"], r["truth"]),
               percent(r["jep520"], r["truth"])))


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
    figure = "%.1f %% at most, half within %.1f %%" % (100 * errors[-1], 100 * errors[len(errors) // 2]) if errors else "nothing"
    return bar(name, figure, want, errors and errors[-1] <= limit)


def order(rows, way):
    """The mix by what its methods take in all, the hottest first."""
    calls = dict(("mix%d" % (i + 1), c) for i, c in enumerate(MIX_CALLS))
    mix = [r for r in rows if r["method"] in calls and r[way] is not None]
    return [r["method"] for r in sorted(mix, key=lambda r: -calls[r["method"]] * r[way])]


def bars_of(rows, major):
    shapes = [r for r in rows if r["method"] in ("nest10", "fanTop", "fibRoot", "mixAll")]
    single = [r for r in rows if r["method"][-1].isdigit() and not r["method"].startswith("nest")]
    held = sum(map(holds, rows))
    truth = order(rows, "truth")
    print("\nhottest first: truth    %s\n               in place %s\n               raw      %s" %
          tuple(" ".join(order(rows, w)) for w in ("truth", "told", "raw")))
    return [
        within("total-" + major, shapes, 0.02, "totals of nested, fanned out, recursive and mixed calls within 2 %"),
        within("1us-" + major, [r for r in single if r["truth"] >= 1000], 0.01, "at most 1 % for calls from 1 us on"),
        within("100ns-" + major, [r for r in single if 100 <= r["truth"] < 1000], 0.03,
               "at most 3 % for calls from 100 ns on"),
        bar("interval-" + major, "%.0f %% of %d" % (100 * held / len(rows), len(rows)), "the interval holds the truth in 95 %",
            held >= 0.95 * len(rows)),
        bar("ranking-" + major, "in place %s, raw %s" % ("the same" if order(rows, "told") == truth else "another",
                                                        "the same" if order(rows, "raw") == truth else "another"),
            "the ten hottest methods are in the order of the truth", order(rows, "told") == truth),
    ]


def main():
    if sys.argv[1] == "generate":
        generate(*sys.argv[2:])
        return
    out, home, major, classes = sys.argv[1:5]
    steps, truth, found = in_place(out, home, classes)
    raw = every_call(out, home, classes, steps)
    jep = jep520(home, classes, steps)
    rows = []
    for name in LOOPED:
        f = found.get(name)
        if not f or name == "empty":
            continue
        if not f["in_place"]:
            print("%s was not measured in place" % name)
        rows.append({"method": name, "truth": truth[name], "told": f["compensated_ns"], "low": f["low_ns"],
                     "high": f["high_ns"], "in_place": f["in_place"], "raw": raw.get(name, (None, None))[0],
                     "constant": raw.get(name, (None, None))[1], "jep520": jep.get(name)})
    show("JDK " + major, rows)
    bars = bars_of(rows, major)
    plot("%s/bench/accuracy-%s.svg" % (out, major), rows)
    json.dump({"bars": bars, "rows": rows}, open("%s/bench/accuracy-%s.json" % (out, major), "w"))


main()
