"""Format answers to questions about names as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from rootle.serialization.path_text import escape_path
from rootle.types import Symbol, SymbolAnswer, SymbolUse

_PLURALS: Final = {
    "alias": "aliases",
    "class": "classes",
    "import": "imports",
    "reference": "references",
}
_LAST_PART: Final = re.compile(r"[^.:#\\/>]+$")
_MAX_SCOPE_PARTS: Final = 2
_MAX_EXTENDED: Final = 8
# In these languages, a method with the name of its class is a constructor.
_WITH_CONSTRUCTORS: Final = frozenset({"cpp", "csharp", "java"})
_METHODS: Final = frozenset("declaration def fn func function method".split())


def definition_lines(definitions: Sequence[Symbol]) -> Iterator[str]:
    """Yield one line for each definition: its path and lines, its scope and its signature."""
    for symbol in definitions:
        place = f"{escape_path(symbol.path)}:{symbol.line}"
        lines = f"-{symbol.end_line}" if symbol.end_line > symbol.line else ""
        scope = f"  {symbol.scope}" if symbol.scope else ""
        alias = f"  (alias of {symbol.alias_of})" if symbol.alias_of else ""
        yield f"{place}{lines}{scope}  {symbol.signature}{alias}"


def use_lines(uses: Sequence[SymbolUse], columns: int | None = None) -> Iterator[str]:
    """Yield one line for each use. The uses in a file follow a line with its path.

    If `columns` is the width of a terminal, the kind and the scope take about half of a line, so
    that the other half shows the code.
    """
    parts = _MAX_SCOPE_PARTS if columns is None else 1
    for path, rows in groupby(uses, key=lambda use: use.path):
        yield escape_path(path)
        for use in rows:
            scope = " > ".join(use.scope.split(" > ")[-parts:])
            if columns is not None:
                scope = _shorten(scope, columns // 2 - len(describe_kind(use)))
            yield f"  {use.line} ({describe_kind(use, scope)})  {use.text}"


def _shorten(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[: max(size - 1, 0)]}…"


def describe_kind(use: SymbolUse, scope: str = "") -> str:
    """Return the kind and the scope of a use, and "by name" if its definition is not known."""
    about = f"{use.kind}, {scope}" if scope else use.kind
    return about if use.target or use.kind in _MENTIONS else f"{about}, by name"


_MENTIONS: Final = frozenset({"comment", "string", "document"})


def describe_definitions(answer: SymbolAnswer) -> str:
    """Return a text such as "2 definitions of parse" or "1 definition and 1 declaration of f"."""
    count = len(answer.definitions)
    if not count and not answer.has_all_definitions:
        return (
            f"found no definition of {answer.name}; not everything was read, so it may be defined "
            "elsewhere"
        )
    if not count:
        passing = " that pass the filters" if answer.is_filtered else ""
        return f"no definition of {answer.name} was found in the indexed files{passing}"
    at_least = "" if answer.has_all_definitions else "at least "
    declared = sum(symbol.kind == "declaration" for symbol in answer.definitions)
    aliases = sum(bool(symbol.alias_of) for symbol in answer.definitions)
    files = sum(symbol.kind == "file" for symbol in answer.definitions)
    constructors = sum(map(_is_constructor, answer.definitions))
    counts = (
        (count - declared - aliases - files - constructors, "definition"),
        (constructors, "constructor"),
        (declared, "declaration"),
        (aliases, "alias"),
        (files, "file"),
    )
    found = " and ".join(
        f"{n} {noun if n == 1 else _PLURALS.get(noun, f'{noun}s')}" for n, noun in counts if n
    )
    # Definitions in other places are left out only if the question asks for definitions.
    within = _describe_place(answer) if answer.aspect == "definitions" else ""
    return f"{at_least}{found} of {answer.name}{within}"


def _is_constructor(symbol: Symbol) -> bool:
    """Return whether a definition is a constructor, which has the name of its class."""
    if symbol.kind == "declaration" or symbol.alias_of:
        return False
    owner = symbol.scope.rpartition(" > ")[2].rpartition(" ")[2]
    is_function = symbol.kind in _METHODS and symbol.language in _WITH_CONSTRUCTORS
    return symbol.kind == "constructor" or (is_function and owner == symbol.name)


def is_qualified(answer: SymbolAnswer) -> bool:
    """Return whether the name has an owner, as in "Class.method"."""
    last = _LAST_PART.search(answer.name.removesuffix("()"))
    return last is not None and last.start() > 0


def describe_uses(answer: SymbolAnswer) -> str:
    """Return a text such as "1-7 of 31 uses of parse (20 calls, 11 imports)".

    If it is unknown for some uses whether they belong to the name, the text says how many.
    """
    at_least = "" if answer.is_complete else "at least "
    if answer.aspect == "definitions":
        noun = "line" if answer.total_uses == 1 else "lines"
        # For a qualified name, the count is the number of lines that contain its last part.
        last = _LAST_PART.search(answer.name.removesuffix("()"))
        subject = f"{last[0]} is " if last and is_qualified(answer) else ""
        if not answer.total_uses and answer.is_complete:
            verb = f"{last[0]} is not" if subject and last else "not"
            return f"{verb} used or mentioned on any other line{_describe_place(answer)}"
        lines = f"{at_least}{answer.total_uses} other {noun}{_describe_place(answer)}"
        return f"{subject}used or mentioned on {lines}"
    # The mentions follow the uses. Until a page contains mentions, they are not part of the count.
    are_apart = answer.offset + len(answer.uses) <= _count_uses(answer)
    counts = _describe_counts(answer, with_mentions=not are_apart)
    noun, total = answer.aspect, answer.total_uses
    if are_apart:
        total = _count_uses(answer)
    elif total > _count_uses(answer):
        noun = f"{noun} and mentions"
    kinds = answer.counts.keys() - (_MENTIONS if are_apart else ())
    if kinds <= {answer.aspect.removesuffix("s")}:  # the noun names the kind
        counts = ""
    if not total:
        read = "" if answer.is_complete else " in the files that were read"
        unread = _describe_unread(answer)
        found = f"no {noun} of {answer.name}{_describe_place(answer)}{read}"
        if noun == "tests":  # a test of a function need not contain its name
            found = f"no test contains {answer.name}{_describe_place(answer)}{read}"
        return found + _describe_local(answer) + unread
    first, last_shown = answer.offset + 1, answer.offset + len(answer.uses)
    shown = f"{first}-{last_shown}" if answer.uses else "0"
    subject = f"{answer.name}{_describe_place(answer)}"
    found = f"{shown} of {at_least}{total} {noun} of {subject}"
    if total == len(answer.uses) == 1 and answer.is_complete:
        found = f"1 {noun.removesuffix('s')} of {subject}"
    found += (f" ({counts})" if counts else "") + _describe_by_name(answer)
    return found + _describe_indirect(answer) + _describe_local(answer) + _describe_unread(answer)


def _describe_unread(answer: SymbolAnswer) -> str:
    """Return a text that says why the number of uses is a lower bound; "" if it is exact."""
    if answer.is_complete:
        return ""
    count = f"{answer.unread_files} or more" if answer.unread_files else "some"
    return f"; {count} of the files that may contain others were not read, to limit the time"


def _describe_local(answer: SymbolAnswer) -> str:
    """Return a text that says how many lines with local variables are left out, or ""."""
    count = answer.local_variables
    if not count or answer.aspect == "implementations":
        return ""
    lines = "1 line that has" if count == 1 else f"{count} lines that have"
    return f"; without {lines} a local variable with this name"


def _describe_indirect(answer: SymbolAnswer) -> str:
    """Return a note that only direct implementations are listed.

    The note names the types that have implementations of their own. It is empty for methods and for
    Go, because their implementations are found without looking at base classes.
    """
    if answer.aspect != "implementations" or not answer.uses:
        return ""
    if any(one.kind in _METHODS or one.language == "go" for one in answer.definitions[:1]):
        return ""
    names = answer.extended
    if not names:
        some = "" if answer.has_all_extended else "; some may have implementations of their own"
        return f", direct ones only{some}"
    more = f" and {len(names) - _MAX_EXTENDED} more" if len(names) > _MAX_EXTENDED else ""
    more += "" if answer.has_all_extended else " and possibly others"
    listed = ", ".join(names[:_MAX_EXTENDED])
    is_one = len(names) == 1 and answer.has_all_extended
    have = "has implementations of its own" if is_one else "have implementations of their own"
    return f", direct ones only: {listed}{more} {have}"


def _describe_by_name(answer: SymbolAnswer) -> str:
    """Return a text that explains "by name", or "" if no use in code is marked so."""
    count = answer.uses_by_name
    if not count or answer.aspect == "implementations":
        return ""
    which = "all" if count == _count_uses(answer) else f"{count}"
    verb = "is" if count == 1 and which != "all" else "are"
    last = _LAST_PART.search(answer.name.removesuffix("()"))
    name = last[0] if last else answer.name
    # The types of some receivers are unknown only because their files were not read.
    limit = "" if answer.has_all_types else ", and not all types were looked up"
    reason = f"another {name} may be meant"
    if answer.is_only_definition:
        reason = f"only the name matches, and no other definition of {name} was found"
    return f'; {which} {verb} "by name": {reason}{limit}'


def describe_rest(answer: SymbolAnswer) -> str:
    """Return a text such as "12 more uses and 3 mentions (2 comments, 1 string)".

    The text is empty if there are no more.
    """
    at_least = "" if answer.is_complete else "at least "
    shown = answer.offset + len(answer.uses)
    uses = _count_uses(answer)
    mentions = answer.total_uses - max(uses, shown)
    parts = []
    if uses > shown:
        noun = answer.aspect.removesuffix("s") if uses - shown == 1 else answer.aspect
        parts.append(f"{uses - shown} more {noun}")
    if mentions > 0:
        noun = "mention" if mentions == 1 else "mentions"
        kinds = [kind for kind in answer.counts if kind in _MENTIONS]
        counts = f" ({_join_counts(answer, kinds)})" if shown <= uses else ""
        more = "more " if shown > uses else ""
        parts.append(f"{mentions} {more}{noun}{counts}")
    return f"{at_least}{' and '.join(parts)}" if parts else ""


def _count_uses(answer: SymbolAnswer) -> int:
    """Return the number of uses on all pages, without comments, strings and documents."""
    mentions = sum(count for kind, count in answer.counts.items() if kind in _MENTIONS)
    return answer.total_uses - mentions


def _describe_counts(answer: SymbolAnswer, *, with_mentions: bool) -> str:
    return _join_counts(
        answer, [kind for kind in answer.counts if with_mentions or kind not in _MENTIONS]
    )


def _join_counts(answer: SymbolAnswer, kinds: Sequence[str]) -> str:
    return ", ".join(
        f"{answer.counts[kind]} "
        f"{kind if answer.counts[kind] == 1 else _PLURALS.get(kind, f'{kind}s')}"
        for kind in kinds
    )


def _describe_place(answer: SymbolAnswer) -> str:
    return f" in {escape_path(answer.within)}" if answer.within else ""
