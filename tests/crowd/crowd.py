# SPDX-License-Identifier: Apache-2.0
"""crowd.py NAME JDK CLASSES WORK [VM OPTION]...: one program, and a crowd around it for CROWD_SECONDS.

CROWD_CLIENTS command lines at a time, drawn by verbs.py, are run and for the most part ended by a signal in the middle,
or by a reader that is gone; meanwhile somebody puts the agent back in whenever it is out, collects garbage, asks for
stacks and histograms with jcmd, and stops threads with a debugger if the program listens to one (-agentlib:jdwp in the
VM OPTIONs).  What is drawn depends on SEED alone, not when it happens.

Prints "ok" or "not ok" for each thing that must hold.  What is needed to see why it does not is left in WORK: log (all
commands, with their times), hs_err, stacks, what the program and the commands said."""
import fcntl
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import verbs

NAME, HOME, CLASSES, WORK = sys.argv[1:5]
OPTIONS = sys.argv[5:]
SECONDS = float(os.environ.get("CROWD_SECONDS", "15"))
CLIENTS = int(os.environ.get("CROWD_CLIENTS", "5"))
SEED = os.environ["SEED"]
SONDE = os.path.join(os.environ["OUT"], "sonde")
SPAN = max(3, min(20, int(SECONDS / 5)))  # the longest that a command is asked to take
SLACK = 60  # more than that, on a busy machine, and it hangs
SIGNALS = [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE]

begin = time.time()
lock = threading.Lock()
failed, skipped = set(), set()
over = threading.Event()  # no new commands
log = open(os.path.join(WORK, "log"), "w", buffering=1)


def note(text):
    with lock:
        log.write("%7.2f %s\n" % (time.time() - begin, text))


def fail(what, why):
    """The first time for each thing that must hold; all of them are in the log."""
    note("FAILED %s: %s" % (what, why))
    with lock:
        if what not in failed:
            failed.add(what)
            print("not ok %s_%s: %s" % (what, NAME, why.replace("\n", " | ")), flush=True)


def tool(name, *words, bound=60):
    """A tool of the JDK; what it said, None when it did not end."""
    command = [os.path.join(HOME, "bin", name)] + [str(w) for w in words]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=bound, check=False)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout.decode(errors="replace")


# ---- the program ---------------------------------------------------------------------------------------------------


class Program:
    def __init__(self):
        self.said, self.pid = os.path.join(WORK, "said"), None
        command = [os.path.join(HOME, "bin", "java"), "-XX:ErrorFile=" + os.path.join(WORK, "hs_err"),
                   "-Xms192m", "-Xmx192m", "-XX:+AlwaysPreTouch", "-XX:NativeMemoryTracking=summary", *OPTIONS,
                   "-cp", CLASSES, "crowd.Victim"]
        with open(self.said, "wb") as out, open(self.said + ".err", "wb") as err:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=err, cwd=WORK)
        self.pid = self.process.pid
        self.socket = "/tmp/.sonde_pid%d" % self.pid

    def lives(self):
        return self.process.poll() is None

    def text(self):
        with open(self.said, errors="replace") as f:
            return f.read()

    def heard(self, word, bound=120):
        """Waits until the program has said a line that begins so; the last of these."""
        end = time.time() + bound
        while self.lives() and time.time() < end:
            lines = [s for s in self.text().splitlines(True) if s.startswith(word) and s.endswith("\n")]
            if lines:
                return lines[-1]
            time.sleep(0.05)
        return None

    def ask(self, line, answer=None):
        """Says a line to it; its answer, of which earlier ones do not count."""
        before = self.text().count("\n" + (answer or " "))
        try:
            self.process.stdin.write((line + "\n").encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        end = time.time() + 120
        while answer and self.lives() and time.time() < end and self.text().count("\n" + answer) == before:
            time.sleep(0.05)
        return self.heard(answer, 1) if answer and self.text().count("\n" + answer) > before else None

    def rounds(self):
        said = self.ask("rounds", "rounds ")
        return [int(one.split("=")[1]) for one in said.split()[1:]] if said else None

    def rss(self):
        """Resident memory in MiB."""
        try:
            with open("/proc/%d/status" % self.pid) as f:
                return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) / 1024
        except (OSError, AttributeError):
            return None

    def descriptors(self):
        """What it has open, by kind; the names of sockets and pipes have numbers."""
        kinds = {}
        for fd in os.listdir("/proc/%d/fd" % self.pid):
            try:
                to = os.readlink("/proc/%d/fd/%s" % (self.pid, fd))
            except OSError:
                continue
            kind = re.sub(r":\[\d+\]", "", to)
            kinds[kind] = kinds.get(kind, 0) + 1
        return kinds

    def agent_threads(self):
        names = []
        for task in os.listdir("/proc/%d/task" % self.pid):
            try:
                with open("/proc/%d/task/%s/comm" % (self.pid, task)) as f:
                    names.append(f.read().strip())
            except OSError:
                pass
        return [n for n in names if n.startswith("sonde")]


