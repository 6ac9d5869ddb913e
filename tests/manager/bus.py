# SPDX-License-Identifier: Apache-2.0
# bus.py OUT JAVA CLASSES APP RELEASE: two real sonded on one ClickHouse and three real NATS servers, with real processes that both could
# reach: who has which, plans, requests about the other's processes, servers and managers that are killed.
import concurrent.futures
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

OUT, JAVA, CLASSES, APP, RELEASE = sys.argv[1:6]
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from manager import Manager, end_children, start, test, wait_for  # noqa: E402
from stores import Nats, Server, ask, debian, has_clickhouse  # noqa: E402

DIR = tempfile.mkdtemp()
A = "/applications/" + APP
PLAN = "/api/v1" + A + "/plan"


def start_shop():
    return start([JAVA, f"-agentpath:{OUT}/libsonde.so", "-cp", CLASSES, APP, "900"])


def make(name, port, nats):
    return Manager(OUT, f"clickhouse://127.0.0.1:{port}/bus", f"{DIR}/log-{name}",
                   ["--spool", f"{DIR}/spool-{name}", "--only", APP, "--interval", "0.5", "--watch", "off", "--bus", nats.url])


def holders(m):
    """process -> the managers that it is said to be at"""
    found = {}
    for i in m.get("/instances?application=" + APP).get("instances", []):
        if i["state"] == "connected":
            found.setdefault(i["id"], []).append(i.get("manager"))
    return found


def same_holders(managers, n):
    all_of = [holders(m) for m in managers]
    return all(len(h) == n and all(len(v) == 1 for v in h.values()) for h in all_of) and \
        all(h == all_of[0] for h in all_of) and all_of[0]


def agents(m):
    return m.get("/health").get("agents")


def is_well(m):
    health = m.get("/health")
    return health.get("status") == "ok" and health["bus"]["up"]


def all_in_force(m, rules, n):
    now = m.get(A + "/plan").get("status", [])
    states = [r["state"] for s in now for r in s["rules"]]
    return len(now) == n and states == ["in_force"] * rules * n


def own_in_force(m, rules):
    """... of the manager's own processes alone, which it tells at once."""
    own = [s["rules"] for s in m.get(A + "/plan").get("status", []) if "manager" not in s]
    return own and all([r["state"] for r in s] == ["in_force"] * rules for s in own)


def check_sharing(a, b):
    found = wait_for(lambda: same_holders([a, b], 2))
    test("manager-bus-each-process-has-one-manager", found and agents(a) + agents(b) == 2, (holders(a), holders(b)))
    met = [sum(f"({APP}): connected" in line for line in m.log_text().splitlines()) for m in (a, b)]
    test("manager-bus-nobody-takes-a-process-of-the-living", sum(met) == 2, met)
    one, two = a.get(A), b.get(A)
    test("manager-bus-both-know-all-processes", one.get("connected") == two.get("connected") == 2, (one, two))


def far_and_near(a, b):
    """A manager that has a process, the other one, and the process."""
    near = a if agents(a) else b
    name = own_name(near)
    return near, b if near is a else a, next(i for i, v in holders(near).items() if v == [name])


def own_name(m):
    return wait_for(lambda: [line.rsplit(" ", 1)[1] for line in m.log_text().splitlines() if "this manager is" in line])[-1]


def until_in_force(at, near, rules):
    """Seconds from the answer to a plan with these rules until they are in force in a process of the other manager; 60: never."""
    status, plan = at.ask(PLAN, {"version": at.get(A + "/plan")["version"], "rules": [{"text": r} for r in rules], "traces": {"keep": False}}, "PUT")
    begin = time.time()
    good = status == 200 and wait_for(lambda: near.get(A + "/plan")["version"] >= plan["version"] and own_in_force(near, len(rules)))
    return time.time() - begin if good else 60


def check_reach(at, near, name):
    """Leaves one rule."""
    took = [until_in_force(at, near, ["com.shop.Cart::*", *more]) for more in (["com.shop.Inventory::*"], ["com.shop.Payment::*"], [])]
    test(f"manager-bus-plan-is-in-force-at-the-other-in-a-second-{name}", sorted(took)[1] < 1, took)
    print("in force in its processes after", ", ".join(f"{t * 1000:.0f} ms" for t in took))


