"""What a collector receives, over the real exporter, and that nobody pays where nobody listens."""

from __future__ import annotations

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

from rootle import telemetry
from rootle.ingest import pipeline

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
        assert set(span.attributes) == set(telemetry.SPANS["searchAgent.indexFile"])
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
    assert sum(map(len, files.values())) > pipeline._PARALLEL_BYTES
    rootle("index", write_tree(tmp_path / "large", files))
    spans = collector.named("searchAgent.indexFile")
    assert len(spans) == len(files)
    assert all(span.attributes["embeddingLatencyMs"] > 0 for span in spans)


@pytest.mark.parametrize(
    ("name", "value"),
    [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")],
)
def test_opentelemetrys_own_switches_hold(
    name: str, value: str, repository: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert rootle("search", QUESTION, "--root", repository).code == 0
    assert collector.spans == []


def test_the_service_may_have_another_name(
    repository: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "our-search")
    rootle("search", QUESTION, "--root", repository)
    assert {span.service for span in collector.spans} == {"our-search"}


def test_a_protocol_that_cannot_be_spoken_is_told(
    repository: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    outcome = rootle("search", QUESTION, "--root", repository)
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
    assert time.monotonic() - answered < 2 * 2.0 + 1  # twice the patience, and a slow machine


def test_where_nobody_asks_opentelemetry_is_never_loaded(repository: Path) -> None:
    assert "[]" in rootle(*_search(repository), program=_LOADED).err


def test_without_the_extra_the_variables_do_nothing(repository: Path, collector: Collector) -> None:
    outcome = rootle(*_search(repository), program=_WITHOUT_THE_EXTRA + _LOADED)
    assert outcome.code == 0
    assert "[]" in outcome.err
    assert collector.bodies == []


def _search(root: Path) -> tuple[str | Path, ...]:
    return ("search", QUESTION, "--root", root)


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
