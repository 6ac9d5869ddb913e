# SPDX-License-Identifier: Apache-2.0
# check.py OUT JAVA CLASSES APP RELEASE: a real sonded with real shops; STORE: another store than SQLite.  Waits for conditions, never for a time.
import concurrent.futures
import json
import os
import re
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

OUT, JAVA, CLASSES, APP, RELEASE = sys.argv[1:6]
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import receiver  # noqa: E402
from manager import Manager, children, end_children, start, test, wait_for  # noqa: E402

DIR = tempfile.mkdtemp()
TOKEN, VIEW = "operate-0123456789abcdef", "view-0123456789abcdef"
RULES = ["com.shop.Cart::checkout", "com.shop.Payment::*",
         "hook com.shop.Inventory::* inside com.shop.Cart::checkout"]


def start_shop():
    return start([JAVA, f"-agentpath:{OUT}/libsonde.so", "-cp", CLASSES, APP, "600"])


collector = receiver.Receiver()
STORE = os.environ.get("STORE") or f"{DIR}/store"
IS_SQLITE = STORE.startswith("/")
m = Manager(OUT, STORE, f"{DIR}/log", ["--spool", f"{DIR}/spool", "--only", APP, "--interval", "0.5", "--token-file", f"{DIR}/token",
                                               "--view-token-file", f"{DIR}/view", "--otlp-url", collector.url,
                                               "--otlp-interval", "2", "--otlp-header", "Authorization: Bearer otlp"])
A = "/applications/" + APP


def write(path, text):
    with open(path, "w", opener=lambda p, f: os.open(p, f, 0o600)) as f:
        f.write(text)


def states():
    """instance -> the states of its rules"""
    return {s["instance"]: [r["state"] for r in s["rules"]] for s in m.get(A + "/plan").get("status", [])}


def all_in_force(instances, rules):
    now = states()
    return len(now) == instances and all(len(s) == rules and set(s) == {"in_force"} for s in now.values()) and now


def connected():
    return m.get(A).get("connected", 0)


def totals(instance=None):
    rows = m.get(A + "/methods" + (f"?instance={instance}" if instance else "")).get("methods", [])
    return {r["method"]: r["calls"] for r in rows if r["method"].startswith("com.shop")}


def check_plans():
    status, plan = m.ask("/api/v1" + A + "/plan", {"version": 0, "rules": [{"text": r} for r in RULES],
                                                   "traces": {"keep": True, "one_in": 50}, "comment": "first"}, "PUT")
    test("manager-takes-a-plan", status == 200 and plan["version"] == 1, plan)
    test("manager-plan-reaches-all-processes", wait_for(lambda: all_in_force(2, 3)), states())
    start_shop()
    test("manager-plan-reaches-who-joins-later", wait_for(lambda: all_in_force(3, 3)), states())
    status, answer = m.ask("/api/v1" + A + "/plan", {"version": 0, "rules": []}, "PUT")
    test("manager-second-writer-conflicts", status == 409 and answer["error"]["version"] == 1, answer)
    status, answer = m.ask("/api/v1" + A + "/plan/rules", {"hook": ["com.shop.Cart::checkout tmied"]})
    test("manager-wrong-rule-is-refused",
         status == 400 and answer["error"]["problems"][0]["hint"].find("timed") >= 0, answer)


def check_same_again():
    """What asks for nothing new is no new version; a rule that is asked for twice stays as long as one wants it."""
    rule = {"hook": ["com.shop.Nowhere::again"], "expires_ms": int(time.time() * 1000) + 600000}
    one = m.ask("/api/v1" + A + "/plan/rules", rule)[1]
    status, same = m.ask("/api/v1" + A + "/plan/rules", rule)
    test("manager-same-rule-again-is-no-new-version", status == 200 and same["version"] == one["version"], same)
    longer = m.ask("/api/v1" + A + "/plan/rules", rule | {"expires_ms": rule["expires_ms"] + 1000})[1]
    shorter = m.ask("/api/v1" + A + "/plan/rules", rule | {"expires_ms": rule["expires_ms"] - 1000})[1]
    test("manager-rule-stays-as-long-as-the-longest-wish",
         [r["expires_ms"] for r in shorter["rules"] if r.get("expires_ms")] == [rule["expires_ms"] + 1000] and
         shorter["version"] == longer["version"], shorter)
    m.ask("/api/v1" + A + "/plan/rules", {"unhook": rule["hook"]})


