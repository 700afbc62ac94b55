"""The content of MDN: Markdown files with front matter and macros."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final

from rootle.sources.external.readers.tree import FolderTree
from rootle.sources.external.records import ExternalDocument, ExternalSourceError

PAGE: Final = "index.md"
_SITE: Final = "https://developer.mozilla.org/"
_LOCALE: Final = re.compile(r"(?:^|/)files/([a-z]{2,3})(?:-([a-z]{2}))?/", re.IGNORECASE)
_ENGLISH: Final = "en-US"
_FRONT: Final = "---\n"
_MAX_FRONT_CHARS: Final = 10_000
_FIELD: Final = re.compile(r"^(title|slug):[ \t]*(.{1,500})$", re.MULTILINE)
_MACRO: Final = re.compile(r"\{\{([^{}\n]{0,500})\}\}")
_ARGUMENT: Final = re.compile(r"[\"']([^\"']{1,200})[\"']")
# Macros that create links. The text of a link is kept. Other macros are removed.
_LINKS: Final = re.compile(
    r"\s*(?:\w*xref|htmlelement|svgelement|httpheader|httpstatus|httpmethod|glossary|mathmlelement"
    r"|csp|rfc)\s*\(",
    re.IGNORECASE,
)


def read_mdn(tree: FolderTree) -> Iterator[ExternalDocument | tuple[str, str]]:
    """Yield the pages below a folder, in all languages."""
    for path in tree.files((PAGE,)):
        if path.rpartition("/")[2].lower() == PAGE:
            try:
                yield read_mdn_page(path, tree.read_text(path), _find_locale(tree, path))
            except ExternalSourceError as error:
                yield path, str(error)


def read_mdn_page(path: str, text: str, locale: str = "") -> ExternalDocument:
    """Return a page; its URL comes from its locale, such as "pt-BR", and its front matter."""
    text = text.replace("\r\n", "\n")
    fields, body = split_front_matter(text)
    slug = fields.get("slug", "")
    title = fields.get("title", "")
    body = _MACRO.sub(_macro_text, body).strip("\n")
    return ExternalDocument(
        f"{locale}/{slug}" if slug and locale not in ("", _ENGLISH) else slug or path,
        f"# {title}\n\n{body}\n" if title else f"{body}\n",
        title,
        address=f"{_SITE}{locale}/docs/{slug}" if slug and locale else "",
    )


def _find_locale(tree: FolderTree, path: str) -> str:
    """Return the locale of a page below `files/LOCALE`; "" if the page is elsewhere."""
    match = _LOCALE.search(f"{tree.root.replace(os.sep, '/')}/{path}")
    if match is None:
        return ""
    language, region = match[1].lower(), match[2]
    return f"{language}-{region.upper()}" if region else language


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the title and the slug in the front matter of a page, and the text after it."""
    if not text.startswith(_FRONT):
        return {}, text
    end = text.find(f"\n{_FRONT}", len(_FRONT) - 1, _MAX_FRONT_CHARS)
    if end < 0:
        return {}, text
    fields = {match[1]: match[2].strip().strip("\"'") for match in _FIELD.finditer(text[:end])}
    return fields, text[end + 1 + len(_FRONT) :]


def _macro_text(match: re.Match[str]) -> str:
    arguments = _ARGUMENT.findall(match[1])
    if not _LINKS.match(match[1]) or not arguments:
        return ""
    return f"`{arguments[1] if len(arguments) > 1 else arguments[0]}`"
