"""Find the code that uses a message of a catalogue, such as locales/en.json, by the key."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from rootle.index.reader import IndexReader
from rootle.rank.message_keys import (
    Key,
    find_key_lines,
    has_message_keys,
    is_quoting,
    read_message_key,
    read_namespace,
    shorter_keys,
)
from rootle.search.query.phrase_and_regex_filter import ExactMatches
from rootle.search.query.scope import Lines
from rootle.search.stages.source_search import TextSources
from rootle.text.terms import WORD, whole_identifier
from rootle.text.whole_names import line_numbers

_MAX_CATALOGUES: Final = 3
_MAX_LINES: Final = 2  # of a catalogue
# A key is in the catalogue of each language. Only code is read, and at most _MAX_READ files of it.
_MAX_FILES_WITH_KEY: Final = 500
_MAX_READ: Final = 16
# A key in the code of more files than this is no evidence for one of them.
_MAX_FILES: Final = 4


def add_message_uses(
    index: IndexReader, sources: TextSources, files: Collection[int] | None
) -> TextSources:
    """Return the sources of a text, with the code that uses its message before each catalogue.

    Only `files` are searched, if given.
    """
    catalogues = [at for at in sources.catalogues if at in sources.lines]
    used = {
        at: _find_uses(index, at, sources.lines[at][:_MAX_LINES], files)
        for at in catalogues[:_MAX_CATALOGUES]
    }
    if not any(used.values()):
        return sources
    lines: dict[int, Sequence[int]] = {}
    for at, numbers in sources.lines.items():
        for user, found in used.get(at, {}).items():
            lines.setdefault(user, found)
        lines.setdefault(at, numbers)
    return replace(sources, lines=lines, is_ordered=True)


def describe_key_uses(index: IndexReader, matches: ExactMatches) -> tuple[str, ...]:
    """Return a note that names the code that uses a phrase by its key.

    Return no note if the phrase is also in code, or if no such code is found.
    """
    states = index.files(matches.places)
    if matches.is_truncated or any(not is_quoting(state.path) for state in states.values()):
        return ()
    catalogues = [at for at in matches.places if has_message_keys(states[at].path)]
    found: dict[int, Sequence[int]] = {}
    for at in catalogues[:_MAX_CATALOGUES]:
        offsets = sorted({offset for part in matches.places[at] for offset in part[:_MAX_LINES]})
        numbers = list(dict.fromkeys(line_numbers(index.text(at), offsets)))
        found |= _find_uses(index, at, numbers, None)
    if not found:
        return ()
    used = index.files(found)
    places = (f"{used[at].path}:{', '.join(map(str, lines))}" for at, lines in found.items())
    return (f"code uses this text by its key: {'; '.join(places)}",)


def _find_uses(
    index: IndexReader, catalogue: int, numbers: Sequence[int], files: Collection[int] | None
) -> Lines:
    """Return the lines of code that use the messages on lines of a catalogue."""
    lines = index.text(catalogue).split("\n")
    namespace = read_namespace(index.files([catalogue])[catalogue].path)
    read = dict.fromkeys(read_message_key(lines, number) for number in numbers)
    keys = [(*namespace, *key) for key in read if key]
    found: dict[int, Sequence[int]] = {}
    for key in keys:
        for one in shorter_keys(key):
            uses = _find_key(index, one, files)
            if uses:
                found = {**uses, **found} if len(uses) <= _MAX_FILES else found
                break
    return found if len(found) <= _MAX_FILES else {}


def _find_key(index: IndexReader, key: Key, files: Collection[int] | None) -> Lines:
    """Return the lines of code with a key, by file."""
    ids = dict.fromkeys(
        at for terms in _spellings(index, key) for at in _files_with(index, terms, files)
    )
    states = index.files(ids)
    code = [at for at in ids if not is_quoting(states[at].path)]
    if len(code) > _MAX_READ:
        return {}
    found = {at: find_key_lines(key, index.text(at)) for at in code}
    return {at: numbers for at, numbers in found.items() if numbers}


def _spellings(index: IndexReader, key: Key) -> Iterator[list[str]]:
    """Yield the terms of `error.diskFull`, and of the single name `error_diskFull`."""
    words = [word for part in key for word in WORD.findall(part)]
    for names in {tuple(map(whole_identifier, words)), ("".join(map(whole_identifier, words)),)}:
        yield list(dict.fromkeys(index.sparse.stems(" ".join(names))))


def _files_with(
    index: IndexReader, terms: Sequence[str], files: Collection[int] | None
) -> Sequence[int]:
    return index.sparse.files_with(terms, [], _MAX_FILES_WITH_KEY, files)
