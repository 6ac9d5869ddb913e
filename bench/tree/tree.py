#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tree.py OUT JDK_HOME MAJOR DIR -- PROGRAM...: is a call tree in little memory as good as the whole one?

The same program runs with all its methods hooked, with memory for every context (twice, to know how much two
runs differ by themselves) and with a fiftieth of what that took (SHARE).  What the agent writes when the JVM ends
is read here, by the list of messages."""
import json
import os
import re
import struct
import subprocess
import sys
import time

HOT = 0.01
LARGE = int(os.environ.get("LARGE", str(1 << 30)))
SHARE = float(os.environ.get("SHARE", "0.02"))  # of the memory that the whole tree takes


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


def rows(path, known):
    data, at = open(path, "rb").read(), 0
    while at + 8 <= len(data):
        n, kind = struct.unpack_from(">IH", data, at)
        name, fields = known.get(kind, ("?", []))
        if name in ("node", "status"):
            yield name, decode(fields, data[at + 8:at + 4 + n])
        at += 4 + n


class Tree:
    """Calls and time by context, which is the path of names."""

    def __init__(self, path, known):
        self.calls, self.total, self.nodes, self.pruned, above = {}, {}, 0, [0, 0], []
        self.all_calls = self.all_time = 0
        for kind, row in rows(path, known):
            if kind == "status":
                self.status = row
                continue
            del above[row["depth"]:]
            self.all_calls += row["calls"]
            if row["depth"] == 0:
                self.all_time += row["total_ns"]
            if row["flags"] & 4:
                self.pruned[0] += row["calls"]
                self.pruned[1] += 1
                continue
            # A number stands for the names above: one for each context, the same in every tree.
            here = Tree.number.setdefault((above[-1] if above else 0, row["name"]), len(Tree.number) + 1)
            above.append(here)
            self.calls[here] = row["calls"]
            self.total[here] = row["total_ns"]
            self.nodes += 1

    number = {}

    def hot(self):
        return [c for c in self.calls
                if self.calls[c] > HOT * self.all_calls or self.total[c] > HOT * self.all_time]


def run(out, home, folder, name, memory, program):
    report = "%s/%s" % (folder, name)
    agent = "-agentpath:%s/libsonde.so=yes,rules=%s/rules,memory=%d,report=%s" % (out, folder, memory, report)
    command = [home + "/bin/java"] + ([agent] if memory else []) + program
    began, before = time.time(), os.times()
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    sys.stderr.write("%s: %.1f s, %.1f s of processor time\n" % (name, time.time() - began, cpu))
    if done.returncode:
        sys.exit("%s: %s ended with %d: %s" % (sys.argv[0], name, done.returncode, done.stdout[-2000:]))
    found = [f for f in os.listdir(folder) if f.startswith(name + ".")]
    return cpu, "%s/%s" % (folder, found[0]) if memory else None


def off(truth, tree, context):
    """How far the calls of a context are off, as a share."""
    return abs(tree.calls[context] - truth.calls[context]) / truth.calls[context]


def bar(name, figure, what, met):
    print("tree/%s: %s (bar: %s) %s" % (name, figure, what, "met" if met else "short"))


def compare(major, whole, again, part):
    """Which contexts are hot is taken from both whole trees: times differ from run to run."""
    limit, known = part.status["memory_limit"], set(again.hot())
    hot = [c for c in whole.hot() if c in known]
    there = [c for c in hot if c in part.calls]
    itself = max([off(whole, again, c) for c in hot], default=0)
    errors = sorted(off(whole, part, c) for c in there) or [1]
    right = sum(e - itself < 0.02 for e in errors)
    result = {"jdk": major, "calls": whole.all_calls, "nodes": whole.nodes, "memory": whole.status["memory"],
              "limit": limit, "nodes_kept": part.nodes, "nodes_pruned": part.pruned[1],
              "memory_kept": part.status["memory"], "hot": len(hot), "hot_kept": len(there), "error": errors[-1],
              "error_itself": itself, "right": right, "bound_calls": part.status["bound_calls"],
              "bound_ns": part.status["bound_ns"], "taken_out": part.status["contexts_pruned"],
              "without_context": part.status["contexts_lost"]}
    print("JDK %s: %d calls; with all contexts %d nodes in %.1f MiB, with a limit of %.1f MiB %d nodes and %d "
          "(pruned)" % (major, whole.all_calls, whole.nodes, whole.status["memory"] / 2**20, limit / 2**20,
                        part.nodes, part.pruned[1]))
    print("  contexts above 1 %% of time or calls: %d, of which %d are there, %d with their calls right within 2 %%; "
          "the worst is off by %.1f %%, between two whole trees by %.1f %%" %
          (len(hot), len(there), right, 100 * errors[-1], 100 * itself))
    print("  bound: %.3f %% of all calls, %.3f %% of all time; calls without a context: %d; taken out: %d" %
          (100 * part.status["bound_calls"] / max(1, part.all_calls),
           100 * part.status["bound_ns"] / max(1, part.all_time), part.status["contexts_lost"],
           part.status["contexts_pruned"]))
    bar("memory-" + major, "%.1f MiB" % (part.status["memory"] / 2**20),
        "at most the limit, %.1f MiB" % (limit / 2**20), part.status["memory"] <= limit)
    bar("hot-" + major, "%d of %d" % (len(there), len(hot)), "every context above 1 % kept",
        len(there) == len(hot) > 0)
    bar("error-" + major, "%.1f %%" % (100 * errors[-1]), "calls of hot contexts off by less than 2 %, beyond what two runs are",
        errors[-1] - itself < 0.02)
    bar("sums-" + major, "%.4f x" % (part.all_calls / max(1, whole.all_calls)),
        "as many calls in the tree as in the whole one, 2 %",
        abs(part.all_calls / max(1, whole.all_calls) - 1) < 0.02)
    return result


def main():
    out, home, major, folder = sys.argv[1:5]
    program, known = sys.argv[6:], messages(os.path.dirname(os.path.abspath(__file__)) + "/../..")
    plain, _ = run(out, home, folder, "plain-" + major, 0, program)
    whole_cpu, path = run(out, home, folder, "whole-" + major, LARGE, program)
    whole = Tree(path, known)
    _, path = run(out, home, folder, "again-" + major, LARGE, program)
    again = Tree(path, known)
    limit = max(int(whole.status["memory"] * SHARE), 256 << 10)
    part_cpu, path = run(out, home, folder, "part-" + major, limit, program)
    result = compare(major, whole, again, Tree(path, known))
    result["ns_per_call"] = [max(0.0, (cpu - plain) * 1e9 / max(1, whole.all_calls)) for cpu in (whole_cpu, part_cpu)]
    print("  processor time a call, weaving and all: %.0f ns with all contexts, %.0f ns with the limit" %
          tuple(result["ns_per_call"]))
    json.dump(result, open("%s/../tree-%s.json" % (folder, major), "w"))


if __name__ == "__main__":
    main()
