"""Classify questions by the kind of answer that they ask for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from rootle.text.declared_names import find_declared_names, find_declared_types

Intent = Literal["symbol", "error", "howto", "usage", "configuration", "history", "test", "search"]

# The number of characters that are examined. The start of a pasted stack trace is enough to
# classify it.
_MAX_CHARS: Final = 300
_WORD: Final = re.compile(r"[a-z']+")


@dataclass(frozen=True, slots=True)
class _Mark:
    """Evidence for a kind of question: a word, or a phrase that contains one of the hint words.

    Searching for a phrase takes ten times as long as looking up words. If a question has none of
    the hint words, the phrase is not searched.
    """

    words: frozenset[str]
    hints: frozenset[str]
    phrase: re.Pattern[str]

    def is_in(self, words: set[str], text: str) -> bool:
        if not self.words.isdisjoint(words):
            return True
        return not self.hints.isdisjoint(words) and self.phrase.search(text) is not None


def _mark(words: str, hints: str, phrase: str) -> _Mark:
    return _Mark(frozenset(words.split()), frozenset(hints.split()), re.compile(phrase))


_ASKING: Final = frozenset(
    """how what where which who whose why when does do did is are was can could should may if
    what's where's""".split()
)
# Typical output of programs.
_PRINTED: Final = re.compile(
    r"^\s*(?:[\w.:]*(?:error|exception|warning|panic|failure)|fatal|e\d{3,}|\w+: (?:error|fatal))"
    r"\b[^:?]*:(?!:)|\b[\w.]+(?:error|exception):\s|traceback \(most|caused by: "
    r"|\bat [\w.$]+\(.*:\d|\bline \d+, in "
)
# Typical words of messages. Questions, which may contain them too, are excluded first.
_COMPLAINT: Final = _mark(
    """cannot can't couldn't failure unsupported invalid illegal unexpected unacceptable
    incompatible already denied overflow mismatch""",
    "could failed unable refusing refused not no must may missing timed fault expected longer",
    r"\b(?:could not|failed to|unable to|refus(?:ed|ing)|not (?:allowed|found|supported)|no such"
    r"|does not exist|must (?:not )?be|may not|is missing|timed out|segmentation fault"
    r"|longer than the|expected .+ (?:got|but|installed))\b",
)
# Signs of values that a program inserted: quotes, brackets, a number, a colon, a qualified name.
_FILLED_IN: Final = re.compile(r"""["'<(\[]\S|\b\d+\b|:\s|[a-z][A-Z]|\w\.\w""")

# Start of requests and commit messages, with an optional tag or component: "api: add …".
_REQUEST: Final = re.compile(
    r"\s*(?:\[[^\]]*\]\s*|[\w./()*-]+:\s+)?(?:please\s+)?"
    r"(?:do not\b|don['\u2019]t\b|(?!let me\b)([a-z]+)\b(?!-))"
)
_CHANGES: Final = frozenset(
    """add adds added allow allows allowed avoid avoids avoided bump bumps bumped change
    changes changed deprecate deprecates deprecated drop drops dropped ensure ensures
    ensured extract extracts extracted fix fixes fixed handle handles handled ignore ignores
    ignored implement implements implemented improve improves improved introduce introduces
    introduced let lets make makes made migrate migrates migrated move moves moved prevent
    prevents prevented refactor refactors refactored remove removes removed rename renames
    renamed replace replaces replaced simplify simplifies simplified skip skips skipped stop
    stops stopped support supports supported switch switches switched update updates updated
    use uses used""".split()
)

# How language models ask for the uses of a name: "parse_header calls, …", "calls to parseHeader".
_NAME: Final = r"(?=\S*?(?:\w_\w|[a-z0-9][A-Z]|[A-Z]{2}[a-z]|::|->|\w\.\w|\(\)))[\w$:.>#()!?-]+"
_USE_OF_NAME: Final = re.compile(
    rf"\W*(?:{_NAME} (?:calls?|callers?|call sites?|invocations?|usages?|uses?|references)"
    rf"(?=\s*(?:[,;.]|$)|\s(?:in|from|outside)\b)"
    rf"|(?:all )?(?:calls?|invocations?|references) (?:to|of) {_NAME})"
)

# The words with which a question about the uses of a name begins. Later words do not count: a query
# that declares a definition may ask for a second place with "and its caller".
_USES_FIRST: Final = re.compile(
    r"\W*(?:(?:find|show|list|all|every|the|code|places?|functions?|that|where|which|what|who) )"
    r"{0,4}(?:calls?|callers?|call sites?|usages?|uses?|users?|references?|imports?|importers?"
    r"|implements|implementations?|invokes?)\b",
    re.IGNORECASE,
)

