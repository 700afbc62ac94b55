"""Recognize texts that describe the past, and documents that are not about this project."""

from __future__ import annotations

import re
from typing import Final

_PAST_DOCUMENT: Final = re.compile(
    r"(?i)(?:^|[/_.\-\s])(?:change-?logs?|changes|history|news|releases?|release-?notes|upgrad\w*"
    r"|migrat\w*|whats-?new|breaking\w*|adrs?|decisions?|rfcs?|proposals?|designs?|blogs?|posts"
    r"|archived?|old|[a-z]?eps?|kips?|legacy|deprecat\w*|versioned_docs|todo|roadmap|authors"
    r"|v?\d{1,4}(?:\.\d{1,4}){0,3}-to-v?\d[\d.]{0,12}|contributors|contributions|thanks|licen[sc]es?|copying|notices?|credits|faq|audits?)(?=[/_.\-\s]|$)"
)
# Folders for one version ("1.2", "shop-3.x"), and paths with a date, such as "2024-11-28-threads".
_VERSION_FOLDER: Final = re.compile(
    r"(?:^|/)[vV]?\d+(?:\.(?:\d+|x))+(?=[/._-]|$)|(?:^|/)v\d+/|(?:^|/)[A-Za-z]+-[vV]?\d+\.[x\d]+/"
    r"|(?:^|/)\d{4}-\d{2}-\d{2}(?=[-_./])"
)
_FOREIGN: Final = re.compile(
    r"(?:^|/)(?:vendor|vendored|node_modules|third[_-]?party|deps|external|(?:[\w.-]+-)?dist|\.yarn|testdata"
    r"|fixtures?|snapshots?|__snapshots__|generated|__generated__|resources|corpus|locales?|i18n|translations?)/"
)
_PAST_WORDS: Final = re.compile(
    r"(?i)\b(?:remov(?:ed?|al|es|ing)|deprecat\w+|renam\w+|former(?:ly)?|previous(?:ly)?|used to"
    r"|no longer|is gone|legacy|earlier|obsolete"
    r"|(?:prior to|before|until|since) (?:version |release )?v?\d|dropped|were"
    r"|replac(?:ed?|es|ing|ement)|instead of|rather than|old(?:er)?|migrat\w+|upgrad\w+"
    r"|histor\w+|originally|superseded?|in favou?r of|moved|changed|versionchanged|versionadded"
    r"|was|anymore|thanks|back ?ports?|compat\w*|alias(?:es)?|as of|not (?:implemented|supported)"
    r"|fixme|ported|adapted|borrowed from|copied|inspired|based on|taken from|like in|similar to"
    r"|equivalent)\b|\b(?-i:TODO|Todo:)"
)
_PAST_HEADING: Final = re.compile(
    r"(?i)\b(?:change-?log|changes|history|news|release|upgrad\w*|migrat\w*|deprecat\w*|removed"
    r"|breaking|renamed|legacy|credits?|licen[sc]e|v?\d+\.\d+(?:\.\d+)?)\b"
)


def describes_past(path: str) -> bool:
    """Return whether the path of a document shows that it describes earlier versions."""
    return (
        _PAST_DOCUMENT.search(path) is not None
        or _VERSION_FOLDER.search(path) is not None
        or is_foreign(path)
    )


def is_foreign(path: str) -> bool:
    """Return whether a file is from another project, generated, test data or a translation."""
    return _FOREIGN.search(path) is not None


def is_past_heading(heading: str) -> bool:
    """Return whether the section below a heading describes earlier versions."""
    return _PAST_HEADING.search(heading) is not None


def speaks_of_past(text: str) -> bool:
    """Return whether a text mentions an earlier state or another project."""
    return _PAST_WORDS.search(text) is not None
