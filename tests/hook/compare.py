#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py MOVES FILE: do moved instructions mean what they meant?

The first instructions of every function of FILE are moved (tests/hook/moves.c); objdump disassembles
both places, and each copy is compared with its original: the same instruction with the same
addresses, or the known replacement of one.  Prints what differs, then the counts."""
import re
import subprocess
import sys
import tempfile

moves, path = sys.argv[1:3]
SLOT = 128


def out(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace").stdout


machine = "aarch64" if "AArch64" in out("readelf", "-h", path) else "x86-64"
objdump = "aarch64-linux-gnu-objdump" if machine == "aarch64" else "x86_64-linux-gnu-objdump"
NEED = 4 if machine == "aarch64" else 5


def disassemble(*options):
    """address -> text, without the names of symbols and the padding between columns."""
    code = {}
    for line in out(objdump, "-w", "-z", "--no-show-raw-insn", *options).split("\n"):
        m = re.match(r"^ *([0-9a-f]+):\t(.*)", line)
        if m:
            text = re.sub(r"\s*<[^>]*>", "", m[2])
            text = re.sub(r"\s*//.*", "", text)
            text = re.sub(r"(# |^(?:(?:bnd|notrack|data16|rex\.W|cs|ds) )*\w[\w.,]*\s+|^[ct]bn?z\s.*, |^adrp?\s.*, )0x([0-9a-f]+)$",
                          r"\g<1>\2", text)  # without a symbol an address has this prefix
            code[int(m[1], 16)] = re.sub(r"\s+", " ", text).strip()
    return code


def x86_meaning(text, place):
    """The instruction with absolute addresses; place maps those that have moved."""
    text = re.sub(r",p[nt]\b", "", text)
    rip = re.match(r"(.*?)-?(?:0x)?[0-9a-f]+\((%[re]ip)\)(.*?) # ([0-9a-f]+)$", text)
    if rip:
        return "%s[%s]%s" % (rip[1], rip[4], rip[3])
    branch = re.match(r"^((?:(?:bnd|notrack|data16|rex\.W|cs|ds) )*)(j\w+|call|loop\w*|xbegin) ([0-9a-f]+)$", text)
    if branch:
        return "%s %x" % (branch[2], place.get(int(branch[3], 16), int(branch[3], 16)))
    return text


def x86_same(old, new, at, to, end, place):
    want = x86_meaning(old[at], place)
    if re.match(r"^(loop|jrcxz|jecxz)", want):
        name, target = want.split()
        return new[to] == "%s %x" % (name, to + 4) and new[to + 4].split()[1] == target
    return to in new and x86_meaning(new[to], {}) == want


def a64_address(new, to):
    """A run of mov and movk: (register, value, address behind it)."""
    m = re.match(r"^mov (x\d+), #(0x[0-9a-f]+|0)", new[to]) or re.match(r"^movz (x\d+), #(0x[0-9a-f]+)", new[to])
    if not m:
        return None
    value, reg, to = int(m[2], 16), m[1], to + 4
    while to in new and (k := re.match(r"^movk %s, #(0x[0-9a-f]+)(?:, lsl #(\d+))?" % reg, new[to])):
        shift = int(k[2] or 0)
        value = value & ~(0xffff << shift) | int(k[1], 16) << shift
        to += 4
    return reg, value, to


def a64_jump(new, to, links):
    """Where a branch or a branch through x16 leads, and the address behind it."""
    m = re.match(r"^%s ([0-9a-f]+)$" % ("bl" if links else "b"), new[to])
    if m:
        return int(m[1], 16), to + 4
    got = a64_address(new, to)
    if got and new.get(got[2]) == "%s x16" % ("blr" if links else "br") and got[0] == "x16":
        return got[1], got[2] + 4
    return None, to


def a64_same(old, new, at, to, end, place):
    text = old[at]
    m = re.match(r"^adrp? (x\d+), ([0-9a-f]+)$", text)
    if m:
        got = a64_address(new, to)
        return got is not None and got[:2] == (m[1], int(m[2], 16))
    m = re.match(r"^(b|bl) ([0-9a-f]+)$", text)
    if m:
        target = int(m[2], 16)
        return a64_jump(new, to, m[1] == "bl")[0] == place.get(target, target)
    m = re.match(r"^((?:b\.\w+|cbn?z|tbn?z)\b.*?)\s?([0-9a-f]+)$", text)
    if m:
        target = int(m[2], 16)
        if new[to] != (m[1] + " %x" % (to + 8)):
            return False
        leads, behind = a64_jump(new, to + 8, False)
        return leads == place.get(target, target) and new[to + 4] == "b %x" % behind
    m = re.match(r"^(ldr|ldrsw) (\w+), ([0-9a-f]+)$", text)
    if m:
        got = a64_address(new, to)
        return got is not None and got[1] == int(m[3], 16) and new[got[2]] == "%s %s, [%s]" % (m[1], m[2], got[0])
    if text.startswith("prfm") and re.search(r", [0-9a-f]+$", text):
        return new[to] == "nop"
    return new.get(to) == text


same = a64_same if machine == "aarch64" else x86_same
base = 0x60000000
wrong, moved, refused, reasons = [], 0, 0, {}
with tempfile.NamedTemporaryFile() as copies:
    lines = out(moves, path, copies.name, str(NEED), "%x" % base).split("\n")
    new = disassemble("-D", "-b", "binary", "-m", "aarch64" if machine == "aarch64" else "i386:x86-64",
                      "--adjust-vma=0x%x" % base, copies.name)
old = disassemble("-d", path)
slot = base
for line in lines:
    part = line.split()
    if len(part) < 3:
        continue
    addr = int(part[0], 16)
    if part[1] == "no:":
        refused += 1
        why = " ".join(part[2:])
        reasons[why] = reasons.get(why, 0) + 1
        continue
    taken, n, pairs = int(part[1]), int(part[2]), [tuple(map(int, p.split(":"))) for p in part[3:]]
    place = {addr + a: slot + b for a, b in pairs}
    for k, (a, b) in enumerate(pairs):
        end = slot + (pairs[k + 1][1] if k + 1 < len(pairs) else n)
        if addr + a not in old:
            continue  # data among code, or code that objdump reads from elsewhere on
        moved += 1
        if slot + b not in new or not same(old, new, addr + a, slot + b, end, place):
            wrong.append("%x: %s became %s" % (addr + a, old[addr + a], new.get(slot + b)))
    slot += SLOT
for line in wrong[:10]:
    print(line)
print("%d instructions, %d differ; %d functions cannot be moved: %s" % (moved, len(wrong), refused, reasons))
sys.exit(1 if wrong or not moved else 0)
