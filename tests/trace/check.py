#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py SONDE JAVA CLASSES VERSION: drives Hops and compares the transactions with what is known.

Prints a line for each check."""
import atexit
import html.parser
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

SONDE, JAVA, CLASSES, VERSION = sys.argv[1:5]


def check(good, what, more=""):
    if not good:
        print(str(more)[:3000])
    print(("ok trace-%s %s" if good else "not ok trace-%s %s: not so") % (VERSION, what), flush=True)


def name(method):
    return method.split("(")[0].split(".")[-1]


program = subprocess.Popen(
    [JAVA, "-XX:+EnableDynamicAgentLoading"] + (["--enable-preview"] if VERSION != "17" else []) +
    ["-cp", CLASSES, "Hops"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
atexit.register(program.kill)
assert program.stdout.readline() == "ready\n"
PID = str(program.pid)


def tell(way, times=1):
    program.stdin.write("%s %d\n" % (way, times))
    program.stdin.flush()


def trace(ways, options=(), root=(), hook=("Hops::*", "Hops$Sum::*")):
    """The transactions of ways, each (name, how often), as JSON."""
    out, err = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
    command = [SONDE, "trace", "--json", "-n", str(sum(n for _, n in ways)), "--for", "60s",
               "--at-least", "0.001ms"]
    for rule in hook:
        command += ["--hook", rule]
    s = subprocess.Popen(command + list(options) + [PID] + list(root), stdout=out, stderr=err)
    for _ in range(600):  # until the hooks are in
        time.sleep(0.05)
        err.seek(0)
        if err.read().count("hooked") > len(root) or s.poll() is not None:
            break
    for way, times in ways:
        tell(way, times)
        assert program.stdout.readline() == "done %s\n" % way
    s.wait(90)
    out.seek(0)
    err.seek(0)
    if s.returncode:
        print(err.read())
    return [json.loads(line) for line in out]


def handed_over(tx, part):
    """The call in which a part was handed over, or None."""
    for p in tx["parts"]:
        if p["part"] == part["from"] and p is not part and 0 <= part["call"] < len(p["calls"]):
            return p["calls"][part["call"]]
    return None


def steps(tx):
    return sum(name(c["method"]) == "step" for p in tx["parts"] for c in p["calls"])


def check_times(tx):
    for p in tx["parts"]:
        if not p["submitted_ns"] <= p["begin_ns"] <= p["end_ns"]:
            return "part %s" % p
        for c in p["calls"]:
            end = c["begin_ns"] + c["elapsed_ns"]
            up = p["calls"][c["parent"]] if c["parent"] >= 0 else None
            if c["begin_ns"] < p["begin_ns"] or end > p["end_ns"] + 1000:
                return "call outside its part: %s %s" % (c, p["end_ns"])
            if up and (c["begin_ns"] < up["begin_ns"] or end > up["begin_ns"] + up["elapsed_ns"]):
                return "call outside its caller: %s" % c
            if name(c["method"]) == "step" and c["elapsed_ns"] < 2000000:
                return "step took %d ns" % c["elapsed_ns"]
    return ""


def check_way(way, parts, n_steps, txs):
    txs = [t for t in txs if name(t["parts"][0]["calls"][1]["method"]) == way]
    check(len(txs) == 1, way + " is one transaction", len(txs))
    if not txs:
        return
    tx = txs[0]
    others = tx["parts"][1:]
    check(parts is None or len(others) == parts, "%s has %s parts in other threads" % (way, parts),
          json.dumps(tx))
    check(steps(tx) == n_steps, "%s has %d steps" % (way, n_steps), json.dumps(tx))
    check(not tx["open"] and not tx["missing"], way + " is complete", json.dumps(tx))
    check(check_times(tx) == "", way + " has times that fit into each other", check_times(tx))
    known = {p["part"] for p in tx["parts"]}
    check(all(p["from"] in known for p in tx["parts"]), way + " knows who handed its parts over")
    if way != "future":  # of which one part is handed over when no hooked call runs
        check(all(handed_over(tx, p) for p in others), way + " knows in which calls", json.dumps(tx))


subprocess.run([SONDE, "attach", PID], check=True, stdout=subprocess.DEVNULL)
# way: parts in other threads (None: any number), steps
WAYS = {"execute": (2, 2), "submit": (2, 2), "all": (3, 3), "schedule": (1, 1), "thread": (2, 2),
        "forks": (None, 4), "future": (None, 3), "completed": (1, 1), "chain": (2, 2), "forget": (1, 1),
        "fails": (0, 1)}
if VERSION != "17":
    WAYS.update({"virtual": (2, 2), "perTask": (2, 2), "scope": (2, 2)})
page = os.path.join(tempfile.mkdtemp(), "p.html")
found = trace([(way, 1) for way in WAYS], ["-o", page])
for way, (parts, n) in WAYS.items():
    check_way(way, parts, n, found)
failures = [t for t in found if any(c["error"] for c in t["parts"][0]["calls"])]
check(len(failures) == 1 and failures[0]["parts"][0]["calls"][1]["error"], "one call failed, and is told",
      failures)

# Many at once, in the same few threads.
txs = trace([("mixed", 1000)], root=["Hops::mixed"])
check(len(txs) == 1000, "1,000 transactions at once are all there", len(txs))
KINDS = ("zero", "one", "two", "three")
wrong = [t for t in txs
         if len({name(c["method"]) for p in t["parts"] for c in p["calls"]}.intersection(KINDS)) != 1
         or sum(name(c["method"]) == "mark" for p in t["parts"] for c in p["calls"]) != 4]
check(not wrong, "none of them is mixed up with another", wrong[:1])
kinds = [name(t["parts"][0]["calls"][-1]["method"]) for t in txs]
check(all(kinds.count(k) == 250 for k in KINDS), "each of them is the right one",
      {k: kinds.count(k) for k in set(kinds)})

# What was captured goes along, too: steps are seen in one way only, wherever they run.
WAYS = ("submit", "execute", "thread", "completed")
txs = trace([(way, 1) for way in WAYS], root=["Hops::run"],
            hook=["capture way = $1 at Hops::run", 'Hops::step if $way == "submit"', "Hops::pause"])
check(sorted(t["data"].strip() for t in txs) == sorted("way=" + w for w in WAYS),
      "a transaction has the values that were captured", txs)
seen = {t["data"].strip(): steps(t) for t in txs}
check(seen == {"way=submit": 2, "way=execute": 0, "way=thread": 0, "way=completed": 0},
      "captured values are known in other threads", seen)
check(all(c["conditional"] == (name(c["method"]) == "step") for t in txs for p in t["parts"]
          for c in p["calls"]), "what is hooked under a condition is marked", txs)

left = subprocess.run([SONDE, "hooks", PID], capture_output=True, text=True)
check(": 0 methods in 0 classes, 0 rules" in left.stdout, "nothing stays hooked", left.stdout)
none = subprocess.run([SONDE, "trace", PID], capture_output=True, text=True)
check(none.returncode == 2 and "nothing is hooked" in none.stderr, "without hooks it says what to do", none.stderr)

text = open(page).read()
data = json.loads(text.split('type="application/json">')[1].split("</script>")[0])
check([len(t["parts"]) for t in data["transactions"]] == [len(t["parts"]) for t in found],
      "the page has the transactions", text[:200])
check(any(n[0].startswith("Hops.step") for n in data["names"]), "the page has the names")
check("http://" not in text and "https://" not in text and "src=" not in text, "the page needs no network")


class Tags(html.parser.HTMLParser):
    """Are all elements closed in the order in which they were opened?"""
    def __init__(self):
        super().__init__()
        self.open, self.bad = [], False

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        self.bad |= not self.open or self.open.pop() != tag


tags = Tags()
tags.feed(open(page).read())
check(not tags.bad and not tags.open, "the page is well-formed", tags.open)

if shutil.which("node"):
    shown = subprocess.run(["node", "tests/trace/page.js", page], capture_output=True, text=True)
    did = json.loads(shown.stdout) if shown.returncode == 0 else {}
    check(did.get("listed") == len(found) and 0 < did["zoomed"] < did["all"] == did["again"] and
          did["tip"].startswith("Hops.run("), "the page's script lists, draws, zooms and explains",
          shown.stdout + shown.stderr)
    check(did.get("shares", [""])[0] == "100 %" and "% of the transaction" in did["tip"] and
          any(t.endswith(" %") for t in did["texts"]), "the page tells percentages", shown.stdout)
    check(did.get("turned") and did["none"] == 0 and did["count"] == "0 of %d" % len(found) and
          did["longer"] == len(found), "the page sorts and filters", shown.stdout)
    check(did.get("root", "").startswith("Hops.run(") and did["below"] and did["below"] != did["root"] and
          did["after"] == did["before"] + 1 and did["asks"], "the page is used by keys", shown.stdout)
else:
    print("skip trace-%s the page's script: no node here" % VERSION)
browser = next(filter(shutil.which, ("chromium", "chromium-browser", "google-chrome")), None)
if browser:
    shown = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                            "file://" + page], capture_output=True, text=True, timeout=60)
    check('aria-selected="true"' in shown.stdout and "calls" in shown.stdout, "a browser shows the page", shown.stdout[:500])
else:
    print("skip trace-%s a browser shows the page: no browser here" % VERSION)

p = subprocess.run([SONDE, "detach", "-v", PID], capture_output=True, text=True)
check(p.returncode == 0 and "original byte code" in p.stdout, "detaching leaves the original code", p.stdout + p.stderr)
tell("submit")
check(program.stdout.readline() == "done submit\n", "the program goes on")
program.stdin.close()
check(program.wait(20) == 0, "the program ends as it should")
