"""A local OpenTelemetry collector that decodes and stores everything that it receives."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue


@dataclass(frozen=True)
class ReceivedSpan:
    name: str
    attributes: dict[str, Any]
    events: list[str]
    id: bytes
    parent: bytes
    ms: float
    status: str
    service: str


@dataclass
class Collector:
    """The received spans, and the last value of each metric (for a histogram, its count)."""

    endpoint: str
    spans: list[ReceivedSpan] = field(default_factory=list)
    metrics: dict[str, float] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    bodies: list[bytes] = field(default_factory=list)

    def spans_named(self, name: str) -> list[ReceivedSpan]:
        return [span for span in self.spans if span.name == name]

    def receive(self, path: str, body: bytes) -> None:
        self.bodies.append(body)
        if path == "/v1/traces":
            self._receive_spans(ExportTraceServiceRequest.FromString(body))
        elif path == "/v1/metrics":
            self._receive_metrics(ExportMetricsServiceRequest.FromString(body))
        else:
            raise ValueError(path)

    def _receive_spans(self, request: ExportTraceServiceRequest) -> None:
        for resource in request.resource_spans:
            service = attributes(resource.resource.attributes)["service.name"]
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self.spans.append(
                        ReceivedSpan(
                            span.name,
                            attributes(span.attributes),
                            [event.name for event in span.events],
                            span.span_id,
                            span.parent_span_id,
                            (span.end_time_unix_nano - span.start_time_unix_nano) / 1e6,
                            span.status.message,
                            service,
                        )
                    )

    def _receive_metrics(self, request: ExportMetricsServiceRequest) -> None:
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    kind = metric.WhichOneof("data")
                    point = getattr(metric, kind).data_points[0]
                    self.kinds[metric.name] = kind
                    self.metrics[metric.name] = (
                        point.count if kind == "histogram" else point.as_int or point.as_double
                    )


@contextmanager
def collecting(status: int = 200) -> Iterator[Collector]:
    """Run a collector that answers every request with this status."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.status = status
    server.collector = Collector(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    collector: Collector
    status: int


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if self.server.status == 200:
            self.server.collector.receive(self.path, body)
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


def attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _plain(pair.value) for pair in pairs}


def _plain(value: AnyValue) -> Any:
    return getattr(value, value.WhichOneof("value") or "string_value")
