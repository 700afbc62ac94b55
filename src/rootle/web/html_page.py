"""HTML as Markdown, in a process of its own: what a reader came for, without the rest."""

from __future__ import annotations

import json
import re
import sys
from html import unescape
from typing import Final

from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

# A page may be made so that it takes for ever, or all memory, to read.
_LONGEST_S: Final = 10
_MOST_BYTES: Final = 1 << 30

_TITLE: Final = re.compile(r"<title[^>]{0,200}>([^<]{0,500})", re.IGNORECASE)
_HEAD_CHARS: Final = 100_000
# Less than that was not what the page is about.
_LEAST_CHARS: Final = 200
# What stands on each page of a site, and what people do there.
_AROUND: Final = [
    *("nav", "aside", "footer", "form", "button", "select", "textarea", "dialog", "template"),
    *("script", "style", "noscript", "iframe", "object", "embed", "canvas", "svg"),
    *('[role="navigation"]', '[role="search"]', '[role="contentinfo"]', '[role="dialog"]'),
    *('[aria-hidden="true"]', "[hidden]"),
]


def main() -> None:
    """Read [HTML, its address] as JSON, write Markdown."""
    if sys.platform != "win32":
        import resource

        # Its parent ends it, too; this is for the case that the parent is killed.
        resource.setrlimit(resource.RLIMIT_CPU, (_LONGEST_S, _LONGEST_S))
        if sys.platform == "linux":  # others take no such limit
            resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    html, url = json.load(sys.stdin.buffer)
    sys.stdout.buffer.write(html_as_markdown(html, url).encode("utf-8", "replace"))


def html_as_markdown(html: str, url: str) -> str:
    """The page's title, then its text; links are whole addresses."""
    options = ConversionOptions(
        autolinks=False,
        base_url=url,
        compact_tables=True,
        exclude_selectors=_AROUND,
        extract_metadata=False,
        preprocessing=PreprocessingOptions(enabled=True),
        skip_images=True,
    )
    text = convert(_main(html), options).content or ""
    if len(text) < _LEAST_CHARS:
        text = convert(html, options).content or ""
    title = _title(html)
    return f"{title}\n\n{text}" if title and title not in text else text


def _main(html: str) -> str:
    """What the page says itself that it is about, or all of it."""
    small = html.lower()
    start, end = small.find("<main"), small.rfind("</main")
    # A letter may be of another length in small.
    return html[start:end] if 0 <= start < end and len(small) == len(html) else html


def _title(html: str) -> str:
    found = _TITLE.search(html[:_HEAD_CHARS])
    return " ".join(unescape(found[1]).split()) if found else ""
