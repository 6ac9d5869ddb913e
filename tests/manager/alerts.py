# SPDX-License-Identifier: Apache-2.0
# alerts.py OUT JAVA CLASSES APP RELEASE: sonded watches a real process that becomes slow.  Its past is written into
# the store: at this time of day its calls took a tenth of a millisecond on four days, at other times a second.
import http.server
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import threading
import time

OUT, JAVA, CLASSES, APP, RELEASE = sys.argv[1:6]
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from manager import Manager, end_children, start, test, wait_for  # noqa: E402

DIR = tempfile.mkdtemp()
MINUTE, DAY = 60000, 86400000
messages = []


class Hook(http.server.BaseHTTPRequestHandler):
    """Is busy at first."""
    asked = 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Hook.asked += 1
        if Hook.asked > 1:
            messages.append(json.loads(body))
        self.send_response(200 if Hook.asked > 1 else 503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


def mail():
    try:
        with open(f"{DIR}/mail", encoding="utf-8") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def write(path, text, mode=0o600):
    with open(path, "w", opener=lambda p, f: os.open(p, f, mode)) as f:
        f.write(text)


def write_past(methods):
    now = int(time.time() * 1000)
    db = sqlite3.connect(f"{DIR}/store/sonde.db", timeout=30)
    app = db.execute("SELECT id FROM app WHERE name = ?", (APP,)).fetchone()[0]
    instance = db.execute("SELECT id FROM instance").fetchone()[0]
    for name in methods:
        method = db.execute("SELECT id FROM method WHERE name = ?", (name,)).fetchone()[0]
        for day in range(1, 5):
            for at in range(-120, 130, 10):
                slot = now - day * DAY + at * MINUTE
                mean = 100_000 if abs(at) <= 40 else 1_000_000_000
                db.execute("INSERT INTO figure VALUES(2, ?, ?, ?, ?, 1000, 0, 1000, ?, 0, 0, 0, 0, 0, 0, 0, '')",
                           (app, method, slot - slot % 600000, instance, 1000 * mean))
    db.commit()
    db.close()


def alert(i=0):
    alerts = m.get(f"/alerts?application={APP}")["alerts"]
    return alerts[i] if len(alerts) > i else None


def sells(name):
    return next((r["method"] for r in m.get(f"/applications/{APP}/methods").get("methods", [])
                 if r["method"].split("(")[0] == f"{APP}.{name}"), None)


m = Manager(OUT, f"{DIR}/store", f"{DIR}/log", ["--only", APP, "--interval", "0.5"])


def learn_names():
    m.start("--watch", "off")
    wait_for(lambda: m.get("/applications/" + APP).get("connected"))
    m.ask(f"/api/v1/applications/{APP}/plan",
          {"version": 0, "rules": [f"{APP}::sell", f"{APP}::price"], "traces": {"keep": False}}, "PUT")
    wait_for(lambda: sells("sell") and sells("price"))
    m.end()  # what is known is in the store then
    write_past([name for name in (f"{APP}.sell", f"{APP}.price")
                for name in names_like(name)])


def names_like(name):
    db = sqlite3.connect(f"{DIR}/store/sonde.db", timeout=30)
    rows = [r[0] for r in db.execute("SELECT name FROM method WHERE name = ? OR name LIKE ? || '(%'", (name, name))]
    db.close()
    return rows


def check_alert():
    a = wait_for(alert, 70)
    test("manager-raises-an-alert-when-a-method-is-not-as-usual",
         a and a["kind"] == "slow" and a["state"] == "open" and a["methods"][0]["usual"] < 200_000 and
         a["methods"][0]["value"] > 1_000_000 and "Till" in a["text"], a or m.log_text()[-3000:])
    test("manager-callers-of-a-slow-method-are-one-alert", a and wait_for(lambda: len(alert()["methods"]) == 2), a)
    wait_for(lambda: messages)
    test("manager-web-hook-is-tried-again", messages and Hook.asked > 1 and messages[0]["event"] == "alert" and
         messages[0]["alert"]["id"] == a["id"], messages)
    test("manager-mail-is-sent", wait_for(lambda: "Subject: " + APP in mail() and "To: ops@example.org" in mail()), mail())
    page = m.ask("/metrics")[1]["text"]
    test("manager-open-alert-is-a-metric", f'sonde_alert_open{{application="{APP}",kind="slow"}} 1' in page, page)
    return a


def check_finding(a):
    found = wait_for(lambda: alert().get("finding"), 120)
    test("manager-digs-for-the-reason", found and "discount" in found, (alert(), m.log_text()[-3000:]))
    one = m.get("/alerts/" + a["id"])
    test("manager-keeps-the-evidence", "discount" in one.get("evidence", {}).get("cause", {}).get("method", ""), one)
    test("manager-tells-the-finding", wait_for(lambda: any(
        e["event"] == "finding" and "discount" in e["text"] for e in messages)) and
        wait_for(lambda: "discount" in mail()), messages)
    dig = m.get("/digs/" + one.get("dig", ""))
    test("manager-dig-of-an-alert-is-known", dig.get("by") == "alert" and dig.get("state") == "slow", dig)


def check_restart(a):
    m.kill()
    m.start(*WATCH)
    test("manager-open-alert-survives-kill", alert() and alert()["state"] == "open" and
         m.get(f"/alerts?application={APP}&open=1")["alerts"][0]["id"] == a["id"], alert())
    test("manager-unknown-alert", m.ask("/api/v1/alerts/none")[0] == 404 and m.ask("/api/v1/digs/none")[0] == 404)


def check_good_again(a):
    os.unlink(f"{DIR}/slow")
    over = wait_for(lambda: alert()["state"] == "over" and alert(), 120)
    test("manager-alert-ends-when-all-is-as-usual", over and over["id"] == a["id"] and over.get("finding"), alert())
    test("manager-good-again-is-told", wait_for(lambda: messages[-1]["event"] == "good_again"), messages[-1:])
    test("manager-raises-no-alert-twice", sum(e["event"] == "alert" for e in messages) == 1 and not alert(1), messages)


def main():
    global WATCH
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    write(f"{DIR}/sendmail", f"#!/bin/sh\ncat >>{DIR}/mail\n", 0o700)
    write(f"{DIR}/slow", "")
    WATCH = ["--watch", "dig", "--watch-window", "10", "--alert-url", f"http://127.0.0.1:{server.server_address[1]}/hook",
             "--alert-mail", "ops@example.org", "--sendmail", f"{DIR}/sendmail"]
    start([JAVA, f"-agentpath:{OUT}/libsonde.so", "-cp", CLASSES, APP, f"{DIR}/slow", "600"])
    learn_names()
    m.start(*WATCH)
    a = check_alert()
    if a:
        check_finding(a)
        check_restart(a)
        check_good_again(a)
    m.end()


try:
    main()
finally:
    end_children()
    shutil.rmtree(DIR, ignore_errors=True)
