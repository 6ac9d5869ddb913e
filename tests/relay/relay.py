# SPDX-License-Identifier: Apache-2.0
# relay.py OUT JAVA DIRECTORY APP RELEASE: a manager that sees no agent itself, and a relay.  DIRECTORY has the
# classes, and certificates.  Waits for conditions, never for a time.
import json
import os
import re
import socket
import sqlite3
import ssl
import struct
import subprocess
import sys
import time

OUT, JAVA, DIR, APP, RELEASE = sys.argv[1:6]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../manager"))
from manager import Manager, children, end_children, start, test, wait_for  # noqa: E402

TOKENS = {name: name + "-0123456789abcdef" for name in ("operate", "view", "relay", "wrong")}
A, PAUSE = "/applications/" + APP, f"{DIR}/pause"
FOUND, ENDED, LISTED, COST, OPEN, DATA, CREDIT, CLOSE, PING = range(1, 10)


def write(path, text):
    with open(path, "w", opener=lambda p, f: os.open(p, f, 0o600)) as f:
        f.write(text)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


class SafeManager(Manager):
    scheme, context = "https", ssl.create_default_context(cafile=f"{DIR}/ca.pem")


PORT = free_port()
m = SafeManager(OUT, f"{DIR}/store", f"{DIR}/log",
                ["--listen", f"127.0.0.1:{PORT}", "--relays-only", "--only", APP, "--interval", "0.5",
                 "--tls-cert", f"{DIR}/good.pem", "--tls-key", f"{DIR}/good.key", "--token-file", f"{DIR}/operate",
                 "--view-token-file", f"{DIR}/view", "--relay-token-file", f"{DIR}/relay"])


class Relay:
    def __init__(self, *options, url=f"https://127.0.0.1:{PORT}", token="relay", ca="ca", name="far-1"):
        self.command = [f"{OUT}/sonded", "--relay", url, "--token-file", f"{DIR}/{token}", "--ca", f"{DIR}/{ca}.pem",
                        "--name", name, "--log", "debug", *options]
        self.log = f"{DIR}/{name}.{len(children)}.log"

    def start(self):
        with open(self.log, "a") as log:
            self.process = start(self.command, stderr=log)
        return self

    def said(self, text):
        with open(self.log) as log:
            return text in log.read()

    def end(self):
        self.process.terminate()
        return self.process.wait(20)

    def kill(self):
        self.process.kill()
        self.process.wait()


def start_work():
    return start([JAVA, f"-agentpath:{OUT}/libsonde.so", "-cp", DIR, APP, PAUSE, "300"])


def instances():
    return [i for i in m.get("/instances?application=" + APP).get("instances", []) if i["state"] != "ended"]


def connected():
    return sum(i["state"] == "connected" for i in instances())


def relay_of(name="far_1"):
    return next((r for r in m.get("/relays").get("relays", []) if r["name"] == name), {})


def in_force():
    status = m.get(A + "/plan").get("status", [])
    return len(status) == 2 and all([r["state"] for r in s["rules"]] == ["in_force"] for s in status)


def told():
    """method -> calls, as the two agents say to somebody beside them"""
    sums = {}
    for child in works:
        said = subprocess.run([f"{OUT}/sonde", "report", "--json", str(child.pid)], capture_output=True, text=True,
                              timeout=60)
        for row in json.loads(said.stdout)["methods"]:
            name = re.sub(r"\(.*", "", row["method"])
            sums[name] = sums.get(name, 0) + row["calls"]
    return {name: n for name, n in sums.items() if n}


def stored():
    """the same, as the store has added it up"""
    db = sqlite3.connect(f"file:{DIR}/store/sonde.db?mode=ro", uri=True, timeout=30)
    rows = db.execute("SELECT name, sum(calls) FROM figure JOIN method m ON m.id = method WHERE level = 0"
                      " GROUP BY name").fetchall()
    db.close()
    return {re.sub(r"\(.*", "", n): c for n, c in rows}


def check_sums(when):
    """With the programs at rest, the store has what the agents have counted, to the call."""
    write(PAUSE, "")
    time.sleep(0.1)
    want = wait_for(lambda: (lambda a, b: a if a == b and a else None)(told(), told()))
    got = wait_for(lambda: stored() == want and want, 30)
    test(f"relay-sums-are-exact-{when}", got and min(want.values()) > 100, (want, stored()))
    os.unlink(PAUSE)


def moves():
    """Figures of both processes grow."""
    def of(i):
        return sum(r["calls"] for r in m.get(f"{A}/methods?instance={i}").get("methods", []))
    before = {i["id"]: of(i["id"]) for i in instances()}
    return len(before) == 2 and wait_for(lambda: all(of(i) > n for i, n in before.items()), 20)


