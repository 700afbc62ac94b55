"""Converts the main content of an HTML page to Markdown, in a separate process."""

from __future__ import annotations

import json
import re
import sys
from html import unescape
from typing import Final

from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

# The limits of this process, so that a malicious page cannot take unlimited time or memory.
_MAX_CPU_S: Final = 10
_MAX_MEMORY_BYTES: Final = 512 << 20
# The maximum length of the Markdown, in characters. The page reader shows less than this; a longer
# text would only take memory in the parent process.
_MAX_TEXT_CHARS: Final = 400_000

_TITLE: Final = re.compile(r"<title[^>]{0,200}>([^<]{0,500})", re.IGNORECASE)
_HEAD_CHARS: Final = 100_000
# The minimum length of the Markdown of <main>, in characters. If it is shorter, the whole page is
# converted.
_MIN_MAIN_CHARS: Final = 200
# Navigation, forms and other parts that are not content.
_EXCLUDED: Final = [
    *("nav", "footer", "form", "button", "select", "textarea", "dialog", "template"),
    *("script", "style", "noscript", "iframe", "object", "embed", "canvas", "svg"),
    *('[role="navigation"]', '[role="search"]', '[role="contentinfo"]', '[role="dialog"]'),
    *('[aria-hidden="true"]', "[hidden]"),
]
# Inside <main>, an <aside> is a note or a footnote. Outside of <main>, it is a menu.
_MENU: Final = "aside"


def main() -> None:
    """Read [HTML, URL] as JSON from standard input, write Markdown to standard output."""
    if sys.platform != "win32":
        import resource

        # The parent process has a timeout too. This limit also applies if the parent is killed.
        resource.setrlimit(resource.RLIMIT_CPU, (_MAX_CPU_S, _MAX_CPU_S))
        if sys.platform == "linux":  # other systems do not support this limit
            resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))
    html, url = json.load(sys.stdin.buffer)
    text = convert_page(html, url)[:_MAX_TEXT_CHARS]
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


def convert_page(html: str, url: str) -> str:
    """Return the title and the text of a page, with absolute links."""
    main_element = _main_element(html)
    text = _convert(main_element, url, _EXCLUDED) if main_element else ""
    if len(text) < _MIN_MAIN_CHARS:
        text = _convert(html, url, [*_EXCLUDED, _MENU])
    title = _read_title(html)
    return f"{title}\n\n{text}" if title and title not in text else text


def _convert(html: str, url: str, excluded: list[str]) -> str:
    options = ConversionOptions(
        autolinks=False,
        base_url=url,
        compact_tables=True,
        exclude_selectors=excluded,
        extract_metadata=False,
        preprocessing=PreprocessingOptions(enabled=True),
        skip_images=True,
    )
    return convert(html, options).content or ""


def _main_element(html: str) -> str:
    """Return the <main> element of a page, or "" if there is none."""
    lower = html.lower()
    start, end = lower.find("<main"), lower.rfind("</main")
    # Conversion to lower case can change the length of a text, so that the positions are wrong.
    return html[start:end] if 0 <= start < end and len(lower) == len(html) else ""


def _read_title(html: str) -> str:
    match = _TITLE.search(html[:_HEAD_CHARS])
    return " ".join(unescape(match[1]).split()) if match else ""
