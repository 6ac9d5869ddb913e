# SPDX-License-Identifier: Apache-2.0
"""live.py COLUMNS KEYS COMMAND...: runs a command on a terminal, presses keys (one every 1.5 s) and
prints its exit status, whether the terminal is as it was, and all it wrote."""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

columns, keys, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
main, side = pty.openpty()
fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
before = termios.tcgetattr(side)
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(side, termios.TIOCSCTTY, 0)
    for fd in 0, 1, 2:
        os.dup2(side, fd)
    os.environ.update(TERM="xterm", LANG="C.UTF-8", LC_ALL="C.UTF-8")
    os.execvp(command[0], command)
text, last, end, ended = b"", time.time(), time.time() + 30, None
while ended is None and time.time() < end:
    if select.select([main], [], [], 0.1)[0]:
        text += os.read(main, 65536)
    if keys and time.time() - last > 1.5:
        last = time.time()
        os.write(main, keys[0].encode())
        keys = keys[1:]
    got, status = os.waitpid(pid, os.WNOHANG)
    ended = os.waitstatus_to_exitcode(status) if got else None
while select.select([main], [], [], 0.1)[0]:
    text += os.read(main, 65536)
if ended is None:
    os.kill(pid, 9)
print("status", ended)
print("terminal", "as before" if termios.tcgetattr(side) == before else "changed")
sys.stdout.write(text.decode("utf-8", "replace").replace("\033", "ESC").replace("\r", ""))
