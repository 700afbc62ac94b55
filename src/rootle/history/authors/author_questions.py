"""Recognize questions about the commits of an author, such as "commits by Ada about retries"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.text.patterns.lazy_pattern import LazyPattern, lazy_pattern, words_in

MAX_NAME_WORDS: Final = 4
_MAX_CHARS: Final = 300
_NOUN: Final = (
    r"(?:commits?|changes?|patch(?:es)?|pull requests?|prs?|contributions?|merges?"
    r"|(?:bug ?)?fix(?:es)?|work|edits?|refactorings?)"
)
# Words of `_NOUN`.
_NOUNS: Final = (
    "commit|commits|change|changes|patch|patches|pull|pr|prs|contribution|contributions|merge"
    "|merges|fix|fixes|bug|bugfix|bugfixes|work|edit|edits|refactoring|refactorings"
)
_AGE: Final = r"(?:last|latest|newest|most recent|recent|first|oldest|earliest)"
_NUMBER: Final = r"(?:\d{1,3}|one|two|three|four|five|ten)"
_FRAME: Final = (
    r"(?:(?:please|can you|could you|show|list|find|give|get|see|search(?: for)?|me|us|all|the|any"
    r"|git|of|what(?= (?:are|were|is|was|commit|change))|which|who|are|were|is|was|how many|few|new"
    r"|in the history|"
    rf"{_NUMBER}|{_AGE}) )*"
)
_MADE: Final = (
    "made|authored|written|done|pushed|committed|contributed|submitted|created|merged|landed"
)
_DONE: Final = (
    "added|removed|deleted|dropped|changed|modified|edited|touched|updated|fixed|introduced"
    "|implemented|reverted|refactored|renamed|rewrote|rewritten|wrote|did|worked on|optimised"
    f"|optimized|replaced|moved|{_MADE}"
)
_DO: Final = (
    "add|remove|delete|drop|change|modify|edit|touch|update|fix|introduce|implement|revert|refactor"
    "|rename|rewrite|write|do|work on|working on|make|author|commit|contribute|push|submit|create"
    f"|merge|replace|move|doing|changing|{_DONE}"
)
_OFTEN: Final = r"(?:(?:last|first|recently|lately|ever|also|been|just|originally) )*"
# The subject of a commit follows these words.
ABOUT: Final = "about|regarding|concerning|related to|mentioning"
_ABOUT: Final = re.compile(rf"\b(?:{ABOUT}) ", re.IGNORECASE)
# Verbs and nouns that do not describe the subject of a commit.
_PLAIN: Final = lazy_pattern(
    r"(?<![\w-])(?:chang(?:ed?|ing)|modif(?:y|ied)|edit(?:ed)?|touch(?:ed)?|updated?|do|did|done"
    r"|doing|work(?:ed|ing)? on|made|make|author(?:ed)?|commit(?:ted)?|contributed?|pushed|push"
    r"|submit(?:ted)?|writ(?:e|ten)|wrote|created?)(?: (?:commits?|changes?|anything))?(?![\w-])",
)
_ASKED: Final = re.compile(
    r"^(?:what|which|when|why|where|was|were|is|are|has|have|been|the| )+\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of questions: what comes before the name of an author, and what must follow it."""

    before: LazyPattern
    after: LazyPattern
    # Whether a name in lower case counts only if it is a mail address, because questions about code
    # have this form too, as in "why did max change".
    needs_capital: bool = False


def _form(before: str, *words: str, after: str = "", needs_capital: bool = False) -> _Form:
    """Return a form. Each text that matches `before` contains a word of each group in `words`."""
    return _Form(lazy_pattern(before, *words), lazy_pattern(after), needs_capital)