def check_finds(relay):
    test("relay-connects", wait_for(lambda: relay_of().get("state") == "connected"), relay_of())
    test("relay-shows-processes", wait_for(lambda: connected() == 2), m.get("/instances"))
    test("relay-names-the-host", all(i["host"] == i["relay"] == "far_1" and i["id"].startswith("far_1-") and
                                     i["pid"] in [w.pid for w in works] for i in instances()), instances())
    r = relay_of()
    test("relay-last-word-is-known", r["silent_ms"] < 10000 and r["agents_connected"] == 2 and r["bytes_in"] > 0, r)


def check_plan():
    status, plan = m.ask("/api/v1" + A + "/plan", {"version": 0, "rules": [{"text": APP + "::*"}],
                                                   "traces": {"keep": True, "one_in": 20}}, "PUT",
                         token=TOKENS["operate"])
    test("relay-takes-a-plan", status == 200, plan)
    test("relay-plan-reaches-processes", wait_for(in_force), m.get(A + "/plan"))
    test("relay-merges-figures", wait_for(lambda: (lambda s: len(s) == 2)([
        r for r in m.get(A + "/methods").get("methods", []) if r["calls"] > 100])), m.get(A + "/methods"))
    traces = wait_for(lambda: (lambda t: t if len({x["instance"] for x in t}) == 2 else None)(
        m.get(f"/traces?application={APP}&limit=100").get("traces", [])))
    test("relay-transactions-arrive", traces and all(t["root"].startswith(APP) for t in traces), traces)
    rows = m.get(f"/traces/{traces[0]['id']}") if traces else {}
    test("relay-transactions-are-whole", rows.get("calls", 0) == 3, rows)


def dig(instance, for_ms):
    status, answer = m.ask("/api/v1/digs", {"instance": instance, "for_ms": for_ms}, token=TOKENS["operate"])
    return answer.get("id", f"{status} {answer}")


def ended(number):
    return wait_for(lambda: (lambda d: d if d.get("state") != "running" else None)(m.get(f"/digs/{number}")), 60)


def check_digs():
    number = dig(instances()[0]["id"], 2000)
    answer = ended(number)
    test("relay-digs", answer and answer["state"] in ("slow", "nothing") and len(answer["lines"]) > 3 and
         isinstance(answer.get("answer"), dict), answer)
    number = dig(instances()[0]["id"], 60000)
    wait_for(lambda: m.get(f"/digs/{number}").get("lines"))
    m.ask(f"/api/v1/digs/{number}", method="DELETE", token=TOKENS["operate"])
    answer = ended(number)
    test("relay-digs-are-cancelled", answer and answer["state"] == "cancelled", answer)


def check_kill_of_relay(relay):
    number = dig(instances()[0]["id"], 60000)
    wait_for(lambda: m.get(f"/digs/{number}").get("lines"))
    relay.kill()
    answer = ended(number)
    test("relay-kill-ends-its-digs", answer and answer["state"] == "failed" and "went away" in answer["why"], answer)
    test("relay-kill-is-seen", wait_for(lambda: relay_of().get("state") == "away" and connected() == 0), relay_of())
    test("relay-is-named-as-the-reason", all("far_1 is away" in i["why"] for i in instances()), instances())
    relay.start()
    test("relay-comes-back", wait_for(lambda: connected() == 2), instances())
    test("relay-figures-go-on", moves(), instances())
    check_sums("over-a-kill-of-the-relay")


def check_kill_of_manager(relay):
    m.kill()
    lost = wait_for(lambda: relay.said("connection lost"))
    time.sleep(1)  # calls that nobody asks for meanwhile
    m.start()
    test("relay-connects-again", lost and wait_for(lambda: connected() == 2), instances())
    test("relay-figures-go-on-again", moves(), instances())
    check_sums("over-a-kill-of-the-manager")


# ---- who is refused ----

def check_refusals():
    wrong = {
        "wrong-token": (Relay(token="wrong", name="a"), "(401): a relay's token is needed"),
        "operate-token": (Relay(token="operate", name="b"), "(403): a relay's token is needed"),
        "foreign-certificate": (Relay(ca="other", name="c"), "certificate"),
        "name-of-another": (Relay(name="far-1"), None),
    }
    for name, (relay, said) in wrong.items():
        if said:
            relay.start()
            test(f"relay-{name}-is-refused", wait_for(lambda: relay.said(said), 20), open(relay.log).read())
            relay.end()
    test("relay-token-may-not-look", m.ask("/api/v1/applications", token=TOKENS["relay"])[0] == 403)
    test("relay-refused-ones-are-not-there", not {r["name"] for r in m.get("/relays")["relays"]} & {"a", "b", "c"})


