#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""real.py OUT JDK_HOME MAJOR CLASSES: programs that nobody here wrote, with all their methods hooked.

Two JVMs of each do the same rounds by turns, one without the agent, one hooked.  What `sonde report --bare` says the
second one's rounds would take without hooks is compared with what the first one's took, and with what its own took
while the hooks were out: two JVMs do not compile the same program to the same code."""
import json
import os
import statistics
import subprocess
import sys

JARS = ["/usr/share/java/h2.jar", "/usr/share/java/jackson-core.jar"]
WORK = [("json", "com.fasterxml.jackson.**"), ("h2", "org.h2.**"), ("javac", "com.sun.tools.javac.**")]
ONLY = os.environ.get("PROGRAMS", "json h2 javac").split()
WARM = float(os.environ.get("REAL_WARM", "12"))
BURST = float(os.environ.get("REAL_BURST", "3"))
BARE = int(os.environ.get("REAL_BARE", "8"))


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

    def ask(self, text):
        """ns a round"""
        self.java.stdin.write(text + "\n")
        self.java.stdin.flush()
        words = self.line("ran").split()
        return int(words[2]) / int(words[1])

    def run(self, seconds):
        return self.ask("run %d" % (1000 * seconds))

    def rounds(self, n):
        return self.ask("rounds %d" % n)

    def end(self):
        self.java.stdin.close()
        self.java.wait()


def sonde(out, *words):
    done = subprocess.run([out + "/sonde", *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit("sonde %s: %s" % (words[0], done.stderr))
    return done.stdout


def by_turns(plain, hooked, n):
    """ns a round of both, in bursts of as many rounds."""
    pairs = [(plain.rounds(n), hooked.rounds(n)) for _ in range(3)]
    return [statistics.median(v) for v in zip(*pairs)]


def measure(out, home, classes, work, pattern):
    plain = Program(home, classes, work)
    hooked = Program(home, classes, work, "-agentpath:%s/libsonde.so=yes,memory=64m" % out)
    pid = str(hooked.java.pid)
    plain.run(WARM)
    hooked.run(WARM / 2)
    sonde(out, "hook", "--yes", pid, "hook %s::* timed" % pattern)
    hooked.run(WARM)
    n = max(1, round(BURST * 1e9 / hooked.run(1) / 3))
    before = by_turns(plain, hooked, n)
    report = subprocess.Popen([out + "/sonde", "report", "--once", "--json", "--no-memory", "--raw", "--bare=%d" % BARE, pid],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seen = []
    while report.poll() is None:
        seen.append(hooked.run(0.5))
    text, error = report.communicate()
    if report.returncode:
        raise SystemExit("sonde report: " + error)
    answer = json.loads(text)
    after = by_turns(plain, hooked, n)
    plain.end()
    hooked.end()
    truth, wall = [(a + b) / 2 for a, b in zip(before, after)]
    bare = answer["bare"]
    own = statistics.median(sorted(seen)[:BARE])  # of the time without hooks, that is when rounds are shortest
    speed, margin = bare["speed"] or 1, bare["margin"] or 1
    return {"work": work, "methods": answer["agent"]["methods"], "truth": truth, "own": own, "wall": wall, "told": wall * speed,
            "low": wall * (speed - margin), "high": wall * (speed + margin), "bare": bare}


def main():
    out, home, major, classes = sys.argv[1:5]
    bars, rows = [], []
    print("\nJDK %s, all methods hooked: ms a round; own: of the hooked JVM while its hooks were out\n%-7s %8s %9s %9s %9s %8s %8s  %-20s %s"
          % (major, "program", "methods", "unhooked", "own", "told", "error", "of own", "interval", "with hooks"), flush=True)
    for work, pattern in WORK:
        if work not in ONLY:
            continue
        if work != "javac" and not all(map(os.path.exists, JARS)):
            print("%s: %s are missing: run tools/setup corpus" % (work, ", ".join(JARS)))
            continue
        r = measure(out, home, classes, work, pattern)
        rows.append(r)
        print("%-7s %8d %9.3f %9.3f %9.3f %7.1f%% %7.1f%%  [%.3f, %.3f]%s %9.3f" %
              (work, r["methods"], r["truth"] / 1e6, r["own"] / 1e6, r["told"] / 1e6, 100 * (r["told"] / r["truth"] - 1),
               100 * (r["told"] / r["own"] - 1), r["low"] / 1e6, r["high"] / 1e6,
               " " if r["low"] <= r["truth"] <= r["high"] else "!", r["wall"] / 1e6), flush=True)
    for r in rows:
        error = abs(r["told"] / r["truth"] - 1)
        bars.append({"name": "%s-%s" % (r["work"], major), "figure": "%.1f %%" % (100 * error),
                     "bar": "the total within 2 %", "met": error <= 0.02})
        print("accuracy/%s: %s (bar: %s) %s" % (bars[-1]["name"], bars[-1]["figure"], bars[-1]["bar"],
                                               "met" if bars[-1]["met"] else "short"))
    json.dump({"bars": bars, "rows": rows}, open("%s/bench/accuracy-real-%s.json" % (out, major), "w"))


main()
