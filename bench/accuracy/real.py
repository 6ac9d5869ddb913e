#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""real.py OUT JDK_HOME MAJOR CLASSES: programs that nobody here wrote, with all their methods hooked.

Two JVMs of each do the same rounds by turns, one without the agent.  In the other one rounds are timed before it is hooked, while
it is, and when the hooks are out again; the first one's rounds say how fast the machine was each time.  So the truth is
what the second one itself takes when it is not hooked: two JVMs do not compile the same program to the same code.  It is
compared with what `sonde report --bare` says the rounds would take without hooks: the share that it tells, of the rounds with hooks in the
very windows of which that share is.  A program with hooks in all its methods may still become faster for minutes, so rounds of another
time are not the same.  What the rounds took while the hooks were out is told beside it: if that is as far off, not the share is
wrong, but the program was not as fast then as it is without hooks at other times."""
import json
import os
import statistics
import sys
import time

from victim import Asked, Java, show_bar, sonde, steal

JARS = ["/usr/share/java/h2.jar", "/usr/share/java/jackson-core.jar"]
WORK = [("json", "com.fasterxml.jackson.**"), ("h2", "org.h2.**"), ("javac", "com.sun.tools.javac.**")]
ONLY = os.environ.get("PROGRAMS", "json h2 javac").split()
WARM = float(os.environ.get("REAL_WARM", "8"))
BURST = float(os.environ.get("REAL_BURST", "3"))
SETTLE = 40  # seconds more than to warm up, at most
BARE = int(os.environ.get("REAL_BARE", "6"))


class Program(Java):
    def __init__(self, home, classes, work, *options):
        Java.__init__(self, home + "/bin/java", *options, "-XX:+UseSerialGC", "-Xmx512m", "-cp", ":".join([classes] + JARS),
                      "bench.accuracy.Work", work, classes + "/../tree")

    def ns(self, text):
        """ns a round"""
        n, ns = map(int, self.ask(text)[:2])
        return ns / n

    def run(self, seconds):
        return self.ns("run %d" % (1000 * seconds))

    def rounds(self, n):
        return self.ns("rounds %d" % n)

    def settle(self, seconds):
        """Runs for so long at least, and until it does not become faster any more: with hooks in all its methods a program is
        compiled anew for a long time."""
        end, best, worse = time.time() + seconds, None, 0
        while worse < 3 and time.time() < end + SETTLE or time.time() < end:
            ns = self.run(2)
            worse = worse + 1 if best and ns > 0.97 * best else 0
            best = min(ns, best or ns)


def by_turns(plain, own):
    """ns a round of both, in bursts that are as long."""
    counts = [max(1, round(BURST * 1e9 / p.run(1) / 3)) for p in (plain, own)]
    pairs = [(plain.rounds(counts[0]), own.rounds(counts[1])) for _ in range(3)]
    return [statistics.median(v) for v in zip(*pairs)]


def timed(out, own):
    """One piece: (are all hooks in as it begins, rounds, ns).  It is asked while the program runs, which does not wait."""
    own.say("run 500")
    are_in = "skip **" not in sonde(out, "hooks", str(own.java.pid))
    n, ns = map(int, own.line("ran").split()[1:3])
    return are_in, n, ns


def last(pieces, ns):
    """ns a round of the last pieces, for so long; None: there are none."""
    rounds = time = 0
    for _, n, took in reversed(pieces):
        if time < ns:
            rounds, time = rounds + n, time + took
    return time / rounds if rounds else None


def report_bare(out, own):
    """What is told, while the program goes on; and ns a round with hooks and without, as the program times them in the same windows:
    those are the last ones before the hooks go, or come, and at the end."""
    asked = Asked(out, "report", "--once", "--json", "--no-memory", "--raw", "--bare=%d" % BARE, str(own.java.pid))
    parts = [[], [], []]  # with hooks, without, with them again; in the last pieces of the first two hooks went or came
    at = 0
    while not asked.is_done():
        piece = timed(out, own)
        at += at < 2 and piece[0] == (at == 1)
        parts[at].append(piece)
    answer = json.loads(asked.answer())
    bare = answer["bare"]
    hooked = [ns for ns in (last(p, bare["hooked_ns"] / 2) for p in (parts[0][:-1], parts[2])) if ns]
    bare = last(parts[1][:-1], bare["bare_ns"])
    if not hooked or not bare:
        raise SystemExit("sonde report --bare ended too early")
    # As long a time before as after, in which calls are counted: so many rounds in all of it.
    return answer, statistics.harmonic_mean(hooked), bare, hooked


def measure(out, home, classes, work, pattern):
    warm = WARM * (2 if work == "javac" else 1)  # there is more to compile
    begin, stolen = time.time(), steal()
    plain = Program(home, classes, work)
    own = Program(home, classes, work, "-agentpath:%s/libsonde.so=yes,memory=16m" % out)
    pid = str(own.java.pid)
    plain.settle(warm)
    own.settle(warm)
    unhooked = [by_turns(plain, own)]
    sonde(out, "hook", "--yes", pid, "hook %s::* timed" % pattern)
    own.settle(warm)
    machine = [plain.run(BURST)]
    answer, wall, out_ns, parts = report_bare(out, own)
    machine.append(plain.run(BURST))
    sonde(out, "unhook", "--now", pid, "all")
    own.settle(warm)
    unhooked.append(by_turns(plain, own))
    plain.end()
    own.end()
    like = [o / p for p, o in unhooked]  # ours as a share of the other one's, unhooked: before and after
    machine = statistics.mean(machine)
    bare = answer["bare"]
    speed, margin = bare["speed"] or 1, bare["margin"] or 1
    seconds = time.time() - begin
    return {"work": work, "methods": answer["agent"]["methods"], "truth": machine * statistics.mean(like), "apart": like[1] / like[0] - 1,
            "other": machine, "wall": wall, "walls": parts, "out": out_ns, "told": wall * speed, "low": wall * max(0, speed - margin), "high": wall * (speed + margin),
            "bare": bare, "seconds": seconds, "steal": (steal() - stolen) / seconds}


def main():
    out, home, major, classes = sys.argv[1:5]
    bars, rows = [], []
    print("\nJDK %s, all methods hooked: ms a round; apart: the same JVM unhooked, after against before; other: a JVM without agent; out: "
          "while report had the hooks out\n%-7s %8s %9s %8s %9s %9s %9s %8s  %-20s %9s %7s %7s" % (
              major, "program", "methods", "unhooked", "apart", "other", "out", "told", "error", "interval", "hooked", "seconds", "stolen"),
          flush=True)
    for work, pattern in WORK:
        if work not in ONLY:
            continue
        if work != "javac" and not all(map(os.path.exists, JARS)):
            print("%s: %s are missing: run tools/setup corpus" % (work, ", ".join(JARS)))
            continue
        r = measure(out, home, classes, work, pattern)
        rows.append(r)
        print("%-7s %8d %9.3f %7.1f%% %9.3f %9.3f %9.3f %7.1f%%  [%.3f, %.3f]%s %9.3f %7.0f %6.1f%%" %
              (work, r["methods"], r["truth"] / 1e6, 100 * r["apart"], r["other"] / 1e6, r["out"] / 1e6, r["told"] / 1e6,
               100 * (r["told"] / r["truth"] - 1), r["low"] / 1e6, r["high"] / 1e6,
               " " if r["low"] <= r["truth"] <= r["high"] else "!", r["wall"] / 1e6, r["seconds"], 100 * r["steal"]), flush=True)
    for r in rows:
        error = abs(r["told"] / r["truth"] - 1)
        figure = "%.1f %%; the same JVM, unhooked before and after, differs by %.1f %%" % (100 * error, 100 * abs(r["apart"]))
        if abs(r["apart"]) > 0.02:
            figure += ", so this bar cannot be shown to be met here"
        bars.append(show_bar("%s-%s" % (r["work"], major), figure, "the total within 2 %", error <= 0.02))
    json.dump({"bars": bars, "rows": rows}, open("%s/bench/accuracy-real-%s.json" % (out, major), "w"))


main()