def check_certificates():
    """Of managers that a relay must not talk to, though they have a certificate of the right origin."""
    for name, said in (("expired", "expired"), ("elsewhere", "does not match")):
        other = SafeManager(OUT, f"{DIR}/store-{name}", f"{DIR}/log-{name}",
                            ["--listen", "127.0.0.1:0", "--relays-only", "--tls-cert", f"{DIR}/{name}.pem",
                             "--tls-key", f"{DIR}/{name}.key", "--relay-token-file", f"{DIR}/relay"])
        other.start()
        relay = Relay(url=f"https://127.0.0.1:{other.port}", name=name).start()
        test(f"relay-{name}-certificate-is-refused", wait_for(lambda: relay.said(said), 20), open(relay.log).read())
        test(f"relay-shows-{name}-no-token", "relay far" not in other.log_text() and
             "connected" not in open(relay.log).read())
        relay.end()
        other.end()


def check_settings():
    def run(*options):
        return subprocess.run([f"{OUT}/sonded", *options], capture_output=True, text=True, timeout=20)
    test("relay-is-in-the-help", "--relay URL" in run("--help").stdout)
    plain = run("--relay", "http://192.0.2.1:7117", "--token-file", f"{DIR}/relay")
    test("relay-without-tls-is-refused", plain.returncode == 2 and "--plain" in plain.stderr, plain)
    none = run("--relay", "https://192.0.2.1:7117")
    test("relay-needs-a-token", none.returncode == 2 and "--token-file" in none.stderr, none)


# ---- hostile ones ----

def frame(kind, channel=0, payload=b""):
    return struct.pack(">BBHI", kind, 0, channel, len(payload)) + payload


def found(number, pid=1, ticks=1, user=b"x"):
    return frame(FOUND, 0, struct.pack(">IIQ", number, pid, ticks) + user)


def connect(name, protocol="sonde-relay/1", where="x.1"):
    """A made-up relay: its socket, and what the manager answered."""
    s = SafeManager.context.wrap_socket(socket.create_connection(("127.0.0.1", PORT), timeout=20),
                                        server_hostname="127.0.0.1")
    s.sendall((f"GET /api/v1/relay?name={name}&where={where}&build=made%20up HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n"
               f"Connection: Upgrade\r\nUpgrade: {protocol}\r\nAuthorization: Bearer {TOKENS['relay']}\r\n\r\n").encode())
    head = b""
    while b"\r\n\r\n" not in head:
        more = s.recv(4096)
        if not more:
            break
        head += more
    return s, head


def is_ended(s):
    try:
        while s.recv(65536):
            pass
    except ConnectionError:
        pass
    except TimeoutError:
        return False
    return True


def check_hostile():
    hostile = {
        "length": (frame(DATA, 0, b"x")[:4] + b"\xff\xff\xff\xff", "wrong length"),
        "unknown-channel": (frame(DATA, 7, b"x"), "not open"),
        "unknown-frame": (frame(77), "not its to send"),
        "channel-number": (struct.pack(">BBHI", DATA, 0, 60000, 1) + b"x", "cannot be"),
        "agent-twice": (found(1) + found(1), "an agent twice"),
        "too-many-agents": (b"".join(found(n + 1, n + 1) for n in range(501)), "too many agents"),
        "no-frames": (b"GET / HTTP/1.1\r\n\r\n" * 100, "not its to send"),
    }
    for name, (text, said) in hostile.items():
        s, head = connect("hostile." + name.replace("-", "."))
        s.sendall(text)
        ended = is_ended(s)
        logged = wait_for(lambda: any(said in line and name.replace("-", ".") in line
                                      for line in m.log_text().splitlines()), 10)
        test(f"relay-hostile-{name}-is-ended", b" 101 " in head and ended and logged, (head, ended, said))
        s.close()
    s, head = connect("old", "sonde-relay/0")
    test("relay-other-version-is-refused", b" 426 " in head and b"use the same version" in head + s.recv(4096), head)
    s, head = connect("far-1", where="other.1")
    test("relay-second-of-a-name-is-refused", b" 409 " in head, head)
    test("relay-others-are-unharmed", connected() == 2 and relay_of()["state"] == "connected", m.get("/relays"))


def check_end(relay):
    victim = works[1]
    victim.kill()
    victim.wait()
    ended = wait_for(lambda: any(i["pid"] == victim.pid and i["state"] == "ended"
                                 for i in m.get("/instances?application=" + APP)["instances"]))
    test("relay-tells-the-end-of-a-process", ended, m.get("/instances"))
    test("relay-ends-well", relay.end() == 0)
    test("relay-manager-ends-well", m.end() == 0)


works = []


def main():
    for name, token in TOKENS.items():
        write(f"{DIR}/{name}", token + "\n")
    works.extend([start_work(), start_work()])
    m.start()
    relay = Relay().start()
    check_finds(relay)
    check_plan()
    check_settings()
    check_refusals()
    check_digs()
    check_kill_of_relay(relay)
    check_kill_of_manager(relay)
    check_hostile()
    check_certificates()
    check_end(relay)


try:
    main()
finally:
    end_children()
