#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tree.py OUT JDK_HOME MAJOR DIR -- PROGRAM...: is a call tree in little memory as good as the whole one?

The program runs once with all its methods hooked, under an agent that also writes down every event
(native/record.c).  The events are then given to the probe again, with memory for every context, with what an agent
takes when nothing else is asked for (DEFAULT), and with a fiftieth of the whole (SHARE), while its clock stands at
what it was (native/replay.c): so all trees have seen the same calls, and took the same time for them.  The last two
have the same bars, those of the last end in "-part".  A second run of the program, under the agent as it is and with a
fiftieth, shows how it is there: that its tree has as many calls as its methods holds by the way it is made, so how many
of them have no context is asked, too."""
import glob
import json
import os
import re
import struct
import subprocess
import sys
import time

LARGE = int(os.environ.get("LARGE", str(1 << 30)))
DEFAULT = 8 << 20
SHARE = float(os.environ.get("SHARE", "0.02"))  # of the memory that the whole tree takes
TURNS = 1 if os.environ.get("BENCH_QUICK") else 3
PAUSE_US = 100


def messages(top):
    """Names and fields, by number."""
    text = re.sub(r"/\*.*?\*/", "", open(top + "/src/wire/messages.def").read(), flags=re.S)
    found = re.findall(r"MESSAGE\((\w+),((?:[^()]|\([^()]*\))*)\)", text)
    return {i + 1: (name, re.findall(r"(\w+)\((\w+)\)", fields)) for i, (name, fields) in enumerate(found)}


def decode(fields, payload):
    at, row = 0, {}
    for kind, name in fields:
        if at >= len(payload):
            break
        if kind == "STR":
            n = struct.unpack_from(">I", payload, at)[0]
            row[name] = payload[at + 4:at + 4 + n]
            at += 4 + n
        else:
            code = {"U8": ">B", "U32": ">I", "U64": ">Q", "F64": ">d"}[kind]
            row[name] = struct.unpack_from(code, payload, at)[0]
            at += struct.calcsize(code)
    return row


def rows(path, known, wanted):
    """What an agent has written when its JVM ended."""
    data, at = open(path, "rb").read(), 0
    while at + 8 <= len(data):
        n, kind = struct.unpack_from(">IH", data, at)
        name, fields = known.get(kind, ("?", []))
        if name in wanted:
            yield name, decode(fields, data[at + 8:at + 4 + n])
        at += 4 + n


class Run:
    """One run of the program, and what its agent said."""

    def __init__(self, name, agent, memory, events=None):
        self.report = "%s/%s" % (folder, name)
        option = "-agentpath:%s=yes,rules=%s/rules,memory=%d,report=%s" % (agent, folder, memory, self.report)
        env = dict(os.environ, SONDE_EVENTS=events) if events else dict(os.environ)
        began = time.time()
        done = subprocess.run([home + "/bin/java", option] + program, cwd=folder, env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        sys.stderr.write("%s: %.1f s\n" % (name, time.time() - began))
        if done.returncode:
            sys.exit("%s: %s ended with %d: %s" % (sys.argv[0], name, done.returncode, done.stdout[-2000:]))
        self.report = glob.glob(self.report + ".*")[0]

    def sums(self):
        """Calls in the tree, calls of all methods, what it says of itself."""
        in_tree = of_methods = 0
        status = {}
        for kind, row in rows(self.report, known, ("node", "method", "status")):
            if kind == "node":
                in_tree += row["calls"]
            elif kind == "method":
                of_methods += row["calls"]
            else:
                status = row
        return in_tree, of_methods, status

    def tree(self, path):
        """The tree as replay reads it."""
        with open(path, "w") as f:
            for _, row in rows(self.report, known, ("node",)):
                f.write("%d %d %d %d\n" % (row["depth"], 0 if row["flags"] & 4 else row["id"], row["calls"],
                                           row["total_ns"]))
        return path


def replay(memory, *options):
    command = [out + "/bench/tree/replay", *options, str(memory)] + sorted(glob.glob(events + "/*"))
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def pauses(memory):
    """How long it took to make room, in us: of each time the shortest of the turns, as others use the machine."""
    shortest = {}
    for _ in range(TURNS):
        replay(memory, "-p", folder + "/pauses")
        for line in open(folder + "/pauses"):
            event, ns = map(int, line.split())
            shortest[event] = min(ns, shortest.get(event, ns))
    return sorted(ns / 1000 for ns in shortest.values()) or [0]


def bar(name, figure, what, met):
    print("tree/%s-%s: %s (bar: %s) %s" % (name, major, figure, what, "met" if met else "short"))


def describe(what, got, spent, ns):
    tree = got["tree"]
    print("%s, %.2f MiB: %d contexts, and %d (pruned)" % (what, got["limit"] / 2**20, tree["nodes"],
                                                          tree["pruned_nodes"]))
    print("  of %d contexts above 1 %% of time or calls %d are kept, their time off by at most %.2f %%; %d have more than "
          "0.1 %% of the calls, of which the worst lacks %.1f %%" %
          (tree["hot"], tree["kept"], 100 * tree["time_off"], tree["warm_by_calls"], 100 * tree["warm_off"]))
    print("  taken out: %d; calls without a context: %d; the bound: %.2f %% of all calls, %.2f %% of all time" %
          (got["taken_out"], got["refused"] + got["too_deep"], 100 * got["bound_calls"] / got["calls"],
           100 * got["bound_ticks"] / got["ticks"]))
    print("  making room, us: %d times, half within %.1f, 99 %% within %.1f, longest %.1f; a call, clock not counted: "
          "%.0f ns" % (len(spent), spent[len(spent) // 2], spent[int(len(spent) * 0.99)], spent[-1], ns))


def bars(suffix, got, slower):
    tree = got["tree"]
    bar("memory" + suffix, "%.2f MiB" % (got["memory"] / 2**20), "at most the limit, %.2f MiB" % (got["limit"] / 2**20),
        got["memory"] <= got["limit"])
    bar("hot" + suffix, "%d of %d" % (tree["kept"], tree["hot"]), "every context above 1 % kept",
        tree["kept"] == tree["hot"] > 0)
    bar("time" + suffix, "%.2f %%" % (100 * tree["time_off"]),
        "time of each context above 1 % of it off by less than 2 %", tree["time_off"] < 0.02)
    hot = tree["hot_by_calls"]  # else it has to hold for those that are less hot
    bar("calls" + suffix, "%.2f %%" % (100 * tree["calls_off"]) if hot else
        "no context has 1 %% of them; of %d above 0.1 %% the worst lacks %.2f %%" % (tree["warm_by_calls"], 100 * tree["warm_off"]),
        "calls of each context above 1 % of them off by less than 2 %",
        tree["calls_off"] < 0.02 if hot else tree["warm_by_calls"] > 0 and tree["warm_off"] < 0.02)
    bar("sums" + suffix, "%d of %d" % (tree["calls"], got["calls"]), "as many calls in the tree as were made",
        tree["calls"] == got["calls"])
    bar("per-call" + suffix, "%.2f x" % slower, "a call at most 1.5 x what it takes with all contexts", slower < 1.5)


def main():
    recorded = Run("whole-" + major, out + "/bench/tree/libsonde.so", LARGE, events)
    if not any(os.path.getsize(f) for f in glob.glob(events + "/*")):
        sys.exit("tree: no event was recorded of JDK %s; see %s" % (major, folder))
    whole = replay(LARGE, "-l", recorded.tree(folder + "/whole"))
    limits = [LARGE, DEFAULT, max(int(whole["memory"] * SHARE), 256 << 10)]
    usual, part = replay(limits[1]), replay(limits[2])
    ns = [[], [], []]
    for _ in range(TURNS):
        for i, limit in enumerate(limits):
            ns[i].append(replay(limit)["ns_per_call"])
    ns = [min(n) for n in ns]
    spent = [pauses(limit) for limit in limits[1:]]
    in_tree, of_methods, status = Run("part-" + major, out + "/libsonde.so", limits[2]).sums()
    print("JDK %s: %d calls; all contexts: %d in %.1f MiB; a call, clock not counted: %.0f ns" %
          (major, whole["calls"], whole["contexts"], whole["memory"] / 2**20, ns[0]))
    describe("unless told otherwise", usual, spent[0], ns[1])
    describe("a fiftieth" if SHARE == 0.02 else "%g of that" % SHARE, part, spent[1], ns[2])
    bar("recorded", "%.4f %%" % (100 * whole["live"]["calls_off_any"]),
        "the agent's own tree of that run has the calls that were recorded", whole["live"]["calls_off_any"] == 0)
    bars("", usual, ns[1] / ns[0])
    bars("-part", part, ns[2] / ns[0])
    longest = max(s[-1] for s in spent)
    bar("pause", "%.0f us" % longest, "making room at most %d us" % PAUSE_US, longest <= PAUSE_US)
    bar("agent-memory", "%.2f MiB" % (status["memory"] / 2**20), "the agent with a fiftieth keeps to it",
        status["memory"] <= status["memory_limit"])
    bar("agent-sums", "%d of %d" % (in_tree, of_methods), "its tree has as many calls as its methods, 0.1 %",
        abs(in_tree - of_methods) <= of_methods / 1000)
    bar("agent-contexts", "%d of %d" % (status["contexts_lost"], of_methods), "at most 0.1 % of its calls have no context",
        status["contexts_lost"] <= of_methods / 1000)
    json.dump({"jdk": major, "whole": whole, "usual": usual, "part": part, "ns_per_call": ns,
               "pauses_us": [len(s) for s in spent], "pause_us": [s[-1] for s in spent],
               "pause_99_us": [s[int(len(s) * 0.99)] for s in spent]},
              open("%s/../tree-%s.json" % (folder, major), "w"))


if __name__ == "__main__":
    out, home, major, folder = sys.argv[1:5]
    program, known = sys.argv[6:], messages(os.path.dirname(os.path.abspath(__file__)) + "/../..")
    events = "%s/events-%s" % (folder, major)
    os.makedirs(events)
    main()