def check_two_clients():
    def hook(i):
        return m.ask("/api/v1" + A + "/plan/rules", {"hook": [f"com.shop.Nowhere::m{i}"], "comment": f"{i}"})[0]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(hook, range(8)))
    plan = m.get(A + "/plan")
    test("manager-two-clients-lose-no-rule", answers == [200] * 8 and len(plan["rules"]) == 11, plan["rules"])
    waiting = wait_for(lambda: all(s.count("waiting") == 8 for s in states().values()))
    test("manager-rule-without-method-waits", waiting, states())
    status, plan = m.ask("/api/v1" + A + "/plan/undo", {"version": 1})
    history = m.get(A + "/plan/history")["versions"]
    test("manager-undo-makes-a-new-version",
         status == 200 and plan["version"] == 10 and len(plan["rules"]) == 3 and len(history) == 10 and
         len(history[0]["removed"]) == 8, plan)
    test("manager-undo-reaches-all-processes", wait_for(lambda: all_in_force(3, 3)), states())


def check_figures():
    merged = wait_for(lambda: (lambda t: t if len(t) == 5 and min(t.values()) > 0 else None)(totals()))
    test("manager-merges-figures", merged, totals())
    one = {i["id"]: None for i in m.get("/instances?application=" + APP)["instances"]}
    checkout = next(n for n in totals() if ".checkout" in n)
    before = totals()[checkout]
    parts = sum(r["calls"] for i in one for r in m.get(f"{A}/methods?instance={i}")["methods"]
                if r["method"] == checkout)
    test("manager-sum-is-that-of-its-parts", before <= parts <= totals()[checkout], (before, parts))
    tree = wait_for(lambda: (lambda t: t if t.get("instances") == 3 else None)(m.get(A + "/tree")))
    nodes = {n["id"]: n for n in (tree or {}).get("nodes", [])}
    test("manager-merges-trees", tree and len(nodes) == len(tree["nodes"]) and all(
        n["depth"] == (nodes[n["parent"]]["depth"] + 1 if "parent" in n else 0) for n in nodes.values()), tree)
    columns = m.get(A + "/tree?format=columns")
    test("manager-tree-as-columns", len({len(c) for c in columns["columns"].values()}) == 1 and
         columns["total"] >= len(nodes), columns)
    callees = m.get(f"{A}/callees?method={urllib.parse.quote(checkout)}")
    test("manager-lists-callees", any("Payment.reserve" in c["method"] and c["hooked"]
                                      for c in callees.get("callees", [])), callees)
    explained = m.get(f"{A}/explain?method={urllib.parse.quote(checkout)}")
    test("manager-explains", any("plan" in t or "hook" in t for t in explained.get("texts", [])), explained)
    return checkout


def stored(checkout):
    s = m.get(f"{A}/series?method={urllib.parse.quote(checkout)}&from=-600000&points=2000")
    return sum(c or 0 for c in s.get("calls", []))


def with_store(sql, *values):
    """The first row, if there is one."""
    db = sqlite3.connect(f"{DIR}/store/sonde.db", timeout=30)
    row = db.execute(sql, values).fetchone()
    db.commit()
    db.close()
    return row


def break_store():
    """Figures cannot be written from now on; all else can."""
    with_store("CREATE TRIGGER broken BEFORE INSERT ON base BEGIN SELECT RAISE(ABORT, 'broken by the test'); END")


def mend_store():
    failed = wait_for(lambda: m.get("/health").get("store", {}).get("failed"))
    test("manager-counts-what-cannot-be-stored", failed, m.get("/health"))
    with_store("DROP TRIGGER broken")


