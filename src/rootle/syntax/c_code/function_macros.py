"""Find macros before the declarations of functions in C and C++.

The parser does not expand macros. In `API_CALL result<T> Reader::next() {`, it takes the macro
API_CALL for the type and cannot parse the rest, so that it loses the owner or the whole function.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_TYPE_ARGUMENTS: Final = (
    rb"<(?:[^<>;{}()\n]|<(?:[^<>;{}()\n]|<(?:[^<>;{}()\n]|<[^<>;{}()\n]*+>)*+>)*+>)*+>"
)
_WORD: Final = rb"[A-Za-z_]\w*+"
# A part before the name: a specifier, a type, or a macro, which may have arguments.
_PART: Final = rb"(?>%b(?:\s?%b)?(?:::%b(?:%b)?)*+(?:\([^(){};\n]{0,100}\))?)" % (
    _WORD,
    _TYPE_ARGUMENTS,
    _WORD,
    _TYPE_ARGUMENTS,
)
# The beginning of a line that may declare a function: the parts before its name, and its name.
_HEAD: Final = re.compile(
    rb"""\n[ \t]*+(?:extern[ ]"C"\s)?
    ((?:%b(?:[ \t\r*&]|\n(?!\s*?\n))+){1,8})
    ((?:%b(?:%b)?::)*+(?:operator\b[^\w;{}]{1,4}|~?\w++))\s?\("""
    % (_PART, _WORD, _TYPE_ARGUMENTS),
    re.VERBOSE,
)
_PARTS: Final = re.compile(rb"(%b)(\s*)" % _PART)
_CLASS: Final = re.compile(rb"\b(?:class|struct|union)\s{1,20}+(?:\w++\s{1,20}+)?(\w+)")
_ARGUMENTS: Final = re.compile(_TYPE_ARGUMENTS)
_SPECIFIERS: Final = frozenset(
    rb"""alignas consteval const constexpr constinit explicit extern friend inline mutable
    noexcept register requires restrict static template thread_local typename virtual volatile
    _Alignas _Atomic _Noreturn _Thread_local __attribute__ __cdecl __const __declspec
    __extension__ __fastcall __forceinline __inline __inline__ __restrict __stdcall __thiscall
    __thread __unaligned __vectorcall __volatile__""".split()
)
_TYPES: Final = frozenset(
    rb"""auto bool char char16_t char32_t char8_t decltype double float int int8_t int16_t int32_t
    int64_t long short signed size_t ssize_t uint8_t uint16_t uint32_t uint64_t unsigned void
    wchar_t typeof __typeof__ _Bool _Complex""".split()
)
# The word after one of these is the name of a type.
_TAGS: Final = frozenset({b"class", b"enum", b"struct", b"union"})
# A line with one of these words is not the head of a function with a type.
_STATEMENTS: Final = frozenset(
    rb"""and asm break case catch co_await co_return co_yield concept continue default delete do
    else export for goto if import module namespace new not operator or private protected public
    return sizeof static_assert switch throw try typedef using while xor __asm__""".split()
)
# The arguments of an attribute that ends the head of a function or its declaration.
_LAST_ARGUMENTS: Final = re.compile(rb"\s?\([^(){};]{0,100}\)(?=\s{0,20}[{;])")
# The parsers read these words after the parameters of a function.
_READ_AFTER_PARAMETERS: Final = frozenset({b"__attribute__", b"noexcept", b"requires"})
# A specifier that the parsers accept wherever a macro can be.
_INLINE: Final = b"inline"
_NO_INLINE: Final = frozenset({b"friend", b"template"})  # "inline" cannot precede these words
_NO_SPACE: Final = re.compile(rb"\S")


class _FunctionHead(NamedTuple):
    """The beginning of the declaration of a function."""

    parts: list[_HeadPart]  # before the name; none for a statement, or if the name denotes a macro
    name: bytes
    hidden: tuple[int, int]  # the range of attributes that the parser cannot read; may be empty


class _HeadPart(NamedTuple):
    """A part of a head: its first word, and its range in the text."""

    word: bytes
    start: int
    end: int
    is_separate: bool  # spaces follow, rather than "*" or "&"


def hide_macros(data: bytes) -> bytes:
    """Return the text with the specifier "inline" instead of the macros before functions.

    A word is a macro if it is neither a specifier nor a part of the type of the function. In the
    body of a class, the same word then also counts as a macro before a constructor, because a
    constructor has no type. Attributes after the parameters, such as `__must_hold(lock)`, are
    replaced with spaces. All positions stay unchanged.
    """
    heads = [_read_head(match) for match in _HEAD.finditer(data)]
    certain = [_find_macros(head.parts, head.name) for head in heads]
    known = {macro.word for macros in certain for macro in macros}
    classes = set(_CLASS.findall(data)) if known else set()
    readable = bytearray(data)
    for head, macros in zip(heads, certain, strict=True):
        found = macros
        if not found and head.name.lstrip(b"~") in classes:
            found = [one for one in head.parts if one.word in known and one.is_separate]
        for macro in found:
            text = data[macro.start : macro.end]
            readable[macro.start : macro.end] = _replace(text, _word_after(macro, head.parts))
        start, end = head.hidden
        readable[start:end] = _NO_SPACE.sub(b" ", data[start:end])
    return bytes(readable)


def _read_head(match: re.Match[bytes]) -> _FunctionHead:
    parts, name, hidden = list(_split(match)), match[2], (0, 0)
    if not _STATEMENTS.isdisjoint({name, *(one.word for one in parts)}):
        return _FunctionHead([], name, hidden)
    at = _find_function(parts, match.string) if _is_attribute(name) else -1
    if at >= 0:  # the name is that of an attribute
        parts, function = parts[:at], parts[at]
        name, hidden = function.word, _find_unreadable(match, function)
    return _FunctionHead([] if name.isupper() else parts, name, hidden)


def _is_attribute(word: bytes) -> bool:
    return word.startswith(b"__") or word in _SPECIFIERS


def _find_function(parts: list[_HeadPart], text: bytes) -> int:
    """Return the index of the part that is a function with parameters; -1 if there is none.

    Only attributes with arguments can follow it.
    """
    found = -1
    for at in range(len(parts) - 1, -1, -1):
        if text[parts[at].end - 1 : parts[at].end] != b")":
            break
        found = at
        if not _is_attribute(parts[at].word):
            break
    return found


def _find_unreadable(match: re.Match[bytes], function: _HeadPart) -> tuple[int, int]:
    """Return the range of the attributes after a function at the beginning of a line.

    It is empty if the parsers can read the attributes. In an indented line, the text may be a
    statement after a macro, as in `for_each(item) __free(item);`.
    """
    text = match.string
    arguments = _LAST_ARGUMENTS.match(text, match.end(2))
    is_indented = text[match.start() + 1 : match.start() + 2].isspace()
    if arguments is None or is_indented or match[2] in _READ_AFTER_PARAMETERS:
        return (0, 0)
    return function.end, arguments.end()


def _split(match: re.Match[bytes]) -> Iterator[_HeadPart]:
    start, text = match.start(1), match[1]
    for found in _PARTS.finditer(text):
        word = re.match(_WORD, found[1])
        is_separate = found.end() == len(text) or text[found.end() : found.end() + 1] not in b"*&"
        if word is not None:
            at = start + found.start()
            yield _HeadPart(word[0], at, at + len(found[1]), is_separate)


def _find_macros(parts: list[_HeadPart], name: bytes) -> list[_HeadPart]:
    """Return those parts before a name that must be macros."""
    words = [one for one in parts if one.word not in _SPECIFIERS]
    if any(one.word in _TYPES for one in words):
        words = [one for one in words if one.word not in _TYPES]
    elif (tag := next((at for at, one in enumerate(words) if one.word in _TAGS), None)) is not None:
        words = words[:tag] + words[tag + 2 :]
    elif not _is_constructor(name):
        words = words[:-1]
    return [one for one in words if one.is_separate]


def _is_constructor(name: bytes) -> bool:
    """Return whether a name denotes a constructor or destructor outside of its class."""
    *owners, last = _ARGUMENTS.sub(b"", name).split(b"::")
    return bool(owners) and owners[-1] == last.lstrip(b"~")


def _word_after(macro: _HeadPart, parts: list[_HeadPart]) -> bytes:
    at = parts.index(macro) + 1
    return parts[at].word if at < len(parts) else b""


def _replace(macro: bytes, after: bytes) -> bytes:
    blank = _NO_SPACE.sub(b" ", macro)
    if len(macro) < len(_INLINE) or after in _NO_INLINE:
        return blank
    return _INLINE + blank[len(_INLINE) :]
