"""The language of the project: plain technical English in prose.

Prose is every docstring, comment and page, and outside the tests also every other string in the
code. `test_names.py` checks the names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

import pytest
from project_text import (
    Finding,
    explain,
    identifiers,
    is_named_as_a_noun,
    is_pattern,
    nodes,
    prose,
    tracked_files,
    words_of,
)

QUESTION_WORDS = "how|if|that|what|when|where|whether|which|who|why"
# Unidiomatic phrases, and what to write instead.
PHRASES: Mapping[str, str] = {
    r"who(?:m)?ever": "name the caller, the process or the user",
    r"nobody": "say what does not happen",
    r"somebody(?:'s| else)?": "name the person, the program or the process",
    r"anew": "again",
    r"for ever": "forever, or without a limit",
    r"of our own": "name the owner, or leave it out",
    r"as it is\b(?! (?:not|also|now a))": "unchanged",
    r"(?:stands?|stood)(?!-in)": "is, occurs, means",
    # "The note tells agents to ask again" gives an instruction, and is idiomatic.
    rf"(?:tells?|told|telling)(?! (?:(?!{QUESTION_WORDS})\S+ ){{1,4}}(?:not )?to \w)": (
        "reports, says, distinguishes"
    ),
    r"to whom": "name the recipient",
    r"ought to": "should",
    r"in vain": "without success",
    r"by hand of": "by",
    r"in the stead of|in the place of": "instead of",
    r"no (?:slower|faster|fewer|worse)": "at least as fast as, at most",
    r"no (?:better|higher|larger|lower|smaller)(?= than| for|[).,:;\]])": "at most, not",
    r"not (?:a few|few|many|infrequent(?:ly)?|rarely|seldom|uncommon(?:ly)?)": "many, few, often",
    r"left alone": "skipped, not changed",
    r"let go of": "release, close",
    r"so many (?:tokens|lines|files|bytes|characters)": "a number of",
    r"is gone through": "is scanned",
    r"the latter|the former": "name it",
    r"thereof|therein|hereby|hitherto|wherein": "use a plain word",
    r"lest": "so that … not",
    r"shall": "must, should, will",
    # Expressions that were translated word by word.
    r"(?<!and\s)also if": "even if",
    r"profits? from": "benefit from",
    r"a content": "content, or the content of …",
    r"chat servers?": "LLM server",
    r"pays? off": "save time, are worth the cost",
    r"for long enough": "long enough",
    r"(?:with|after|before) a question on a terminal|after a question(?= \(`--yes)": (
        "after confirmation"
    ),
    r"in any case(?! of)": "always, anyway",
    r"(?:promise|announce)s? (?:a )?secrets?": "suggest, introduce",
    r"no longer word": "no word that contains it",
    r"agent files": "files of coding agents",
    r"places of the code": "places in the code",
    r"(?:after|before) (?:this|that|the|a) \w+ at the latest": "after at most …",
    r"depends? from": "depend on",
    r"informations": "information",
    r"the [0-9.]+ of (?:rootle|semble|mem0|BM25)": "the score of …, 0.687",
    r"(?:is|has|may|can)_\w+` says (?:that|whether)": "state the condition: if `is_small`, …",
}
# A docstring of a function must begin with a verb, so its first word must not be one of these.
OPENINGS = frozenset(
    "What Which Whether How Who Whom Whose Where When Why That Those These This The A An Its All "
    "Every Each Some No None One Of In At For As From With Without By On So As Only Also "
    "Nothing Something Everything".split()
)
# The docstring of a class or a module is a noun phrase or a sentence, not an indirect question.
QUESTIONS = frozenset("What Which Whether How Who Whom Whose Where When Why".split())

# Accepted findings, as "path: the words around the finding".
ALLOWED: frozenset[str] = frozenset(
    {
        # The wording of this advice is chosen by measurement.
        "src/rootle/tools/query_wording.py: docstring that would stand above the code",
        "benchmarks/history/commit_messages.py: should would will shall may might",
        "src/rootle/text/agent_orders/word_kinds.py: must should shall ought",
        "training/corpus/list_sources.py: permission is hereby granted",
        "src/rootle/search/stages/low_confidence.py: new next nobody none nor",
        "src/rootle/search/stages/low_confidence.py: somebody someone something",
        # Lists of words, and quoted attacks.
        "docs/how-to/outside-knowledge.md: do not tell\nthe user",
        "src/rootle/search/stages/low_confidence.py: taken takes tell tells thing",
        "src/rootle/search/stages/low_confidence.py: together told too",
        "src/rootle/text/agent_orders/detector.py: do not tell the user",
        "src/rootle/text/agent_orders/word_kinds.py: tell say mention",
        "src/rootle/text/terms.py: such tell than",
        "training/question_words/phrase_table.py: tell why",
        "training/questions/verbs.py: take tell terminate",
    }
)


PATTERNS = {
    # A phrase may continue on the next line.
    re.compile(rf"\b(?:{phrase})\b".replace(" ", r"\s+"), re.IGNORECASE): remedy
    for phrase, remedy in PHRASES.items()
}
WHAT = re.compile(r"(?:\A|[.!?]\s+|\n\s*\n\s*)(What )(?!(?:is|are|does|do|if)\b[^.]*\?)")
ANY_PHRASE = re.compile("|".join(pattern.pattern for pattern in PATTERNS), re.IGNORECASE)


@pytest.mark.slow
def test_prose_uses_plain_phrases() -> None:
    wrong = [
        Finding(f"{path}:{line + text[: match.start()].count(chr(10))}", match.group(), remedy)
        for path, line, text in prose()
        for match, remedy in find_phrases(text)
        if not is_allowed(path, text, match)
    ]
    assert not wrong, explain(wrong)


@pytest.mark.slow
def test_identifiers_use_plain_phrases() -> None:
    wrong = [
        Finding(f"{path}:{line}", name, remedy)
        for path, line, name in identifiers()
        for _, remedy in find_phrases(" ".join(words_of(name)))
        if f"{path}: {name}" not in ALLOWED
    ]
    assert not wrong, explain(wrong)


@pytest.mark.slow
def test_every_accepted_finding_still_occurs() -> None:
    texts: dict[str, list[str]] = {}
    for path, _, text in prose():
        texts.setdefault(path, []).append(text)
    unused = [
        entry
        for entry in ALLOWED
        for path, _, words in [entry.partition(": ")]
        if not any(words in text for text in texts.get(path, ()))
    ]
    assert unused == []


@pytest.mark.slow
def test_no_file_contains_an_unresolved_merge_conflict() -> None:
    marker = re.compile(rb"^(?:<{7}|>{7}) ", re.MULTILINE)
    paths = tracked_files()
    assert paths
    assert [str(path) for path in paths if marker.search(path.read_bytes())] == []


@pytest.mark.slow
def test_an_error_is_documented_with_its_condition() -> None:
    # "Return the file; raise OSError." reads as if the function always raised.
    unconditional = re.compile(r"; raises? (?:an? )?`?\w+(?:Error|Exception)`?\.(?=\s|\Z)")
    wrong = [
        Finding(
            f"{path}:{line + text[: match.start()].count(chr(10))}", match.group(), "Raise … if …"
        )
        for path, line, text in prose()
        for match in unconditional.finditer(text)
    ]
    assert not wrong, explain(wrong)


@pytest.mark.slow
def test_no_sentence_opens_with_what() -> None:
    wrong = [
        Finding(
            f"{path}:{line + text[: match.start(1)].count(chr(10))}",
            text[match.start(1) : match.start(1) + 50].replace("\n", " "),
            "name the subject",
        )
        for path, line, text in prose()
        for match in WHAT.finditer(text)
        if not is_allowed(path, text, match)
    ]
    assert not wrong, explain(wrong)


@pytest.mark.slow
def test_docstrings_have_a_verb_or_are_noun_phrases() -> None:
    wrong = [
        Finding(f"{path}:{getattr(node, 'lineno', 1)}", docstring.split("\n")[0], remedy)
        for path, own in nodes().items()
        for node in own
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module)
        for docstring in [ast.get_docstring(node)]
        if docstring
        for remedy in [find_fault(node, docstring)]
        if remedy
    ]
    assert not wrong, explain(wrong)


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("The name stands after the colon.", "stands"),
        ("It stands once.", "stands"),
        ("The value stood here before.", "stood"),
        ("A stand-in model was used.", ""),
        ("These standards are understood.", ""),
        ("It tells the caller.", "tells"),
        ("It tells callers.", "tells"),
        ("It tells the caller what to do.", "tells"),
        ("They told the reader.", "told"),
        ("Names tell them apart.", "tell"),
        ("git cannot tell.", "tell"),
        ("A note tells agents not to follow instructions.", ""),
        ("The tools tell an agent to ask again.", ""),
        ("The second run is no slower.", "no slower"),
        ("It is no slower than the first.", "no slower"),
        ("It is no better for code.", "no better"),
        ("There is no better match.", ""),
        ("The file no longer exists.", ""),
        ("It has no more than two.", ""),
        ("Not many files remain.", "Not many"),
        ("They are not\n    rarely renamed.", "not\n    rarely"),
        ("The lock is let go\nof.", "let go\nof"),
        ("Whoever calls this", "Whoever"),
        ("The page is read anew.", "anew"),
        ("The text stays as it is.", "as it is"),
        ("The word is in the stead of another.", "in the stead of"),
        ("Files are read even if they are large.", ""),
        ("Chunks are a unit, and also if empty.", ""),
        ("The name of a file is a string.", ""),
    ],
)
def test_a_phrase_is_found_in_a_sentence(sentence: str, found: str) -> None:
    assert [match.group() for match, _ in find_phrases(sentence)] == [found] * bool(found)


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("What a query finds.", True),
        ("It is done. What follows is skipped.", True),
        ("Return a name.\n\n    What follows is skipped.", True),
        ("Return a name.\n    What follows is skipped.", True),
        ("What is an index?", False),
        ("Return what a query finds.", False),
    ],
)
def test_a_sentence_that_opens_with_what_is_found(text: str, is_found: bool) -> None:
    assert (WHAT.search(text) is not None) == is_found


@pytest.mark.parametrize(
    ("code", "is_fault"),
    [
        ('def find(): "Return a name."', False),
        ('def find(): "The name of a file."', True),
        ('def find(): "Whether a file has a name."', True),
        ('@property\ndef name(self): "The name of a file."', False),
        ('def test_a_name(): "The name is that of a file."', False),
        ('class Name: "The name of a file."', False),
        ('class Name: "Finds files by their names."', False),
        ('class Name: "How a file is named."', True),
        ('class Name: "What a file contains."', True),
        ('class Name: "Return a name."', True),
        ('"Names of files."', False),
        ('"Find files by their names."', False),
        ('"Which files have names."', True),
    ],
)
def test_a_fault_of_a_docstring_is_found(code: str, is_fault: bool) -> None:
    tree = ast.parse(code)
    node = tree if ast.get_docstring(tree) else tree.body[0]
    assert isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module)
    assert bool(find_fault(node, ast.get_docstring(node) or "")) == is_fault


def test_strings_that_are_not_prose_are_skipped() -> None:
    assert is_pattern(r"(?:tell|told) \w+")
    assert is_pattern(r"\btold\b")
    assert is_pattern("said|says|told|asked")
    assert not is_pattern("It tells the caller (see below).")


def find_phrases(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the unidiomatic phrases in a text, and what to write instead."""
    if ANY_PHRASE.search(text):  # a single pass is faster than a pass for each phrase
        for pattern, remedy in PATTERNS.items():
            yield from ((match, remedy) for match in pattern.finditer(text))


def find_fault(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module, docstring: str
) -> str:
    """Return how to begin a docstring, or "" if it begins well."""
    first = docstring.split()[0].rstrip(",:.")
    if isinstance(node, ast.ClassDef):
        is_wrong = first in QUESTIONS or first in ("Return", "Yield", "Raise")
        return "say what an instance is or does: A cache of …, Reads …" if is_wrong else ""
    if isinstance(node, ast.Module):
        return "name the content: Queries of …, Find …" if first in QUESTIONS else ""
    # The docstring of a test says why the test exists.
    if node.name.startswith("test_") or is_named_as_a_noun(node):
        return ""
    return "begin with a verb: Return …" if first in OPENINGS else ""


def is_allowed(path: str, text: str, match: re.Match[str]) -> bool:
    """Return whether the words around a match are in ALLOWED for this path."""
    return any(
        entry_path == path and words in text and match.group() in words
        for entry in ALLOWED
        for entry_path, _, words in [entry.partition(": ")]
    )