def check_mended(checkout):
    """Neither names nor calls of the time in which nothing was stored are missing."""
    wait_for(lambda: stored(checkout))
    sums = with_store("SELECT (SELECT sum(calls) FROM figure WHERE level = 0 AND method = m.id),"
                      " (SELECT sum(calls) FROM base WHERE method = m.id) FROM method m WHERE name = ?", checkout)
    test("manager-finds-again-what-was-not-stored", sums and sums[0] and sums[0] == sums[1], sums)


def check_restart(checkout):
    """Sums are exact over a kill -9: all that was told before is in, and nothing is in twice."""
    m.kill()
    m.start()
    plan = wait_for(lambda: m.get(A + "/plan").get("version"))
    test("manager-plan-survives-kill", plan == 10, plan)
    test("manager-comes-back-to-all", wait_for(lambda: connected() == 3), connected())
    instances = [i["id"] for i in m.get("/instances?application=" + APP)["instances"]]
    test("manager-hears-of-all-again", wait_for(lambda: all(totals(i).get(checkout) for i in instances)), totals())
    before = totals()[checkout]
    got = wait_for(lambda: (lambda n: n if n >= before else None)(stored(checkout)), 40) or 0
    after = totals()[checkout]
    test("manager-counts-once-over-a-kill", before <= got <= after, (before, got, after))


def check_limits():
    """What left by its own limit stays out when sonded starts anew, also what left meanwhile."""
    rule = "com.shop.Cart::total calls 5"
    version = m.ask("/api/v1" + A + "/plan/rules", {"hook": [rule]})[1]["version"]
    gone = wait_for(lambda: all("gone" in s for s in states().values()) and len(states()) == 3)
    test("manager-rule-leaves-by-its-limit", gone, states())
    m.kill()
    m.start()
    again = wait_for(lambda: len(states()) == 3 and all(len(set(s)) == 2 and s.count("in_force") == 3
                                                        for s in states().values()))
    test("manager-limits-outlast-a-restart", again and all(s[-1] == "gone" for s in states().values()), states())
    if IS_SQLITE:
        check_damaged_plan(version)
    else:
        m.ask("/api/v1" + A + "/plan/undo", {"version": version - 1})
        wait_for(lambda: all_in_force(3, 3))


def check_damaged_plan(version):
    """A plan that cannot be read is not overwritten by somebody who sees none."""
    m.kill()
    with_store("UPDATE plan SET doc = '{\"rules\": 1}' WHERE version = ?", version)
    m.start()
    wait_for(lambda: connected() == 3)
    status, answer = m.ask("/api/v1" + A + "/plan", {"version": 0, "rules": []}, "PUT")
    test("manager-damaged-plan-is-not-overwritten", status == 409 and answer["error"]["code"] in ("damaged", "conflict"), answer)
    status, answer = m.ask("/api/v1" + A + "/plan/rules", {"hook": ["com.shop.Cart::total"]})
    test("manager-damaged-plan-takes-no-rules", status == 409 and answer["error"]["code"] == "damaged", answer)
    methods = sorted(i["methods"] for i in m.get("/instances?application=" + APP)["instances"])
    test("manager-damaged-plan-changes-no-process", wait_for(lambda: methods[0] > 0), methods)
    status, plan = m.ask("/api/v1" + A + "/plan/undo", {"version": version - 1})
    test("manager-damaged-plan-can-go-back", status == 200 and len(plan["rules"]) == 3 and
         wait_for(lambda: all_in_force(3, 3)), plan)


