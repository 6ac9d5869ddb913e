# SPDX-License-Identifier: Apache-2.0
"""Command lines of sonde, drawn at random: every verb that takes a running program (but for heap dumps and calibrations,
which take too long), with rules and options that are valid.  So status 2 ("wrong usage") is never the right answer."""
import os

CLASSES = [
    "crowd.Jobs$Calls", "crowd.Jobs$Throws", "crowd.Jobs$Locks", "crowd.Jobs$Pools", "crowd.Jobs$Garbage",
    "crowd.Jobs$Deep", "crowd.Jobs$Loads", "crowd.Jobs$Threads", "crowd.Jobs$Queue", "crowd.Jobs$Ways",
    "crowd.Jobs$Sockets", "crowd.Plug", "crowd.Victim$Worker",
]
METHODS = [
    "crowd.Jobs$Calls::fib", "crowd.Jobs$Throws::outer", "crowd.Jobs$Throws::inner", "crowd.Jobs$Locks::guarded",
    "crowd.Jobs$Locks::locked", "crowd.Jobs$Pools::task", "crowd.Jobs$Garbage::key", "crowd.Jobs$Garbage::filled",
    "crowd.Jobs$Deep::down", "crowd.Jobs$Deep::endless", "crowd.Jobs$Loads::run", "crowd.Jobs$Threads::brief",
    "crowd.Jobs$Queue::put", "crowd.Jobs$Queue::take", "crowd.Jobs$Ways::twice", "crowd.Jobs$Sockets::answer",
    "crowd.Plug::add", "crowd.Plug::check", "crowd.Plug::run", "crowd.Victim$Worker::once",
]
# of the JDK: called by everybody, also by what runs in the middle of class loading
LIBRARY = [
    "java.util.HashMap::*", "java.util.ArrayDeque::*", "java.util.concurrent.locks.**::*", "java.util.zip.CRC32::*",
    "java.util.concurrent.FutureTask::run", "java.util.concurrent.ThreadPoolExecutor::*",
    "java.util.concurrent.CompletableFuture::*", "java.lang.ClassLoader::*", "java.net.Socket::*",
    "java.nio.file.Files::*", "java.util.Formatter::*", "java.util.stream.**::*",
]
KINDS = [
    "implements crowd.Job::run", "implements java.lang.Runnable::run", "extends crowd.Jobs$Ways$Square::area",
    "implements java.util.concurrent.Callable::call", "extends java.lang.ClassLoader::*",
]
WEB = [
    "implements jakarta.servlet.Servlet::service", "org.apache.catalina.core.**::*", "org.apache.coyote.http11.**::*",
    "extends jakarta.servlet.jsp.tagext.SimpleTagSupport::doTag", "org.apache.jasper.**::* only public",
]
CONDITIONS = [
    ("crowd.Jobs$Calls::fib", "$1 > 3"), ("crowd.Jobs$Throws::outer", "$1 == 7 and $return > 5"),
    ("crowd.Jobs$Throws::inner", "$this.finals < 10"), ("crowd.Jobs$Garbage::filled", '$1 startsWith "k000"'),
    ("crowd.Jobs$Garbage::key", '$return endsWith "7"'), ("crowd.Plug::add", "$1 in (1, 2, 3)"),
    ("crowd.Jobs$Pools::task", "$1 > $2"), ("crowd.Jobs$Queue::put", "$this.queue.size() > 1"),
    ("crowd.Victim$Worker::once", '$this.getName!() contains "o"'),
]


def level(r):
    return r.choice(["light", "light", "timed", "timed", "timed 1/10", "timed 1/1", "full", "full 1/20"])


def ending(r):
    return r.choice(["", "", "", " metered", " for %ds" % r.randint(1, 4), " calls %d" % r.choice([10, 1000]),
                     " slow 1ms good 1s"])


def target(r):
    return r.choice([r.choice(METHODS)] * 4 + [r.choice(CLASSES) + "::*"] * 3 +
                    [r.choice(LIBRARY), r.choice(KINDS), "crowd.**::*"])


