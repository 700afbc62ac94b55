"""Spans and metrics that a collector receives from the real exporter."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from collector import Collector, collecting
from command import rootle
from sample import FILES, many_files, write, write_tree

from rootle.ingest.workers import scheduler
from rootle.telemetry import spans as telemetry_spans

pytestmark = pytest.mark.slow

QUESTION: Final = "how long to wait before the next attempt"


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """A collector that receives the exports of commands."""
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
        yield collector


def test_each_indexed_file_is_a_span(repository: Path, collector: Collector) -> None:
    assert rootle("index", repository).code == 0
    spans = {
        span.attributes["filePath"]: span for span in collector.spans_named("searchAgent.indexFile")
    }
    assert set(spans) == set(FILES)
    for span in spans.values():
        assert set(span.attributes) == set(telemetry_spans.SPANS["searchAgent.indexFile"])
        assert span.attributes["numChunks"] >= 1
        attributes = span.attributes
        latency_ms = attributes["embeddingLatencyMs"] + attributes["indexLatencyMs"]
        assert span.ms == pytest.approx(latency_ms, abs=0.01)
        assert span.service == "rootle"
    write(repository, "src/net/retry.py", "RETRIES = 5\n", when_s=None)
    del collector.spans[:]
    assert rootle("index", repository).code == 0
    assert [span.attributes["filePath"] for span in collector.spans] == ["src/net/retry.py"]


def test_files_embedded_by_worker_processes_are_spans_too(
    tmp_path: Path, collector: Collector
) -> None:
    files = many_files(260, functions=20)
    assert sum(map(len, files.values())) > scheduler._PARALLEL_BYTES
    rootle("index", write_tree(tmp_path / "large", files))
    spans = collector.spans_named("searchAgent.indexFile")
    assert len(spans) == len(files)
    assert all(span.attributes["embeddingLatencyMs"] > 0 for span in spans)


def test_a_search_is_a_tree_of_spans(repository: Path, collector: Collector) -> None:
    assert rootle("search", QUESTION, "--root", repository).code == 0
    (search,) = collector.spans_named("searchAgent.search")
    steps = [
        collector.spans_named(f"searchAgent.{name}")[0]
        for name in ("denseSearch", "sparseSearch", "rerank")
    ]
    assert {step.parent for step in steps} == {search.id}
    for span in (search, *steps):
        assert set(span.attributes) == set(telemetry_spans.SPANS[span.name])
        (latency,) = (name for name in span.attributes if name.endswith("LatencyMs"))
        assert 0 < span.attributes[latency] <= span.ms
        assert span.events == []
    found = search.attributes
    assert found["queryLength"] == len(QUESTION)
    assert min(found["denseHits"], found["sparseHits"], found["finalResults"]) > 0
    assert found["totalCandidates"] == steps[2].attributes["candidateCount"] > 0
    assert steps[0].attributes["embeddingModelID"] == "static-code-v2"
    assert steps[1].attributes["sparseEndpoint"] == "embedded"
    assert steps[2].attributes["rerankerModelID"] == "learned"
    assert not any(QUESTION.encode() in body for body in collector.bodies)


def test_counters_and_histograms_are_exported(repository: Path, collector: Collector) -> None:
    assert rootle("search", QUESTION, "--root", repository).code == 0
    assert rootle("search", "--path", "nowhere", "any", "--root", repository).code == 1
    (empty,) = (span for span in collector.spans_named("searchAgent.search") if span.events)
    assert empty.events == [telemetry_spans.NO_RECALL]
    assert collector.kinds == {
        telemetry_spans.REQUESTS: "sum",
        telemetry_spans.NO_RESULTS: "sum",
        **dict.fromkeys(telemetry_spans.HISTOGRAMS, "histogram"),
    }
    assert set(collector.metrics.values()) == {1}


def test_a_cached_answer_is_counted_and_has_no_child_spans(
    repository: Path, collector: Collector
) -> None:
    question = json.dumps({"textQuery": QUESTION}) + "\n"
    assert rootle("search", "--batch", "--root", repository, stdin=2 * question).code == 0
    assert collector.metrics[telemetry_spans.REQUESTS] == 2
    assert collector.metrics[telemetry_spans.CACHE_HITS] == 1
    first, again = collector.spans_named("searchAgent.search")
    assert first.attributes["finalResults"] == again.attributes["finalResults"]
    for name in ("denseSearch", "sparseSearch", "rerank"):
        assert [span.parent for span in collector.spans_named(f"searchAgent.{name}")] == [first.id]


def test_an_invalid_question_is_a_failed_span_without_its_text(
    repository: Path, collector: Collector
) -> None:
    assert rootle("search", "zebra", "--cursor", "zebra", "--root", repository).code == 2
    (search,) = collector.spans_named("searchAgent.search")
    assert search.status == "StaleCursorError"
    assert not any(b"zebra" in body for body in collector.bodies)


def test_degradation_is_reported_as_an_event_and_a_counter(
    repository: Path, tmp_path: Path, collector: Collector
) -> None:
    outcome = rootle(repository, tmp_path / "index", program=_WITHOUT_EMBEDDER)
    assert outcome.out.split() == ["dense", "stale"]
    (search,) = collector.spans_named("searchAgent.search")
    assert search.events == [telemetry_spans.DENSE_FALLBACK, telemetry_spans.STALE_INDEX_WARNING]
    assert search.attributes["denseHits"] == 0
    assert search.attributes["finalResults"] > 0
    (dense,) = collector.spans_named("searchAgent.denseSearch")
    assert dense.status == "UnavailableError"
    assert collector.metrics[telemetry_spans.DENSE_FAILURES] == 1


def test_waiting_files_are_reported_as_a_gauge(collector: Collector) -> None:
    assert rootle(program=_RECORDING).code == 0
    assert collector.kinds == {telemetry_spans.BUFFERED_INDEX_OPERATIONS: "gauge"}
    assert collector.metrics == {telemetry_spans.BUFFERED_INDEX_OPERATIONS: 3}


def test_spans_are_children_of_the_span_of_the_calling_program(repository: Path) -> None:
    spans = rootle(repository, program=_OWN_SDK).data
    parents = {name: parent for name, parent in spans if name != "searchAgent.indexFile"}
    assert parents == {
        "caller": None,
        "searchAgent.search": "caller",
        **dict.fromkeys(
            ("searchAgent.denseSearch", "searchAgent.sparseSearch", "searchAgent.rerank"),
            "searchAgent.search",
        ),
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")],
)
def test_opentelemetry_variables_disable_export(
    name: str, value: str, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert rootle(program=_RECORDING).code == 0
    assert collector.spans == []
    assert bool(collector.metrics) == (name == "OTEL_TRACES_EXPORTER")


def test_a_variable_sets_the_name_of_the_service(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "our-search")
    rootle(program=_RECORDING)
    assert [span.service for span in collector.spans] == ["our-search"]


def test_an_unsupported_protocol_is_a_warning(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    outcome = rootle(program=_RECORDING)
    assert outcome.code == 0
    assert "'grpc'" in outcome.err
    assert "'http/protobuf'" in outcome.err
    assert collector.bodies == []


def test_a_collector_that_refuses_data_does_not_affect_the_answer(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting(status=400) as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint)
        outcome = rootle("search", QUESTION, "--json", "--root", repository)
    assert outcome.paths[0] == "src/net/retry.py"
    assert "Failed to export" in outcome.err


def test_a_command_waits_two_seconds_for_a_collector_that_never_answers(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rootle("index", repository).code == 0
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
        monkeypatch.setenv(
            "OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}"
        )
        process = subprocess.Popen(
            [sys.executable, "-m", "rootle", "search", QUESTION, "--json", "--root", repository],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        with process:
            assert process.stdout is not None
            assert (
                b"src/net/retry.py" in process.stdout.readline()
            )  # without waiting for the collector
            answered = time.monotonic()
            assert process.wait(timeout=60) == 0
    assert time.monotonic() - answered < 8  # the default timeout of the SDK is ten seconds


def test_opentelemetry_is_not_imported_unless_requested(repository: Path) -> None:
    assert "[]" in rootle(*_search(repository), program=_LOADED).err


def test_a_missing_extra_is_reported_once_and_by_the_status(
    repository: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = rootle(*_search(repository), program=_WITHOUT_THE_EXTRA + _LOADED)
    assert outcome.code == 0
    assert "[]" in outcome.err
    assert outcome.err.count("OTEL_EXPORTER_OTLP_ENDPOINT requires") == 1
    assert outcome.err.count("pip install 'rootle[otel]'") == 1
    assert collector.bodies == []
    status = rootle("status", repository, program=_WITHOUT_THE_EXTRA + _LOADED)
    assert "telemetry   no telemetry is exported: OTEL_EXPORTER_OTLP_ENDPOINT" in status.out
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    disabled = rootle("status", repository, program=_WITHOUT_THE_EXTRA + _LOADED)
    assert "telemetry" not in disabled.out + disabled.err


def test_variables_that_request_no_export_need_no_extra(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    outcome = rootle(*_search(repository), program=_WITHOUT_THE_EXTRA + _LOADED)
    assert "rootle[otel]" not in outcome.err


def _search(root: Path) -> tuple[str | Path, ...]:
    return ("search", QUESTION, "--root", root)


_WITHOUT_EMBEDDER = """
import sys
from rootle import SearchQuery, open_app
from rootle.cli.terminal import warn
from rootle.telemetry.exporter import export_telemetry
from rootle.errors import UnavailableError

