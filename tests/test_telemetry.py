"""What a collector receives, over the real exporter, and that nobody pays where nobody listens."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from collector import Collector, collecting
from command import rootle
from sample import FILES, many_files, write, write_tree

from rootle.ingest.workers import scheduler
from rootle.telemetry import spans as telemetry_spans

QUESTION = "how long to wait before the next attempt"


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """One that hears what commands tell."""
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
        yield collector


def test_each_file_that_is_indexed_is_a_span(repository: Path, collector: Collector) -> None:
    assert rootle("index", repository).code == 0
    spans = {span.attributes["filePath"]: span for span in collector.named("searchAgent.indexFile")}
    assert set(spans) == set(FILES)
    for span in spans.values():
        assert set(span.attributes) == set(telemetry_spans.SPANS["searchAgent.indexFile"])
        assert span.attributes["numChunks"] >= 1
        told = span.attributes["embeddingLatencyMs"] + span.attributes["indexLatencyMs"]
        assert span.ms == pytest.approx(told, abs=0.01)
        assert span.service == "rootle"
    write(repository, "src/net/retry.py", "RETRIES = 5\n", when_s=None)
    del collector.spans[:]
    assert rootle("index", repository).code == 0
    assert [span.attributes["filePath"] for span in collector.spans] == ["src/net/retry.py"]


def test_files_that_other_processes_embedded_are_spans_too(
    tmp_path: Path, collector: Collector
) -> None:
    files = many_files(260, functions=20)
    assert sum(map(len, files.values())) > scheduler._PARALLEL_BYTES
    rootle("index", write_tree(tmp_path / "large", files))
    spans = collector.named("searchAgent.indexFile")
    assert len(spans) == len(files)
    assert all(span.attributes["embeddingLatencyMs"] > 0 for span in spans)


def test_a_search_is_a_tree_of_spans(repository: Path, collector: Collector) -> None:
    assert rootle("search", QUESTION, "--root", repository).code == 0
    (search,) = collector.named("searchAgent.search")
    steps = [
        collector.named(f"searchAgent.{name}")[0]
        for name in ("denseSearch", "sparseSearch", "rerank")
    ]
    assert {step.parent for step in steps} == {search.id}
    for span in (search, *steps):
        assert set(span.attributes) == set(telemetry_spans.SPANS[span.name]) - {"rerankerModelID"}
        (latency,) = (name for name in span.attributes if name.endswith("LatencyMs"))
        assert 0 < span.attributes[latency] <= span.ms
        assert span.events == []
    told = search.attributes
    assert told["queryLength"] == len(QUESTION)
    assert min(told["denseHits"], told["sparseHits"], told["finalResults"]) > 0
    assert told["totalCandidates"] == steps[2].attributes["candidateCount"] > 0
    assert steps[0].attributes["embeddingModelID"] == "static-code-v1"
    assert steps[1].attributes["sparseEndpoint"] == "embedded"
    assert not any(QUESTION.encode() in body for body in collector.bodies)


def test_counters_and_latencies_arrive(repository: Path, collector: Collector) -> None:
    assert rootle("search", QUESTION, "--root", repository).code == 0
    assert rootle("search", "--path", "nowhere", "any", "--root", repository).code == 1
    (empty,) = (span for span in collector.named("searchAgent.search") if span.events)
    assert empty.events == [telemetry_spans.NO_RECALL]
    assert collector.kinds == {
        telemetry_spans.REQUESTS: "sum",
        telemetry_spans.NO_RESULTS: "sum",
        **dict.fromkeys(telemetry_spans.HISTOGRAMS, "histogram"),
    }
    assert set(collector.metrics.values()) == {1}


def test_an_answer_from_the_cache_is_counted_and_takes_no_step(
    repository: Path, collector: Collector
) -> None:
    question = json.dumps({"textQuery": QUESTION}) + "\n"
    assert rootle("search", "--batch", "--root", repository, stdin=2 * question).code == 0
    assert collector.metrics[telemetry_spans.REQUESTS] == 2
    assert collector.metrics[telemetry_spans.CACHE_HITS] == 1
    first, again = collector.named("searchAgent.search")
    assert first.attributes["finalResults"] == again.attributes["finalResults"]
    for name in ("denseSearch", "sparseSearch", "rerank"):
        assert [span.parent for span in collector.named(f"searchAgent.{name}")] == [first.id]


def test_a_question_that_cannot_be_asked_is_a_failed_span_that_does_not_quote_it(
    repository: Path, collector: Collector
) -> None:
    assert rootle("search", "zebra", "--cursor", "zebra", "--root", repository).code == 2
    (search,) = collector.named("searchAgent.search")
    assert search.status == "StaleCursorError"
    assert not any(b"zebra" in body for body in collector.bodies)


def test_what_goes_wrong_is_an_event_and_a_counter(
    repository: Path, tmp_path: Path, collector: Collector
) -> None:
    outcome = rootle(repository, tmp_path / "index", program=_WITHOUT_EMBEDDER)
    assert outcome.out.split() == ["dense", "stale"]
    (search,) = collector.named("searchAgent.search")
    assert search.events == [telemetry_spans.DENSE_FALLBACK, telemetry_spans.STALE_INDEX_WARNING]
    assert search.attributes["denseHits"] == 0
    assert search.attributes["finalResults"] > 0
    (dense,) = collector.named("searchAgent.denseSearch")
    assert dense.status == "UnavailableError"
    assert collector.metrics[telemetry_spans.DENSE_FAILURES] == 1


def test_batches_that_wait_are_a_gauge(collector: Collector) -> None:
    assert rootle(program=_TELLING).code == 0
    assert collector.kinds == {telemetry_spans.BUFFERED_INDEX_OPERATIONS: "gauge"}
    assert collector.metrics == {telemetry_spans.BUFFERED_INDEX_OPERATIONS: 3}


def test_spans_stand_under_those_of_the_program_that_asks(repository: Path) -> None:
    spans = rootle(repository, program=_OWN_SDK).data
    parents = {name: parent for name, parent in spans if name != "searchAgent.indexFile"}
    assert parents == {
        "ours": None,
        "searchAgent.search": "ours",
        **dict.fromkeys(
            ("searchAgent.denseSearch", "searchAgent.sparseSearch", "searchAgent.rerank"),
            "searchAgent.search",
        ),
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")],
)
def test_opentelemetrys_own_switches_hold(
    name: str, value: str, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert rootle(program=_TELLING).code == 0
    assert collector.spans == []
    assert bool(collector.metrics) == (name == "OTEL_TRACES_EXPORTER")


def test_the_service_may_have_another_name(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "our-search")
    rootle(program=_TELLING)
    assert [span.service for span in collector.spans] == ["our-search"]


def test_a_protocol_that_cannot_be_spoken_is_told(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    outcome = rootle(program=_TELLING)
    assert outcome.code == 0
    assert "'grpc'" in outcome.err
    assert "'http/protobuf'" in outcome.err
    assert collector.bodies == []


def test_a_collector_that_refuses_costs_no_answer(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting(status=400) as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint)
        outcome = rootle("search", QUESTION, "--json", "--root", repository)
    assert outcome.paths[0] == "src/net/retry.py"
    assert "Failed to export" in outcome.err


def test_a_collector_that_never_answers_is_waited_for_two_seconds_at_most(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rootle("index", repository).code == 0
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
        monkeypatch.setenv(
            "OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{deaf.getsockname()[1]}"
        )
        process = subprocess.Popen(
            [sys.executable, "-m", "rootle", "search", QUESTION, "--json", "--root", repository],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        with process:
            assert process.stdout is not None
            assert b"src/net/retry.py" in process.stdout.readline()  # without waiting for it
            answered = time.monotonic()
            assert process.wait(timeout=60) == 0
    assert time.monotonic() - answered < 8  # the SDK's own patience is ten seconds


def test_where_nobody_asks_opentelemetry_is_never_loaded(repository: Path) -> None:
    assert "[]" in rootle(*_search(repository), program=_LOADED).err


def test_without_the_extra_the_variables_do_nothing(repository: Path, collector: Collector) -> None:
    outcome = rootle(*_search(repository), program=_WITHOUT_THE_EXTRA + _LOADED)
    assert outcome.code == 0
    assert "[]" in outcome.err
    assert collector.bodies == []


def _search(root: Path) -> tuple[str | Path, ...]:
    return ("search", QUESTION, "--root", root)


_WITHOUT_EMBEDDER = """
import sys
from rootle import SearchQuery, open_app
from rootle.cli.exporting import exporting
from rootle.errors import UnavailableError

with open_app(sys.argv[1], index_dir=sys.argv[2]) as app:
    app.index()
    def down():
        raise UnavailableError("the model is down")
    app._container.embedder = down
    with exporting():
        response = app._container.agent().search(SearchQuery("retry_backoff"), stale=True)
    print(*response.degraded)
"""

_TELLING = """
from rootle.cli.exporting import exporting
from rootle.telemetry.spans import file_indexed, record_buffered

with exporting():
    file_indexed("a.py", 1, embedding_ms=1.0, index_ms=1.0)
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
    with get_tracer("ours").start_as_current_span("ours"):
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
