#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""real.py OUT JDK_HOME MAJOR CLASSES: programs that nobody here wrote, with all their methods hooked.

Two JVMs of each do rounds of the same work by turns, one without the agent, one measured in place.  What the
second says its rounds would have taken without hooks is compared with what the first one's took."""
import json
import os
import subprocess
import sys

JARS = ["/usr/share/java/h2.jar", "/usr/share/java/jackson-core.jar"]
WORK = [("javac", "com.sun.tools.javac.**"), ("h2", "org.h2.**"), ("json", "com.fasterxml.jackson.**")]
WARM = float(os.environ.get("REAL_WARM", "6"))
BURST = float(os.environ.get("REAL_BURST", "5"))
TURNS = int(os.environ.get("REAL_TURNS", "3"))


class Program:
    def __init__(self, home, classes, work, *options):
        self.java = subprocess.Popen([home + "/bin/java", *options, "-XX:+UseSerialGC", "-Xmx512m", "-cp",
                                      ":".join([classes] + JARS), "bench.accuracy.Work", work, classes + "/../tree"],
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

    def run(self, seconds):
        """(rounds, ns)"""
        self.java.stdin.write("run %d\n" % (1000 * seconds))
        self.java.stdin.flush()
        words = self.line("ran").split()
        return int(words[1]), int(words[2])

    def end(self):
        self.java.stdin.close()
        self.java.wait()


def report(out, pid, *options):
    done = subprocess.run([out + "/sonde", "report", *options, str(pid)], capture_output=True, text=True)
    return json.loads(done.stdout) if "--json" in options and done.stdout else None


def measure(out, home, classes, work, pattern):
    rules = "%s/rules-%s" % (classes, work)
    open(rules, "w").write("hook %s::* timed\n" % pattern)
    plain = Program(home, classes, work)
    hooked = Program(home, classes, work, "-agentpath:%s/libsonde.so=yes,inplace,memory=64m,rules=%s" % (out, rules))
    plain.run(WARM)
    hooked.run(2 * WARM)
    truth, told, wall, low, high, methods = [], [], [], [], [], 0
    for _ in range(TURNS):
        n, ns = plain.run(BURST)
        truth.append(ns / n)
        report(out, hooked.java.pid, "--raw", "--reset", "--once")
        n, ns = hooked.run(BURST)
        answer = report(out, hooked.java.pid, "--json")
        p = answer["in_place"]
        methods = answer["agent"]["methods"]
        wall.append(ns / n)
        for to, key in ((told, "without_hooks_ns"), (low, "low_ns"), (high, "high_ns")):
            to.append(ns / n * (p[key] or 0) / p["elapsed_ns"])
    plain.end()
    hooked.end()
    middle = [sorted(v)[len(v) // 2] for v in (truth, told, low, high, wall)]
    return dict(zip(("truth", "told", "low", "high", "wall"), middle), methods=methods, work=work)


def main():
    out, home, major, classes = sys.argv[1:5]
    bars, rows = [], []
    print("\nJDK %s, all methods hooked: ms a round\n%-8s %8s %10s %10s %8s  %-20s %10s" %
          (major, "program", "methods", "unhooked", "told", "error", "interval", "with hooks"))
    for work, pattern in WORK:
        if work != "javac" and not all(map(os.path.exists, JARS)):
            print("%s: %s are missing: run tools/setup corpus" % (work, ", ".join(JARS)))
            continue
        r = measure(out, home, classes, work, pattern)
        rows.append(r)
        print("%-8s %8d %10.3f %10.3f %7.1f%%  [%.3f, %.3f]%s %10.3f" %
              (work, r["methods"], r["truth"] / 1e6, r["told"] / 1e6, 100 * (r["told"] / r["truth"] - 1), r["low"] / 1e6,
               r["high"] / 1e6, " " if r["low"] <= r["truth"] <= r["high"] else "!", r["wall"] / 1e6))
    for r in rows:
        error = abs(r["told"] / r["truth"] - 1)
        bars.append({"name": "%s-%s" % (r["work"], major), "figure": "%.1f %%" % (100 * error),
                     "bar": "the total within 2 %", "met": error <= 0.02})
        print("accuracy/%s: %s (bar: %s) %s" % (bars[-1]["name"], bars[-1]["figure"], bars[-1]["bar"],
                                               "met" if bars[-1]["met"] else "short"))
    json.dump({"bars": bars, "rows": rows}, open("%s/bench/accuracy-real-%s.json" % (out, major), "w"))


main()