def stacks(pid, name):
    """All stacks of the program, and the native ones of a process, into files."""
    text = tool("jcmd", program.pid, "Thread.print", "-l", bound=20)
    with open(os.path.join(WORK, name + ".java"), "w") as f:
        f.write(text or "jcmd Thread.print does not answer either\n")
    if shutil.which("gdb"):
        for one in {program.pid, pid}:
            with open(os.path.join(WORK, "%s.native.%d" % (name, one)), "wb") as f:
                subprocess.run(["gdb", "-p", str(one), "-batch", "-ex", "thread apply all bt 30"], check=False,
                               timeout=60, stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.DEVNULL)


# ---- the crowd -----------------------------------------------------------------------------------------------------


class Tally:
    def __init__(self):
        self.counts, self.words = {}, {}

    def add(self, verb, end, said):
        with lock:
            self.counts[(verb, end)] = self.counts.get((verb, end), 0) + 1
            if end == "3":
                why = re.sub(r"\d+", "N", said.strip().splitlines()[-1] if said.strip() else "(nothing)")[:160]
                self.words[why] = self.words.get(why, 0) + 1


def fate(r, words):
    """By which signal a command ends, and when; None: by itself.  --bare waits until the program is compiled, for minutes
    in one that loads classes all the time."""
    endless = "--hold" in words or any(w.startswith(("--live", "--bare")) for w in words)
    if not endless and r.random() < 0.45:
        return None, None
    return r.choice(SIGNALS), r.choice([0.02, 0.2, 1, 3, SPAN]) * r.uniform(0.3, 1)


def run(words, end_by=None, after=None, number=0):
    """One command, to its end.  Gives its status (a number, a signal's name, or hangs) and what it said."""
    out_path = os.path.join(WORK, "out.%s" % number)
    read, write = os.pipe()
    with open(out_path, "wb") as err:
        child = subprocess.Popen([SONDE] + words, stdin=subprocess.DEVNULL, stdout=write, stderr=err)
    os.close(write)
    note("%5d begins: sonde %s%s" % (child.pid, " ".join(map(quoted, words)),
                                     "   (%s after %.2f s)" % (end_by.name, after) if end_by else ""))
    reader = Reader(read)
    status = None
    if end_by:
        status = wait(child, after)
        if status is None:
            if end_by == signal.SIGPIPE:
                reader.leave()
                status = wait(child, 5)
            if status is None:  # or it had nothing to say, and could not know that nobody reads
                child.send_signal(signal.SIGTERM if end_by == signal.SIGPIPE else end_by)
    if status is None:
        status = wait(child, SLACK + SPAN * 6)
    if status is None:
        fail("no_command_hangs", "sonde %s" % " ".join(map(quoted, words)))
        stacks(child.pid, "hang.%d" % child.pid)
        child.kill()
        wait(child, 10)
        status = "hangs"
    reader.finish()
    with open(out_path, errors="replace") as f:
        said = f.read()
    end = signal.Signals(-status).name if isinstance(status, int) and status < 0 else str(status)
    note("%5d ends: %s, %s; %s" % (child.pid, words[0], end, said.strip()[-200:].replace("\n", " | ")))
    judge(words, end, end_by, said)
    tally.add(words[0], end, said)
    return end, reader.text() + said


def wait(child, seconds):
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def quoted(word):
    return word if re.fullmatch(r"[\w./=:#-]+", word) else "'%s'" % word


def judge(words, end, end_by, said):
    if end in ("0", "1", "3", "hangs"):
        return
    if end == "2" and words[0] == "trace" and "nothing is hooked" in said:
        return  # drawn without a method, when no rule was in force
    if end == "2" and words[0] == "unhook" and "what a rule that stays needs" in said:
        return
    if end == "2" and words[0] in ("watch", "trace", "dig", "callees", "explain", "hook") and (
            "none has such a method" in said or "no loaded class" in said or "no method" in said or
            re.search("no class '[^']*' is loaded", said)):
        return  # what is named is not loaded, or not any more
    if end_by and end in (end_by.name, str(128 + end_by)) or end_by == signal.SIGPIPE and end == "SIGTERM":
        return
    fail("every_command_ends_as_it_says", "sonde %s: %s; %s" % (" ".join(map(quoted, words)), end, said.strip()[-300:]))


