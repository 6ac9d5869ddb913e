# SPDX-License-Identifier: Apache-2.0
# manager.py: a sonded that tests start, ask and end.  Waits for conditions, never for a time.
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request

RELEASE = sys.argv[5]
children = []


def test(name, good, why=""):
    print(f"ok {name}-{RELEASE}" if good else f"not ok {name}-{RELEASE}: {why}", flush=True)


def wait_for(what, limit=60):
    """The first true value of what(), or its last one."""
    end, value = time.time() + limit, None
    while time.time() < end:
        value = what()
        if value:
            return value
        time.sleep(0.1)
    return value


def start(command, **how):
    child = subprocess.Popen(command, **({"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | how))
    children.append(child)
    return child


def end_children():
    for child in children:
        child.kill()
        child.wait()


class Manager:
    scheme, context = "http", None  # with TLS: https, and an ssl.SSLContext

    def __init__(self, out, store, log, options):
        self.command = [f"{out}/sonded", "--listen", "127.0.0.1:0", "--store", store, "--log", "debug", *options]
        self.log = open(log, "a+")

    def start(self, *options):
        self.log.seek(0, os.SEEK_END)
        begin = self.log.tell()
        self.process = start([*self.command, *options], stderr=self.log)

        def port():
            self.log.seek(begin)
            return re.search(r"listens on https?://127.0.0.1:(\d+)", self.log.read())
        self.port = int(wait_for(port)[1])

    def end(self):
        self.process.terminate()
        return self.process.wait(30)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log_text(self):
        self.log.seek(0)
        return self.log.read()

    def ask(self, path, body=None, method=None, headers=None, token=None):
        """The status, and the answer."""
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        all_headers = {"Content-Type": "application/json"} if data is not None or method else {}
        if token:
            all_headers["Authorization"] = "Bearer " + token
        all_headers.update(headers or {})
        request = urllib.request.Request(f"{self.scheme}://127.0.0.1:{self.port}{path}", data, all_headers,
                                         method=method or ("POST" if data is not None else "GET"))
        try:
            with urllib.request.urlopen(request, timeout=60, context=self.context) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as e:
            status, text = e.code, e.read()
        except (urllib.error.URLError, ConnectionError, TimeoutError) as e:
            return 0, {"error": str(e)}
        try:
            return status, json.loads(text) if text else {}
        except ValueError:
            return status, {"text": text.decode(errors="replace")}

    def get(self, path):
        return self.ask("/api/v1" + path)[1]
