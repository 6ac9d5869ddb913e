# SPDX-License-Identifier: Apache-2.0
"""make.py SEED: a Java program that nobody wrote, as Made.java on stdout: methods that call each other and themselves,
some of them very often, in several threads, with exceptions.  It says its pid and runs until it reads a line."""
import random
import sys

r = random.Random(int(sys.argv[1]))
METHODS = r.randint(6, 12)
MOST = 30_000_000  # steps of a round, about: one that takes minutes would never be seen to end


def body(k):
    """Method k: how often its loop turns, its calls as (to, deeper, how often), and its statements.  Calls go to methods
    behind it, and to any with a smaller budget of depth."""
    turns, calls = r.choice([0, 3, 30, 300, 3000]), []
    lines = [f"for (int i = 0; i < {turns}; i++) x = x * 31 + i;"]
    for _ in range(r.randint(0, 3)):
        to = r.randint(k + 1, METHODS) if r.random() < 0.7 else r.randint(0, METHODS)
        deeper = to <= k
        often = r.choice([2, 10, 50]) if not deeper and r.random() < 0.3 else 1
        call = f"x += m{to}({'deep - 1' if deeper else 'deep'}, x);"
        if often > 1:
            call = f"for (int i = 0; i < {often}; i++) {{ {call} }}"
        if deeper:
            call = f"if (deep > 0) {{ {call} }}"
        if r.random() < 0.3:
            mask = r.choice([1, 3, 7])
            often /= mask + 1
            call = f"if ((x & {mask}) == 0) {{ {call} }}"
        if r.random() < 0.2:
            call = f"try {{ {call} }} catch (IllegalStateException e) {{ x++; }}"
        lines.append(call)
        calls.append((to, deeper, often))
    if r.random() < 0.2:
        lines.append("if ((x & 15) == 5 && deep < 2) throw failed;")
    return turns, calls, lines


def steps(k, deep, known):
    """How many of a call of method k, on average."""
    if k == METHODS:
        return 1
    if (k, deep) not in known:
        turns, calls, _ = bodies[k]
        known[k, deep] = 1 + turns + sum(often * steps(to, deep - deeper, known) for to, deeper, often in calls
                                         if deep > 0 or not deeper)
    return known[k, deep]


while True:
    bodies = [body(k) for k in range(METHODS)]
    first, depth, last = r.randint(0, 2), r.randint(1, 4), r.choice([1, 100, 3000])
    if steps(first, depth, {}) < MOST:
        break

print("import java.util.Scanner;\n\npublic class Made {")
print("    static final IllegalStateException failed = new IllegalStateException();")
print("    static volatile boolean enough;")
for k in range(METHODS + 1):
    print(f"\n    static int m{k}(int deep, int x) {{")
    for line in bodies[k][2] if k < METHODS else ["x ^= x >>> 3;"]:
        print("        " + line)
    print("        return x;\n    }")
threads = r.randint(1, 3)
print("\n    static void round(int x) {\n        try {")
print(f"            m{first}({depth}, x);")
print(f"            for (int i = 0; i < {last}; i++) m{METHODS}(0, i);")
print("        } catch (IllegalStateException e) {\n            // some do\n        }\n    }")
print("\n    static void work() {\n        for (int x = 0; !enough; x++) round(x);\n    }")
print("\n    public static void main(String[] a) throws Exception {")
print('        System.out.println("pid " + ProcessHandle.current().pid());')
print(f"        Thread[] all = new Thread[{threads}];")
print("        for (int i = 0; i < all.length; i++) (all[i] = new Thread(Made::work)).start();")
print("        new Scanner(System.in).nextLine();\n        enough = true;")
print("        for (Thread t : all) t.join();\n    }\n}")