_LIST_BREAK: Final = re.compile(r"\w\S*[,;]\s+\S|[a-z)\]]\.\s+\S|\w \{")
_BREAK: Final = re.compile(r"[\w)\]][\"”]?[.;:]\s")
_CODE_MARK: Final = re.compile(r"[={}]|\b(?:def|func)\s")
_CALL_START: Final = re.compile(r"\w\(")
_ASKS_LATER: Final = re.compile(
    r"\b(?:I|my|me|we|our)\b|[,;]\s+(?:and\s+)?(?:how|what|which|why|where|who|when|does|do|is|can"
    r"|it|one|every)\b"
)
# Language models write the passage that they expect to find: a description, and then code that
# begins with a call.
_CALL: Final = re.compile(
    r"[a-z)][.:;]\s+(?:(?:const|let|var|val|auto|final|string)\s+)?(?:[\w@]+(?:,\s*\w+)*\s*:?=\s*)?"
    r"(?:await\s+|return\s+)?@?(?:\w+(?:\.|::|->))*"
    r"(?=\w*(?:\w_\w|[a-z0-9][A-Z]|[A-Z]{2}[a-z]))(\w+)[!?]?\("
)
_CODE: Final = re.compile(r"\w\([^)]*\w|[={}]")
_DEFINES: Final = re.compile(
    r"\b(?:def|func|function|fun|fn|class|struct|enum|interface|impl|trait|void|TEST\w*)\s|\btest\("
)
# People describe what they want to do as their own task: "set up a checkout so that I can run it".
_OWN_TASK: Final = re.compile(
    r"\W*(?:add|build|change|configure|create|custom(?:ize|ise)|debug|get|install|keep|let|make"
    r"|migrate|put|replace|run|set ?up|start|step(?:ping)?|swap|try|use|write)\b"
    r"(?=.*\b(?:I|me|my|our|own|we)\b)"
)
# How people ask for an option of a program, not for the code that reads it.
_OPTION_REQUEST: Final = re.compile(
    r"^\W*(?:which|what) (?:\w+ ){0,2}?(?:options?|settings?|flags?|preferences?)\b"
    r"|\bwhat(?:'s| is| are) the defaults?\b"
)
_INTENTS: Final[tuple[tuple[_Mark, Intent], ...]] = (
    (
        _mark(
            "caller callers usages importers",
            """who call calls called usage uses use users used references import imports invokes
            implementations implements invoked instantiated imported referenced subclassed""",
            r"\bwho (?:all )?(?:calls?|uses?|invokes?|imports?|implements?|depends on)\b"
            r"|\b(?:call sites?|usage|uses|users|references|implementations) (?:of|to)\b"
            r"|\bwhere\b.*\b(?:used|called|invoked|instantiated|imported|referenced|subclassed)\b"
            r"|\b(?:which|what) \w+(?: \w+)? (?:calls?|uses?|invokes?|imports?|implements?)\b",
        ),
        "usage",
    ),
    (
        _mark(
            "changelog",
            """when commit version release who since log blame history migrate migrating migration
            upgrade upgrading renamed deprecated removed new changed replaces replacement last
            recently""",
            r"\bwhen (?:was|were|did)\b.*\b(?:added|removed|introduced|changed|renamed|deprecated"
            r"|dropped|deleted|fixed|merged|released|change|appear|disappear)\b"
            r"|\b(?:which|what) (?:commit|version|release)\b"
            r"|\bwho (?:wrote|changed|added|removed|introduced|fixed)\b"
            r"|\bsince (?:which|what|when|the (?:upgrade|update)|version)\b"
            r"|\b(?:release notes?|git (?:log|blame|history)|(?:migrat|upgrad)(?:e|ing|ion) (?:to"
            r"|from)|(?:was|were|been|got) (?:renamed|deprecated|removed)"
            r"|what(?:'s| is| has)? (?:new|changed) in|what replaces|replacement for"
            r"|last (?:change|commit)|recently (?:changed|added|removed)|history of)\b",
        ),
        "history",
    ),
    (
        _mark(
            "guide tutorial walkthrough quickstart howto",
            "how can could may should steps way started example examples",
            r"\bhow (?:(?:do|can|could|should|would|might) (?:i|we|you|one|people|users?)|to)\b"
            r"|^\s*(?:can|could|may|should) (?:i|we)\b|\bsteps (?:to|for)\b|\bway to\b"
            r"|\bgetting started\b|\bexamples? (?:of|for)\b",
        ),
        "howto",
    ),
    (
        _mark(
            """setting settings option options configure configures configured configuring
            configuration configurable config preference preferences env default defaults flag flags
            parameter enable enables enabled disable disables disabled ci workflow nightly""",
            "environment unless command turn turned switch switched opt opting continuous build",
            r"\benvironment (?:variables?|vars?)\b|\bunless told otherwise\b|\bcommand.line\b"
            r"|\bturn(?:ed)? (?:\w+ )?o(?:n|ff)\b|\bswitch(?:ed)? o(?:n|ff)\b"
            r"|\bopt(?:ing)? (?:in|out)\b|\bcontinuous integration\b|\bbuild (?:step|option)\b",
        ),
        "configuration",
    ),
)