def check_plans(near, far):
    """Rules given to the manager that does not have the process."""
    status, plan = far.ask(PLAN, {"version": 0, "rules": [{"text": "com.shop.Cart::checkout"}],
                                  "traces": {"keep": False}}, "PUT")
    test("manager-bus-takes-a-plan", status == 200, plan)
    wait_for(lambda: own_in_force(near, 1))
    took = []
    for i in range(5):
        status, plan = far.ask(PLAN + "/rules", {"hook": [f"com.shop.Payment::{['reserve', 'charge', 'pay', 'a*', 'b*'][i]}"]})
        end = time.time()
        version = plan.get("version")
        if not wait_for(lambda: near.get(A + "/plan").get("version") == version, 20):
            took.append(20)
        took.append(time.time() - end)
    test("manager-bus-plan-reaches-the-other-in-a-second", sorted(took)[len(took) // 2] < 1, took)
    print("plan at the other manager after", ", ".join(f"{t * 1000:.0f} ms" for t in took))
    check_reach(far, near, "with-all-servers")
    test("manager-bus-tells-states-of-all", wait_for(lambda: all_in_force(far, 1, 2) and all_in_force(near, 1, 2)),
         (far.get(A + "/plan"), near.get(A + "/plan")))


def check_requests(far, instance):
    rows = wait_for(lambda: [r for r in far.get(f"{A}/methods?instance={instance}").get("methods", []) if r["calls"]])
    test("manager-bus-figures-of-a-far-process", rows, far.get(f"{A}/methods?instance={instance}"))
    tree = wait_for(lambda: (lambda t: t if t.get("nodes") else None)(far.get(f"{A}/tree?instance={instance}")))
    test("manager-bus-tree-of-a-far-process", tree, far.get(f"{A}/tree?instance={instance}"))
    method = urllib.parse.quote(rows[0]["method"]) if rows else ""
    callees = far.get(f"{A}/callees?instance={instance}&method={method}")
    test("manager-bus-callees-of-a-far-process", "callees" in callees, callees)
    answers = [far.ask(f"/api/v1/instances/{instance}/stacks?seconds=1&mode=wall") for _ in range(3)]
    test("manager-bus-stacks-of-a-far-process", all(status == 200 and stacks["stacks"] for status, stacks in answers), answers)
    status, wrong = far.ask(f"/api/v1/instances/{instance}/stacks?seconds=1000")
    test("manager-bus-wrong-request-is-refused-there", status == 400, wrong)
    status, dig = far.ask("/api/v1/digs", {"instance": instance, "for_ms": 5000})
    test("manager-bus-digs-in-a-far-process", status == 202 and dig["state"] == "running", dig)
    ended = wait_for(lambda: (lambda d: d if d.get("state") not in (None, "running") else None)(far.get(f"/digs/{dig.get('id')}")), 90)
    test("manager-bus-far-dig-is-read-to-its-end", ended and ended["lines"], ended)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: far.ask(f"/api/v1{A}/methods?instance={instance}")[0], range(40)))
    test("manager-bus-serves-many-at-once", set(answers) == {200}, answers)


def check_leader(nats, a, b, near, far):
    leader = wait_for(lambda: nats.leader("sonde"))
    test("manager-bus-is-kept-by-three-servers", leader is not None, [nats.told(i, "/jsz?streams=1") for i in range(3)])
    nats.kill(leader or 0)
    version = b.get(A + "/plan")["version"]
    status, plan = far.ask(PLAN + "/rules", {"hook": ["com.shop.Inventory::*"]})
    test("manager-bus-takes-a-plan-while-a-leader-is-chosen", status == 200 and plan["version"] == version + 1, plan)
    begin = time.time()
    wait_for(lambda: own_in_force(near, 3))
    print(f"in force at the other after {(time.time() - begin) * 1000:.0f} ms, while a leader is chosen")
    good = wait_for(lambda: all_in_force(a, 3, 2) and all_in_force(b, 3, 2))
    test("manager-bus-plan-goes-on-over-a-killed-leader", good, (a.get(A + "/plan"), b.get(A + "/plan")))
    test("manager-bus-is-up-with-two-of-three", wait_for(lambda: is_well(a) and is_well(b)), (a.get("/health"), b.get("/health")))
    check_reach(far, near, "with-two-of-three")
    nats.start(leader or 0)