def check_traces():
    rows = wait_for(lambda: m.get(f"/traces?application={APP}&limit=5").get("traces"))
    test("manager-keeps-transactions", rows, open(f"{DIR}/log").read()[-2000:])
    if not rows:
        return
    one = m.get("/traces/" + rows[0]["id"])
    good = one["parts"] and all(
        0 <= c[0] < len(one["names"]) and -1 <= c[1] < k and c[3] <= one["elapsed_ns"] + 1000
        for p in one["parts"] for k, c in enumerate(p["calls"]))
    test("manager-transaction-is-whole", good and sum(len(p["calls"]) for p in one["parts"]) == rows[0]["calls"], one)
    events = m.get(f"/traces/{rows[0]['id']}/perfetto")["traceEvents"]
    test("manager-exports-perfetto", sum(e["ph"] == "X" for e in events) == rows[0]["calls"], events)
    otlp = m.get(f"/traces/{rows[0]['id']}/otlp")
    spans = otlp["resourceSpans"][0]["scopeSpans"][0]["spans"]
    ids = {s["spanId"] for s in spans}
    test("manager-exports-otlp", len(ids) == rows[0]["calls"] and
         all(s.get("parentSpanId", spans[0]["spanId"]) in ids for s in spans), spans[:2])
    check_otlp_reader(otlp, len(spans))
    heat = m.get(f"/traces/heatmap?application={APP}&from=-600000&columns=10&rows=8")
    cells = sum(sum(r) for r in heat["cells"])
    test("manager-heat-map", heat["total"] == cells > 0 and len(heat["bounds_ns"]) == 9, heat)
    page = m.get(f"/traces?application={APP}&limit=2")
    more = m.get(f"/traces?application={APP}&limit=2&before={page['next']}")["traces"]
    test("manager-pages-of-transactions", not {t["id"] for t in page["traces"]} & {t["id"] for t in more} and more, more)
    slow = m.get(f"/traces?application={APP}&min_ns=100000000000")["traces"]
    failed = m.get(f"/traces?application={APP}&failed=1")["traces"]
    test("manager-filters-transactions", slow == [] and all(t["failed"] for t in failed), failed)


def check_otlp_reader(otlp, n):
    if not receiver.json_format:
        print(f"skip manager-otlp-reader-{RELEASE}: no opentelemetry-proto for python3")
        return
    request = receiver.json_format.ParseDict(receiver.hex_ids_to_base64(otlp), receiver.trace_service_pb2.ExportTraceServiceRequest())
    test("manager-otlp-reader", len(request.resource_spans[0].scope_spans[0].spans) == n, request)


def check_push():
    """What the collector has got."""
    wait_for(lambda: len(collector.spans) > 100 and collector.metrics)
    with collector.lock:
        spans, metrics = list(collector.spans), list(collector.metrics)
    asked = [path for path, _ in collector.asked]
    test("manager-pushes-spans", spans and all(s["service"] == APP for s in spans) and not collector.errors,
         (asked, collector.errors))
    test("manager-push-is-tried-again", asked.count("/v1/traces") >= 3 and not collector.refusals, asked)
    ids = {s["spanId"] for s in spans}
    test("manager-pushes-each-span-once", len(ids) == len(spans), (len(ids), len(spans)))
    test("manager-pushed-spans-are-whole-traces", all(s.get("parentSpanId", s["spanId"]) in ids for s in spans))
    test("manager-push-sends-headers", all(a == "Bearer otlp" for _, a in collector.asked), collector.asked[:5])
    collector.refuse_part = True
    test("manager-counts-what-the-collector-refused",
         wait_for(lambda: "sonde_manager_otlp_rejected_total 3\n" in m.ask("/metrics")[1]["text"]))
    check_pushed_metrics(metrics)


def check_pushed_metrics(metrics):
    series = {}
    for x in metrics:
        series.setdefault((x["name"], x["instance"], x["method"]), []).append(x["point"])
    calls = {k: [p["asDouble"] for p in v] for k, v in series.items() if k[0] == "sonde.method.calls"}
    test("manager-pushed-counters-only-grow", calls and any(v[-1] > v[0] for v in calls.values()) and
         all(v == sorted(v) for v in calls.values()), calls)
    now = {name: calls for name, calls in totals().items() if ".total(" not in name}  # whose rule has left
    last = {name: sum(v[-1] for (_, _, n), v in calls.items() if n == name) for name in now}
    test("manager-pushed-counters-are-the-figures", all(0 < last[n] <= now[n] for n in now), (last, now))
    histograms = [v[-1] for k, v in series.items() if k[0] == "sonde.method.duration"]
    test("manager-pushes-histograms", histograms and all(
        sum(h["bucketCounts"]) == int(h["count"]) and len(h["bucketCounts"]) == len(h["explicitBounds"]) + 1
        for h in histograms), histograms[:2])


