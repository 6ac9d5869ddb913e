# SPDX-License-Identifier: Apache-2.0
# check.py CASE FILE: is what `sonde hot --json` says what the program did?  Prints its figures.
import json
import sys

case, path = sys.argv[1:]
d = json.load(open(path, encoding="utf-8"))
functions = {}
for f in d["functions"]:
    functions.setdefault(f["name"].split("(")[0], f)


def total(name):
    return functions.get(name, {"total_share": 0})["total_share"]


def own(name):
    return functions.get(name, {"self_share": 0})["self_share"]


def must(held, why):
    if not held:
        for f in d["functions"][:25]:
            print(f"  {f['self_share']:.3f} {f['total_share']:.3f} {f['name'][:90]} {f['run_by']}")
        sys.exit(f"{case}: {why}")


if case in ("alloc", "live", "lock"):
    a, b, kept = (functions.get("Events." + n, {"total": 0})["total"] for n in ("siteA", "siteB", "keeps"))
    print(f"{case}: {d['samples']} samples, {d['broken']} not whole, {a} {b} {kept} {d['total']} {d['note']!r}")
    if d["samples"] < (20 if case == "live" else 100):
        sys.exit(2)
    must(d["broken"] <= max(2, d["samples"] * 0.01), f"{d['broken']} stacks are not whole")
    if case == "alloc": # an array of ints has 16 bytes before its elements, and 100 with them
        must(0.65 < a / d["total"] < 0.8 and 0.2 < b / d["total"] < 0.32, "the sites' shares are wrong")
        many = functions["int[]"]["count"] / functions["byte[]"]["count"]
        must(25 < many < 42, f"{many:.1f} arrays of ints for each of bytes, not 33")
    elif case == "live":
        must(kept > 0.8 * d["total"] and functions["Events$Kept"]["count"] > 1000, "what is kept is not what stays")
    else:
        must(functions["Events$Gate"]["self"] == d["total"], "another lock than the one there is")
        waited = functions["Events.convoy"]["total"] / d["wall_ns"]
        must(2.2 < waited < 3.2, f"{waited:.2f} threads wait, not 3")
    sys.exit(0)
samples, broken = d["samples"], d["broken"]
print(f"{case}: {samples} samples, {broken} not whole {d['ends']}, engine {d['engine']!r}")
if samples < 200:
    sys.exit(2)
must(broken <= max(5, samples * 0.01), f"{broken} of {samples} stacks are not whole")
if d["mode"] == "wall":
    whole = d["wall_ns"]
    state = {s: v / whole for s, v in d["states"].items()}
    # How many threads, all the time, were in a function, and what they did there.
    threads = lambda name: functions[name]["total"] / whole if name in functions else 0
    if d["samples"] < 4 * d["threads"]:
        sys.exit(2)
    print(f"{case}: {state}, {d['threads']} threads, {d['own_ns'] / 1e6:.0f} ms of the agent's")
    for name, n in (("isBlocked", 1), ("waits", 1), ("reads", 1), ("runs", 1), ("sleeps", 2)) if case == "waits" else ():
        n += 20 if name == "sleeps" else 0
        must(abs(threads("Waits." + name) - n) < 0.1 * n + 0.1, f"{threads('Waits.' + name):.2f} threads in {name}")
    if case == "many":
        must(abs(threads("Waits.sleeps") - 1002) < 100, f"{threads('Waits.sleeps'):.1f} threads sleep")
        must(abs(state["sleeping"] - 1002) < 100, f"{state['sleeping']:.1f} of threads sleep")
    else:
        must(functions["Waits.isBlocked"]["run_by"].get("blocked", 0) > 0.8 * whole, "nothing is blocked")
        must(abs(state["sleeping"] - 22) < 3 and abs(state["blocked"] - 1) < 0.2, f"states: {state}")
        must(abs(threads("jdk.internal.misc.Unsafe.park") - 2) < 1.5, "the pool is not parked")
        must(state["parked"] > 1.5 and state["waiting"] > 0.9 and state["running"] > 0.8, f"states: {state}")
    sys.exit(0)
must("Truth.sleep" not in functions, "a thread that sleeps is none that runs")
if case == "loop":
    a, b = own("Truth.loopA"), own("Truth.loopB")
    must(a + b > 0.8, f"the loops have {a + b:.2f}")
    must(abs(a - b) < 0.25, f"one loop has {a:.2f}, the other {b:.2f}")
elif case == "inlined":
    must(total("Truth.inlinesIt") > 0.8, f"the caller has {total('Truth.inlinesIt'):.2f}")
    must(total("Truth.mixed") > 0.4, f"the inlined method has {total('Truth.mixed'):.2f}")
elif case == "megamorphic":
    must(total("Truth.megamorphic") > 0.8, f"the caller has {total('Truth.megamorphic'):.2f}")
    must(sum(own(f"Truth${c}.of") for c in "ABCD") > 0.1, "the callees have nothing")
elif case == "jni":
    must(total("java.util.zip.Deflater.deflate") > 0.8, f"the Java side has {total('java.util.zip.Deflater.deflate'):.2f}")
    native = sum(f["self_share"] for f in d["functions"] if "native" in f["run_by"] and "libz" in f["file"])
    must(native > 0.6, f"libz has {native:.2f}")
    must(total("Truth.compress") > 0.8, f"over JNI: {total('Truth.compress'):.2f}")
elif case == "deep":
    must(total("Truth.deep") > 0.8 and total("Truth.main") > 0.8, "recursion does not lead to main")
elif case == "search":
    must(total("Truth.searches") > 0.8 and total("Truth.main") > 0.8, "the search in a string does not lead to main")
elif case == "interpreted":
    must(functions["Truth.loopA"]["run_by"].get("interpreted", 0) > 0.2 * samples, "nothing is interpreted")
