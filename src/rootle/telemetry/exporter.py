"""Export spans and metrics to a collector if OpenTelemetry's environment variables request it.

docs/decisions/0025-exporter-and-yaml-editor.md explains why `opentelemetry-instrument` is not used
instead.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from rootle.telemetry.spans import METRICS

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

# Telemetry is exported only if one of these variables is set.
_ENABLING_VARIABLES: Final = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_TRACES_EXPORTER",
    "OTEL_METRICS_EXPORTER",
)
# The maximum time that a finished command waits for a collector. OpenTelemetry's default of ten
# seconds is meant for long-running programs.
_DEFAULT_TIMEOUT_S: Final = 2.0

_Shutdown = Callable[[], None]


@contextmanager
def export_telemetry(on_warning: Callable[[str], None]) -> Iterator[None]:
    """Export the spans and metrics of the `with` block.

    OpenTelemetry is imported only if one of the variables above is set. Nothing is exported if
    another SDK is already set up. If the packages of `rootle[otel]` are missing, `on_warning`
    receives a message and nothing is exported.
    """
    if problem := missing_extra():
        on_warning(problem)
    if problem or not _requesting_variable() or _has_provider():
        yield
        return
    # Log only the final error of an export, not a warning for each attempt.
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)
    shutdowns = list(_start(on_warning))
    try:
        yield
    finally:
        sys.stdout.flush()  # print the output before waiting for the collector
        _run_in_parallel(shutdowns)


def missing_extra() -> str | None:
    """Return why requested telemetry is not exported, if packages are missing; otherwise None."""
    variable = _requesting_variable()
    if variable is None or _is_installed():
        return None
    # With the SDK of `opentelemetry-instrument`, the packages of `rootle[otel]` are not needed.
    if "opentelemetry.trace" in sys.modules and _has_provider():
        return None
    return (
        f"no telemetry is exported: {variable} requires more packages: "
        "pip install 'rootle[otel]'; OTEL_SDK_DISABLED=true hides this message"
    )


def _requesting_variable() -> str | None:
    """Return a variable that requests telemetry; None if there is none, or if it is disabled."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    if all(os.environ.get(f"OTEL_{signal}_EXPORTER") == "none" for signal in ("TRACES", "METRICS")):
        return None
    for name in _ENABLING_VARIABLES:
        if os.environ.get(name, "none") not in ("", "none"):
            return name
    return None


def _is_installed() -> bool:
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:  # a parent package is missing
        return False


def _has_provider() -> bool:
    """Return whether an SDK is set up already, for example by `opentelemetry-instrument`."""
    from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider

    return not isinstance(get_tracer_provider(), ProxyTracerProvider)


def _start(on_warning: Callable[[str], None]) -> Iterator[_Shutdown]:
    """Start the exporters. Yield, for each one, a function that flushes and stops it."""
    resource = _resource()
    if _is_enabled("TRACES", on_warning):
        yield _start_traces(resource)
    if _is_enabled("METRICS", on_warning):
        yield _start_metrics(resource)


def _is_enabled(signal: str, on_warning: Callable[[str], None]) -> bool:
    exporter = os.environ.get(f"OTEL_{signal}_EXPORTER") or "otlp"
    protocol = os.environ.get(f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL") or os.environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", ""
    )
    if exporter == "otlp" and protocol in ("", "http/protobuf"):
        return True
    if exporter != "none":
        on_warning(
            f"{signal.lower()} are not exported: the exporter is {exporter!r} and the protocol "
            f"{protocol or 'not set'!r}; set them to 'otlp' and 'http/protobuf'"
        )
    return False


def _resource() -> Resource:
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource

    resource = Resource.create()
    if not str(resource.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        return resource
    return resource.merge(Resource({SERVICE_NAME: "rootle"}))


def _start_traces(resource: Resource) -> _Shutdown:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import set_tracer_provider

    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=_timeout_s("TRACES"))))
    set_tracer_provider(provider)
    return provider.shutdown


def _start_metrics(resource: Resource) -> _Shutdown:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.metrics import set_meter_provider
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.metrics.view import View

    exporter = OTLPMetricExporter(timeout=_timeout_s("METRICS"))
    # The SDK converts names of instruments to lower case. A view sets the original name.
    views = [View(instrument_name=name.lower(), name=name) for name in METRICS]
    provider = MeterProvider(
        [PeriodicExportingMetricReader(exporter)], resource=resource, views=views
    )
    set_meter_provider(provider)
    return provider.shutdown


def _timeout_s(signal: str) -> float | None:
    """Return the timeout to pass to an exporter, or None if it reads a timeout from a variable."""
    names = ("OTEL_EXPORTER_OTLP_TIMEOUT", f"OTEL_EXPORTER_OTLP_{signal}_TIMEOUT")
    return None if any(os.environ.get(name) for name in names) else _DEFAULT_TIMEOUT_S


def _run_in_parallel(functions: list[_Shutdown]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