def check_events():
    with urllib.request.urlopen(f"http://127.0.0.1:{m.port}/api/v1/events?application={APP}", timeout=30) as stream:
        test("manager-streams-have-security-headers", stream.headers["X-Content-Type-Options"] == "nosniff" and
             "default-src 'none'" in stream.headers["Content-Security-Policy"], dict(stream.headers))
        seen, end, asked = set(), time.time() + 25, False
        while time.time() < end and not {"hello", "plan", "status", "traces"} <= seen:
            line = stream.readline().decode()
            if line.startswith("event: "):
                seen.add(line[7:].strip())
            if "hello" in seen and not asked and not line.strip():
                asked = True
                m.ask("/api/v1" + A + "/plan/rules", {"hook": ["com.shop.Catalog::*"]})
        heard = []
        while len(heard) < 12 and time.time() < end:
            if stream.readline().decode().strip() == "event: traces":
                heard.append(time.time())
    test("manager-tells-events", {"hello", "plan", "status", "traces"} <= seen, seen)
    # a transaction in 50 is kept of thousands a second; the first ones may have waited for us
    test("manager-tells-of-many-transactions-at-once", len(heard) == 12 and heard[-1] - heard[3] > 1.5, heard)


def check_metrics():
    status, page = m.ask("/metrics")
    test("manager-metrics", status == 200 and f'application="{APP}"' in page["text"], page)
    if not shutil.which("promtool"):
        print(f"skip manager-promtool-{RELEASE}: no promtool")
        return
    said = subprocess.run(["promtool", "check", "metrics"], input=page["text"], text=True, capture_output=True)
    test("manager-promtool", said.returncode == 0, said.stderr + said.stdout)


def raw(text, close=False):
    """What comes back for these bytes."""
    with socket.create_connection(("127.0.0.1", m.port), timeout=20) as s:
        s.sendall(text)
        if close:
            return b""
        try:
            return s.recv(65536)
        except (TimeoutError, ConnectionError):
            return b""


def as_nobody(code):
    said = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", sys.executable,
                           "-c", code], capture_output=True, text=True, timeout=60)
    return said.stdout.strip() or said.stderr


ASK = """
import urllib.request, urllib.error
try:
    print(urllib.request.urlopen("http://127.0.0.1:%d/api/v1/applications", timeout=20).status)
except urllib.error.HTTPError as e:
    print(e.code)
"""
SEND_AND_CLOSE = """
import socket
for i in range(50):
    s = socket.create_connection(("127.0.0.1", %d))
    s.sendall(%r)
    s.close()
print("sent")
"""


