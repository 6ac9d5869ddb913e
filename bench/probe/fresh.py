# SPDX-License-Identifier: Apache-2.0
"""fresh.py N DIRECTORY PLAN: in N new processes of each JDK, does the interval that Sonde prints for a method timed
1/1000 hold what a call takes without hook?  Two methods, of 2 ns and of 20 to 500.  DIRECTORY has the bench's programs,
PLAN its plan, of which the groups' contestant one-in and its bars are taken.  A process in which others had the
processor does not count."""
import json
import os
import subprocess
import sys


def groups(plan):
    """The lines of each group that are about one-in, by its title."""
    found, ours = {}, False
    for line in plan:
        word = line.rstrip("\n").split("\t")
        if word[0] == "group":
            title = word[1]
            found[title] = [line]
        elif word[0] in ("run", "skip"):
            ours = word[1] == "one-in"
            if ours:
                found[title].append(line)
        elif len(word) == 2 and ours:
            found[title].append(line)
        elif word[0] == "holds":
            found[title].append(line)
    return {title: lines for title, lines in found.items() if any(line.startswith("run") for line in lines)}


def once(directory, lines):
    """By bar: 1 where the interval held, 0 where it did not; nothing where the machine was too busy."""
    plan, out = f"{directory}/fresh.plan", f"{directory}/fresh.json"
    with open(plan, "w", encoding="utf-8") as f:
        f.writelines(lines)
    subprocess.run([f"{directory}/rounds", plan, out, f"{directory}/log"], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env=dict(os.environ, BENCH_ROUNDS="1"))
    with open(out, encoding="utf-8") as f:
        bars = json.load(f)["groups"][0]["bars"]
    return {bar["bar"]: bar["figure"] for bar in bars if "figure" in bar}


def main():
    n, directory = int(sys.argv[1]), sys.argv[2]
    with open(sys.argv[3], encoding="utf-8") as f:
        chosen = groups(f)
    for title, lines in chosen.items():
        held, judged = {}, {}
        for k in range(n):
            for bar, figure in once(directory, lines).items():
                held[bar] = held.get(bar, 0) + figure
                judged[bar] = judged.get(bar, 0) + 1
            print(f"probe: {title}: {k + 1} of {n} new processes", file=sys.stderr)
        for bar, count in judged.items():
            share = held[bar] / count
            print(f"probe/fresh-{bar}: held in {held[bar]:.0f} of {count} processes (bar: at least 95 %) "
                  f"{'met' if share >= 0.95 else 'short'}")
        if not judged:
            print(f"probe/fresh: {title}: the machine was too busy (bar: at least 95 %) short")


main()
