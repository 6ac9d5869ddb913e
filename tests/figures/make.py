# SPDX-License-Identifier: Apache-2.0
"""make.py SEED: a Java program that nobody wrote, as Made.java on stdout: methods that call each other and themselves,
some of them very often, in several threads, with exceptions.  It says its pid and runs until it reads a line."""
import random
import sys

r = random.Random(int(sys.argv[1]))
METHODS = r.randint(6, 12)


def body(k):
    """Statements of method k.  Calls go to methods behind it, and to any with a smaller budget of depth."""
    lines = [f"for (int i = 0; i < {r.choice([0, 3, 30, 300, 3000])}; i++) x = x * 31 + i;"]
    for _ in range(r.randint(0, 3)):
        to = r.randint(k + 1, METHODS) if r.random() < 0.7 else r.randint(0, METHODS)
        deep = "deep" if to > k else "deep - 1"
        call = f"x += m{to}({deep}, x);"
        if r.random() < 0.3:
            call = f"for (int i = 0; i < {r.choice([2, 10, 50])}; i++) {{ {call} }}" if to > k else call
        if to <= k:
            call = f"if (deep > 0) {{ {call} }}"
        if r.random() < 0.3:
            call = f"if ((x & {r.choice([1, 3, 7])}) == 0) {{ {call} }}"
        if r.random() < 0.2:
            call = f"try {{ {call} }} catch (IllegalStateException e) {{ x++; }}"
        lines.append(call)
    if r.random() < 0.2:
        lines.append("if ((x & 15) == 5 && deep < 2) throw failed;")
    return lines


print("import java.util.Scanner;\n\npublic class Made {")
print("    static final IllegalStateException failed = new IllegalStateException();")
print("    static volatile boolean enough;")
for k in range(METHODS + 1):
    print(f"\n    static int m{k}(int deep, int x) {{")
    for line in body(k) if k < METHODS else ["x ^= x >>> 3;"]:
        print("        " + line)
    print("        return x;\n    }")
threads = r.randint(1, 3)
print("\n    static void round(int x) {\n        try {")
print(f"            m{r.randint(0, 2)}({r.randint(1, 4)}, x);")
print(f"            for (int i = 0; i < {r.choice([1, 100, 3000])}; i++) m{METHODS}(0, i);")
print("        } catch (IllegalStateException e) {\n            // some do\n        }\n    }")
print("\n    static void work() {\n        for (int x = 0; !enough; x++) round(x);\n    }")
print("\n    public static void main(String[] a) throws Exception {")
print('        System.out.println("pid " + ProcessHandle.current().pid());')
print(f"        Thread[] all = new Thread[{threads}];")
print("        for (int i = 0; i < all.length; i++) (all[i] = new Thread(Made::work)).start();")
print("        new Scanner(System.in).nextLine();\n        enough = true;")
print("        for (Thread t : all) t.join();\n    }\n}")
