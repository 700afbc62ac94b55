"""The language of the project: plain technical English in prose and in identifiers.

Prose is every docstring, comment and page, and outside the tests also every other string in the
code.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from syntax_trees import syntax_tree
from tree_sitter import Parser, Query, QueryCursor

from rootle.syntax.grammars import load_grammar

TOP = Path(__file__).resolve().parent.parent
CODE = ("src", "tests", "benchmarks", "training", "docs", "examples")

# Unidiomatic phrases, and what to write instead.
PHRASES: Mapping[str, str] = {
    r"who(?:m)?ever": "name the caller, the process or the user",
    r"nobody": "say what does not happen",
    r"somebody(?:'s| else)?": "name the person, the program or the process",
    r"anew": "again",
    r"for ever": "forever, or without a limit",
    r"of our own": "name the owner, or leave it out",
    r"as it is\b(?! (?:not|also|now a))": "unchanged",
    r"stands?(?: (?:in|for|at|there|here|nowhere|beside|still|between|behind))": "is, occurs",
    r"where (?:it|they) stands?": "where it occurs",
    r"(?:is|are|was|were|be|been) told": "receives, reports",
    r"tells? (?:what|whether|how|who|which|of|when|where|if)": "reports, says",
    r"told (?:by|from|apart|in|of)": "reported, distinguished",
    r"to whom": "name the recipient",
    r"ought to": "should",
    r"in vain": "without success",
    r"by hand of": "by",
    r"in the stead of|in the place of": "instead of",
    r"no (?:slower|faster|fewer|worse) than": "at least as fast as, at most",
    r"not few": "many",
    r"not seldom": "often",
    r"left alone": "skipped, not changed",
    r"let go of": "release, close",
    r"so many (?:tokens|lines|files|bytes|characters)": "a number of",
    r"is gone through": "is scanned",
    r"the latter|the former": "name it",
    r"thereof|therein|hereby|hitherto|wherein": "use a plain word",
    r"lest": "so that … not",
    r"shall": "must, should, will",
    # Expressions that were translated word by word.
    r"(?<!and )also if": "even if",
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
# Words that make an identifier obscure, and the terms to use instead.
WORDS: Mapping[str, str] = {
    "ears": "event thread",
    "witness": "probe",
    "wish": "command, request",
    "doubt": "low confidence",
    "farewell": "shutdown",
    "patience": "timeout",
    "crowd": "many duplicates",
    "twins": "near-duplicates",
    "blotted": "redacted",
    "anew": "again",
    "beside": "alongside, or the noun",
    "makeup": "fingerprint",
    "arrears": "lag",
    "tellings": "observations",
    "whoever": "name it",
    "nobody": "name it",
    "heal": "retry",
    "crumb": "fragment",
}
# First words of a function name that are not verbs.
NO_VERBS = frozenset("beside within among around upon of".split())
# Participles that do not end in "ed".
PARTICIPLES = frozenset("taken kept made shown known left given told held found written".split())
# The name of a function must not be a participle ("ranked") or begin with one and a preposition
# ("ranked_by"). Before another word, a participle is an adjective ("unused_settings"), which is
# allowed.
PREPOSITIONS = frozenset("by in of at to from with without on for as".split())
# Verbs and nouns that end in "ed" but are not participles.
VERBS_IN_ED = frozenset("embed feed need seed speed proceed exceed succeed shed bleed".split())
# A docstring of a function must begin with a verb, so its first word must not be one of these.
OPENINGS = frozenset(
    "What Which Whether How Who Whom Whose Where When Why That Those These This The A An Its All "
    "Every Each Some No None One Of In At For As From With Without By On So As Only Also "
    "Nothing Something Everything".split()
)
# Decorators of functions that may be named and documented as nouns.
NOUNS = ("property", "fixture", "overload", "pytest.fixture", "composite", "setter")


class Finding(NamedTuple):
    where: str  # path and line
    found: str
    remedy: str


class Comment(NamedTuple):
    line: int
    text: str


# Accepted findings, as "path: the words around the finding".
ALLOWED: frozenset[str] = frozenset(
    {
        # The wording of this advice is chosen by measurement.
        "src/rootle/tools/query_wording.py: What to find, in the words that the code",
        "benchmarks/history/commit_messages.py: should would will shall may might",
        "src/rootle/text/agent_orders/word_kinds.py: must should shall ought",
        "training/corpus/list_sources.py: permission is hereby granted",
        "src/rootle/search/query/absent_words.py: new next nobody none nor",
        "src/rootle/search/query/absent_words.py: somebody someone something",
    }
)


@pytest.mark.slow
def test_prose_uses_plain_phrases() -> None:
    patterns = {
        re.compile(rf"\b(?:{phrase})\b", re.IGNORECASE): remedy
        for phrase, remedy in PHRASES.items()
    }
    any_phrase = re.compile("|".join(pattern.pattern for pattern in patterns), re.IGNORECASE)
    wrong = [
        Finding(f"{path}:{line + text[: match.start()].count(chr(10))}", match.group(), remedy)
        for path, line, text in prose()
        if any_phrase.search(text)  # a single pass is faster than a pass for each phrase
        for pattern, remedy in patterns.items()
        for match in pattern.finditer(text)
        if not is_allowed(path, text, match)
    ]
    assert not wrong, explain(wrong)


@pytest.mark.slow
def test_no_file_contains_an_unresolved_merge_conflict() -> None:
    marker = re.compile(rb"^(?:<{7}|>{7}) ", re.MULTILINE)
    paths = tracked_files()
    assert paths
    assert [str(path) for path in paths if marker.search(path.read_bytes())] == []


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


def test_no_sentence_opens_with_what() -> None:
    opening = re.compile(r"(?:\A|(?<=[.!?]\s)|(?<=\n\n))What (?!(?:is|are|does|do|if)\b[^.]*\?)")
    wrong = [
        Finding(
            f"{path}:{line + text[: match.start()].count(chr(10))}",
            text[match.start() : match.start() + 50].replace("\n", " "),
            "name the subject",
        )
        for path, line, text in prose()
        for match in opening.finditer(text)
        if not is_allowed(path, text, match)
    ]
    assert not wrong, explain(wrong)


@pytest.mark.slow
def test_identifiers_use_the_terms_of_the_field() -> None:
    wrong = [
        Finding(f"{path}:{line}", name, f"{word} -> {WORDS[word]}")
        for path, line, name in identifiers()
        for word in words_of(name)
        if word in WORDS and f"{path}: {name}" not in ALLOWED
    ]
    assert not wrong, explain(wrong)


@pytest.mark.slow
def test_function_names_are_verbs() -> None:
    wrong = [
        Finding(f"{path}:{node.lineno}", node.name, "begin with a verb")
        for path, node in functions()
        if not is_named_as_a_noun(node)
        for first, *others in [words_of(node.name) or ("",)]
        if first in NO_VERBS or (is_participle(first) and PREPOSITIONS.issuperset(others[:1]))
        if f"{path}: {node.name}" not in ALLOWED
    ]
    assert not wrong, explain(wrong)


@pytest.mark.slow
def test_docstrings_of_functions_have_a_verb() -> None:
    wrong = [
        Finding(f"{path}:{node.lineno}", docstring.split("\n")[0], "begin with a verb: Return …")
        for path, node in functions()
        if not path.startswith("tests/") and not is_named_as_a_noun(node)
        for docstring in [ast.get_docstring(node)]
        if docstring and docstring.split()[0].rstrip(",:") in OPENINGS
    ]
    assert not wrong, explain(wrong)


@pytest.mark.parametrize(
    ("name", "words"),
    [("_PATIENCE_S", ("patience", "s")), ("WatchWitness", ("watch", "witness")), ("x2", ("x2",))],
)
def test_an_identifier_is_split_into_words(name: str, words: tuple[str, ...]) -> None:
    assert words_of(name) == words


def is_allowed(path: str, text: str, match: re.Match[str]) -> bool:
    """Return whether the words around a match are in ALLOWED for this path."""
    return any(
        entry_path == path and words in text and match.group() in words
        for entry in ALLOWED
        for entry_path, _, words in [entry.partition(": ")]
    )


def is_participle(word: str) -> bool:
    ends_in_ed = len(word) > 4 and word.endswith("ed") and word[-3] != "e"
    return word in PARTICIPLES or (ends_in_ed and word not in VERBS_IN_ED)


def is_named_as_a_noun(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    decorators = [ast.unparse(item) for item in node.decorator_list]
    return any(noun in decorator for noun in NOUNS for decorator in decorators)


@cache
def words_of(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name))


@cache
def tracked_files() -> tuple[Path, ...]:
    # The working tree rather than the last commit: a new file is checked before it is committed.
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=TOP,
        capture_output=True,
        check=True,
    ).stdout
    paths = (TOP / name for name in listing.decode().split("\0") if name)
    found = tuple(path for path in paths if path.is_file() and path != Path(__file__))
    assert len(found) > 400
    return found


@cache
def sources() -> Mapping[str, str]:
    """Return the text of every Python file, by its path from the top of the repository."""
    return {
        path.relative_to(TOP).as_posix(): path.read_text(encoding="utf-8")
        for path in tracked_files()
        if path.suffix == ".py" and path.relative_to(TOP).parts[0] in CODE
    }


@cache
def nodes() -> Mapping[str, Sequence[ast.AST]]:
    """Return the nodes of the syntax tree of every Python file."""
    return {path: tuple(ast.walk(syntax_tree(TOP / path))) for path in sources()}


@cache
def prose() -> tuple[tuple[str, int, str], ...]:
    """Return path, line number and text of every docstring, comment, message and page."""
    return tuple(
        (path, line, text)
        for group in (pages(), comments(), strings())
        for path, line, text in group
        if text.strip()
    )


def pages() -> Iterator[tuple[str, int, str]]:
    for path in tracked_files():
        if path.suffix == ".md" or path.name == "Makefile":
            text = path.read_text(encoding="utf-8")
            # Drop the commands and output in code blocks, and keep line breaks for the line
            # numbers.
            plain = re.sub(
                r"```.*?```", lambda match: "\n" * match.group().count("\n"), text, flags=re.S
            )
            yield path.relative_to(TOP).as_posix(), 1, plain


def comments() -> Iterator[tuple[str, int, str]]:
    """Yield each run of comment lines as one text."""
    # Python's own tokenizer is three times slower.
    grammar = load_grammar("python").language
    comment_nodes = Query(grammar, "(comment) @comment")
    for path, source in sources().items():
        tree = Parser(grammar).parse(source.encode())
        found = QueryCursor(comment_nodes).captures(tree.root_node).get("comment", [])
        run: list[Comment] = []
        for node in sorted(found, key=lambda node: node.start_byte):
            comment = Comment(node.start_point[0] + 1, (node.text or b"").decode().lstrip("# "))
            if run and comment.line != run[-1].line + 1:
                yield path, run[0].line, "\n".join(item.text for item in run)
                run = []
            run.append(comment)
        if run:
            yield path, run[0].line, "\n".join(item.text for item in run)


def strings() -> Iterator[tuple[str, int, str]]:
    """Yield all docstrings, and all other strings outside of the tests."""
    for path, own in nodes().items():
        docstrings = {
            id(node.body[0].value)
            for node in own
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in own:
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                continue
            if id(node) in docstrings or not path.startswith("tests/"):
                yield path, node.lineno, node.value


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path, own in nodes().items():
        for node in own:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def identifiers() -> Iterator[tuple[str, int, str]]:
    """Yield path, line and name of everything that the code defines, files included."""
    for path, own in nodes().items():
        yield path, 1, Path(path).stem
        for node in own:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield path, node.lineno, node.name
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield path, node.lineno, node.id
            elif isinstance(node, ast.arg):
                yield path, node.lineno, node.arg
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield path, node.lineno, node.attr


def explain(wrong: list[Finding]) -> str:
    lines = [f"  {item.where}: {item.found!r}: {item.remedy}" for item in wrong]
    return "\n".join([f"{len(wrong)} findings", *lines])
