"""Find secrets after a name such as `password`, and exclude values that only look like secrets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rootle.text.definition_head import indentation
from rootle.text.secret_formats import PASSWORD, SECRET
from rootle.text.secret_names import (
    CLOSE,
    DECLARE,
    INDEX,
    NAMES,
    OPERATOR,
    SUFFIX,
    VERBS,
)

_MAX_CHARS: Final = 512  # of a value; `_REST_OF_TOKEN` matches the rest of a longer token
# The letters and symbols before the first quote of a string, as in `b"…"` and `@"…"`.
_STRING_PREFIX: Final = r"(?:br|rb|fr|rf|u8|\$@|@\$|[bfrulN@\#$])"
# Of a block that declares a parameter, before its default value.
_MAX_BLOCK_CHARS: Final = 300
# A string can also contain escaped characters, doubled quotes, and other quotes within a word.
# Other quotes elsewhere mean that code ends one string and begins the next.
_PLAIN_CHAR: Final = "[^\"'`\\n\\\\]"
_CHAR: Final = rf"(?:{_PLAIN_CHAR}|\\[^\n]|(?P=quote){{2}}|(?<=\w)(?!(?P=quote))[\"'`](?=\w))"
_ADVERBS: Final = r"(?:now|still|currently|temporarily|jetzt|(?:changed|set|reset)[ ]to)"
_ASSIGNMENT: Final = re.compile(
    rf"""
    (?: (?P<option>--[a-z-]{{0,30}}) | (?<![\w-])(?P<declared>{DECLARE})(?P<first>[\w-]{{0,60}}?) )?
    (?P<name>{NAMES}) {SUFFIX}
    (?: (?P<element>["']?>) | ["']?,?\s{{1,40}}["']?(?P<field>value)["']?[=:]
      | (?P<block>["']?[ \t]*+(?::[ \t]*+)?(?:\{{|\r?\n)[^{{}}]{{0,{_MAX_BLOCK_CHARS}}}?
          (?<![\w-])["']?(?:default(?:value)?|value)["']?[ \t]*[=:])
      | (?P<sentence>(?:[ ](?:for|of|to)[ ][^.\n]{{1,60}}?)?[ ]+(?:{VERBS})[ ]+(?:{_ADVERBS}[ ]+)?)
      | {INDEX} (?P<close>{CLOSE}) [ \t]*
        (?: (?P<comma>,) | (?P<default>:[=-](?=[^}}\n]{{1,{_MAX_CHARS}}}\}})) | :=|=>
          | (?P<equals>{OPERATOR}={{1,2}})
          | :[ ]*[\w.\[\]| ]{{1,30}}[ ]=(?!=)
          | (?P<colon>(?<![ \t]):(?!:)|:(?=[ \t"'])) )
      | (?(option)[ ]|(?(declared)[ \t]{{1,40}}|(?P<adjacent>[ ]{{1,2}}\(?)))
    )
    (?P<space>[ \t]*) (?:ConvertTo-SecureString[ ](?:-[a-z]{{1,20}}[ ]){{0,4}})?
    (?: (?-i:R)"[a-z]{{0,16}}\((?P<raw>[^()"\n]{{1,{_MAX_CHARS}}}+)\)
      | {_STRING_PREFIX}? (?P<escape>\\)? (?P<quote>\"{{3}}|'{{3}}|["'`])
        (?P<quoted>(?(escape){_PLAIN_CHAR}|{_CHAR}){{0,{_MAX_CHARS}}}+)
        (?: \\?(?P=quote) | (?={_PLAIN_CHAR}) )  # the value is longer
      | (?P<plain>(?(default)[^\s"',;`<>}}]|[^\s"',;`<>]){{1,{_MAX_CHARS}}}) )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_REST_OF_TOKEN: Final = re.compile(r"[^\s\"',;`<>]*")
_END_OF_SENTENCE: Final = ".:!?)}]"
_NAME_BEFORE: Final = re.compile(r"(?:\w+ )?[\w.-]*$")
_ELEMENT_BEFORE: Final = re.compile(r"<[\w:.-]*$")
_ATTRIBUTE_BEFORE: Final = re.compile(r"(?:key|name)=[\"'][\w.-]*$", re.IGNORECASE)
# The text before a name if a shell reads a variable, as in `$PWD:` and `${PWD:A}`.
_REFERENCE_BEFORE: Final = re.compile(r"\$\{?\w*$")
_MAX_NAME_CHARS: Final = 40

# Words before the keyword that make the name harmless, as in the names of a cursor, a public key or
# a special token.
_HARMLESS_NAMES: Final = re.compile(
    r"(?:next|page|prev(?:ious)?|continuation|cursor|resume|sync|start|end|last|first"
    r"|pub(?:lic)?[_.-]?(?:key)?|primary|foreign|sort|partition|cache|group|max|min|num|by|old"
    r"|dict|hash|object|index|map|row|column|idempotency|translation|message|lock|context|data"
    r"|json|config|unique|parent|bos|eos|pad|unk|sep|cls|mask|special)[_.-]?$",
    re.IGNORECASE,
)
# A value after the keyword `key` may be a secret if one of these words precedes the keyword.
_SECRET_KEYS: Final = re.compile(
    r"(?:api|access|secret|private|encryption|signing|master|account|auth|shared[_.-]?access"
    r"|client|app(?:lication)?|license|service|consumer|deploy|storage|subscription|admin|write"
    r"|instrumentation|server|vault|webhook|hmac|jwt|aes|integration)[ _.-]?$",
    re.IGNORECASE,
)
# If one of these words precedes `secret`, the value is a secret even if it consists of words.
_CHOSEN_SECRETS: Final = re.compile(
    r"(?:client|app|jwt|session|cookie|signing|webhook|shared|consumer|auth)[_.-]?$", re.IGNORECASE
)
_PLACEHOLDER: Final = re.compile(
    r"""
    ^ [$<{(\[*%&@!~\\|?^¿¡] | ^/[$?^] | ^[\#.][a-z] | \[\w+= | ^ (?:none|null|nil
      |true|false|undefined|n/?a|str|string|text|int|integer|number|bool|boolean|bytes?|object|any
      |char|float|dict|list|tuple
      |set|optional|required|empty|missing|unknown|hidden|default|disabled|enabled|yes|no|on|off
      |void|auto|this|self|test|testing|foo|bar|baz|foobar|value|user|username|admin|root|guest
      |login|email|file|path|name|prompt|stdin|env|md5|sha1|sha256|sha512|plain|basic|bearer|secret
      |token|pass|pw|key|\.+|-+|_+)[.!]?$
    | \$\{ | \{\w*\} | \{\{ | <% | %[sdr(] | \#\{ | \.\.\.|… | xxxx | \*\*\* | \[masked
    | (?<![a-z\d])example | change.?me | placeholder | redacted | your[-_ ] | <.*> | insert
    | replace.?(?:me|with)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PATH_OR_URL: Final = re.compile(
    r"(?:\.{0,2}|~)/[\w.-]+/|/[a-z]+$|[a-z]:\\|[a-z+]+://|[\w.-]+(?:/[\w.-]+)+\.\w{1,4}$",
    re.IGNORECASE,
)
# Code that computes the value: a call, an attribute, an operator, a command of PowerShell, or the
# next option of a command.
_EXPRESSION: Final = re.compile(
    r"--[a-z]|(?:Get|New|Read|Import|ConvertTo|ConvertFrom)-[A-Z]"
    r"|[\w.$]*[(\[{]|.*(?:->|-$|::|\(|\)[}\\]|[)}\]]:?$|&&|\|\||\?\.)"
    r"|[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$"
)
# A keyword in the name of a secret or in a text about a secret, as in `db_password`, `accessToken2`
# and "New password". A short keyword must not be a part of another word, as in `monkey`.
_KEYWORD: Final = re.compile(
    r"(?:(?i:pass(?:wor[dt]|phrase|code|wd)|secret|token|credential)"
    r"|(?<![^\W\d_])(?:[Pp]ass|[Pp]wd|[Kk]ey)s?(?![a-z])"
    r"|(?<=[^\W\d_])(?:Pass|Pwd|Key)s?(?![a-z])"
    r"|(?<![A-Z])(?:PASS|PWD|KEY)S?(?![A-Z])"
    r"|(?i:(?:api|access|private|public|auth|user|root|admin|test|my|db)(?:pass|pwd|key)s?)(?![a-z])"
    r")[A-Za-z_ ]*\d?$"
)
_WITHOUT_DIGITS: Final = re.compile(r"(?:[^\d\W]|[.$ -])+\d?$")
# Common words with digits. Any other word with digits, such as `Sup3r`, suggests a password.
_WORDS_WITH_DIGITS: Final = re.compile(
    r"(?:(?<![^\W_])|(?<![A-Z\d])(?=[A-Z]))"
    r"(?:[Oo]?[Aa]uth[12]|OAUTH[12]|[SsHh][23]|[Ee][Cc]2|[Pp]12|[Pp]kcs\d{1,2}|[Ee]d25519|[Xx]509"
    r"|[Mm][Dd]5|(?:[Ss]ha|SHA)(?:1|256|512)|[Bb]ase(?:16|32|64)|[Uu]tf8|[Kk]8s|[Ii]18n|[Ee]2e)"
    r"(?![a-z\d])"
)
_MAX_NAME: Final = 100
# A value with this many lower-case letters consists of several words of a passphrase without
# spaces. Ordinary words and names in lower case are shorter: of more than 900 such values after a
# name of a password in 25 repositories, none had 16 letters or more. The word "cryptographically"
# has 17.
_MIN_JOINED_WORDS: Final = 20
_LOWER: Final = re.compile(r"[a-z]+$")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][\w$]*$")
# A word or a number. A number may also be a date and a time, as in `0002_auto_20160226_1747`.
_WORD: Final = r"(?:[A-Za-z]+\d{0,4}|\d{1,4}|(?:19|20)\d{6}(?:\d{4}|\d{6})?)"
_WORDS: Final = re.compile(rf"{_WORD}(?:[-_./: ]{_WORD})*$")
_VERSION: Final = re.compile(r"v\d+(?:\.\d+)*$")
# A word that can begin a text and may contain a hyphen or an apostrophe, as in
# `forgot_password: Esqueceu-se da senha?`
_COMPOUND: Final = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*[?,:]?$")
_PHRASE: Final = re.compile(r"[a-z]+(?: [a-z]+){2,5}$")
# A phrase. Unlike a command, it contains no options, variables or operators.
_SHELL_PHRASE: Final = re.compile(r"[^\s$`(|<>-]\S*(?: [^\s$`(|<>-]\S*){1,7}$")
_MIXED_WORD: Final = re.compile(r"[A-Za-z]\d|\d[A-Za-z]")
_SHELL_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]*$")
_DIGIT: Final = re.compile(r"\d")
_ASCII: Final = re.compile(r"[!-~]")
_LETTER: Final = re.compile(r"[^\W\d_]")
# A word with letters and digits, without the signs of code.
_ADJACENT_PASSWORD: Final = re.compile(r"(?=[^\d]*\d)(?=.*[a-z])[^\s\"'`=(){}\[\]<>|/\\:,;]+$")
# Names of algorithms and versions, and numbered things in prose and code.
_NUMBERED: Final = re.compile(
    r"v?\d+(?:st|nd|rd|th|[a-z])?(?:[.-]\d+)*$"
    r"|(?:[a-z]+-)*(?:argon|bcrypt|scrypt|pbkdf|sha|md|hmac|aes|ntlm|web|win|windows|utf|base|oauth|http|ipv"
    r"|field|input|box|column|line|row|step|page|test|user|case|arg|param|value|key|string|str|var"
    r"|word|part|item|option|type|policy|rule|hash|version|level|phase|plugin|module|file)"
    r"[_.-]?\d{1,4}[a-z]{0,5}$",
    re.IGNORECASE,
)
# Signs that the word after "password" is not a password: it is the name of a variable, as in
# `Password userName`, or an operator, a parenthesis or a colon follows.
_VARIABLE: Final = re.compile(r"[a-z]+[A-Z]\w*$")
_DECLARED_AFTER: Final = re.compile(r"[ \t]*[=(:]")
_MIN_ADJACENT: Final = 6
_MIN_PASSWORD: Final = 4
_MIN_SECRET: Final = 8
_MIN_RANDOM: Final = 16
_MIN_DIGITS: Final = 5  # number of digits in a random identifier


@dataclass(frozen=True, slots=True)
class _Assignment:
    """A value, and how it is assigned to a name."""

    before: str  # the text before the keyword: a part of the name, or the previous word
    keyword: str
    value: str
    is_quoted: bool
    is_sentence: bool  # as in "the password is …"
    is_adjacent: bool  # as in "user ana, password hunter2"
    is_option: bool  # as in `--password …`
    is_field: (
        bool  # as in `<password>…</password>`, or in the field `value` or `default` of a block
    )
    has_comma: bool  # between the name and the value
    has_colon: bool
    has_equals: bool
    has_space: bool  # before the value
    ends_line: bool

    @property
    def name(self) -> str:
        return self.keyword.lower()

    @property
    def is_setting(self) -> bool:
        """Whether the assignment looks like `NAME=value` in a shell or in an environment file."""
        return not (self.is_quoted or self.has_space) and self.has_shell_name

    @property
    def has_shell_name(self) -> bool:
        name = self.before.rpartition(" ")[2] + self.keyword
        return _SHELL_NAME.match(name) is not None


def match_assignment(text: str, start: int) -> tuple[str, int, int] | None:
    """Return the kind and the range of the secret whose name starts at a position, or None."""
    match = _ASSIGNMENT.match(text, start)
    if match is None or _is_other_syntax(text, match):
        return None
    found = _read_assignment(text, match)
    kind = _kind(found)
    if kind is None:
        return None
    first = match.start(_value_group(match))
    end = first + len(found.value)
    if len(found.value) >= _MAX_CHARS and (rest := _REST_OF_TOKEN.match(text, end)):
        end = rest.end()
    return kind, first, end


def is_plausible(value: str) -> bool:
    """Return whether a string is neither a placeholder such as `<token>` nor a secret's name."""
    return not (_PLACEHOLDER.search(value) or _is_name(value))


def _value_group(match: re.Match[str]) -> str:
    return next(name for name in ("plain", "quoted", "raw") if match[name] is not None)


def _read_assignment(text: str, match: re.Match[str]) -> _Assignment:
    is_quoted = match["plain"] is None
    # Only the beginning of a long token is judged. Otherwise, a text such as `key=key=key=…` would
    # be read again to its end for each name in it.
    value, end = match[_value_group(match)], match.end()
    is_adjacent = match["adjacent"] is not None
    if not is_quoted and (match["sentence"] or is_adjacent):
        value = value.rstrip(_END_OF_SENTENCE)
    elif not is_quoted and match["equals"]:  # a block begins: `if password == password2:`
        value = value.rstrip(":")
    return _Assignment(
        match["option"] or match["first"] or _name_before(text, match.start()),
        match["name"],
        value,
        is_quoted=is_quoted,
        is_sentence=match["sentence"] is not None,
        is_adjacent=is_adjacent,
        is_option=match["option"] is not None,
        is_field=(match["element"] or match["field"] or match["block"]) is not None,
        has_comma=match["comma"] is not None,
        has_colon=match["colon"] is not None,
        has_equals=match["equals"] is not None,
        has_space=bool(match["space"]),
        ends_line=end >= len(text) or text[end] in "\r\n",
    )


def _is_other_syntax(text: str, match: re.Match[str]) -> bool:
    """Return whether an operator after the name does not assign a value to it."""
    before = text[max(0, match.start() - _MAX_NAME_CHARS) : match.start()]
    if match["element"] == ">":
        return _ELEMENT_BEFORE.search(before) is None
    if match["element"]:  # `<string name="password">` often contains a translation
        value = match[_value_group(match)]
        is_mixed = _DIGIT.search(value) and _LETTER.search(value)
        return not is_mixed or _ATTRIBUTE_BEFORE.search(before) is None
    if match["block"]:
        # A word is usually one of several choices, as in `default: always`.
        is_word = match[_value_group(match)].isalpha()
        return is_word or not ("{" in match["block"] or _is_indented(text, match))
    if match["declared"] and not match["declared"].startswith("ENV"):
        return match["plain"] is not None
    if match["adjacent"] and match["plain"] and _DECLARED_AFTER.match(text, match.end()):
        return True
    if match["colon"] and not match["space"] and match["plain"]:
        return _REFERENCE_BEFORE.search(before) is not None
    return False


def _is_indented(text: str, match: re.Match[str]) -> bool:
    """Return whether the lines of a block without braces are indented more than its name."""
    name_line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    _, *lines = match["block"].splitlines()
    return all(indentation(line) > indentation(name_line) for line in lines if line.strip())


def _name_before(text: str, start: int) -> str:
    match = _NAME_BEFORE.search(text[max(0, start - _MAX_NAME_CHARS) : start])
    return match[0] if match else ""


def _kind(found: _Assignment) -> str | None:
    value = found.value
    if not value or _PLACEHOLDER.search(value) or _PATH_OR_URL.match(value):
        return None
    if found.has_comma and not (found.is_quoted and _DIGIT.search(value)):
        return None
    if found.has_comma and _VERSION.match(value):
        return None
    if not found.is_quoted and _EXPRESSION.match(value):
        return None
    if found.is_adjacent:
        return PASSWORD if _is_adjacent_password(found) else None
    if found.name.startswith(("pass", "pw", "kennwort")):
        return PASSWORD if _is_password(found) else None
    return SECRET if _is_secret(found) else None


def _is_password(found: _Assignment) -> bool:
    value = found.value
    if len(value) < _MIN_PASSWORD or _is_name(value) or _ends_a_word(found):
        return False
    if not _ASCII.search(value):  # a word in another script
        return False
    if " " in value:
        if found.has_equals and not found.has_space and found.has_shell_name:
            return _has_phrase_of_shell(value)
        is_phrase = _PHRASE.match(value) is not None
        return is_phrase and (found.name == "passphrase" or not found.has_colon)
    if len(value) >= _MIN_JOINED_WORDS and _LOWER.match(value):
        return True
    if found.is_sentence or found.is_option:
        return re.search(r"\d|[^\w/.-]", value) is not None
    if value.isdigit():
        return found.is_quoted or found.is_setting or len(value) > _MIN_DIGITS
    if found.is_quoted or found.is_setting or found.is_field:
        return value.islower() or not value.isalpha()
    if value.isalpha():
        return value.islower() and found.ends_line and (found.has_colon or not found.has_space)
    if found.has_colon and found.has_space and not found.ends_line and _COMPOUND.match(value):
        return False
    required = _DIGIT if _IDENTIFIER.match(value) else _LETTER
    return required.search(value) is not None


def _is_adjacent_password(found: _Assignment) -> bool:
    """Return whether the word after a word such as `password` is a password and not, say, a topic.

    Only a word with both letters and digits counts, because in most sentences the next word is an
    ordinary verb or noun.
    """
    is_word = found.before == "" or found.before.endswith(" ")
    words = _WORDS_WITH_DIGITS.sub("", found.value)
    return (
        is_word
        and found.name not in ("pass", "pwd")
        and len(found.value) >= _MIN_ADJACENT
        and _ADJACENT_PASSWORD.match(words) is not None
        and _NUMBERED.match(found.value) is None
        and _VARIABLE.match(found.value) is None
        and not _is_name(found.value)
    )


def _has_phrase_of_shell(value: str) -> bool:
    """Return whether a value is a phrase rather than a message or a command."""
    if _PHRASE.match(value):
        return True
    is_phrase = _SHELL_PHRASE.match(value) is not None and _DIGIT.search(value) is not None
    return is_phrase and (value.islower() or _MIXED_WORD.search(value) is not None)


def _ends_a_word(found: _Assignment) -> bool:
    """Return whether a short keyword is the end of another word, as in `bypass`."""
    is_short = len(found.keyword) <= len("pass")
    return is_short and found.before[-1:].isalpha() and not found.keyword[0].isupper()


def _is_secret(found: _Assignment) -> bool:
    value, before = found.value, found.before
    if len(value) < _MIN_SECRET or " " in value or _HARMLESS_NAMES.search(before):
        return False
    is_literal = found.is_quoted or found.is_setting
    is_named = _is_name(value)
    if is_literal and not is_named and found.name == SECRET and _CHOSEN_SECRETS.search(before):
        return True
    if not (_DIGIT.search(value) and _LETTER.search(value)) or _WORDS.match(value):
        return False
    if found.name == "key" and not _SECRET_KEYS.search(before):
        return found.is_setting and before != "" and len(value) >= _MIN_RANDOM
    if found.name.startswith(("auth", "session")):
        return len(value) >= _MIN_RANDOM and not before[-1:].isalpha()
    if is_literal:
        return True
    return not is_named and (not _IDENTIFIER.match(value) or _is_random(value))


def _is_name(value: str) -> bool:
    """Return whether a value is the name of a secret or a text about one, such as `db_password`.

    A value without digits is assumed to be such a name if it ends with a keyword, because people
    add digits to the words in a password.
    """
    if len(value) > _MAX_NAME:
        return False
    words = _WORDS_WITH_DIGITS.sub("", value)
    return _WITHOUT_DIGITS.match(words) is not None and _KEYWORD.search(words) is not None


def _is_random(value: str) -> bool:
    """Return whether an identifier has more digits than names in code usually have."""
    digits = re.findall(r"\d+", value)
    return "_" not in value and (len(digits) >= 2 or len("".join(digits)) >= _MIN_DIGITS)