class Reader(threading.Thread):
    """Of what a command prints; can be gone before it has read all."""

    def __init__(self, fd):
        super().__init__(daemon=True)
        self.fd, self.parts, self.gone, self.guard = fd, [], False, threading.Lock()
        os.set_blocking(fd, False)
        self.start()

    def run(self):
        while not self.gone:
            with self.guard:
                if self.gone:
                    break
                try:
                    got = os.read(self.fd, 65536)
                except BlockingIOError:
                    got = None
            if got == b"":
                break
            if got:
                self.parts.append(got)
            else:
                time.sleep(0.02)

    def leave(self):
        with self.guard:
            if not self.gone:
                self.gone = True
                os.close(self.fd)

    def finish(self):
        """Reads what the command has left, unless the reader is gone."""
        self.join(20)
        self.leave()

    def text(self):
        return b"".join(self.parts).decode(errors="replace")


def client(number):
    r = random.Random("%s client %d" % (SEED, number))
    place = os.path.join(WORK, "client%d" % number)
    os.mkdir(place)
    draw = verbs.Verbs(program.pid, place, SPAN, any(o.startswith("-Dcrowd.web=") for o in OPTIONS))
    while not over.is_set() and program.lives():
        words = draw.draw(r)
        end_by, after = fate(r, words)
        run(words, end_by, after, number)
        if words[0] != "detach":
            over.wait(r.choice([0, 0.05, 0.5]))


def usher():
    """Puts the agent back in when it is out."""
    r = random.Random(SEED + " usher")
    while not over.wait(r.uniform(0.1, 0.6)) and program.lives():
        if not os.path.exists(program.socket):
            run(["attach", "--wait", "30", str(program.pid)], number="usher")


def bystander():
    """Of a JVM that was not asked to listen yet jcmd and sonde at once make it print a thread dump, as two jcmd do; so
    this one comes after the first attach."""
    r = random.Random(SEED + " bystander")
    while not os.path.exists("/tmp/.java_pid%d" % program.pid) and not over.wait(0.1):
        pass
    while not over.wait(r.uniform(0.2, 1.5)) and program.lives():
        words = r.choice([["GC.run"], ["GC.run"], ["Thread.print"], ["Thread.print", "-l"], ["GC.class_histogram"],
                          ["VM.classloader_stats"], ["Compiler.codecache"], ["GC.heap_info"]])
        note("      jcmd %s" % " ".join(words))
        if tool("jcmd", program.pid, *words) is None and program.lives():
            fail("no_command_hangs", "jcmd %s" % " ".join(words))
            stacks(program.pid, "hang.jcmd")