def check_down(nats, a, b):
    """Without a bus plans go through the store, and nobody overwrites anybody."""
    nats.kill()
    down = wait_for(lambda: a.get("/health")["status"] == b.get("/health")["status"] == "degraded")
    test("manager-says-that-the-bus-is-down", down and any("bus" in p for p in a.get("/health")["problems"]), a.get("/health"))
    before = len(a.get(A + "/plan")["rules"])
    had = agents(a), agents(b)

    def hook(i):
        return (a if i % 2 else b).ask(PLAN + "/rules", {"hook": [f"com.shop.Nowhere::m{i}"]})[0]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(hook, range(4)))
    plans = wait_for(lambda: [len(m.get(A + "/plan")["rules"]) for m in (a, b)] == [before + 4] * 2)
    test("manager-without-its-bus-loses-no-rule", answers == [200] * 4 and plans, (answers, a.get(A + "/plan"), b.get(A + "/plan")))
    test("manager-without-its-bus-keeps-its-processes", (agents(a), agents(b)) == had, (had, agents(a), agents(b)))
    b.kill()
    b.start()
    test("manager-starts-without-its-bus", b.get("/health").get("status") == "degraded", b.get("/health"))
    nats.forget()
    nats.start()
    test("manager-bus-comes-back", wait_for(lambda: is_well(a) and is_well(b)), (a.get("/health"), b.get("/health")))
    test("manager-bus-each-process-has-one-manager-again", wait_for(lambda: same_holders([a, b], 2)), (holders(a), holders(b)))
    version = a.get(A + "/plan")["version"]
    test("manager-bus-catches-up", wait_for(lambda: b.get(A + "/plan")["version"] == version), (version, b.get(A + "/plan")))


def stored(m, method):
    s = m.get(f"{A}/series?method={urllib.parse.quote(method)}&from=-1800000&points=2000")
    return sum(c or 0 for c in s.get("calls", []))


def total(m, instances, method):
    parts = [[r["calls"] for r in m.get(f"{A}/methods?instance={i}").get("methods", []) if r["method"] == method] for i in instances]
    return sum(p[0] for p in parts) if all(parts) else 0


def check_take_over(near, far):
    """The processes of a killed manager go to the other one, and each call is in once."""
    instances = list(holders(near))
    method = next(r["method"] for r in far.get(f"{A}/methods?instance={instances[0]}")["methods"] if ".checkout" in r["method"])
    near.kill()
    test("manager-bus-other-takes-processes-of-a-killed-one", wait_for(lambda: agents(far) == 2, 90), far.get("/instances"))
    before = wait_for(lambda: total(far, instances, method))
    got = wait_for(lambda: (lambda n: n if n >= before else None)(stored(far, method))) or 0
    near.start()
    wait_for(lambda: is_well(near))
    got = max(got, stored(far, method))
    after = total(far, instances, method)
    test("manager-bus-counts-once-over-a-take-over", before and before <= got <= after, (before, got, after))
    far.end()
    took = time.time()
    good = wait_for(lambda: agents(near) == 2, 9)
    test("manager-bus-one-that-ends-gives-back-at-once", good, (time.time() - took, near.get("/instances")))


