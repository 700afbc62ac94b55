"""Split lines of logs into the message, values that a program filled in, and parts of the logger.

A logger adds a time, a level and its name before a message, or writes the message as one of several
fields, such as `level=info msg="pool is full" size=3`. The texts are in lower case.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

MAX_PARTS: Final = 8
_MAX_CHARS: Final = 2_000  # of a text, to find out whether a program printed it
# Times, UUIDs, ULIDs, addresses in memory and other values that a program generates.
_GENERATED: Final = re.compile(
    r"(?<![\w.])\d{4}[-/]\d\d[-/]\d\d(?:[t_ ,]{1,2}\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)?"
    r"(?:z|\s?[+-]\d\d:?\d\d)?(?!\w)"
    r"|(?<![\w.:])\d\d:\d\d:\d\d(?:[.,]\d{1,9})?z?(?![\w:])"
    r"|(?<![0-9a-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-z])"
    r"|(?<!\w)(?=[a-z]{0,25}\d)(?=\d{0,25}[a-z])[0-9a-hjkmnp-tv-z]{26}(?!\w)"
    r"|(?<!\w)0x[0-9a-f]{4,16}(?!\w)",
    re.IGNORECASE,
)
# Every generated value contains one of these. Finding them is ten times as fast.
_MAY_BE_GENERATED: Final = re.compile(r"\d|[a-fA-F]{8}-")
# Values that may also be a part of the message: the name of a function or file that contains dots,
# an exception as Python prints it, an object in angle brackets, and the value of a flag.
_CODE_VALUE: Final = re.compile(
    r"(?<!\w)[a-z_]\w{0,60}\((?=['\"\d])(?:[^()]|\([^()]{0,200}\)){0,200}\)"
    r"|(?<![\w./])[a-z_]\w{0,60}(?:\.\w{1,60}){1,12}(?:\[[^\]\s]{0,80}\])?"
    r"|<[a-z_][^<>]{0,120}>"
    r"|(?<=[\w-]=)[^\s\"'=]{1,120}"
)
# Values that were probably filled in: numbers, paths, addresses, and one or two words in quotes.
_VALUE: Final = re.compile(r"[/@]|\b\d")
_QUOTED_VALUE: Final = re.compile(r"([\"'`])[^\s\"'`]{1,80}(?: [^\s\"'`]{1,80})?\1")
# Punctuation after a time, a level, the name of a logger or the key of a message.
_CUT: Final = re.compile(r"[:\])|>=][\"']?\s+[\"']?|\s[-–]+\s|[:=][\"']")
_QUOTED: Final = re.compile(r"\"([^\"]{10,400})\"")
# The beginnings of what may follow a message: another error, fields and a remark in parentheses.
_END: Final = re.compile(r":\s|[\"']?,?\s[\w.-]{1,40}=[\"'\w/\[{-]|\s\(")
# A message and the exception that it reports, as Python prints it: `tick failed: OSError(24, 'x')`.
_PRINTED_EXCEPTION: Final = re.compile(
    r"[^.;,\n]{8,200}:\s[A-Za-z_][\w.]{0,80}\((?:['\"\d].*)?\)?\s*"
)
# A field that contains a message, and fields of any kind, as in logfmt and in JSON.
_MESSAGE_FIELD: Final = re.compile(
    r"(?:^|[\s{,])\"?(?:msg|message|event)\"?\s?[=:]\s?\"((?:[^\"\\]|\\.){4,400})\""
)
# The beginning of a report of an error: `error: `, `rpc error: `, `error[E0308]: `, `IOError: `.
_REPORT: Final = re.compile(
    r"(?:[\w.-]{1,40}\s)?(?:error|fatal)(?:\[\w{1,20}\])?:\s"
    r"|[\w.]{0,80}(?:Error|Exception):\s",
    re.IGNORECASE,
)
_FIELD: Final = re.compile(r"(?:^|[\s{,])\"?[\w@.-]{1,40}\"?[=:]\s?(?=[\"\w/\[{-])")


def is_logged(text: str) -> bool:
    """Return whether a program printed a text, so that the text is not a description of code."""
    generated = (found[0] for found in _GENERATED.finditer(text[:_MAX_CHARS]))
    if any(":" in value or len(value) > len("2026-01-01") for value in generated):
        return True
    line = text.strip()
    if _REPORT.match(line):
        return True
    return _PRINTED_EXCEPTION.fullmatch(line) is not None or bool(read_message_field(line.lower()))


def blank_generated(text: str) -> str:
    """Return a text without times, UUIDs and other generated values."""
    return _GENERATED.sub(" ", text) if _MAY_BE_GENERATED.search(text) else text


def blank_values(text: str) -> str:
    """Return a text in lower case without numbers, paths, addresses and short quoted parts."""
    plain = _QUOTED_VALUE.sub(" ", blank_generated(text))
    parts = plain.split()
    return " ".join(
        [part for part in parts if not _VALUE.search(part)] if _VALUE.search(plain) else parts
    )


def blank_code_values(text: str) -> str:
    """Return the result of `blank_values` without dotted names, exceptions and flag values."""
    plain = blank_generated(text)
    has_values = any(mark in plain for mark in "(.<=")
    return blank_values(_CODE_VALUE.sub(" ", plain) if has_values else plain)


def read_message_field(line: str) -> str:
    """Return the message of a line that consists of fields; "" if there is none."""
    found = _MESSAGE_FIELD.search(line)
    has_others = found is not None and len(list(islice(_FIELD.finditer(line), 2))) > 1
    return found[1] if found and has_others else ""


def split_tails(line: str) -> list[str]:
    """Return the text after each punctuation mark of a logger, and the parts in quotes."""
    tails = [line[cut.end() :].strip(" \"'") for cut in islice(_CUT.finditer(line), MAX_PARTS)]
    return [*tails, *(match[1] for match in islice(_QUOTED.finditer(line), MAX_PARTS))]


def split_heads(line: str) -> list[str]:
    """Return the text before each place where a message may end, longest first."""
    ends = [end.start() for end in islice(_END.finditer(line), MAX_PARTS)]
    return [line[:end].strip(" \"'") for end in reversed(ends)]
