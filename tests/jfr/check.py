# SPDX-License-Identifier: Apache-2.0
# check.py FILE.collapsed EVENTS.json KIND: the same stacks with the same values as 'jfr print --json' has; KIND:
# count, alloc (bytes) or lock (ns, nearly).
import collections, json, re, sys

def names(text):
    return text.replace("/", ".")

# "[Lcom/a/B;", as also com.a.B[]
def class_name(text):
    n = len(text) - len(text.lstrip("["))
    one = text[n:]
    basic = {"B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long", "S": "short", "Z": "boolean"}
    if n:
        one = basic.get(one) or one.removeprefix("L").removesuffix(";")
    return names(one) + "[]" * n

def seconds(text):
    m = re.fullmatch(r"PT(?:(\d+)M)?(?:([\d.]+)S)?", text)
    return 60 * float(m[1] or 0) + float(m[2] or 0)

kind = sys.argv[3]
want, got = collections.Counter(), collections.Counter()
for event in json.load(open(sys.argv[2]))["recording"]["events"]:
    v = event["values"]
    if not v.get("stackTrace") or not v["stackTrace"]["frames"]:
        continue
    stack = []
    for f in reversed(v["stackTrace"]["frames"]):
        m = f["method"]
        stack.append(names(m["type"]["name"]) + "." + m["name"] + m["descriptor"])
    if kind == "alloc":
        stack.append(class_name(v["objectClass"]["name"]))
    if kind == "lock":
        stack.append(class_name(v["monitorClass"]["name"]))
    text = ";".join(frame.replace(";", ":") for frame in stack)
    want[text] += v["weight"] if kind == "alloc" else round(seconds(v["duration"]) * 1e9) if kind == "lock" else 1
for line in open(sys.argv[1]):
    stack, value = line.rstrip("\n").rsplit(" ", 1)
    got[stack] += int(value)
if not want:
    sys.exit("there are no events to compare with")
for stack in want.keys() | got.keys():
    near = abs(want[stack] - got[stack]) <= (1000 + want[stack] / 1000 if kind == "lock" else 0)
    if not near:
        sys.exit(f"{got[stack]}, not {want[stack]}: {stack[-300:]}")
print(f"{len(want)} stacks, {sum(want.values())} in all, are the same")
