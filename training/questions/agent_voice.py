"""Rewrite questions as language models send them: a sentence in the words of code, then names.

A model guesses the names. In the queries made here, some names occur in the answer, some occur
elsewhere in the repository, and some are invented from words of the sentence. At least one query in
three has no right name at all, so that a ranker learns that a guess proves little.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.common.labels import content_words

from rootle.text.languages import PROSE, file_language
from rootle.text.terms import WORD, split_identifier

Lines = tuple[str, int, int]  # path, first and last line; 0, 0: the whole file

# The probability that a name in a query is right is drawn from these values for each query.
ACCURACIES: Final = (0.0, 0.4, 0.8)
INVENTED_SHARE: Final = 0.6  # share of the wrong names; the others occur elsewhere in the code
MAX_NAMES: Final = 5
# The shares of queries that are only a sentence (BARE) and of queries with a list of names (LIST).
# The other queries have a sentence and a signature.
BARE_SHARE: Final = 0.1
LIST_SHARE: Final = 0.3
MAX_ANSWER_NAMES: Final = 60

_LEAD: Final = re.compile(
    r"^(?:please\s+)?(?:how (?:does (?:it|this|the)?|do (?:we|i|you|they)|is|are|can (?:i|we)|to)"
    r"|where (?:is the code that|does (?:it|this)|do (?:we|i)|is|are)"
    r"|what (?:is the code that|happens when|does|is|are)?|which (?:code|function|class|part)?"
    r"|why (?:does|is|are|do)?|when (?:does|is|are)?|code that|find)\s+",
    re.IGNORECASE,
)
_TEST_WORDS: Final = re.compile(
    r"^(?:is there a test (?:that|for)|tests? (?:that|for)?)\s+|\s+tests?$"
)
_DOCUMENT_WORDS: Final = re.compile(r"^(?:docs|documentation) (?:on|of|for)\s+|\s+work$")
_MARKED: Final = re.compile(r"[a-z0-9][A-Z]|[A-Z][a-z]+[A-Z]|\w_\w")
_LISTED_FORMS: Final[Mapping[str, Sequence[str]]] = {
    "usage": (
        "{name} call", "calls to {name}", "callers of {name}", "{name} usage", "{name} called",
        "where {name} is used", "uses of {name}", "code that calls {name}",
    ),
    "symbol": ("{name} definition", "{name}", "definition of {name}", "{name} declaration"),
    "tests": ("test that {text}", "test {text}", "{text} test", "unit test for {text}"),
    "documentation": ("{text}", "documentation of {text}", "{text} guide", "docs on {text}"),
}  # fmt: skip
_PASSAGE_FORMS: Final[Mapping[str, Sequence[str]]] = {
    "usage": ("{words}.", "{words}. code that calls it"),
    "symbol": ("{name}: {words}.", "{words}."),
    "tests": ("Test that {text}.", "test {text}."),
    "documentation": ("{text}.", "{text}: how to use it."),
}
_ENDINGS: Final = ("", "", "", "handler", "options", "config", "manager", "helper", "context")
_SIGNATURES: Final[Mapping[str, str]] = {
    "python": "def {name}(self, {rest})", "ruby": "def {name}({rest})",
    "go": "func (x *{type}) {name}({rest}) error", "rust": "pub fn {name}(&self, {rest})",
    "javascript": "function {name} ({rest})", "typescript": "{name}({rest}): Promise<void>",
    "java": "public void {name}({rest})", "csharp": "public void {name}({rest})",
    "kotlin": "fun {name}({rest})", "scala": "def {name}({rest})", "swift": "func {name}({rest})",
    "php": "public function {name}({rest})", "elixir": "def {name}({rest}) do",
    "lua": "function {name}({rest})", "zig": "pub fn {name}({rest}) !void",
    "haskell": "{name} :: {rest}", "bash": "{name}() {{ }}",
}  # fmt: skip


def agent_query(
    query: str,
    kind: str,
    right: Sequence[str],
    others: Sequence[str],
    rng: random.Random,
    path: str = "",
) -> str:
    """Return a question as a language model might send it.

    `right` are names in the answer, `others` names elsewhere in the repository. The answer is in
    the file at `path`; the language of this file determines the syntax.
    """
    form = rng.random()
    if form < BARE_SHARE:
        return _state(query, kind, _LISTED_FORMS, rng)
    if form >= BARE_SHARE + LIST_SHARE:
        return _passage(query, kind, right, others, rng, file_language(path))
    sentence = _state(query, kind, _LISTED_FORMS, rng)
    names = guess_names(sentence, right, others, rng)
    return ", ".join((sentence, *names)) if rng.random() < 0.5 else f"{sentence}; {' '.join(names)}"


def _passage(
    query: str,
    kind: str,
    right: Sequence[str],
    others: Sequence[str],
    rng: random.Random,
    language: str,
) -> str:
    """Return a sentence followed by a line of code, or by names if the answer is a document."""
    sentence = _state(query, kind, _PASSAGE_FORMS, rng)
    names = guess_names(sentence, right, others, rng)
    if language in PROSE or not names:
        return f"{sentence} {' '.join(names)}".strip()
    first, rest = names[0], ", ".join(names[1:])
    if kind == "usage":
        return f"{sentence} {_main_name(query)}({rest})"
    if kind == "tests" and "_" in first:
        first = f"test_{first}"
    template = _SIGNATURES.get(language, "void {name}({rest})")
    return (
        f"{sentence} {template.format(name=first, rest=rest, type=first[:1].upper() + first[1:])}"
    )


def guess_names(
    sentence: str, right: Sequence[str], others: Sequence[str], rng: random.Random
) -> list[str]:
    """Return up to five distinct names, of which a random share is right."""
    accuracy = rng.choice(ACCURACIES)
    is_snake = sum("_" in name for name in right) * 2 > len(right) or rng.random() < 0.1
    names = []
    for _ in range(rng.randint(1, MAX_NAMES)):
        if right and rng.random() < accuracy:
            names.append(rng.choice(right))
        elif others and rng.random() > INVENTED_SHARE:
            names.append(rng.choice(others))
        else:
            names.append(invent_name(sentence, rng, is_snake=is_snake))
    return list(dict.fromkeys(name for name in names if name))


def invent_name(sentence: str, rng: random.Random, *, is_snake: bool) -> str:
    """Return a plausible name, in a usual style: up to three words of a sentence and an ending."""
    words = [word for word in content_words(sentence) if word.isascii() and word.isalpha()]
    if not words:
        return ""
    chosen = rng.sample(words, min(len(words), rng.randint(1, 3)))
    parts = [part for part in (*chosen, rng.choice(_ENDINGS)) if part]
    if is_snake:
        return "_".join(parts)
    title = "".join(part.capitalize() for part in parts)
    return title if rng.random() < 0.5 else title[:1].lower() + title[1:]


def names_in(root: Path, spans: Sequence[Lines]) -> tuple[str, ...]:
    """Return the distinct names in some lines: words with an underscore or an inner capital."""
    found: dict[str, None] = {}
    for path, first, last in spans:
        try:
            lines = (root / path).read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            continue
        text = "\n".join(lines[max(first - 1, 0) : last or None])
        marked = (word for word in WORD.findall(text) if _MARKED.search(word))
        found |= dict.fromkeys(word for word in marked if 4 <= len(word) <= 40)
    return tuple(found)[:MAX_ANSWER_NAMES]


def _state(query: str, kind: str, forms: Mapping[str, Sequence[str]], rng: random.Random) -> str:
    """Return a question as a statement."""
    text = _LEAD.sub("", query.strip().rstrip("?")).strip() or query
    text = _DOCUMENT_WORDS.sub("", _TEST_WORDS.sub("", text))
    if kind not in forms:
        return text if forms is _LISTED_FORMS else f"{text[:1].upper()}{text[1:].rstrip('.')}."
    name = _main_name(query)
    words = " ".join(split_identifier(name))
    return rng.choice(forms[kind]).format(text=text, name=name, words=words)


def _main_name(query: str) -> str:
    """Return the word of a question that looks most like a name."""
    words = WORD.findall(query)
    return max(words, key=lambda word: (_MARKED.search(word) is not None, len(word)), default="")