def check_refusals():
    wrong = {
        "wrong-token": (m.ask("/api/v1/applications", token="x" * 20)[0], 401),
        "view-may-look": (m.ask("/api/v1/applications", token=VIEW)[0], 200),
        "view-may-not-change": (m.ask("/api/v1" + A + "/plan/rules", {"hook": []}, token=VIEW)[0], 403),
        "operate-may-change": (m.ask("/api/v1" + A + "/plan/rules", {"hook": []}, token=TOKEN)[0], 200),
        "other-site": (m.ask("/api/v1" + A + "/plan/rules", {"hook": []}, headers={"Origin": "http://evil"})[0], 403),
        "own-site": (m.ask("/api/v1" + A + "/plan/rules", {"hook": []},
                           headers={"Origin": f"http://127.0.0.1:{m.port}"})[0], 200),
        "sampling-for-other-site": (m.ask("/api/v1/instances/none/hotspots",
                                          headers={"Sec-Fetch-Site": "cross-site"})[0], 403),
        "sampling-for-own-site": (m.ask("/api/v1/instances/none/hotspots",
                                        headers={"Sec-Fetch-Site": "same-origin"})[0], 404),
        "form-of-other-site": (m.ask("/api/v1" + A + "/plan/rules", b"{}",
                                     headers={"Content-Type": "text/plain"})[0], 415),
        "other-name": (m.ask("/api/v1/applications", headers={"Host": "rebound.example"})[0], 421),
        "large-body": (m.ask("/api/v1" + A + "/plan/rules", b"{" + b" " * (1 << 20) + b"}")[0], 413),
        "large-body-without-token": (m.ask("/api/v1/login", b"{" + b" " * 5000 + b"}")[0], 413),
        "no-json": (m.ask("/api/v1" + A + "/plan/rules", b"[[[[")[0], 400),
        "no-such-path": (m.ask("/api/v1/nothing")[0], 404),
        "wrong-method": (m.ask("/api/v1/applications", b"{}")[0], 405),
    }
    for name, (got, want) in wrong.items():
        test("manager-" + name, got == want, got)
    plain = subprocess.run([f"{OUT}/sonded", "--plain", "--listen", "127.0.0.1:0", "--store", f"{DIR}/plain"],
                           capture_output=True, text=True, timeout=20)
    write(f"{DIR}/long", "x" * 128 + "\n")
    long = subprocess.run([f"{OUT}/sonded", "--token-file", f"{DIR}/long", "--store", f"{DIR}/plain"],
                          capture_output=True, text=True, timeout=20)
    test("manager-long-token-is-not-cut", long.returncode == 3 and "at most" in long.stderr, long)
    test("manager-behind-a-proxy-needs-a-token", plain.returncode == 2 and "--token-file" in plain.stderr, plain)
    for path in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/v1/applications/%00/plan",
                 "/api/v1/applications/..%2f..%2fplan", "//etc/passwd", "/api/v1/traces/%zz", "/index.html/../x"):
        answer = raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        test("manager-path-trick", answer.split(b" ")[1] in (b"404", b"400") and b"root:" not in answer,
             (path, answer[:80]))


def cookie(headers):
    request = urllib.request.Request(f"http://127.0.0.1:{m.port}/api/v1/login", json.dumps({"token": TOKEN}).encode(),
                                     {"Content-Type": "application/json"} | headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.headers["Set-Cookie"]


def check_cookie():
    test("manager-cookie-behind-a-proxy-with-tls-is-secure", "Secure" in cookie({"X-Forwarded-Proto": "https"}) and
         "Secure" not in cookie({}), cookie({}))


def check_flood():
    """Refused requests are listed, but not all of a flood, nor of wrong logins."""
    def listed():
        return sum(e["status"] in (401, 429) for e in m.get("/audit?limit=1000")["entries"])
    before = listed()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: m.ask("/api/v1" + A + "/plan/rules", {"hook": []}, token="x" * 20), range(300)))
        list(pool.map(lambda i: m.ask("/api/v1/login", {"token": "x" * 20}, token="x" * 20), range(300)))
    m.ask("/api/v1" + A + "/plan/rules", {"hook": []})
    time.sleep(0.3)
    test("manager-flood-of-refusals-does-not-fill-the-log", 20 <= listed() - before <= 125, listed() - before)
    test("manager-wrong-tokens-are-not-listed", not any("x" * 20 in e["detail"] for e in m.get("/audit?limit=1000")["entries"]))


def check_slow_and_idle():
    slow = [socket.create_connection(("127.0.0.1", m.port)) for _ in range(300)]
    for s in slow:
        s.sendall(b"POST /api/v1/digs HTTP/1.1\r\nHost: loc")
    test("manager-serves-beside-slow-clients", m.ask("/api/v1/health")[0] == 200)
    raw(b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\n\r\n")
    test("manager-stands-long-heads", m.ask("/api/v1/health")[0] == 200)
    for s in slow:
        s.close()


def check_few_files():
    """Clients leave descriptors to the agents and the store."""
    few = subprocess.Popen([f"{OUT}/sonded", "--listen", "127.0.0.1:0", "--store", f"{DIR}/few"], text=True,
                           stderr=subprocess.PIPE,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)))
    children.append(few)
    port = int(re.search(r"127.0.0.1:(\d+)", few.stderr.readline())[1])
    clients = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(300)]
    wait_for(lambda: len(os.listdir(f"/proc/{few.pid}/fd")) >= 128)
    time.sleep(0.5)
    files = len(os.listdir(f"/proc/{few.pid}/fd"))
    test("manager-clients-leave-descriptors", 128 <= files < 200, files)
    for c in clients:
        c.close()