def check_settings():
    for name, options, says in (("needs-a-shared-store", ["--bus", "nats://n1:4222", "--store", DIR], "--store clickhouse://"),
                                ("wants-a-url-of-nats", ["--bus", "http://n1:4222"], "nats://HOST"),
                                ("wants-a-plain-bucket", ["--bus", "nats://n1:4222/a.b"], "[/BUCKET]"),
                                ("wants-certificates-that-can-be-read", ["--bus", "tls://n1:4222", "--ca", DIR, "--spool", DIR,
                                                                         "--store", "clickhouse://127.0.0.1:1/x"], "--bus")):
        ended = subprocess.run([f"{OUT}/sonded", "--listen", "127.0.0.1:0", *options], stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        test(f"manager-bus-{name}", ended.returncode not in (0, None) and says in ended.stderr, ended)


JUNK = [b"", b"{", b"null", b"\xff\xfe" * 50, b"[" * 5000, b"{}" * 10, b'{"processes":5}', b'{"processes":[null,{},{"is":5},{"is":{"id":""}}]}',
        b'{"version":-1}', b'{"version":1e99,"rules":[]}', b'{"version":9999,"rules":[{"text":"no rule("}]}', b'{"version":9998,"rules":7}']
FORGED = {"name": "Evil", "run": 1, "parts": 40000, "digs": ["../x", 5, "y"], "processes": [
    {"is": {"id": "evil-1", "application": "EvilShop", "state": "connected", "why": "\x1b[31mred\x07", "manager": "trusted", "pid": "5",
            "host": 7, "html": {"a": 1}, "overhead": {"share": 0.5, "x": 1}}, "plan": 0, "rules": "", "sum": [0, 0, 0, 0, 0, 0, 0]},
    {"is": {"id": "evil 2", "application": "EvilShop", "state": "connected"}, "plan": 0, "rules": "", "sum": [0] * 7},
    {"is": {"id": "evil-3", "application": "EvilShop", "state": "connected"}, "plan": 0, "rules": "zzz", "sum": [0] * 7},
    {"is": {"id": "evil-4", "application": "EvilShop", "state": "connected"}, "plan": 0, "rules": "", "sum": [0, -1, 0, 0, 0, 0, 0]}]}


def check_hostile(nats, a, b):
    """Whoever can write to the bus may operate, but can neither break a manager nor have it show what is not checked."""
    names = [own_name(m) for m in (a, b)]
    keys = ["manager.Evil.0", "manager.Evil.99999999999999999999", "manager.Evil.x", "manager.=00.0", "manager", "hold.x", "hold.=1", "other",
            "hold." + "a" * 400, "plan.Nobody", "plan." + "=41" * 150, "plan.=00"]
    nats.say([(f"$KV.sonde.{key}", body) for key in keys for body in JUNK] +
             [(f"sonde.{what}.{name}", body) for what in ("ask", "answer") for name in names
              for body in [*JUNK, b"1 ", b"1 Evil", b"x Evil {}", b"1 " + b"E" * 500 + b" {}", b"\0" * 15, b"\0" * 7 + b"\1" + b"\0" * 5 + b"\xc8\1junk"]] +
             [("$KV.sonde.manager.Evil.0", json.dumps(FORGED).encode())])
    found = wait_for(lambda: [i for i in a.get("/instances?application=EvilShop").get("instances", []) if i["id"] == "evil-1"])
    test("manager-bus-shows-only-what-it-knows", found == [{"manager": "Evil", "id": "evil-1", "application": "EvilShop", "state": "connected",
         "why": "\x1b[31mred\x07", "overhead": {"share": 0.5}}] and len(a.get("/instances?application=EvilShop")["instances"]) == 1,
         a.get("/instances?application=EvilShop"))
    asked = [{"method": "PUT", "path": "/api/v1/applications/*/plan", "role": 3, "args": [APP], "body": "{}"}, {"method": "GET"},
             {"method": "POST", "path": "/api/v1/digs", "role": 2, "body": "{}"}, {"method": "GET", "path": "/api/v1/instances/*", "args": 5, "query": {}},
             {"method": "GET", "path": "/api/v1/instances/*/stacks", "args": [None, 3], "query": ["seconds", "1", "mode"]}]
    answers = nats.say([(f"sonde.ask.{names[0]}", f"{n} Evil ".encode() + json.dumps(q).encode()) for n, q in enumerate(asked)],
                       "sonde.answer.Evil", len(asked))
    statuses = {struct.unpack(">Q", m[:8])[0]: struct.unpack(">H", m[12:14])[0] for m in answers}
    test("manager-bus-refuses-requests-of-other-kinds", statuses == {0: 400, 1: 400, 2: 403, 3: 400, 4: 400}, statuses)
    swept = wait_for(lambda: [line for m in (a, b) for line in m.log_text().splitlines() if "entries of managers that are gone" in line])
    test("manager-bus-takes-out-what-nobody-will", swept, a.log_text()[-2000:])
    test("manager-bus-survives-junk", is_well(a) and is_well(b) and same_holders([a, b], 2), (a.get("/health"), b.get("/health")))


def check_frozen(nats, near, far, instance):
    """Servers that take what is sent, and do not answer: nobody but who asks for a far process waits for them."""
    nats.signal(signal.SIGSTOP)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(far.ask, f"/api/v1{A}/methods?instance={instance}") for _ in range(8)]
        longest = 0

        def down():
            nonlocal longest
            begin = time.time()
            states = [m.get("/health").get("status") for m in (near, far)]
            longest = max(longest, time.time() - begin)
            return states == ["degraded"] * 2
        good = wait_for(down)
        test("manager-bus-nobody-waits-for-servers-that-hang", good and longest < 5, (good, longest))
        status, plan = far.ask(PLAN + "/rules", {"hook": ["com.shop.Payment::*"]})
        test("manager-bus-takes-a-plan-while-servers-hang", status == 200, plan)
        test("manager-bus-says-that-a-far-process-cannot-be-asked", {f.result()[0] for f in asked} == {503}, [f.result() for f in asked])
    print(f"/health of both took {longest * 1000:.0f} ms at most while servers did not answer")
    nats.signal(signal.SIGCONT)
    test("manager-bus-goes-on-when-servers-do", wait_for(lambda: is_well(near) and is_well(far)), (near.get("/health"), far.get("/health")))
    test("manager-bus-asks-again-when-servers-answer", wait_for(lambda: far.ask(f"/api/v1{A}/methods?instance={instance}")[0] == 200),
         far.get(f"{A}/methods?instance={instance}"))