class Debugger:
    def __init__(self):
        port = [m.group(1) for m in (re.search(r"jdwp.*address=127\.0\.0\.1:(\d+)", o) for o in OPTIONS) if m]
        self.process = None
        if port:
            self.said = open(os.path.join(WORK, "debugger"), "wb")
            self.process = subprocess.Popen(
                [os.path.join(HOME, "bin", "java"), "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                 "-cp", CLASSES, "crowd.Debugger", port[0], str(random.Random(SEED + " debugger").randrange(1 << 30))],
                stdin=subprocess.PIPE, stdout=self.said, stderr=subprocess.STDOUT, cwd=WORK)

    def leave(self):
        if not self.process:
            return
        try:
            self.process.stdin.write(b"\n")
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        if wait(self.process, 60) is None:
            stacks(self.process.pid, "hang.debugger")
            self.process.kill()
            fail("no_command_hangs", "the debugger")
        elif self.process.returncode != 0 and program.lives():
            with open(os.path.join(WORK, "debugger"), errors="replace") as f:
                fail("the_debugger_works", f.read()[-500:])


# ---- what must hold ------------------------------------------------------------------------------------------------


def died():
    """Tells in a few lines how the program ended."""
    print("the program ended with %s; all is in %s" % (program.process.returncode, WORK))
    hs_err = os.path.join(WORK, "hs_err")
    if os.path.exists(hs_err):
        with open(hs_err, errors="replace") as f:
            text = f.read()
        print("\n".join(text.splitlines()[2:16]))
        for title in "Current thread ", "Stack:":
            at = text.find("\n" + title)
            print("\n".join(text[at:].splitlines()[:24]) if at >= 0 else "")
    with open(program.said + ".err", errors="replace") as f:
        print(program.text()[-2000:] + f.read()[-2000:])
    with open(os.path.join(WORK, "log")) as f:
        print("".join(f.readlines()[-25:]))
    fail("the_program_lives", "it ended with %s" % program.process.returncode)


def memory_is_flat(samples):
    """Resident memory: the heap is touched from the start, so what grows is native.  Machine code and metaspace come in
    the first minutes; a leak goes on."""
    if not samples:
        skipped.add("memory_is_flat")
        print("skip memory_is_flat_%s: there was no time for a look at it" % NAME)
        return
    first = sorted(samples[:max(1, len(samples) // 4)])
    last = sorted(samples[len(samples) // 2:])
    grown = last[len(last) // 2] - first[-1]
    allowed = 400 if SECONDS < 120 else 64
    note("memory: %.0f MiB at most in the first quarter, %.0f in the middle of the second half" %
         (first[-1], last[len(last) // 2]))
    if grown > allowed:
        fail("memory_is_flat", "resident: %.0f MiB more in the second half than in the first quarter" % grown)
    elif SECONDS < 120:
        skipped.add("memory_is_flat")
        print("skip memory_is_flat_%s: %.0f s are too short to tell; it grew by %.0f MiB" % (NAME, SECONDS, grown))


def nothing_left(before):
    left = [f for f in os.listdir("/tmp") if re.fullmatch(r"\.sonde_pid%d(\..*)?" % program.pid, f)]
    if left:
        fail("nothing_is_left_behind", "in /tmp: %s" % left)
    end = time.time() + 30
    while program.agent_threads() and time.time() < end:
        time.sleep(0.1)
    if program.agent_threads():
        fail("nothing_is_left_behind", "threads: %s" % program.agent_threads())
    now = {}
    while time.time() < end:
        now = program.descriptors()
        if all(now[k] <= before.get(k, 0) + 1 for k in now):
            return
        time.sleep(0.2)
    more = {k: "%d, not %d" % (n, before.get(k, 0)) for k, n in now.items() if n > before.get(k, 0) + 1}
    fail("nothing_is_left_behind", "open files: %s" % more)


def leave(before):
    """All clients are gone; the agent goes, too, and proves it."""
    end, said = run(["attach", "--yes", "--wait", "30", "--hook", "crowd.**::* timed", str(program.pid)])
    if end != "0":
        fail("detach_proves_the_original", "attach: %s, %s" % (end, said[-300:]))
    end, said = run(["detach", "--json", str(program.pid)])
    try:
        proof = json.loads(said.splitlines()[0])
        good = end == "0" and proof["classes"] and not (proof["differing"] or proof["socket"] or proof["threads"])
    except (ValueError, KeyError, IndexError):
        good = False
    if not good:
        fail("detach_proves_the_original", "detach: %s, %s" % (end, said[:600]))
    end, said = run(["hooks", str(program.pid)])
    if end != "3" or "no agent" not in said:
        fail("detach_proves_the_original", "hooks afterwards: %s, %s" % (end, said[-300:]))
    program.ask("rest", "rests")
    nothing_left(before)


def all_move():
    """Each of the program's threads still does its work."""
    first = program.rounds()
    end = time.time() + 60
    while first and program.lives() and time.time() < end:
        now = program.rounds()
        if now and all(a < b for a, b in zip(first, now)):
            return
        time.sleep(0.3)
    if program.lives():
        fail("the_program_works_on", "a thread stands still: %s" % program.rounds())
        stacks(program.pid, "stand")


def farewell():
    program.process.stdin.close()
    if wait(program.process, 120) is None:
        fail("the_program_lives", "it does not end")
        stacks(program.pid, "end")
        program.process.kill()
        return
    last = program.text().splitlines()[-1:]
    if program.process.returncode != 0 or last != ["ends, 0 wrong"]:
        fail("the_programs_results_are_right", "status %d, %s" % (program.process.returncode, program.text()[-1500:]))
    with open(program.said + ".err", errors="replace") as f:
        errors = f.read()
    own = re.compile(r"(ready|rests|rounds .*|ends, \d+ wrong|wrong: .*|  \S.*)$")
    strange = [s for s in program.text().splitlines() if not own.match(s)]
    strange += [s for s in errors.splitlines() if not quiet_words(s)]
    if strange:
        fail("nothing_is_printed_by_the_agent", " | ".join(strange)[:1500])


def quiet_words(line):
    """What other agents, and the JVM about them, are known to say; JDWP when its debugger is killed."""
    return re.search(r"transport error 202|\[otel\.javaagent|OpenJDK 64-Bit Server VM warning: Sharing is only supported|jacoco|CDS", line)


def own_memory():
    """What the JVM has set aside for itself but for its heap, as it reckons."""
    text = tool("jcmd", program.pid, "VM.native_memory", "summary", bound=20) or ""
    kinds = re.findall(r"^- +([\w ]+) \(reserved=\d+KB, committed=(\d+)KB\)", text, re.M)
    return ", ".join("%s %d MiB" % (kind, int(n) >> 10) for kind, n in kinds if int(n) >> 10 and kind != "Java Heap")


def watch_memory(samples):
    """Resident memory, after glibc was told (through the JVM, which can since 17.0.9) to give back what was freed: that
    is most of what there is after some minutes, in the arenas of threads that compiled or wove something large."""
    while not os.path.exists("/tmp/.java_pid%d" % program.pid) and not over.wait(0.5):
        pass  # as bystander does
    number = 0
    while not over.wait(max(1, min(15, SECONDS / 20))) and program.lives():
        before = program.rss()
        tool("jcmd", program.pid, "System.trim_native_heap", bound=60)
        one = program.rss()
        if before and one:
            samples.append(one)
            note("      resident: %.0f MiB, of them freed %.0f" % (before, before - one))
        number += 1
        if number % 4 == 0:
            note("      of the JVM's own: %s" % own_memory())


def the_crowd():
    samples = []
    threads = [threading.Thread(target=client, args=(n,), daemon=True) for n in range(CLIENTS)]
    threads += [threading.Thread(target=f, daemon=True) for f in (usher, bystander)]
    threads.append(threading.Thread(target=watch_memory, args=(samples,), daemon=True))
    debugger = Debugger()
    for t in threads:
        t.start()
    end = time.time() + SECONDS
    while time.time() < end and program.lives() and "no_command_hangs" not in failed:
        time.sleep(0.1)
    over.set()
    note("no new commands")
    debugger.leave()
    for t in threads:
        t.join(SLACK * 2 + SPAN * 6)
    return samples


def hold_calibration():
    """Reports would measure in the background what hooks cost here, unless somebody else does."""
    place = os.path.join(WORK, "cache", "sonde", "calibration")
    os.makedirs(place, mode=0o700)
    fd = os.open(place, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    return fd


def summary():
    by_verb = {}
    for (verb, end), n in sorted(tally.counts.items()):
        by_verb.setdefault(verb, []).append("%s x %d" % (end, n))
    for verb, ends in by_verb.items():
        note("%-9s %s" % (verb, ", ".join(ends)))
    for why, n in sorted(tally.words.items(), key=lambda w: -w[1]):
        note("%5d x %s" % (n, why))
    return sum(tally.counts.values())


def main():
    # Who starts us in the background has SIGINT ignored, and so would our commands until they catch it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not program.heard("ready"):
        died()
        return
    before = program.descriptors()
    program.ask("go")
    samples = the_crowd()
    if program.lives():
        all_move()
    if program.lives():
        leave(before)
    n = summary()
    if not program.lives():
        died()
        return
    memory_is_flat(samples)
    farewell()
    for what in ("the_program_lives", "the_program_works_on", "the_programs_results_are_right",
                 "nothing_is_printed_by_the_agent", "no_command_hangs", "every_command_ends_as_it_says",
                 "detach_proves_the_original", "nothing_is_left_behind", "memory_is_flat"):
        if what not in failed | skipped:
            print("ok %s_%s" % (what, NAME))
    print("%s: %d commands in %.0f s, SEED=%s" % (NAME, n, time.time() - begin, SEED))


os.environ.update(XDG_STATE_HOME=os.path.join(WORK, "state"), XDG_CACHE_HOME=os.path.join(WORK, "cache"),
                  LC_ALL="C.UTF-8")
held = hold_calibration()
tally = Tally()
program = Program()
try:
    main()
finally:
    over.set()
    if program.lives():
        program.process.kill()
    program.process.wait()
sys.exit(1 if failed else 0)
