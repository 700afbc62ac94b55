"""The names of the code: plain terms, verbs for functions that act, and nouns for types.

Decision 59 gives the reasons for the rules.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

import pytest
from project_text import (
    Finding,
    explain,
    functions,
    identifiers,
    is_named_as_a_noun,
    nodes,
    words_of,
)

Function = ast.FunctionDef | ast.AsyncFunctionDef

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
    "feed": "replication, stream",
    "feeds": "replicates, streams",
    "feeder": "replicator",
}
# The names of characters.
CHARACTERS = ("line feed", "form feed")
# Verbs with which the name of a function that returns nothing may begin. Add a verb if it is short,
# and says more than the ones below.
VERBS = frozenset(
    "abandon accept add admit announce answer append apply ask attach begin build call catch "
    "change check claim classify clear close collect commit complete configure confirm connect "
    "converse copy count create damage decompress delete describe discard disguise do draw drop "
    "edit embed empty end enqueue evict exit expect export extract fail fill find finish flush "
    "follow forget free give handle ignore increment index inject insert install interrupt "
    "introduce invalidate issue join keep kill limit link lock log maintain make mark mask "
    "measure merge migrate nest note obey omit open originate overwrite pass pause poll post "
    "postpone preload prepare print prune publish put raise read receive record refresh refuse "
    "register release relink remember remove rename repeat replace report request reset resolve "
    "respond restart restore resume retain rotate run save say score search send serve set shift "
    "shorten show shut skip split start step stop store succeed sum supervise switch take touch "
    "train truncate unmount unpack update upsert verify visit wait wake warn watch work "
    "write".split()
)
# Names that Python, the standard library, or a package fixes.
FIXED = frozenset(
    "main entry setup emit error sendall startup shutdown connection_made connection_lost "
    "data_received".split()
)
# Words that only name a relation. "near", "outside" and "past" are also adjectives, as in
# "near_misses", so that a name may begin with them but not consist of one of them.
PREPOSITIONS = frozenset(
    "about above across after against along amid among around as at before behind below beneath "
    "beside besides between beyond by during for from in inside into of off on onto over per "
    "since through throughout to toward towards under underneath until upon via with within "
    "without".split()
)
ADJECTIVES = frozenset("near outside past".split())
# Prepositions with which a conversion begins: `to_json`, `from_rows`, `as_dict`.
CONVERSIONS = frozenset("to from as".split())
# Participles that do not end in "ed".
PARTICIPLES = frozenset("taken kept made shown known left given told held found written".split())
# Verbs and nouns that end in "ed" but are not participles.
VERBS_IN_ED = frozenset("embed feed need seed speed proceed exceed succeed shed bleed".split())
# First words of a question that a Boolean function answers, besides verbs such as "contains".
QUESTIONS = frozenset("is are has have may can must should was were did does".split())
# Types with such a name could be anything.
VAGUE_TYPES = frozenset("part piece".split())


@pytest.mark.slow
def test_identifiers_use_the_terms_of_the_field() -> None:
    wrong = [
        Finding(f"{path}:{line}", name, f"{word} -> {WORDS[word]}")
        for path, line, name in identifiers()
        for word in find_obscure_words(name)
    ]
    assert not wrong, explain(wrong)


@pytest.mark.slow
def test_the_names_of_functions_are_verbs_or_name_the_value_that_is_returned() -> None:
    methods = {
        id(node): owner.name
        for own in nodes().values()
        for owner in own
        if isinstance(owner, ast.ClassDef)
        for node in owner.body
    }
    wrong = [
        Finding(f"{path}:{node.lineno}", node.name, fault)
        for path, node in functions()
        if not is_named_as_a_noun(node)
        for fault in [
            find_fault(node, methods.get(id(node), ""), in_tests=path.startswith("tests/"))
        ]
        if fault
    ]
    assert not wrong, explain(wrong)


@pytest.mark.slow
def test_the_names_of_types_are_nouns() -> None:
    wrong = [
        Finding(f"{path}:{line}", name, fault)
        for path, own in nodes().items()
        if not path.startswith("tests/")
        for line, name in find_types(own)
        for fault in [find_fault_of_type(name)]
        if fault
    ]
    assert not wrong, explain(wrong)


@pytest.mark.parametrize(
    ("name", "words"),
    [("_PATIENCE_S", ("patience", "s")), ("WatchWitness", ("watch", "witness")), ("x2", ("x2",))],
)
def test_an_identifier_is_split_into_words(name: str, words: tuple[str, ...]) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("feed", ["feed"]),
        ("_Feeder", ["feeder"]),
        ("FEED_DIR", ["feed"]),
        ("_LINE_FEED_BIT", []),
        ("WatchWitness", ["witness"]),
        ("healthy", []),
    ],
)
def test_an_obscure_word_is_found_in_a_name(name: str, words: list[str]) -> None:
    assert list(find_obscure_words(name)) == words


@pytest.mark.parametrize(
    ("code", "is_fault"),
    [
        # Verbs, conversions, questions, and nouns for values.
        ("def find_owner(path) -> str: ...", False),
        ("def to_json(record) -> str: ...", False),
        ("def from_rows(rows) -> Table: ...", False),
        ("def as_dict(record) -> dict: ...", False),
        ("def is_in(text) -> bool: ...", False),
        ("def has_state_of(row) -> bool: ...", False),
        ("def speaks_of(text) -> bool: ...", False),
        ("def median(values) -> float: ...", False),
        ("def node_at(row) -> Node: ...", False),
        ("def near_definers(name) -> list: ...", False),
        ("def on_change(event) -> None: ...", False),
        ("def _on_change(event) -> None: ...", False),
        ("async def wait_for(event) -> None: ...", False),
        ("def __init__(self) -> None: ...", False),
        # Names that begin with a preposition, or consist of one.
        ("def without(words, others) -> set: ...", True),
        ("def _between(values) -> list: ...", True),
        ("def _in_turn(lists) -> list: ...", True),
        ("def by_path(values) -> dict: ...", True),
        ("def for_stream(stream) -> Style: ...", True),
        ("def near(word) -> list: ...", True),
        ("def to(value) -> str: ...", True),
        ("def on_one_line(text) -> str: ...", True),
        ("def without_comments(text) -> str: ...", True),
        ("def with_newlines(text) -> str: ...", True),
        # Names that end with "of".
        ("def recency_of(path) -> float: ...", True),
        ("def _share_of(limit) -> int: ...", True),
        # Nouns for functions that return nothing.
        ("def paragraph(text) -> None: ...", True),
        ("def _bombs(root) -> None: ...", True),
        # Participles.
        ("def ranked(files) -> list: ...", True),
        ("def kept_by(files) -> list: ...", True),
        ("def unused_settings(config) -> list: ...", False),
    ],
)
def test_a_fault_of_the_name_of_a_function_is_found(code: str, is_fault: bool) -> None:
    (node,) = ast.parse(code).body
    assert isinstance(node, Function)
    assert bool(find_fault(node)) == is_fault


def test_a_method_that_returns_a_changed_copy_may_begin_with_with_or_without() -> None:
    (node,) = ast.parse("def without_filters(self) -> Query: ...").body
    assert isinstance(node, Function)
    assert not find_fault(node, owner="Query")
    assert find_fault(node, owner="Parser")
    assert find_fault(node)


def test_the_helpers_of_tests_may_end_with_of() -> None:
    (node,) = ast.parse("def lines_of(path) -> list: ...").body
    assert isinstance(node, Function)
    assert find_fault(node)
    assert not find_fault(node, in_tests=True)


@pytest.mark.parametrize(
    ("code", "is_fault"),
    [
        ("class RankedIds: ...", False),
        ("class Heading: ...", False),
        ("class _Asked: ...", True),
        ("class Found: ...", True),
        ("class _Part: ...", True),
        ("Piece = tuple[str, int]", True),
        ("Asked = Literal['changes']", True),
        ("HeadPart = tuple[str, int]", False),
        ("MAX_PARTS = 3", False),
    ],
)
def test_a_fault_of_the_name_of_a_type_is_found(code: str, is_fault: bool) -> None:
    ((_, name), *_) = [*find_types(ast.parse(code).body), (1, "Valid")]
    assert bool(find_fault_of_type(name)) == is_fault


def find_obscure_words(name: str) -> Iterator[str]:
    text = " ".join(words_of(name))
    for character in CHARACTERS:
        text = text.replace(character, "")
    return (word for word in text.split() if word in WORDS)


def find_fault(node: Function, owner: str = "", *, in_tests: bool = False) -> str:
    """Return how to rename a function, or "" if its name is good.

    `owner` is the class of a method.
    """
    if node.name.startswith("__") or node.name in FIXED:
        return ""
    first, *others = words_of(node.name) or ("",)
    returns = ast.unparse(node.returns).strip("\"'") if node.returns else ""
    returns_nothing = returns in ("None", "NoReturn", "Never")
    if not others and first in PREPOSITIONS | ADJECTIVES:
        return "begin with a verb"
    if first in ("with", "without"):
        return "" if owner and returns == owner else "begin with a verb, such as add or remove"
    if first == "on":
        return "" if returns_nothing else "begin with a verb"
    if first in PREPOSITIONS - CONVERSIONS:
        return "begin with a verb"
    if is_participle(first) and PREPOSITIONS.issuperset(others[:1]):
        return "begin with a verb"
    if in_tests:
        return ""
    if others[-1:] == ["of"] and not is_question(first, returns):
        return 'begin with a verb, or leave out "of"'
    if returns_nothing and first not in VERBS:
        return "begin with a verb from VERBS, because the function returns nothing"
    return ""


def is_question(word: str, returns: str) -> bool:
    return word in QUESTIONS or (returns == "bool" and word.endswith("s"))


def is_participle(word: str) -> bool:
    ends_in_ed = len(word) > 4 and word.endswith("ed") and word[-3] != "e"
    return word in PARTICIPLES or (ends_in_ed and word not in VERBS_IN_ED)


def find_types(body: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield line and name of the classes and the aliases of types in syntax nodes."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                name = target.id.lstrip("_") if isinstance(target, ast.Name) else ""
                if name[:1].isupper() and not name.isupper():
                    yield node.lineno, name


def find_fault_of_type(name: str) -> str:
    """Return how to rename a class or an alias of a type, or "" if its name is good."""
    words = words_of(name)
    if len(words) == 1 and (is_participle(words[0]) or words[0] in VAGUE_TYPES):
        return "name the thing: FoundPlugin, HeadPart"
    return ""