def rule(r):
    """One rule, or two that belong together."""
    kind = r.randrange(12)
    if kind < 6:
        return ["hook %s %s%s" % (target(r), level(r), ending(r))]
    if kind < 8:
        way = r.choice(["inside", "directly inside"])
        outer = r.choice(["crowd.Victim$Worker::once", "crowd.Jobs$*::run", "implements crowd.Job::run"])
        return ["hook %s %s %s %s%s%s" % (r.choice(METHODS), way, outer, level(r), r.choice(["", " across threads"]),
                                          ending(r))]
    if kind < 10:
        method, condition = r.choice(CONDITIONS)
        return ["hook %s if %s %s" % (method, condition, level(r))]
    if kind == 10:
        return ["capture worker = $this.getName!() at crowd.Victim$Worker::once",
                'hook %s if $worker contains "s" timed' % r.choice(METHODS)]
    return ["hook %s timed" % target(r), "skip %s" % r.choice(METHODS)]


def rules(r):
    return [one for _ in range(r.choice([1, 1, 2, 4])) for one in rule(r)]


def seconds(r, most):
    return "%.1fs" % r.uniform(0.5, most) if r.random() < 0.3 else "%ds" % r.randint(1, most)


def some(r, *options):
    return [o for o in options if r.random() < 0.3]


