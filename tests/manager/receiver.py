# SPDX-License-Identifier: Apache-2.0
# receiver.py: takes OTLP/HTTP requests in JSON, compressed, as a collector does: busy at first; when
# told so it refuses a part.  Where opentelemetry-proto is installed, its own decoder reads them as well.
import base64
import gzip
import http.server
import json
import threading

try:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
except ImportError:
    json_format = None


def hex_ids_to_base64(v):
    """OTLP's JSON has ids in hex, where protobuf's own JSON has base64."""
    if isinstance(v, list):
        return [hex_ids_to_base64(x) for x in v]
    if isinstance(v, dict):
        return {k: base64.b64encode(bytes.fromhex(x)).decode() if k in ("traceId", "spanId", "parentSpanId")
                else hex_ids_to_base64(x) for k, x in v.items()}
    return v


class Receiver(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"
        self.refusals, self.asked, self.spans, self.metrics, self.errors = 2, [], [], [], []
        self.refuse_part = False  # of the next traces
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """A sonded that was killed has closed the connection."""

    def take(self, path, headers, body):
        """The status and the answer."""
        with self.lock:
            self.asked.append((path, headers.get("Authorization")))
            if path == "/v1/traces" and self.refusals:
                self.refusals -= 1
                return (503, {}) if self.refusals else (429, {})
            if headers["Content-Encoding"] != "gzip" or headers["Content-Type"] != "application/json":
                self.errors.append(dict(headers))
            request = json.loads(gzip.decompress(body))
            if path == "/v1/traces":
                return 200, self.take_traces(request)
            if path == "/v1/metrics":
                return 200, self.take_metrics(request)
            return 404, {}

    def take_traces(self, request):
        if json_format:
            json_format.ParseDict(hex_ids_to_base64(request), trace_service_pb2.ExportTraceServiceRequest())
        refuse, self.refuse_part = self.refuse_part, False
        for r in request["resourceSpans"]:
            service = next(a["value"]["stringValue"] for a in r["resource"]["attributes"] if a["key"] == "service.name")
            self.spans += [span | {"service": service} for scope in r["scopeSpans"] for span in scope["spans"]]
        return {"partialSuccess": {"rejectedSpans": "3", "errorMessage": "three are too old"}} if refuse else {}

    def take_metrics(self, request):
        if json_format:
            json_format.ParseDict(request, metrics_service_pb2.ExportMetricsServiceRequest())
        for r in request["resourceMetrics"]:
            words = {a["key"]: a["value"]["stringValue"] for a in r["resource"]["attributes"]}
            for m in (m for scope in r["scopeMetrics"] for m in scope["metrics"]):
                kind = next(k for k in ("sum", "gauge", "histogram") if k in m)
                self.metrics += [{"name": m["name"], "kind": kind, "instance": words["service.instance.id"],
                                  "method": p["attributes"][0]["value"]["stringValue"], "point": p}
                                 for p in m[kind]["dataPoints"]]
        return {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            status, answer = self.server.take(self.path, self.headers, body)
        except Exception as e:  # the test says so
            self.server.errors.append(repr(e))
            status, answer = 400, {}
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass
