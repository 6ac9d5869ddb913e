#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""real.py OUT JDK_HOME MAJOR CLASSES: programs that nobody here wrote, with all their methods hooked.

Two JVMs of each do the same rounds, one without the agent.  They take turns within each 40 ms: one is stopped while the other
runs, so that both find the same machine, whatever others do on it.  The one with the agent is compared with the other before it
is hooked and when the hooks are out again: two JVMs do not compile the same program to the same code.  So the truth is what
the other one's rounds take in the very seconds of which `sonde report --bare` tells, times that ratio.  It is compared with what is
told: the share that rounds would take without hooks, of what they take with hooks in the windows of which that share is.  A program with
hooks in all its methods may still become faster for minutes, so rounds of another time are not the same.  What the rounds took
while the hooks were out is told beside it: if that is as far off, not the share is wrong, but the program was not as fast then as it
is without hooks at other times.

Both JVMs compile the program anew each time, to code that is a few percent faster or slower.  So one pair of them says how wrong a
single figure may be; what is always wrong shows in the median of several (RUNS)."""
import glob
import json
import os
import signal
import statistics
import sys
import threading
import time

from victim import Asked, Java, show_bar, sonde, steal

JARS = ["/usr/share/java/h2.jar", "/usr/share/java/jackson-core.jar"]
WORK = [("json", "com.fasterxml.jackson.**"), ("h2", "org.h2.**"), ("javac", "com.sun.tools.javac.**")]
ONLY = os.environ.get("PROGRAMS", "json h2 javac").split()
WARM = float(os.environ.get("REAL_WARM", "8"))
BURST = float(os.environ.get("REAL_BURST", "20"))
SLICES = 0.03, 0.01  # seconds in which the one with the agent runs, and the other one
SHARE = SLICES[0] / sum(SLICES)
SETTLE = 60  # seconds more than to warm up, at most
REST = 0.25  # of a processor, at most, for compilers that rest
PIECE = 0.3  # seconds
BARE = int(os.environ.get("REAL_BARE", "6"))
RUNS = int(os.environ.get("RUNS", "1"))  # pairs of JVMs for each program


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

    def settle(self, seconds):
        """Runs for so long at least, and until it does not become faster any more and compilers rest: with hooks in all its
        methods a program is compiled anew for a long time."""
        end, best, worse = time.time() + seconds, None, 0
        while worse < 3 and time.time() < end + SETTLE or time.time() < end:
            compiled = self.compilers()
            ns = self.run(2)
            is_slower = best and ns > 0.97 * best
            worse = worse + 1 if is_slower and self.compilers() - compiled < 2 * REST else 0
            best = min(ns, best or ns)

    def threads(self):
        """(seconds it has run, number, name) of each."""
        for task in glob.glob("/proc/%d/task/*" % self.java.pid):
            try:
                with open(task + "/comm") as name, open(task + "/schedstat") as had:
                    yield int(had.read().split()[0]) / 1e9, int(os.path.basename(task)), name.read()
            except OSError:
                pass  # it has ended

    def compilers(self):
        """Seconds that the JVM's compilers have run."""
        return sum(seconds for seconds, _, name in self.threads() if is_compiler(name))

    def stay(self):
        """Its rounds are done on one processor from now on, the same for all programs: others use each one differently."""
        os.sched_setaffinity(max(t for t in self.threads() if not is_compiler(t[2]))[1], {min(os.sched_getaffinity(0))})


def is_compiler(name):
    return name.startswith(("C1 ", "C2 "))


class ByTurns:
    """While it lasts, one of the two programs is stopped at any time."""

    def __init__(self, own, plain):
        self.pids, self.over = [p.java.pid for p in (own, plain)], False
        self.thread = threading.Thread(target=self.alternate)

    def alternate(self):
        while not self.over:
            for runs, seconds in zip(self.pids, SLICES):
                for pid in self.pids:
                    os.kill(pid, signal.SIGCONT if pid == runs else signal.SIGSTOP)
                time.sleep(seconds)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over = True
        self.thread.join()
        for pid in self.pids:
            os.kill(pid, signal.SIGCONT)


class Runs:
    """A program that does rounds without a pause, while this lasts, and says every PIECE how many: [(when, rounds, ns)]."""

    def __init__(self, program):
        self.program, self.pieces, self.over = program, [], False
        self.thread = threading.Thread(target=self.take)

    def take(self):
        one = "run %d" % (1000 * PIECE)
        self.program.say(one)
        while not self.over:
            self.program.say(one)  # so it need not wait for the next one
            self.take_one()
        self.take_one()

    def take_one(self):
        n, ns = map(int, self.program.line("ran").split()[1:3])
        self.pieces.append((time.time(), n, ns))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.thread.join()

    def round(self, spans):
        """ns a round in these times [(from, to)]; of a piece that is partly in them as much counts."""
        rounds = ns = 0
        for (begin, _, _), (end, n, took) in zip(self.pieces, self.pieces[1:]):
            part = sum(max(0, min(end, last) - max(begin, first)) for first, last in spans) / max(end - begin, 1e-6)
            rounds, ns = rounds + part * n, ns + part * took
        if not rounds:
            raise SystemExit("no round in the windows that are told")
        return ns / rounds


