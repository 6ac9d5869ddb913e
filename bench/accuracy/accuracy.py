#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accuracy.py OUT JDK_HOME MAJOR [generate DIR]: how right are the figures of hooked methods?

The truth is the same method unhooked, in the same process, in windows that take turns with hooked ones.  What
else runs on the machine only adds, so of the windows of each the lower quartile counts."""
import json
import math
import os
import subprocess
import sys

KINDS = {"shift": 2.1, "wide": 2.2, "chase": 4.3, "divide": 5.6, "branch": 2.5}  # ns a step, about
LENGTHS = [5, 20, 100, 300, 1000, 10000, 100000, 1000000]
SHAPES = ["nest%d" % i for i in range(1, 11)] + ["fanTop", "fanMiddle", "fanLeaf", "fibRoot"]
LOOPED = ["nest10", "fanTop", "fibRoot"]
WINDOWS = int(os.environ.get("WINDOWS", "9"))


def bodies():
    return [("%s%d" % (k, n), k, max(1, round(n / KINDS[k]))) for k in KINDS for n in LENGTHS]


def generate(source, target):
    text = open(source + "/Bodies.java").read()
    methods = "".join("    static long %s(long x) { return do%s(x, %d); }\n" % (n, k.capitalize(), c) for n, k, c in bodies())
    names = [b[0] for b in bodies()] + LOOPED
    loops = "".join(
        "        (x, n) -> { for (int i = 0; i < n; i++) x = %s(x); return x; },\n" % n for n in names
    )
    text = text.replace("//@BODIES\n", methods).replace("//@LOOPS\n", loops)
    for copy in ("Plain", "Timed", "Every"):
        open("%s/%s.java" % (target, copy), "w").write(text.replace("Bodies", copy))
    open(target + "/Main.java", "w").write(open(source + "/Main.java").read())


class Victim:
    def __init__(self, out, home, classes):
        self.sonde = out + "/sonde"
        rules = "hook bench.accuracy.Timed::* timed\nhook bench.accuracy.Every::* timed 1/1\nskip bench.accuracy.*::lambda*\nskip bench.accuracy.*::do*\n"
        open(classes + "/rules", "w").write(rules)
        self.java = subprocess.Popen(
            [home + "/bin/java", "-agentpath:%s/libsonde.so=rules=%s/rules" % (out, classes),
             "-XX:+UseSerialGC", "-Xmx256m", "-cp", classes, "bench.accuracy.Main"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.pid = str(self.java.pid)
        assert self.java.stdout.readline().startswith("ready")

    def tell(self, line):
        self.java.stdin.write(line + "\n")
        self.java.stdin.flush()
        return self.java.stdout.readline()

    def ask(self, *options):
        done = subprocess.run([self.sonde, "report", *options, self.pid], capture_output=True, text=True)
        return json.loads(done.stdout) if "--json" in options else None

    def run(self, loop, copy, n):
        return int(self.tell("run %d %d %d" % (loop, copy, n)).split()[1]) / n

    def end(self):
        self.java.stdin.close()
        self.java.wait()


def quartile(values):
    return sorted(values)[len(values) // 4]


def measure(v, loop, copy, name, methods):
    """[(method, truth, raw, compensated, low, high)] a call of the looped method."""
    plain = v.run(loop, 0, 20)
    n = int(min(20000, max(2, 3e6 / (plain + 100))))
    truths, told = [], {m: [] for m in methods}
    for _ in range(WINDOWS):
        truths.append(v.run(loop, 0, n))
        v.ask("--raw", "--reset", "--once")
        v.run(loop, copy, n)
        report = v.ask("--json")
        for m in report["methods"]:
            short = m["method"].split("(")[0].split(".")
            if short[-1] in told and short[-2] == ("Timed", "Every")[copy - 1] and m["timed"]:
                told[short[-1]].append(tuple((m[k] or 0) / n for k in
                                             ("raw_ns", "compensated_ns", "low_ns", "high_ns")))
    rows = []
    for m in methods:
        if told[m]:
            rows.append((m, quartile(truths) if m == name else None) +
                        tuple(quartile([t[i] for t in told[m]]) for i in range(4)))
    return rows


def show(title, rows, constant):
    print("\n%s: ns a call" % title)
    print("%-14s %11s %11s %11s  %-25s %8s %8s %9s" % ("method", "truth", "raw", "compensated", "interval", "error",
                                                      "raw", "constant"))
    for name, truth, raw, comp, low, high in rows:
        if truth is None:
            continue
        error = [100 * (x / truth - 1) if truth else 0 for x in (comp, raw, max(0, raw - constant))]
        print("%-14s %11.1f %11.1f %11.1f  [%10.1f, %10.1f] %s %7.1f%% %7.1f%% %8.1f%%" %
              (name, truth, raw, comp, low, high, " " if low <= truth <= high else "!", *error))


def plot(path, rows):
    """Error of raw and compensated totals over the length of a call."""
    points = []
    for _, truth, raw, comp, _, _ in rows:
        if truth and truth > 1:
            for value, colour in ((raw, "#c33"), (comp, "#27c")):
                x = 60 + 120 * math.log10(truth)
                y = 200 - 60 * max(-3, min(3, math.asinh(100 * (value / truth - 1)) / 2))
                points.append('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (x, y, colour))
    lines = ['<line x1="60" x2="800" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="55" y="%.1f" text-anchor="end">%+g %%</text>'
             % (y, y, y + 4, e) for e in (-100, -10, -1, 0, 1, 10, 100) for y in [200 - 60 * math.asinh(e) / 2]]
    ticks = ['<text x="%d" y="400" text-anchor="middle">%s</text>' % (60 + 120 * i, t)
             for i, t in enumerate(("1 ns", "10 ns", "100 ns", "1 us", "10 us", "100 us", "1 ms"))]
    open(path, "w").write('<svg xmlns="http://www.w3.org/2000/svg" width="820" height="420" font-family="sans-serif" '
                          'font-size="11"><rect width="820" height="420" fill="#fff"/><text x="60" y="14">error of the total over '
                          'the length of a call: red raw, blue compensated</text>%s</svg>\n' % "".join(lines + ticks + points))


def bar(name, figure, want, met):
    print("accuracy/%s: %s (bar: %s) %s" % (name, figure, want, "met" if met else "short"))
    return {"name": name, "figure": figure, "bar": want, "met": met}


def errors(rows, low, high):
    return sorted(abs(r[3] / r[1] - 1) for r in rows if r[1] and low <= r[1] < high)


def worst(rows, low, high):
    return max(errors(rows, low, high), default=math.nan)


def text(rows, low, high):
    all = errors(rows, low, high)
    return "%.1f %% at most, half within %.1f %%" % (100 * all[-1], 100 * all[len(all) // 2]) if all else "nothing"


def main():
    if "generate" in sys.argv:
        generate(*[a for a in sys.argv[1:] if a != "generate"])
        return
    out, home, major, classes = sys.argv[1:5]
    names = [b[0] for b in bodies()] + LOOPED
    v = Victim(out, home, classes)
    for _ in range(8):
        v.tell("warm 1000")
        if '"fast":true' in json.dumps(v.ask("--raw", "--json"), separators=(",", ":")):
            break
    v.tell("warm 4000")
    timed, shapes = [], []
    for loop, name in enumerate(names):
        if name in LOOPED:
            for copy in (1, 2):
                rows = measure(v, loop, copy, name, [s for s in SHAPES if s[:3] == name[:3]])
                shapes += [(("timed ", "1/1 ")[copy - 1] + r[0],) + r[1:] for r in rows]
        else:
            timed += measure(v, loop, 1, name, [name])
    v.end()
    constant = min((r[2] - r[1] for r in timed if r[1] < 30), default=0)
    show("JDK %s, hooked timed" % major, timed, constant)
    show("JDK %s, nested, fanned out 10 x 10, recursive; every method hooked" % major, shapes, constant)
    print()
    held = [r[4] <= r[1] <= r[5] for r in timed + shapes if r[1]]
    roots = [r for r in shapes if r[1]]
    total = sum(r[3] for r in roots) / sum(r[1] for r in roots) - 1
    bars = [
        bar("total-%s" % major, "%.1f %%" % (100 * max(abs(r[3] / r[1] - 1) for r in roots)),
            "totals of nested, fanned out and recursive calls within 2 %", all(abs(r[3] / r[1] - 1) <= 0.02 for r in roots)),
        bar("1us-%s" % major, text(timed, 1000, 1e12), "at most 1 % for calls from 1 us on",
            worst(timed, 1000, 1e12) <= 0.01),
        bar("100ns-%s" % major, text(timed, 100, 1000), "at most 3 % for calls from 100 ns on",
            worst(timed, 100, 1000) <= 0.03),
        bar("interval-%s" % major, "%.0f %%" % (100 * sum(held) / len(held)), "the interval holds the truth in 95 %",
            sum(held) >= 0.95 * len(held)),
    ]
    plot("%s/bench/accuracy-%s.svg" % (out, major), timed)
    json.dump({"bars": bars, "timed": timed, "shapes": shapes, "total": total},
              open("%s/bench/accuracy-%s.json" % (out, major), "w"))


main()
