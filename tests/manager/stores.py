# SPDX-License-Identifier: Apache-2.0
# stores.py: servers of others that tests of the manager start, on free ports of loopback and in directories of their own:
# ClickHouse, and NATS with JetStream.
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from manager import children, wait_for

PATH = os.environ["PATH"] + ":/usr/sbin"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def ask(port, sql=b"SELECT 1"):
    try:
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/?database=default", sql), timeout=20) as a:
            return a.status == 200
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


class Server:
    def __init__(self, name, command, dir):
        self.name, self.command, self.dir, self.port = name, command, dir, free_port()

    def start(self):
        with open(f"{self.dir}/out", "a") as out:
            self.process = subprocess.Popen(self.command(self), cwd=self.dir, stdout=out, stderr=out)
        children.append(self.process)
        end = time.time() + 60
        while not ask(self.port, b"CREATE DATABASE IF NOT EXISTS sonde"):
            if time.time() > end or self.process.poll() is not None:
                with open(f"{self.dir}/out", encoding="utf-8", errors="replace") as f:
                    sys.exit(f"{self.name} does not start: {f.read()[-2000:]}")
            time.sleep(0.1)

    def kill(self):
        self.process.kill()
        self.process.wait()


CONFIG = """<yandex><logger><level>warning</level><log>{0}/log</log><errorlog>{0}/err</errorlog></logger>
<http_port>{1}</http_port><listen_host>127.0.0.1</listen_host><path>{0}/data/</path><tmp_path>{0}/tmp/</tmp_path>
<users_config>{0}/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><mark_cache_size>268435456</mark_cache_size></yandex>"""
USERS = """<yandex><profiles><default><max_memory_usage>1000000000</max_memory_usage></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default></users><quotas><default></default></quotas></yandex>"""


def has_clickhouse():
    return shutil.which("clickhouse-server", path=PATH)


def debian(server):
    for name, text in (("config.xml", CONFIG), ("users.xml", USERS)):
        with open(f"{server.dir}/{name}", "w", encoding="utf-8") as f:
            f.write(text.format(server.dir, server.port))
    return [has_clickhouse(), f"--config-file={server.dir}/config.xml"]


class Nats:
    """Servers of one cluster."""
    program = shutil.which("nats-server", path=PATH)

    def __init__(self, dir, n, options=()):
        self.dir, self.n, self.options = dir, n, options
        self.ports, self.routes, self.monitors = ([free_port() for _ in range(n)] for _ in range(3))
        self.processes = [None] * n
        self.url = "nats://" + ",".join(f"127.0.0.1:{p}" for p in self.ports)

    def start(self, *which):
        for i in which or range(self.n):
            os.makedirs(f"{self.dir}/{i}", exist_ok=True)
            routes = ",".join(f"nats://127.0.0.1:{p}" for p in self.routes)
            # a server that is told of a cluster waits for a second one before it keeps anything
            cluster = ["--cluster_name", "tests", "--cluster", f"nats://127.0.0.1:{self.routes[i]}", "--routes", routes] if self.n > 1 else []
            with open(f"{self.dir}/{i}/log", "a") as log:
                self.processes[i] = subprocess.Popen(
                    [self.program, "-a", "127.0.0.1", "-p", str(self.ports[i]), "-js", "-sd", f"{self.dir}/{i}", "-n", f"n{i}",
                     "-m", str(self.monitors[i]), *self.options, *cluster],
                    stdout=log, stderr=log)
            children.append(self.processes[i])

    def forget(self):
        """All that they have stored."""
        shutil.rmtree(self.dir)

    def kill(self, *which):
        for i in which or range(self.n):
            self.processes[i].kill()
            self.processes[i].wait()

    def signal(self, number):
        for process in self.processes:
            process.send_signal(number)

    def say(self, messages, hear=None, answers=0):
        """Publishes (subject, bytes) as any client could; what then comes on the subject `hear`, as many as `answers`."""
        heard = []
        with socket.create_connection(("127.0.0.1", self.ports[0]), 10) as s, s.makefile("rwb") as f:
            f.readline()
            f.write(b'CONNECT {"verbose":false,"pedantic":false}\r\n' + (f"SUB {hear} 1\r\n".encode() if hear else b""))
            for subject, body in messages:
                f.write(f"PUB {subject} {len(body)}\r\n".encode() + body + b"\r\n")
            f.write(b"PING\r\n")
            f.flush()
            ponged = False
            while not ponged or len(heard) < answers:
                line = f.readline().split()
                if not line:
                    break
                ponged |= line[0] == b"PONG"
                if line[0] == b"MSG":
                    heard.append(f.read(int(line[-1]) + 2)[:-2])
        return heard

    def told(self, i, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.monitors[i]}{path}", timeout=5) as a:
                return json.loads(a.read())
        except (urllib.error.URLError, ConnectionError, TimeoutError, ValueError):
            return {}

    def leader(self, bucket):
        """The number of the server that leads a bucket, or None."""
        for i in range(self.n):
            for account in self.told(i, "/jsz?streams=1").get("account_details", []):
                for stream in account.get("stream_detail", []):
                    if stream["name"] == "KV_" + bucket and stream.get("cluster", {}).get("leader"):
                        return int(stream["cluster"]["leader"][1:])
        return None

    def wait(self):
        """Until they have a leader for all of JetStream."""
        return wait_for(lambda: any(self.told(i, "/jsz").get("meta_cluster", {}).get("leader") for i in range(self.n)))
