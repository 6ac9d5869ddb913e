# SPDX-License-Identifier: Apache-2.0
# chdb_server.py PORT DIRECTORY: ClickHouse's HTTP interface, as far as sonded uses it, over chDB: the engine of a
# current ClickHouse without a server of its own.
import http.server
import os
import re
import sys
import urllib.parse

from chdb.session import Session

session = Session(sys.argv[2] + "/data")


def run(words, body):
    session.query(f"USE {words['database']}")
    if "query" in words:
        path = sys.argv[2] + "/rows"
        with open(path, "wb") as f:
            f.write(body)
        table = re.fullmatch(r"INSERT INTO (\w+) FORMAT RowBinary", words["query"])[1]
        session.query(f"INSERT INTO {table} FROM INFILE '{path}' FORMAT RowBinary")
        return b""
    sql = re.fullmatch(r"(.*?)(?: FORMAT (\w+))?", body.decode(), re.DOTALL)
    return session.query(sql[1], sql[2] or "TabSeparated").bytes()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        words = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(self.path).query))
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            status, answer = 200, run(words, body)
        except Exception as e:
            status, answer = 500, str(e).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


session.query("CREATE DATABASE IF NOT EXISTS sonde")
# one thread: an answer belongs to the session
http.server.HTTPServer.allow_reuse_address = True
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
