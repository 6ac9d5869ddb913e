# SPDX-License-Identifier: Apache-2.0
# shares.py FILE BEFORE AFTER: are the shares that `sonde hot --json` tells those that Shares.java has measured itself?
# BEFORE and AFTER are its answers then.  Status 2: too few samples to tell.
import json
import math
import sys

path, before, after = sys.argv[1:]
d = json.load(open(path, encoding="utf-8"))
known = {k: int(v) for k, v in (word.split("=") for word in after.split())}
for word in before.split():
    known[word.split("=")[0]] -= int(word.split("=")[1])
functions = {}
for f in d["functions"]:
    functions.setdefault(f["name"].split("(")[0], {"self": 0, "total": 0})
    for key in ("self", "total"):
        functions[f["name"].split("(")[0]][key] += f[key]
libz = sum(f["self"] for f in d["functions"] if "libz" in f["file"])
of = lambda name, key="total": functions.get("Shares." + name, {"total": 0, "self": 0})[key]
told = {part: of("part" + part.capitalize()) for part in known}
samples, whole = sum(told.values()), sum(known.values())
print(f"{d['samples']} samples, {d['broken']} not whole, engine {d['engine']!r}")
if samples < 2500:
    sys.exit(2)
bad = []
for part, v in known.items():
    share, true = told[part] / samples, v / whole
    most = 0.01 + 4 * math.sqrt(true * (1 - true) / samples)
    print(f"{part:8} {share:7.3f} told {true:7.3f} true, within {most:.3f}")
    if abs(share - true) > most:
        bad.append(f"{part} has {share:.3f}, not {true:.3f}")


def must(held, why):
    if not held:
        bad.append(why)


must(of("sleepsOn") < 0.01 * samples, "a thread that sleeps has used a processor")
must(of("partLoop", "self") > 0.97 * told["loop"], "the loop without safepoints is charged elsewhere")
work = of("work") / (told["inlined"] + told["calls"])
must(work > 0.9, f"the inlined method has {work:.2f} of its callers")
must(libz > 0.85 * told["jni"], f"libz has {libz / told['jni']:.2f} of what calls it")
must(of("partLoopBelow") > 0.97 * told["deep"], "what runs below a deep stack is charged elsewhere")
quarters = [functions.get(f"Shares${c}.of", {"total": 0})["total"] / told["calls"] for c in "ABCD"]
must(all(abs(q - 0.25) < 0.03 + 4 * math.sqrt(0.1875 / told["calls"]) for q in quarters), f"the four receivers have {quarters}")
if bad:
    for f in d["functions"][:30]:
        print(f"  {f['self_share']:.3f} {f['total_share']:.3f} {f['name'][:90]} {f['run_by']}")
    sys.exit("; ".join(bad))