class Verbs:
    """draw() gives one command line, without the program's name.  Files go below place; turns are at most span
    seconds long."""

    def __init__(self, pid, place, span, web=False):
        self.pid, self.place, self.span, self.files = str(pid), place, span, 0
        if web and WEB[0] not in KINDS:
            KINDS.extend(WEB)
        weights = {
            self.hook: 14, self.unhook: 8, self.hooks: 5, self.report: 8, self.in_place: 4, self.tree: 5, self.dig: 4,
            self.observe: 6, self.callees: 3, self.watch: 7, self.trace: 6, self.data: 2, self.explain: 3,
            self.attach: 8, self.detach: 8, self.doctor: 1, self.ps: 1, self.hot: 6, self.flame: 2, self.top: 2,
            self.record: 2, self.perfmap: 2, self.walk: 3, self.threads: 3, self.value: 3, self.heap: 2, self.source: 2,
            self.find: 3, self.memory: 1,
        }
        self.verbs, self.weights = list(weights), list(weights.values())

    def draw(self, r):
        return r.choices(self.verbs, self.weights)[0](r)

    def file(self, ending, text=None):
        self.files += 1
        path = os.path.join(self.place, "%d%s" % (self.files, ending))
        if text is not None:
            with open(path, "w") as f:
                f.write(text)
        return path

    def hook(self, r):
        words = ["hook", "--yes"] + some(r, "--json", "--hold") + some(r, "--dry-run")[:r.randrange(2)]
        if r.random() < 0.3:
            words += ["--rules", self.file(".rules", "\n".join(rules(r)) + "\n")]
        return words + [self.pid] + rules(r)

    def unhook(self, r):
        which = r.choice(["all", "all", "#%d" % r.randint(1, 30), r.choice(METHODS), r.choice(CLASSES) + "::*"])
        return ["unhook"] + some(r, "--now", "--json") + [self.pid, which]

    def hooks(self, r):
        return ["hooks"] + some(r, "--json") + [self.pid]

    def report(self, r):
        how = r.choice([["--once"], ["--once", "--raw"], ["--live=1"], ["--types=%d" % r.randint(1, 3)], ["--json"],
                        ["--json", "--live=0.2"], ["--reset"], ["--top", "5", "--sort", "self"]])
        return ["report"] + how + some(r, "--all", "--wide", "--no-memory") + [self.pid]

    def in_place(self, r):
        how = r.choice(["--in-place=%d" % r.randint(1, self.span), "--bare=%d" % r.randint(1, max(1, self.span // 3))])
        return ["report", how] + some(r, "--json", "--no-memory") + [self.pid]

    def tree(self, r):
        how = r.choice([[], ["--live=1"], ["--min", "0", "--depth", "6"], ["--raw"]])
        return ["tree"] + how + some(r, "--json", "--wide") + [self.pid]

    def dig(self, r):
        words = ["dig", "--for", seconds(r, self.span)] + some(r, "--json", "--quiet", "--no-memory")
        words += r.choice([[], ["--slow", "1ms"], ["--save", self.file(".rules")]])
        return words + [self.pid] + r.choice([[], [], [r.choice(METHODS)]])

    def observe(self, r):
        words = ["observe", "--for", seconds(r, self.span)] + some(r, "--json", "--apply")
        words += r.choice([[], ["-o", self.file(".rules")], ["--most", "5"]])
        return words + [self.pid]

    def callees(self, r):
        words = ["callees"] + some(r, "--json") + r.choice([[], ["--opcodes", "static,dynamic"]])
        return words + [self.pid, r.choice(METHODS + [r.choice(CLASSES) + "::*"])]

    def watch(self, r):
        words = ["watch", "--yes", "-n", str(r.choice([0, 1, 10, 500])), "--for", seconds(r, self.span)]
        words += some(r, "--json", "--no-redact") + r.choice([[], ["-x", "4"], ["--slower", "1ms"], ["--only", "args"]])
        return words + [self.pid, target(r)]

    def trace(self, r):
        words = ["trace", "--yes", "-n", str(r.choice([0, 1, 10, 200])), "--for", seconds(r, self.span)]
        words += some(r, "--json") + r.choice([[], ["--at-least", "1ms"], ["--sample", "10"]])
        words += r.choice([[], ["--hook", "crowd.**::*"], ["--hook", target(r) + " timed"]])
        words += r.choice([[], [], ["-o", self.file(".html")]])
        return words + [self.pid] + r.choice([[], ["crowd.Victim$Worker::once"], ["implements crowd.Job::run"]])

    def mode(self, r):
        """Which samples."""
        return r.choice([[], [], ["--wall"], ["--wall", "--all"], ["--alloc"], ["--alloc", "--live"], ["--lock"]])

    def hot(self, r):
        words = ["hot", "--for", seconds(r, self.span)] + self.mode(r) + some(r, "--json", "--threads", "--no-lines")
        words += r.choice([[], [], ["--rate", "5000"], ["-o", self.file(r.choice([".collapsed", ".pprof"]))]])
        return words + [self.pid]

    def flame(self, r):
        return ["flame", "--for", seconds(r, self.span), "-o", self.file(".html")] + self.mode(r) + [self.pid]

    def top(self, r):
        return ["top", "-n", str(r.randint(1, 3)), "--every", "0.5s"] + some(r, "--threads") + [self.pid]

    def record(self, r):
        words = ["record", "--for", seconds(r, self.span), "--every", "1s", "-o", self.file(".history")]
        return words + some(r, "--wall", "--threads") + [self.pid]

    def perfmap(self, r):
        return ["perfmap", "-o", self.file(".map"), self.pid]

    def walk(self, r):
        words = ["walk", "--for", "%ds" % r.randint(2, max(2, self.span)), "--look", "1s", "--each", "0.5s"]
        return words + some(r, "--json", "--to-root", "--down", "--quiet") + [self.pid]

    def threads(self, r):
        words = ["threads", "--for", "0.2s"] + some(r, "--json") + r.choice([[], ["--top", "0", "--stacks", "0"]])
        return words + [self.pid] + r.choice([[], [], ["main"]])

    def value(self, r):
        what = r.choice([r.choice(CLASSES), "crowd.Jobs$Pools.POOL", "crowd.Jobs$Locks.SECOND", "java.lang.Boolean.TRUE"])
        return ["value"] + some(r, "--json", "--no-redact") + r.choice([[], ["-x", "5"]]) + [self.pid, what]

    def heap(self, r):
        return ["heap", "--wait", "60s"] + some(r, "--json", "--live") + [self.pid]

    def source(self, r):
        return ["source"] + some(r, "--json") + [self.pid, r.choice(CLASSES + METHODS)]

    def find(self, r):
        return ["find"] + some(r, "--json") + [self.pid, r.choice(["**", "crowd.**::*", "java.util.**", "Plug::*"])]

    def memory(self, r):
        return ["memory"] + some(r, "--json")

    def data(self, r):
        return ["data"] + some(r, "--json") + [self.pid]

    def explain(self, r):
        return ["explain"] + some(r, "--json") + [self.pid, r.choice(METHODS + [r.choice(CLASSES) + "::*"])]

    def attach(self, r):
        words = ["attach", "--yes", "--wait", "30"]
        for one in r.choice([[], [], rules(r)]):
            words += ["--hook", one]
        return words + [self.pid]

    def detach(self, r):
        return ["detach"] + some(r, "-v", "--json") + [self.pid]

    def doctor(self, r):
        return ["doctor", self.pid]

    def ps(self, r):
        return ["ps"] + some(r, "--json")
