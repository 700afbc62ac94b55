"""Mark results from outside the project."""

from __future__ import annotations

from dataclasses import replace

from rootle.types import OutsideTrust, ResultKind, SearchResult


def mark_as_outside(
    result: SearchResult, kind: ResultKind, origin: str | None, trust: OutsideTrust
) -> SearchResult:
    """Return a result with its origin and trust level, and a warning if it instructs a model."""
    # Loading the detector takes a tenth of a second, and few questions have such results.
    from rootle.text.agent_orders.detector import describe_orders

    shown = [result.snippet, *(span.snippet for span in result.more_spans)]
    if result.context is not None:
        shown += [passage.snippet for passage in result.context.passages]
    warning = describe_orders("\n\n".join(shown))
    return replace(result, kind=kind, origin=origin, trust=trust, warning=warning)
