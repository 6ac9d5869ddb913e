#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py DUMP FILE: does src/elf read FILE as readelf and nm do?

Every row of every unwinding program (readelf -wF) and every function symbol (nm) is compared.
Prints what differs, at most ten lines, then the counts; the exit status says whether all is the same."""
import bisect
import re
import subprocess
import sys

dump, path = sys.argv[1:3]


def out(*command):
    """What it printed: readelf ends with 1 where it has warned of something."""
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, errors="replace").stdout.split("\n")


def theirs_rows():
    """(address, end, CFA, fp, ra) as readelf tells; end is that of the function."""
    cies, rows, columns, shared, cie = {}, [], [], None, None
    for line in out("readelf", "-wF", path):
        line = re.sub(r" \([a-z0-9]+\)", "", line)  # another name of the register
        head = re.match(r"^([0-9a-f]{8,16}) [0-9a-f]{16} [0-9a-f]{8} (CIE|FDE)(.*)", line)
        if head:
            flush(rows, shared, cies, cie)
            shared = None
            if head[2] == "CIE":
                cie = head[1]
                cies[cie] = None
            else:
                cie = None
                at = re.search(r"cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+)", head[3])
                shared = {"cie": at[1], "from": int(at[2], 16), "to": int(at[3], 16), "rows": []}
        elif line.startswith("   LOC"):
            columns = line.split()[1:]
        elif re.match(r"^[0-9a-f]{16} \S", line):
            part = line.split()
            values = dict(zip(columns, part[1:]))
            row = (values["CFA"], values.get("rbp", values.get("x29", "u")), values.get("ra", "u"))
            if cie is not None:
                cies[cie] = row
            elif shared:
                shared["rows"].append((int(part[0], 16),) + row)
    flush(rows, shared, cies, cie)
    return rows


def flush(rows, shared, cies, _):
    if shared is None:
        return
    for row in shared["rows"] or [(shared["from"],) + cies[shared["cie"]]]:
        rows.append((row[0], shared["to"]) + row[1:])


def ours_rows():
    rows = []
    for line in out(dump, "unwind", path):
        part = line.split()
        if part:
            places = dict(p.split("=") for p in part[2:])
            rows.append((int(part[0], 16), part[1], places.get("fp"), places.get("ra")))
    return rows


def same_row(cfa, fp, ra, ours):
    by, our_fp, our_ra = ours[1:]
    kind = re.match(r"^(rsp|sp|rbp|x29)([+-]\d+)$", cfa)
    if not kind or "exp" in (fp, ra) or "vexp" in (fp, ra) or fp[0] in "rvx" or ra[0] in "rvx":
        return by in ("unknown", "plt")
    if by == "end":
        return ra == "u"
    want = ("sp" if kind[1] in ("rsp", "sp") else "fp") + kind[2]
    return by == want and our_fp == ("same" if fp in "us" else fp) and our_ra == ("same" if ra in "us" else ra)


def compare_rows(wrong):
    ours = ours_rows()
    starts = [row[0] for row in ours]
    theirs = theirs_rows()
    for at, end, cfa, fp, ra in theirs:
        i = bisect.bisect_right(starts, at) - 1
        if at < end and (i < 0 or not same_row(cfa, fp, ra, ours[i])):
            wrong.append("%x: %s fp %s ra %s, read as %s" % (at, cfa, fp, ra, ours[i] if i >= 0 else None))
    return len(theirs)


def code_ranges():
    """Addresses of the sections with code."""
    found = []
    for line in out("readelf", "-SW", path):
        m = re.match(r"^ *\[ *\d+\] \S+ +\w+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) \w+ +(\w+) ", line)
        if m and "X" in m[3]:
            found.append((int(m[1], 16), int(m[1], 16) + int(m[2], 16)))
    return found


def compare_functions(wrong):
    ours, code = set(), code_ranges()
    for line in out(dump, "functions", path):
        part = line.split(" ", 2)
        if len(part) == 3:
            ours.add((int(part[0], 16), part[2]))
    n = 0
    for option in ([], ["-D"]):
        for line in out("nm", "--defined-only", "--without-symbol-versions", *option, path):
            part = line.split(" ", 2)
            if len(part) == 3 and part[1] in "TtWi" and int(part[0], 16) and part[2][0] not in "$.":
                if not any(a <= int(part[0], 16) < b for a, b in code):
                    continue  # a weak symbol of data
                n += 1
                if (int(part[0], 16), part[2]) not in ours:
                    wrong.append("%s %s is missing" % (part[0], part[2]))
    return n


wrong = []
rows, functions = compare_rows(wrong), compare_functions(wrong)
for line in wrong[:10]:
    print(line)
print("%d rows, %d functions, %d differ" % (rows, functions, len(wrong)))
sys.exit(1 if wrong or not rows or not functions else 0)
