# SPDX-License-Identifier: Apache-2.0
# engines.py OUT JAVA CLASSES APP RELEASE: the same is written to SQLite and to ClickHouse, and asked of both.  Between ClickHouse and the
# store stands a proxy that loses every third answer, and in the middle the server is killed.
# Then all of check.py runs with ClickHouse as its store.
import concurrent.futures
import http.server
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

OUT = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from manager import Manager, children, start, test, wait_for  # noqa: E402
from stores import Server, ask, debian, free_port, has_clickhouse  # noqa: E402

DIR = tempfile.mkdtemp()
BEGIN = int(time.time() * 1000) // 600000 * 600000 - 3600000


def chdb(server):
    return [sys.executable, f"{HERE}/chdb_server.py", str(server.port), server.dir]


class Proxy(http.server.ThreadingHTTPServer):
    """Loses answers of every third insert."""
    daemon_threads = True

    def __init__(self, port):
        super().__init__(("127.0.0.1", 0), Forward)
        self.to, self.inserts, self.lost = port, 0, 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass


class Forward(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{self.server.to}{self.path}", body), timeout=60) as a:
                status, answer = a.status, a.read()
        except urllib.error.HTTPError as e:
            status, answer = e.code, e.read()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            self.close_connection = True
            return
        if "INSERT" in self.path:
            self.server.inserts += 1
            if self.server.inserts % 3 == 0:
                self.server.lost += 1
                self.close_connection = True
                return
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


def write(where, spool, middle=lambda: None, end=lambda: None):
    with subprocess.Popen([f"{OUT}/manager-engine", where, spool, str(BEGIN), "write"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        children.append(p)
        for step in (middle, end):
            if not p.stdout.readline():
                break
            step()
            p.stdin.write("\n")
            p.stdin.flush()
        said = p.stderr.read()
        return p.wait(), said


def read(where, spool):
    said = subprocess.run([f"{OUT}/manager-engine", where, spool, str(BEGIN), "read"], capture_output=True, timeout=120)
    lines = said.stdout.decode(errors="replace").splitlines()
    # in what order methods and processes come is the engine's affair
    free = [line for line in lines if line.startswith(("figure", "carried"))]
    return said.returncode, [line for line in lines if line not in set(free)] + sorted(free)


def engine(where, spool, what):
    return subprocess.run([f"{OUT}/manager-engine", where, spool, str(BEGIN), what], capture_output=True, text=True, timeout=120)


def check_sweep():
    """What is too old goes as fast as it came, with all that belongs to it."""
    engine(f"{DIR}/old", "", "age")
    said = engine(f"{DIR}/old", "", "sweep")
    db = sqlite3.connect(f"{DIR}/old/sonde.db")
    rows = [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("trace", "blob", "data")]
    db.close()
    test("manager-sqlite-old-transactions-go-at-once", said.stdout == "left 10\n" and rows == [10, 10, 20], (said, rows))


def check_taken_back():
    """Of a transaction that fails in the middle nothing stays."""
    engine(f"{DIR}/broken", "", "sweep")
    db = sqlite3.connect(f"{DIR}/broken/sonde.db")
    db.execute("CREATE TRIGGER broken BEFORE INSERT ON data WHEN NEW.id % 2 BEGIN SELECT RAISE(ABORT, 'broken by the test'); END")
    db.commit()
    engine(f"{DIR}/broken", "", "age")
    rows = [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("trace", "blob", "data")]
    odd = sum(db.execute(f"SELECT sum(id % 2) FROM {table}").fetchone()[0] or 0 for table in ("trace", "blob", "data"))
    db.close()
    test("manager-sqlite-takes-back-what-fails-in-the-middle", rows[0] > 10 and rows[1:] == [rows[0], 2 * rows[0]] and odd == 0,
         (rows, odd))


def check_spool(server):
    """A batch that the disk has changed is set aside, and those behind it arrive."""
    spool, where = f"{server.dir}/rotten", f"clickhouse://127.0.0.1:{server.port}/rotten"
    ask(server.port, b"CREATE DATABASE IF NOT EXISTS rotten")
    engine(f"clickhouse://127.0.0.1:{free_port()}/rotten", spool, "age")
    batches = sorted(n for n in os.listdir(spool) if n.endswith(".batch"))
    with open(f"{spool}/{batches[0]}", "r+b") as f:
        f.seek(100)
        byte = f.read(1)
        f.seek(100)
        f.write(bytes([byte[0] ^ 1]))
    with subprocess.Popen([f"{OUT}/manager-engine", where, spool, str(BEGIN), "sweep"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as p:
        children.append(p)
        end = time.time() + 90
        while time.time() < end and any(n.endswith(".batch") for n in os.listdir(spool)):
            time.sleep(0.1)
        p.kill()
    left = os.listdir(spool)
    test("manager-clickhouse-sets-aside-what-the-disk-has-changed",
         [n for n in left if n.endswith(".refused")] == [batches[0].replace("batch", "refused")] and
         not any(n.endswith(".batch") for n in left), (batches, left))


def check_late(server):
    """sonded starts without its store, says so, leaves processes as they are, and goes on when it comes; plans of one manager
    reach another one."""
    java, classes, app = sys.argv[2:5]
    path = f"/api/v1/applications/{app}/plan"
    where = f"clickhouse://127.0.0.1:{server.port}/late"
    options = ["--only", app, "--interval", "0.5", "--watch", "off"]
    a, b = (Manager(OUT, where, f"{DIR}/log-{n}", ["--spool", f"{DIR}/spool-{n}", *options]) for n in "ab")
    ask(server.port, b"CREATE DATABASE IF NOT EXISTS late")
    shop = start([java, f"-agentpath:{OUT}/libsonde.so", "-cp", classes, app, "600"])
    server.kill()
    a.start()
    wait_for(lambda: a.get(f"/applications/{app}").get("connected"))
    status, health = a.ask("/api/v1/health")
    test("manager-starts-without-its-store", status == 200 and health["status"] == "degraded" and len(health["problems"]) == 2, health)
    status, answer = a.ask(path, {"version": 0, "rules": [{"text": "com.shop.Cart::*"}]}, "PUT")
    test("manager-takes-no-plan-without-its-store", status == 503, answer)
    server.start()
    test("manager-goes-on-when-its-store-comes", wait_for(lambda: a.get("/health").get("status") == "ok"), a.get("/health"))
    status, answer = a.ask(path, {"version": 0, "rules": [{"text": "com.shop.Cart::*"}]}, "PUT")

    def methods():
        return [i.get("methods", 0) for i in a.get(f"/applications/{app}").get("instances", [])]
    test("manager-takes-plans-when-its-store-is-there", status == 200 and wait_for(lambda: sum(methods()) > 0), answer)
    check_two(a, b, app, path)
    server.kill()
    a.kill()
    a.start()
    wait_for(lambda: sum(methods()) > 0)
    time.sleep(1.5)  # some looks at the process
    test("manager-without-its-store-takes-no-rule-out", sum(methods()) > 0, methods())
    server.start()
    plan = wait_for(lambda: (lambda p: p if len(p.get("rules", [])) == 9 else None)(a.ask(path)[1]))
    test("manager-knows-its-plan-when-the-store-is-back", plan, a.ask(path))
    a.end()
    shop.kill()
    shop.wait()


def check_two(a, b, app, path):
    b.start()
    wait_for(lambda: b.ask(path)[1].get("version") == 1)

    def hook(i):
        return (a if i % 2 else b).ask(path + "/rules", {"hook": [f"com.shop.Nowhere::m{i}"]})[0]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(hook, range(8)))
    plans = wait_for(lambda: (lambda p: p if p[0] == p[1] == 9 else None)([len(m.ask(path)[1].get("rules", [])) for m in (a, b)]))
    test("manager-two-on-one-store-lose-no-rule", answers == [200] * 8 and plans, (answers, a.ask(path)[1].get("rules"),
                                                                                  b.ask(path)[1].get("rules")))
    b.kill()


def first_difference(a, b):
    return next(((x, y) for x, y in zip(a + [""], b + [""]) if x != y), (len(a), len(b)))


def check(server, expected):
    name = "manager-" + server.name
    os.mkdir(server.dir)
    server.start()
    proxy = Proxy(server.port)
    status, said = write(f"clickhouse://127.0.0.1:{proxy.server_address[1]}/sonde", f"{server.dir}/spool",
                         server.kill, server.start)
    test(name + "-takes-all-over-a-kill-and-lost-answers", status == 0 and proxy.lost > 5, (status, proxy.lost, said[-2000:]))
    code, answers = read(f"clickhouse://127.0.0.1:{server.port}/sonde", f"{server.dir}/spool")
    test(name + "-answers-as-sqlite-does", code == 0 and len(expected) > 500 and answers == expected,
         (code, first_difference(answers, expected)))
    said = engine(f"clickhouse://127.0.0.1:{server.port}/sonde", f"{server.dir}/race", "race")
    test(name + "-gives-a-version-to-one-of-two-managers", said.returncode == 0 and said.stdout.count("version") >= 5 and
         f"won {said.stdout.count('version')}" in said.stdout, said)


def check_all(server):
    ask(server.port, b"CREATE DATABASE IF NOT EXISTS other")
    out, java, classes, app, release = sys.argv[1:6]
    subprocess.run([sys.executable, f"{HERE}/check.py", out, java, classes, app, release + "-clickhouse"], timeout=300,
                   env=os.environ | {"STORE": f"clickhouse://127.0.0.1:{server.port}/other"}, check=True)


def main():
    status, said = write(f"{DIR}/sqlite", "")
    code, expected = read(f"{DIR}/sqlite", "")
    check_sweep()
    check_taken_back()
    test("manager-sqlite-takes-and-tells", status == 0 and code == 0 and len(expected) > 500, (status, code, said, expected[:5]))
    if has_clickhouse():
        server = Server("clickhouse", debian, f"{DIR}/debian")
        check(server, expected)
        check_spool(server)
        check_late(server)
        check_all(server)
    else:
        print("skip manager-clickhouse: no clickhouse-server")
    if subprocess.run([sys.executable, "-c", "import chdb"], capture_output=True).returncode == 0:
        check(Server("chdb", chdb, f"{DIR}/chdb"), expected)
    else:
        print("skip manager-chdb: no chdb for python3")


try:
    main()
finally:
    for child in children:
        child.kill()
        child.wait()
    shutil.rmtree(DIR, ignore_errors=True)
