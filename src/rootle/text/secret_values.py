"""Secrets that a name such as `password` announces, and texts that only look like them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rootle.text.secret_formats import PASSWORD

SECRET: Final = "secret"

_PASSWORDS: Final = r"pass(?:w(?:or)?[dt]|phrase|code)|kennwort|pwd|pass|pw"
_NAMES: Final = rf"{_PASSWORDS}|secret|token|credentials?|session(?:[_-]?id)?|key|auth"
# The keyword is not always the last word of a name: `password1`, `SECRET_KEY_BASE`.
_SUFFIX: Final = r"(?:[_.-]?(?:prod(?:uction)?|dev|staging|stage|live|base|value|main)|\d{1,2})?"
_CLOSE: Final = r"\\?[\"'`\])]{0,3}"
# Candidates in the syntax of RE2, without case.
ASSIGNMENTS: Final = (
    rf"(?:{_NAMES}){_SUFFIX}(?:{_CLOSE}[ \t]*[=:]|[\"'],|>[^<>\s]|[\"']?,?\s+[\"']?value[\"']?[=:]| +(?:is|was|for|of|to) )"
    r"|--[a-z-]{0,30}(?:password|passphrase|token|secret|key) "
)
_ASSIGNMENT: Final = re.compile(
    rf"""
    (?P<option>--[a-z-]{{0,30}})? (?P<name>{_NAMES}) {_SUFFIX}
    (?: (?P<element>>) | ["']?,?\s{{1,40}}["']?(?P<field>value)["']?[=:]
      | (?P<sentence>(?:[ ](?:for|of|to)[ ][^.\n]{{1,60}}?)?[ ]+(?:is|was)[ ]+)
      | (?P<close>{_CLOSE}) [ \t]*
        (?: (?P<comma>,) | :=|=>|={{1,2}} | :[ ]*[\w.\[\]| ]{{1,30}}[ ]=(?!=) | (?P<colon>(?<![ \t]):|:(?=[ \t"'])) )
      | (?(option)[ ]|(?!))
    )
    (?P<space>[ \t]*)
    (?: \\?(?P<quote>["'`]) (?P<quoted>[^"'`\n\\]{{0,512}}) \\?(?P=quote)
      | (?P<plain>[^\s"',;`<>][^\s"',;`<>]{{0,511}}) )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_REST_OF_TOKEN: Final = re.compile(r"[^\s\"',;`<>]*")

# Words before the keyword that make the name harmless: a cursor, a public key, a type of token.
_HARMLESS_QUALIFIERS: Final = re.compile(
    r"(?:next|page|prev(?:ious)?|continuation|cursor|resume|sync|start|end|last|first|pub(?:lic)?[_.-]?(?:key)?"
    r"|primary|foreign|sort|partition|cache|group|max|min|num|by|old|dict|hash|object|index|map"
    r"|row|column|idempotency|translation|message|lock|context|data|json|config|unique|parent"
    r"|bos|eos|pad|unk|sep|cls|mask|special)[_.-]?$",
    re.IGNORECASE,
)
_KEY_QUALIFIERS: Final = re.compile(
    r"(?:api|access|secret|private|encryption|signing|master|account|auth|shared[_.-]?access"
    r"|client|app(?:lication)?|license|service|consumer|deploy|storage|subscription|instrumentation"
    r"|admin|write|server|vault|webhook|hmac|jwt|aes|integration)[ _.-]?$",
    re.IGNORECASE,
)
_SECRET_QUALIFIERS: Final = re.compile(
    r"(?:client|app|jwt|session|cookie|signing|webhook|shared|consumer|auth)[_.-]?$", re.IGNORECASE
)
_PLACEHOLDER: Final = re.compile(
    r"""
    ^ [$<{(\[*%&@!~\\|?^] | ^[\#.][a-z] | \[\w+= | ^ (?:none|null|nil|true|false|undefined|n/?a|str|string|text|int
      |integer|number|bool|boolean|bytes?|object|any|char|float|dict|list|tuple|set|optional|required|empty|missing|unknown
      |hidden|default|disabled|enabled|yes|no|on|off|void|auto|this|self|test|testing|foo|bar|baz
      |foobar|value|user|username|admin|root|guest|login|email|file|path|name|prompt|stdin|env
      |md5|sha1|sha256|sha512|plain|basic|bearer|secret|token|pass|pw|key|\.+|-+|_+)[.!]?$
    | \$\{ | \{\w*\} | \{\{ | <% | %[sdr(] | \#\{ | \.\.\.|… | xxxx | \*\*\* | \[masked
    | (?<![a-z\d])example | change.?me | placeholder | redacted | your[-_ ] | <.*> | insert | replace.?(?:me|with)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PATH_OR_URL: Final = re.compile(r"(?:\.{0,2}|~)/[\w.-]+/|/[a-z]+$|[a-z]:\\|[a-z+]+://|[\w.-]+(?:/[\w.-]+)+\.\w{1,4}$", re.IGNORECASE)
# Code that computes the value: a call, an attribute, an operator, an identifier with the keyword.
_EXPRESSION: Final = re.compile(
    r"[\w.$]*[(\[{]|.*(?:->|-$|::|\(|\)[}\\]|[)}\]]:?$|&&|\|\||\?\.)|[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$"
)
_OWN_NAME: Final = re.compile(
    r"[\w.$ -]*?(?:pass(?:w(?:or)?d|phrase|code)?|passwd|pwd|secret|token|credentials?|key)s?[a-z_ ]*\d?$",
    re.IGNORECASE,
)
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][\w$]*$")
_WORDS: Final = re.compile(r"[A-Za-z]+\d{0,4}(?:[-_./: ](?:[A-Za-z]+\d{0,4}|\d{1,4}))*$")
_ENVIRONMENT: Final = re.compile(r"[A-Z][A-Z0-9_]*$")
_MIN_PASSWORD: Final = 4
_MIN_SECRET: Final = 8
_MIN_RANDOM: Final = 16
_MIN_DIGITS: Final = 5


@dataclass(frozen=True, slots=True)
class _Assignment:
    before: str  # the part of the name before the keyword
    name: str  # the keyword
    value: str
    is_quoted: bool
    is_sentence: bool
    is_option: bool
    has_comma: bool
    has_colon: bool
    has_space: bool  # after the separator
    is_field: bool  # `<password>…</password>`, or the field `value` of an object
    ends_line: bool

    @property
    def is_setting(self) -> bool:
        """Whether the line looks like `NAME=value` of a shell or an environment file."""
        name = self.before.rpartition(" ")[2] + self.name
        return not (self.is_quoted or self.has_space) and _ENVIRONMENT.match(name) is not None

    @property
    def is_mixed(self) -> bool:
        """Whether the value has digits or punctuation besides letters."""
        return not self.value.isalpha()


def match_assignment(text: str, start: int) -> tuple[str, int, int] | None:
    """Return the kind and the range of the secret that is assigned at a position, or None."""
    match = _ASSIGNMENT.match(text, start)
    if match is None:
        return None
    group = "plain" if match["plain"] else "quoted"
    first, last = match.span(group)
    if group == "plain" and last - first == 512:
        last = _REST_OF_TOKEN.match(text, last).end()  # type: ignore[union-attr]
    found = _Assignment(
        match["option"] or _name_before(text, start),
        match["name"].lower() if not match["name"].isupper() else match["name"],
        text[first:last].rstrip(".:!?)}]") if group == "plain" and match["sentence"] else text[first:last],
        group == "quoted",
        match["sentence"] is not None,
        match["option"] is not None,
        match["comma"] is not None,
        match["colon"] is not None,
        bool(match["space"]),
        (match["element"] or match["field"]) is not None,
        last >= len(text) or text[last] in "\r\n",
    )
    kind = _kind(found, text[start])
    return (kind, first, first + len(found.value)) if kind else None


def _name_before(text: str, start: int) -> str:
    """Return the part of a name, or the word, before the position of a keyword."""
    match = re.search(r"(?:\w+ )?[\w.-]*$", text[max(0, start - 40) : start])
    return match[0] if match else ""


def _kind(found: _Assignment, first: str) -> str | None:
    if not found.value or _PLACEHOLDER.search(found.value) or _PATH_OR_URL.match(found.value):
        return None
    if found.has_comma and not (found.is_quoted and re.search(r"\d", found.value)):
        return None
    if not found.is_quoted and _EXPRESSION.match(found.value):
        return None
    name = found.name.lower()
    if name.startswith(("pass", "pw")):
        is_part_of_word = found.before[-1:].isalpha() and not (first.isupper())
        if len(name) <= 4 and is_part_of_word:
            return None
        return PASSWORD if _is_password(found) else None
    return SECRET if _is_secret(found, name) else None


def _is_password(found: _Assignment) -> bool:
    value = found.value
    if len(value) < _MIN_PASSWORD or _OWN_NAME.match(value):
        return False
    if " " in value:
        is_phrase = found.name.lower() == "passphrase"
        return (is_phrase or not found.has_colon) and re.match(r"[a-z]+(?: [a-z]+){2,5}$", value) is not None
    if found.is_sentence or found.is_option:
        return re.search(r"\d|[^\w/.-]", value) is not None
    if value.isdigit():
        return found.is_quoted or found.is_setting or len(value) >= 6
    if found.is_quoted or found.is_setting or found.is_field:
        return value.islower() or found.is_mixed
    if value.isalpha():
        return value.islower() and found.ends_line and (found.has_colon or not found.has_space)
    if _IDENTIFIER.match(value):
        return re.search(r"\d", value) is not None
    return re.search(r"[^\W\d_]", value) is not None


def _is_secret(found: _Assignment, name: str) -> bool:
    value, before = found.value, found.before
    if len(value) < _MIN_SECRET or " " in value or _HARMLESS_QUALIFIERS.search(before):
        return False
    if name == SECRET and _SECRET_QUALIFIERS.search(before) and not _OWN_NAME.match(value):
        if found.is_quoted or found.is_setting:
            return True
    if not re.search(r"\d", value) or not re.search(r"[A-Za-z]", value) or _WORDS.match(value):
        return False
    if not found.is_quoted and _OWN_NAME.match(value):
        return False
    if name == "key" and not _KEY_QUALIFIERS.search(before):
        return found.is_setting and before != "" and len(value) >= _MIN_RANDOM
    if name in ("auth", "session", "sessionid", "session_id", "session-id"):
        return len(value) >= _MIN_RANDOM and not before[-1:].isalpha()
    if found.is_quoted or found.is_setting:
        return True
    return not _IDENTIFIER.match(value) or _is_random(value)


def _is_random(value: str) -> bool:
    """Return whether an identifier has more digits than a name in code."""
    digits = re.findall(r"\d+", value)
    return "_" not in value and (len(digits) >= 2 or len("".join(digits)) >= _MIN_DIGITS)


def is_plausible(value: str) -> bool:
    """Return whether a text may be a secret, not a placeholder such as `password` or `<token>`."""
    return not (_PLACEHOLDER.search(value) or _OWN_NAME.match(value))
