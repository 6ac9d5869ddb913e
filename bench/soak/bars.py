# SPDX-License-Identifier: Apache-2.0
"""bars.py MAJOR WINDOWS DETACHED FAULTS CHANGES ROWS JSON: the bars of the soak, from the rows that `sample` of run wrote
in each window."""
import sys

from stats import median, shift

NAMES = ("requests", "errors", "rate", "process", "metaspace", "heap", "metaspace_counted", "not_jvm", "agent", "redefined")
WHOLE = ("requests", "errors", "redefined")

major, windows, detached, faults, changes, path, out = sys.argv[1:]
words = [line.split() for line in open(path)]
row = [[float(x) for x in line] for line in words]
n = len(row)
q = n // 4
is_whole_run = n == int(windows)


def quarters(name):
    """The second and the last."""
    values = [r[NAMES.index(name)] for r in row]
    return values[q:2 * q], values[n - q:]


def bar(name, figure, what, met):
    print(f"soak/{name}-{major}: {figure} (bar: {what}) {'met' if met else 'short'}")


def flat(name, column):
    early, late = (median(v) for v in quarters(column))
    bar(name, "%.2f MiB in the second quarter, %.2f in the last" % (early, late), "+ 2 % + 1 MiB",
        is_whole_run and 0 < late <= early * 1.02 + 1)


def beside():
    """It swings by several MiB from window to window, as compilers come and go: so the shift between the quarters."""
    early, late = quarters("not_jvm")
    x, low, high = shift(early, late)
    bar("native", "%.2f MiB beside the accounts of the JVM in the second quarter, in the last %.2f (%.2f to %.2f) more"
        % (median(early), x, low, high), "2 MiB more, or an interval that holds 0", is_whole_run and (x <= 2 or low <= 0))


requests, errors = (sum(int(r[i]) for r in row) for i in (0, 1))
print()
bar("errors", f"{errors} of {requests} requests", "0", errors == 0 and requests > 0)
bar("agent", f"{faults} faults in {changes} changes of hooks", "0", int(faults) == 0 and is_whole_run)
if q:
    flat("process", "process")
    beside()
    flat("own", "agent")
    flat("metaspace", "metaspace")
    flat("heap", "heap")
bar("original", f"byte code after detach {detached}", "proved", detached == "proved")


def as_json(line):
    return "{%s}" % ",".join('"%s":%s' % (k, int(float(x)) if k in WHOLE else x) for k, x in zip(NAMES, line))


with open(out, "w") as f:
    print('{"jdk":"%s","changes":%s,"faults":%s,"detached":"%s","windows":[%s]}'
          % (major, changes, faults, detached, ",".join(as_json(line) for line in words)), file=f)
