# SPDX-License-Identifier: Apache-2.0
"""met.py SONDE PID TABLE PLAIN JDK: rules of which it is known how many calls meet them.

Rules about different methods go in together.  Descriptors 3 and 4 lead to the program and from it;
PLAIN is what it says after ten rounds without hooks."""
import json
import subprocess
import sys

sonde, pid, table, plain, jdk = sys.argv[1:]


def run(*words):
    done = subprocess.run([sonde, *words], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def target(rule):
    return rule.split(" if ")[0].removeprefix("hook ").split("(")[0]


def batches(rules):
    """Lists of rules, no two about one method."""
    rules = list(rules)
    while rules:
        batch, rest, seen = [], [], set()
        for want, rule in rules:
            (rest if target(rule) in seen else batch).append((want, rule))
            seen.add(target(rule))
        yield batch
        rules = rest


def errors(method_start):
    report = json.loads(run("report", "--json", pid)[1])["methods"]
    return sum(m["errors"] for m in report if m["method"].startswith(method_start))


def look(batch, to, answers):
    run("report", "--reset", pid)
    status, _, err = run("hook", pid, *[rule for _, rule in batch])
    if status:
        print(err)
    to.write("10\n")
    to.flush()
    said = answers.readline().rstrip("\n")
    found = json.loads(run("hooks", "--json", pid)[1])["rules"]
    for (want, rule), row in zip(batch, found):
        got = str(row["calls"])
        if "/" in want:
            got += "/%d" % errors(target(rule).replace("::", "."))
        name = "%s: %s calls on JDK %s" % (rule, want, jdk)
        print("ok " + name if got == want else "not ok %s: %s" % (name, got))
    if len(found) != len(batch):
        print("not ok %d rules of %d are in on JDK %s" % (len(found), len(batch), jdk))
    if said != plain:
        print("not ok the program says '%s', not '%s', with %s" % (said, plain, batch))
    run("unhook", pid, "all")


def main():
    with open(table, encoding="utf-8") as lines:
        rules = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    with open(3, "w", encoding="utf-8") as to, open(4, encoding="utf-8") as answers:
        for batch in batches(rules):
            look(batch, to, answers)
    print("ok the program says the same under all of them on JDK %s" % jdk)


main()