with open_app(sys.argv[1], index_dir=sys.argv[2]) as app:
    app.index()
    def down():
        raise UnavailableError("the model is down")
    app._container.embedder = down
    with export_telemetry(warn):
        response = app._container.agent().search(SearchQuery("retry_backoff"), stale=True)
    print(*response.degraded)
"""

_RECORDING = """
from rootle.cli.terminal import warn
from rootle.telemetry.exporter import export_telemetry
from rootle.telemetry.spans import record_indexed_file, record_buffered

with export_telemetry(warn):
    record_indexed_file("a.py", 1, embedding_ms=1.0, index_ms=1.0)
    record_buffered(5)
    record_buffered(3)
"""

_OWN_SDK = """
import json, sys
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import get_tracer, set_tracer_provider
from rootle import open_app

memory = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(memory))
set_tracer_provider(provider)
with open_app(sys.argv[1]) as app:
    app.index()
    with get_tracer("caller").start_as_current_span("caller"):
        app.search("retry_backoff")
spans = memory.get_finished_spans()
names = {span.context.span_id: span.name for span in spans}
print(json.dumps([(span.name, names[span.parent.span_id] if span.parent else None)
                  for span in spans]))
"""

_LOADED = """
import sys
from rootle.cli.main import main
code = main()
print([name for name in sys.modules if name.startswith("opentelemetry")], file=sys.stderr)
sys.exit(code)
"""

_WITHOUT_THE_EXTRA = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("opentelemetry"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
"""