def make_certificate(name, alternative):
    cert, key = f"{DIR}/{name}.pem", f"{DIR}/{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj",
                    "/CN=" + name, "-addext", "subjectAltName=" + alternative], check=True, stderr=subprocess.DEVNULL)
    return cert, ["--tls", "--tlscert", cert, "--tlskey", key]


def check_tls(port):
    """A bus that wants a password over TLS."""
    if not shutil.which("openssl"):
        print(f"skip manager-bus-tls-{RELEASE}: no openssl")
        return
    cert, options = make_certificate("localhost", "IP:127.0.0.1")
    other_cert, other_options = make_certificate("elsewhere", "DNS:elsewhere.example")
    nats = Nats(f"{DIR}/tls", 1, ["--user", "u", "--pass", "right-password", *options])
    other = Nats(f"{DIR}/tls-other", 1, ["--user", "u", "--pass", "right-password", *other_options])
    managers = {}
    for who, password, ca, to in (("may", "right-password", cert, nats), ("refused", "wrong-password", cert, nats),
                                  ("unknown-certificate", "right-password", other_cert, nats), ("other-host", "right-password", other_cert, other)):
        to.processes[0] or to.start()
        managers[who] = Manager(OUT, f"clickhouse://127.0.0.1:{port}/bus", f"{DIR}/log-{who}",
                                ["--spool", f"{DIR}/spool-{who}", "--only", "nobody", "--ca", ca,
                                 "--bus", f"tls://u:{password}@127.0.0.1:{to.ports[0]}/{who}"])
        managers[who].start()
    test("manager-bus-over-tls", wait_for(lambda: is_well(managers["may"])), (managers["may"].get("/health"), managers["may"].log_text()[-2000:]))
    for who, why in (("refused", "Authorization Violation"), ("unknown-certificate", "self-signed"), ("other-host", "address mismatch")):
        m = managers[who]
        said = wait_for(lambda: [line for line in m.log_text().splitlines() if "cannot be used" in line])
        test(f"manager-bus-is-not-used-by-{who}", said and why in said[0] and not is_well(m), (m.get("/health"), m.log_text()[-2000:]))
    nats.kill()
    nats.options = ["--user", "u", "--pass", "wrong-password", *options]
    nats.start()
    test("manager-bus-is-used-when-the-password-has-become-right", wait_for(lambda: is_well(managers["refused"])),
         (managers["refused"].get("/health"), managers["refused"].log_text()[-2000:]))
    ends = [m.end() for m in managers.values()]
    test("manager-bus-over-tls-ends-well", ends == [0] * 4, ends)
    test("manager-bus-password-is-not-logged", not any("password@" in m.log_text() or "-password" in m.log_text() for m in managers.values()))
    nats.kill()
    other.kill()


def main():
    if not has_clickhouse() or not Nats.program:
        print(f"skip manager-bus-{RELEASE}: no {'nats-server' if has_clickhouse() else 'clickhouse-server'}")
        return
    server, nats = Server("clickhouse", debian, f"{DIR}/debian"), Nats(f"{DIR}/nats", 3)
    os.mkdir(server.dir)
    server.start()
    nats.start()
    check_settings()
    ask(server.port, b"CREATE DATABASE IF NOT EXISTS bus")
    check_tls(server.port)
    nats.wait()
    a, b = make("a", server.port, nats), make("b", server.port, nats)
    for m in (a, b):
        m.start()
    test("manager-bus-comes-up", wait_for(lambda: is_well(a) and is_well(b)), (a.get("/health"), a.log_text()[-3000:]))
    for _ in range(2):
        start_shop()
    check_sharing(a, b)
    near, far, instance = far_and_near(a, b)
    check_plans(near, far)
    check_requests(far, instance)
    check_hostile(nats, a, b)
    check_frozen(nats, near, far, instance)
    check_leader(nats, a, b, near, far)
    check_down(nats, a, b)
    near, far, _ = far_and_near(a, b)
    check_take_over(near, far)
    for m in (a, b):
        test("manager-bus-ends-well", m.process.poll() == 0 or m.end() == 0, m.process.returncode)


try:
    main()
finally:
    end_children()
    shutil.rmtree(DIR, ignore_errors=True)
