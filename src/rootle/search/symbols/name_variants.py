"""Find definitions whose names differ from a name only in case and underscores.

The key of a setting, such as `maxSize`, is often read into a field such as `MaxSize` or `max_size`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from rootle.index.reader import IndexReader
from rootle.search.symbols.definitions import FoundDefinition, is_test_place
from rootle.search.symbols.name_scan import NameScan
from rootle.search.symbols.parsed_files import ParsedFiles
from rootle.search.symbols.scan_limits import MEMBER_SCAN
from rootle.search.symbols.symbol_request import SymbolRequest
from rootle.text.languages import CODE_EXTENSIONS

_MAX_FILES: Final = 400  # that are searched for other spellings
_MAX_VARIANTS: Final = 3
_MIN_CHARS: Final = 4  # the letters of a shorter name are also those of other words


def find_variants(
    index: IndexReader, parsed: ParsedFiles, scan: NameScan
) -> Sequence[FoundDefinition]:
    """Return definitions of other spellings of the scan's name, in code outside of tests.

    The most frequent spelling comes first. If assignments are requested, fields come before methods
    with the same name.
    """
    found: dict[str, FoundDefinition] = {}
    for name in _spellings(index, scan):
        request = SymbolRequest(name, files=scan.request.files)
        other = NameScan(index, parsed, request, MEMBER_SCAN)
        definitions = other.definitions()
        if scan.request.aspect == "assignments":
            definitions = [*other.members(), *definitions]
        for one in definitions:
            if not is_test_place(one.symbol.path, one.symbol.scope):
                found.setdefault(one.place, one)
    return list(found.values())


def _spellings(index: IndexReader, scan: NameScan) -> Sequence[str]:
    """Return the most frequent other spellings of a name in code outside of tests."""
    letters = scan.candidates.key
    if len(letters) < _MIN_CHARS:
        return ()
    pattern = re.compile(rf"(?<!\w)_?{'_?'.join(map(re.escape, letters))}_?(?!\w)", re.IGNORECASE)
    counts: Counter[str] = Counter()
    for state in scan.candidates.states[:_MAX_FILES]:
        if state.language in CODE_EXTENSIONS and not is_test_place(state.path, ""):
            counts.update(pattern.findall(index.text(state.id)))
    counts.pop(scan.name, None)
    return [name for name, _ in counts.most_common(_MAX_VARIANTS)]
