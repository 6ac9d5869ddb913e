# SPDX-License-Identifier: Apache-2.0
"""person.py COMMAND... -- STEP...: runs a command on a terminal of 100 x 24 and does what a person would:

    press:TEXT    types it (Python's escapes)
    see:REGEX     looks at the screen until it shows that, for 20 s at most
    not:REGEX     the screen that was seen last does not show that
    size:CxR      makes the terminal another size
    ended:N       the command ends with this status, and the terminal is as it was

Says at which step it has failed, with the screen.  A screen is what was drawn since the cursor went home."""
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

split = sys.argv.index("--")
command, steps = sys.argv[1:split], sys.argv[split + 1:]
main, side = pty.openpty()
written, last, status = b"", "", None


def set_size(columns, rows):
    fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def start():
    child = os.fork()
    if child:
        return child
    os.setsid()
    fcntl.ioctl(side, termios.TIOCSCTTY, 0)
    for fd in 0, 1, 2:
        os.dup2(side, fd)
    os.environ.update(TERM="xterm", LANG="C.UTF-8", LC_ALL="C.UTF-8")
    os.execvp(command[0], command)


def read(seconds):
    global written
    end = time.time() + seconds
    while time.time() < end:
        if select.select([main], [], [], 0.05)[0]:
            written += os.read(main, 65536)


def screen():
    """The newest one that is whole."""
    views = written.decode("utf-8", "replace").split("\033[?2026h\033[H")[1:]
    whole = [v.split("\033[?2026l")[0] for v in views if "\033[?2026l" in v]
    return re.sub("\033\\[[?0-9;]*[A-Za-z]|\r", "", whole[-1]) if whole else ""


def see(what):
    global last
    end = time.time() + 20
    while time.time() < end:
        read(0.1)
        last = screen()
        if re.search(what, last, re.M):
            return True
    return False


def ended(want):
    global status
    end = time.time() + 20
    while status is None and time.time() < end:
        read(0.1)
        got, how = os.waitpid(child, os.WNOHANG)
        status = os.waitstatus_to_exitcode(how) if got else None
    return status == want and termios.tcgetattr(side) == before


def do(step):
    verb, _, what = step.partition(":")
    if verb == "press":
        os.write(main, codecs.decode(what, "unicode_escape").encode())
        return True
    if verb == "size":
        set_size(*map(int, what.split("x")))
        return True
    if verb == "not":
        return not re.search(what, last, re.M)
    return ended(int(what)) if verb == "ended" else see(what)


set_size(100, 24)
before = termios.tcgetattr(side)
child = start()
for step in steps:
    if not do(step):
        print(screen() or written.decode("utf-8", "replace").replace("\033", "ESC"))
        print("failed at", step, "status", status)
        if status is None:
            os.kill(child, signal.SIGTERM)
        sys.exit(1)
