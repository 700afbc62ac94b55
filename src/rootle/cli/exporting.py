"""Sends spans and metrics to a collector where OpenTelemetry's own variables ask for it."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rootle.telemetry.spans import METRICS

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

# Where one of them is set, somebody wants to see what OpenTelemetry measures.
_ASKING: Final = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_TRACES_EXPORTER",
    "OTEL_METRICS_EXPORTER",
)
# A command that is done waits so long for a collector that does not answer, where no variable says
# otherwise; OpenTelemetry's own ten seconds are for programs that run for days.
_PATIENCE_S: Final = 2.0

_Stop = Callable[[], None]


@contextmanager
def exporting() -> Iterator[None]:
    """Export what happens meanwhile. Without the variables, or `rootle[otel]`, nothing loads."""
    if not _is_asked_for() or not _can_export() or _is_set_up():
        yield
        return
    # It would tell of every attempt; that all of them failed is enough.
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)
    stops = list(_started())
    try:
        yield
    finally:
        sys.stdout.flush()  # whoever waits for the answer does not wait for the collector
        _side_by_side(stops)


def _is_asked_for() -> bool:
    disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not disabled and any(os.environ.get(name) for name in _ASKING)


def _can_export() -> bool:
    # Not an error: the variables are often set for all programs of a machine.
    from importlib.util import find_spec

    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:  # one of its parents
        return False


def _is_set_up() -> bool:
    """Whether somebody was here before, such as `opentelemetry-instrument`."""
    from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider

    return not isinstance(get_tracer_provider(), ProxyTracerProvider)


def _started() -> Iterator[_Stop]:
    """Set up what is wanted; each part with what ends it and sends the rest."""
    resource = _resource()
    if _is_wanted("TRACES"):
        yield _start_traces(resource)
    if _is_wanted("METRICS"):
        yield _start_metrics(resource)


def _is_wanted(signal: str) -> bool:
    exporter = os.environ.get(f"OTEL_{signal}_EXPORTER") or "otlp"
    protocol = os.environ.get(f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL") or os.environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", ""
    )
    if exporter == "otlp" and protocol in ("", "http/protobuf"):
        return True
    if exporter != "none":
        from rootle.cli.context import say

        say(
            f"no {signal.lower()} are sent: the exporter is {exporter!r}, the protocol "
            f"{protocol or 'not set'!r}, and rootle knows 'otlp' with 'http/protobuf'"
        )
    return False


def _resource() -> Resource:
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource

    given = Resource.create()
    if not str(given.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        return given
    return given.merge(Resource({SERVICE_NAME: "rootle"}))


def _start_traces(resource: Resource) -> _Stop:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import set_tracer_provider

    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=_timeout("TRACES"))))
    set_tracer_provider(provider)
    return provider.shutdown


def _start_metrics(resource: Resource) -> _Stop:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.metrics import set_meter_provider
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.metrics.view import View

    exporter = OTLPMetricExporter(timeout=_timeout("METRICS"))
    # The SDK makes every name lower case, but for one that a view gives.
    views = [View(instrument_name=name.lower(), name=name) for name in METRICS]
    provider = MeterProvider(
        [PeriodicExportingMetricReader(exporter)], resource=resource, views=views
    )
    set_meter_provider(provider)
    return provider.shutdown


def _timeout(signal: str) -> float | None:
    """None where a variable says it, which the exporter reads by itself."""
    names = ("OTEL_EXPORTER_OTLP_TIMEOUT", f"OTEL_EXPORTER_OTLP_{signal}_TIMEOUT")
    return None if any(os.environ.get(name) for name in names) else _PATIENCE_S


def _side_by_side(stops: list[_Stop]) -> None:
    threads = [threading.Thread(target=stop) for stop in stops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