def classify_intent(
    text: str, *, is_symbol: bool, is_for_test: bool = False, query: str = ""
) -> Intent:
    """Return the first intent that matches a question, else `search`.

    `is_for_test` is true if the question asks for a test. `text` may lack names that a language
    model guessed; `query` is the whole text, including these names. Questions about the uses of a
    name, and messages that a program printed, are recognized first, regardless of their other
    words.
    """
    if is_symbol:
        return "symbol"
    head = text[:_MAX_CHARS]
    lower = head.lower()
    found = _WORD.findall(lower)
    words = set(found)
    if _USE_OF_NAME.match(head) is not None or called_name(head):
        return "usage"
    if not _asks(found, lower) and _is_message(head, lower, words):
        return "error"
    for mark, intent in _INTENTS:
        if is_for_test and intent != "usage":
            return "test"
        if mark.is_in(words, lower) and not (intent == "usage" and _declares_first(query or text)):
            return intent
    return "howto" if _OWN_TASK.match(head) is not None else "search"


def asks_for_option(text: str) -> bool:
    """Return whether a question asks for an option, or for a default value."""
    return _OPTION_REQUEST.search(text[:_MAX_CHARS].lower()) is not None


def _declares_first(text: str) -> bool:
    """Return whether a text contains a declaration and does not begin by asking for uses."""
    if _USES_FIRST.match(text) is not None:
        return False
    return bool(find_declared_names(text) or find_declared_types(text))


def called_name(text: str) -> str:
    """Return the name that is called first in the code after a description, or ""."""
    found = _CALL.search(text[:_MAX_CHARS])
    if found is None or _CODE.search(text[: found.start()]) or _DEFINES.search(text):
        return ""
    name = found.group(1)
    return "" if name.isupper() else name  # an upper-case name is a macro


def description_end(text: str) -> int:
    """Return the offset of the code after a description, or the length if there is no code."""
    found = _BREAK.search(text)
    if found is None or found.end() > _last_code(text):
        return len(text)
    if text.rstrip().endswith("?") and _asks(_WORD.findall(text.lower()), ""):
        return len(text)
    return found.end()


def is_composed(text: str) -> bool:
    """Return whether a query is a description that is followed by words, names or code.

    Language models write such queries, whereas people ask questions. A question with several
    clauses is recognized as a question by its words.
    """
    head = text[:_MAX_CHARS]
    if description_end(text) < len(text):
        return True
    if _LIST_BREAK.search(head) is None or _ASKS_LATER.search(head) is not None:
        return False
    lower = head.lower()
    found = _WORD.findall(lower)
    return not _asks(found, lower) and not (":" in head and _PRINTED.search(lower))


def _last_code(text: str) -> int:
    """Return where the last call, assignment, brace or definition begins, or -1.

    The text is searched once for each pattern. A single pattern that matches a description and the
    code after it would take quadratic time: more than a minute for a log of 400,000 characters.
    """
    marks = [found.start() for found in _CODE_MARK.finditer(text)]
    calls = [found.start() for found in _CALL_START.finditer(text, 0, max(0, text.rfind(")")))]
    return max([-1, *marks[-1:], *calls[-1:]])


def describes_change(text: str) -> bool:
    """Return whether a text requests or reports a change instead of asking a question."""
    lower = text[:_MAX_CHARS].lower()
    found = _REQUEST.match(lower)
    if found is None or lower.rstrip().endswith("?"):
        return False
    return found.group(1) is None or found.group(1) in _CHANGES


def _asks(words: list[str], text: str) -> bool:
    return text.rstrip().endswith("?") or (bool(words) and words[0] in _ASKING)


def _is_message(text: str, lower: str, words: set[str]) -> bool:
    if ":" in text and _PRINTED.search(lower):
        return True
    return _COMPLAINT.is_in(words, lower) and _FILLED_IN.search(text) is not None
