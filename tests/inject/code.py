# SPDX-License-Identifier: Apache-2.0
# code.py PID [LIBRARY]: all executable memory of a process, neighbouring parts put together, with a digest of its
# bytes: one line each.  Without LIBRARY, which comes and goes.
import hashlib
import sys

pid = sys.argv[1]
parts = []
with open(f"/proc/{pid}/maps") as maps:
    for line in maps:
        part = line.split(None, 5)
        begin, end = (int(x, 16) for x in part[0].split("-"))
        if "x" not in part[1] or "[vsyscall]" in line or any("/" + x in line for x in sys.argv[2:]):
            continue
        if parts and parts[-1][1] == begin:
            parts[-1][1] = end
        else:
            parts.append([begin, end])
with open(f"/proc/{pid}/mem", "rb") as mem:
    for begin, end in parts:
        mem.seek(begin)
        print(f"{begin:x}-{end:x} {hashlib.sha256(mem.read(end - begin)).hexdigest()}")