def ask_now_and_then(out, own, until):
    """Both when hooks are in and when not, since to be asked costs the program something."""
    while not until():
        sonde(out, "hooks", str(own.java.pid))
        time.sleep(1)


def compare(out, own, plain):
    """A round of ours as a share of the other one's."""
    begin = time.time()
    with ByTurns(own, plain), Runs(own) as ours, Runs(plain) as others:
        ask_now_and_then(out, own, lambda: time.time() > begin + BURST)
        span = begin, time.time()
    return ours.round([span]) / others.round([span])


def report_bare(out, own, plain):
    """What is told, while the programs go on; and ns a round of ours with hooks, and of both without, as they time them in the same
    windows."""
    with ByTurns(own, plain), Runs(own) as ours, Runs(plain) as others:
        asked = Asked(out, "report", "--once", "--json", "--no-memory", "--raw", "--bare=%d" % BARE, str(own.java.pid))
        ask_now_and_then(out, own, asked.is_done)
    answer = json.loads(asked.answer())
    hooked, bare = ([(w["from_ms"] / 1e3, w["to_ms"] / 1e3) for w in answer["bare"]["windows"] if w["hooked"] == h] for h in (True, False))
    return answer, ours.round(hooked), ours.round(bare), others.round(bare)


def measure(out, home, classes, work, pattern):
    warm = WARM * (2 if work == "javac" else 1)  # there is more to compile
    begin, stolen = time.time(), steal()
    plain = Program(home, classes, work)
    own = Program(home, classes, work, "-agentpath:%s/libsonde.so=yes,memory=16m" % out)
    pid = str(own.java.pid)
    for p in plain, own:
        p.settle(warm)
        p.stay()
    like = [compare(out, own, plain)]  # unhooked: before and after
    sonde(out, "hook", "--yes", pid, "hook %s::* timed" % pattern)
    own.settle(warm)
    answer, wall, out_ns, others = report_bare(out, own, plain)
    sonde(out, "unhook", "--now", pid, "all")
    own.settle(warm)
    like.append(compare(out, own, plain))
    plain.end()
    own.end()
    bare = answer["bare"]
    speed, margin = bare["speed"] or 1, bare["margin"] or 1
    seconds = time.time() - begin
    row = {"truth": others * statistics.mean(like), "wall": wall, "out": out_ns, "told": wall * speed,
           "low": wall * max(0, speed - margin), "high": wall * (speed + margin)}
    row = {k: v * SHARE for k, v in row.items()}  # it runs for that share of the time
    return dict(row, work=work, methods=answer["agent"]["methods"], apart=like[1] / like[0] - 1, other=others * (1 - SHARE), bare=bare,
                seconds=seconds, steal=(steal() - stolen) / seconds)


def error(row):
    return row["told"] / row["truth"] - 1


def show(r):
    print("%-7s %8d %9.3f %7.1f%% %9.3f %9.3f %9.3f %7.1f%%  [%.3f, %.3f]%s %9.3f %7.0f %6.1f%%" %
          (r["work"], r["methods"], r["truth"] / 1e6, 100 * r["apart"], r["other"] / 1e6, r["out"] / 1e6, r["told"] / 1e6,
           100 * error(r), r["low"] / 1e6, r["high"] / 1e6, " " if r["low"] <= r["truth"] <= r["high"] else "!",
           r["wall"] / 1e6, r["seconds"], 100 * r["steal"]), flush=True)


def judge(major, rows):
    """Of all pairs of JVMs of one program."""
    errors, apart = [error(r) for r in rows], statistics.median(abs(r["apart"]) for r in rows)
    off = statistics.median(errors)
    figure = "%.1f %%; the same JVM, unhooked before and after, differs by %.1f %%" % (100 * off, 100 * apart)
    if len(rows) > 1:
        figure = "median of %d pairs (%s) " % (len(rows), ", ".join("%.1f" % (100 * e) for e in errors)) + figure
    elif apart > 0.02:
        figure += ", so this bar cannot be shown to be met here"
    return show_bar("%s-%s" % (rows[0]["work"], major), figure, "the total within 2 %", abs(off) <= 0.02)


def main():
    out, home, major, classes = sys.argv[1:5]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # and leave no program stopped
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
        for _ in range(RUNS):
            rows.append(measure(out, home, classes, work, pattern))
            show(rows[-1])
        bars.append(judge(major, rows[-RUNS:]))
    json.dump({"bars": bars, "rows": rows}, open("%s/bench/accuracy-real-%s.json" % (out, major), "w"))


main()
