# SPDX-License-Identifier: Apache-2.0
"""What accuracy.py and real.py share: a Java program that is told what to do line by line, and Sonde's commands."""
import os
import subprocess
import tempfile


class Java:
    def __init__(self, *command):
        self.java = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                     bufsize=1)
        self.line("ready")

    def line(self, begin):
        text = self.java.stdout.readline()
        while text and not text.startswith(begin):
            text = self.java.stdout.readline()
        if not text:
            raise SystemExit("the program ended")
        return text

    def say(self, text):
        self.java.stdin.write(text + "\n")
        self.java.stdin.flush()

    def ask(self, text):
        """The words behind "ran"."""
        self.say(text)
        return self.line("ran").split()[1:]

    def end(self):
        self.java.stdin.close()
        self.java.wait()


def sonde(out, *words):
    done = subprocess.run([out + "/sonde", *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit("sonde %s: %s" % (words[0], done.stderr))
    return done.stdout


class Asked:
    """A command of Sonde's that runs while the program does.  Into files: nobody would read a pipe meanwhile, and it takes 64 KB."""

    def __init__(self, out, *words):
        self.text, self.error = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([out + "/sonde", *words], stdout=self.text, stderr=self.error)

    def is_done(self):
        return self.process.poll() is not None

    def answer(self):
        for f in (self.text, self.error):
            f.seek(0)
        if self.process.returncode:
            raise SystemExit("sonde: " + self.error.read())
        return self.text.read()


def steal():
    """Seconds that the host has taken from this machine's processors."""
    with open("/proc/stat") as f:
        return int((f.readline().split() + ["0"] * 9)[8]) / os.sysconf("SC_CLK_TCK")


def show_bar(name, figure, want, met):
    print("accuracy/%s: %s (bar: %s) %s" % (name, figure, want, "met" if met else "short"))
    return {"name": name, "figure": figure, "bar": want, "met": bool(met)}