def check_other_users():
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        print(f"skip manager-other-user-{RELEASE}: not root")
        return
    test("manager-other-user-needs-a-token", as_nobody(ASK % m.port) == "401", as_nobody(ASK % m.port))
    before = m.get(A + "/plan")["version"]
    body = json.dumps({"hook": ["com.shop.Evil::*"]}).encode()
    head = (f"POST /api/v1{A}/plan/rules HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode()
    as_nobody(SEND_AND_CLOSE % (m.port, head + body))
    m.ask("/api/v1/health")
    refused = wait_for(lambda: sum(e["status"] == 401 for e in m.get("/audit?limit=200")["entries"]) >= 1)
    test("manager-closed-socket-is-not-root", refused and m.get(A + "/plan")["version"] == before, refused)


def check_audit_and_pages():
    wait_for(lambda: len(m.get("/audit?limit=1000")["entries"]) > 10)
    entries = m.get("/audit?limit=1000")["entries"]
    test("manager-audit", any(e["action"] == "plan" and e["who"].startswith("uid") and "first" in e["detail"]
                              for e in entries) and TOKEN not in json.dumps(entries), entries[:3])
    status, page = m.ask("/")
    test("manager-serves-pages", status == 200 and "<html" in page["text"].lower(), page)


def take_pid(pid):
    """Another process gets that number, as happens by itself after some time."""
    for _ in range(20):
        try:
            with open("/proc/sys/kernel/ns_last_pid", "w") as f:
                f.write(str(pid - 1))
        except OSError:
            return False
        if start(["sleep", "120"]).pid == pid:
            return True
    return False


def check_end_of_a_process():
    with urllib.request.urlopen(f"http://127.0.0.1:{m.port}/api/v1/events?application={APP}", timeout=30) as stream:
        stream.readline()
        children[0].kill()
        children[0].wait()
        taken = take_pid(children[0].pid)
        told, end = False, time.time() + 30
        while not told and time.time() < end:
            told = '"state":"ended"' in stream.readline().decode()
    test("manager-tells-the-end-of-a-process", told, (taken, m.get("/instances")))
    if not taken:
        print(f"skip manager-process-with-the-same-number-{RELEASE}: no number can be chosen here")


def check_leaving():
    m.ask("/api/v1" + A + "/plan", {"version": m.get(A + "/plan")["version"], "rules": []}, "PUT")
    gone = wait_for(lambda: all(i.get("methods") == 0 for i in m.get("/instances?application=" + APP)["instances"]
                                if i["state"] != "ended"))
    test("manager-empty-plan-takes-all-out", gone, m.get("/instances"))
    m.process.send_signal(signal.SIGTERM)
    test("manager-ends-well", m.process.wait(30) == 0, m.process.returncode)


def main():
    write(f"{DIR}/token", TOKEN + "\n")
    write(f"{DIR}/view", VIEW + "\n")
    start_shop()
    start_shop()
    m.start()
    test("manager-finds-processes", wait_for(lambda: connected() == 2), connected())
    if IS_SQLITE:
        break_store()
    check_plans()
    check_two_clients()
    checkout = check_figures()
    if IS_SQLITE:
        mend_store()
        check_mended(checkout)
    check_restart(checkout)
    check_limits()
    check_same_again()
    check_traces()
    check_push()
    check_events()
    check_metrics()
    check_refusals()
    check_cookie()
    check_flood()
    check_slow_and_idle()
    check_few_files()
    check_other_users()
    check_audit_and_pages()
    check_end_of_a_process()
    check_leaving()


try:
    main()
finally:
    end_children()
    shutil.rmtree(DIR, ignore_errors=True)