_WHAT: Final = (
    rf"(?:what|how many (?:commits|changes)|(?:which|what) (?:\w+ )?{_NOUN}"
    r"|(?:which|what) [\w-]+(?: [\w-]+)?)"
)
_CHANGES_IN: Final = _form(
    rf"{_FRAME}what (?:was |were |has |have )?(?:been )?changed (?P<words>(?:in|to|on|under) \S.*?)"
    r" by ",
    *("what", "changed", "by"),
)
_NAMED: Final = r"\S+(?: \S+){0,3}?"
_FORMS: Final = (
    _form(
        rf"{_FRAME}{_NOUN}(?: that| which)?(?: (?:are|is|were|was)| (?:has|have|had) been)?"
        rf"(?: (?:{_DONE}))? (?:by|from|of|with(?: the)? author|(?:whose )?author(?: is)?)"
        r"(?: author)? ",
        _NOUNS,
        "by|from|of|with|whose|author",
    ),
    _form(
        rf"{_FRAME}{_NOUN} (?P<words>\S.*?) (?:(?:{_DONE}) )?(?:by|from author) ",
        _NOUNS,
        "by|from",
    ),
    _form(
        rf"{_FRAME}(?:code|files?|tests?)(?: that)?(?: (?:was|were))? (?:{_DONE}) by ",
        "code|file|files|test|tests",
        _DONE,
        "by",
    ),
    _form(
        rf"{_WHAT} (?:did|has|have|had) ",
        "what|how|which",
        "did|has|have|had",
        after=rf"{_OFTEN}(?:been )?(?P<verb>{_DO})\b",
    ),
    _form(
        r"(?:(?:why|when|where|how) )?(?:did|has|have|had) ",
        "did|has|have|had",
        after=rf"{_OFTEN}(?:been )?(?P<verb>{_DO})\b",
        needs_capital=True,
    ),
    _form(
        r"what (?:is|was) ",
        "what",
        "is|was",
        after=r"(?P<verb>working on|doing|changing)\b",
        needs_capital=True,
    ),
    _form(
        rf"{_FRAME}(?=(?:\S+ ){{0,3}}\S+(?:['’]s|s['’]) (?:{_AGE} )?(?:{_NUMBER} )?{_NOUN}\b)",
        _NOUNS,
        after=rf"(?P<own>)(?:{_AGE} )?(?:{_NUMBER} )?{_NOUN}\b",
    ),
    _form(
        rf"{_FRAME}(?:{_NOUN}|things?|files?|code|lines)(?: that| which)? "
        rf"(?={_NAMED} (?:has |have |had )?{_OFTEN}(?:{_DONE})\b)",
        f"{_NOUNS}|thing|things|file|files|code|lines",
        _DONE,
        after=rf"(?:has |have |had )?{_OFTEN}(?P<verb>{_DONE})\b",
    ),
    _form(
        rf"{_FRAME}what (?={_NAMED} (?:has |have |had )?{_OFTEN}(?:{_DONE})\b)",
        "what",
        _DONE,
        after=rf"(?:has |have |had )?{_OFTEN}(?P<verb>{_DONE})\b",
        needs_capital=True,
    ),
    _form(rf"(?P<words>.*\b(?:{_DONE})) by ", _DONE, "by", needs_capital=True),
    _CHANGES_IN,
)
# Nouns such as "fixes", which mean only some of an author's commits. Such a noun is therefore
# searched as a word.
_SUBJECT: Final = re.compile(r"\b(?:(?:bug ?)?fix(?:es)?|refactorings?)\b", re.IGNORECASE)
_COMMITS: Final = re.compile(r"\bcommit(?:s|ted)?\b", re.IGNORECASE)
_OWNED: Final = re.compile(r"(?:'s|’s|(?<=s)['’])$", re.IGNORECASE)
_END: Final = "?!.,;:"
_COUNT: Final = re.compile(rf"\b{_AGE} ({_NUMBER}) {_NOUN}\b", re.IGNORECASE)
_NUMBERS: Final = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "ten": 10}
_OLDEST: Final = re.compile(r"\b(?:first|oldest|earliest)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AuthorQuestion:
    """A question about the commits of an author."""

    name: str  # as it was typed
    authors: Sequence[str]  # the known authors with this name, each as "Name <address>"
    words: str  # the rest of the question: subject, places and dates; may be empty
    oldest_first: bool = False
    count: int | None = None  # how many commits the question asks for, as in "last 3 commits"
    may_be_name: bool = False  # "of" may also introduce the name of a definition or a file


def may_name_author(text: str) -> bool:
    """Return whether a question has a form in which an author can be named."""
    return next(_candidates(text), None) is not None


def asks_for_changes_in(text: str) -> bool:
    """Return whether a question has the form "what changed in PLACE by NAME"."""
    return _CHANGES_IN.before.compiled.match(text) is not None


def asks_for_commits(text: str) -> bool:
    """Return whether a question may name an author, and contains a word for commits."""
    return may_name_author(text) and _COMMITS.search(text) is not None


def parse_author_question(text: str, find: Callable[[str], Sequence[str]]) -> AuthorQuestion | None:
    """Return the author that a question names, and its other words; None for other questions.

    `text` is the question without its operators. `find` returns the known authors with a name.
    """
    for form, start in _candidates(text):
        head = text[: start.end()]
        words = text[start.end() :].split()
        for count in range(min(MAX_NAME_WORDS, len(words)), 0, -1):
            name, rest = " ".join(words[:count]), " ".join(words[count:])
            is_owner = bool(form.after.compiled.groupindex.get("own"))
            if is_owner != (_OWNED.search(name.rstrip(_END)) is not None):
                continue
            name = _OWNED.sub("", name.rstrip(_END)).strip("\"'`“”()<>")
            followed = form.after.compiled.match(rest)
            if not name or followed is None or (form.needs_capital and not _is_proper(name)):
                continue
            if authors := find(name):
                kept = _join(form, start, followed, rest)
                outside = f"{head} {followed[0]}"
                subject = _SUBJECT.search(outside)
                if subject is not None and subject[0] not in kept.split():
                    kept = f"{subject[0]} {kept}".strip()
                may_be_name = head.rstrip().lower().endswith(" of")
                is_oldest = _OLDEST.search(outside) is not None
                wanted = _read_count(outside)
                return AuthorQuestion(name, authors, kept, is_oldest, wanted, may_be_name)
    return None


def _read_count(text: str) -> int | None:
    """Return the number in "the last 3 commits"; None if there is none."""
    found = _COUNT.search(text)
    if found is None:
        return None
    number = found[1].lower()
    return (int(number) if number.isdigit() else _NUMBERS[number]) or None


def _candidates(text: str) -> Iterator[tuple[_Form, re.Match[str]]]:
    """Yield the forms that a question may have, and the part before the name of the author."""
    if len(text) > _MAX_CHARS or "\n" in text.strip():
        return
    words = words_in(text)
    for form in _FORMS:
        if not form.before.may_match(words):
            continue
        found = form.before.compiled.match(text)
        if found is not None and found.end() < len(text):
            yield form, found


def _is_proper(name: str) -> bool:
    return "@" in name or name[0].isupper()


def _join(form: _Form, start: re.Match[str], followed: re.Match[str], rest: str) -> str:
    """Return the words of a question without those that ask for commits of an author."""
    groups = form.before.compiled.groupindex
    words = (start["words"] or "") if "words" in groups else ""
    plain = _PLAIN.compiled
    about = _ABOUT.search(words)
    asked, subject = (
        (words, "") if about is None else (words[: about.start()], words[about.end() :])
    )
    words = f"{plain.sub('', _ASKED.sub('', asked))} {subject}"
    verb = followed["verb"] if "verb" in form.after.compiled.groupindex else ""
    if verb and not plain.fullmatch(verb):
        words = f"{words} {verb}"
    return f"{words} {rest[followed.end() :]}".strip(" ?!.,;:")
