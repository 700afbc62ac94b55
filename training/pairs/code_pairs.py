"""Training pairs from code: comments, names, messages and tests, with the code they describe."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rootle.text.terms import path_words, split_identifier, whole_identifier
from training.corpus.source_chunks import SourceChunk
from training.corpus.text_cleaning import is_prose, plain_text, split_sentences
from training.pairs.text_pair import TextPair

Definitions = Mapping[str, SourceChunk]  # by normalized name

# Limits for one chunk.
MAX_COMMENTS: Final = 3
MAX_MESSAGES: Final = 2
MAX_TESTS: Final = 3
MIN_COMMENT_CHARS: Final = 18
MIN_CODE_CHARS: Final = 40  # in a chunk without its comment
MIN_REST_CHARS: Final = 60  # in a comment after its first sentence
MIN_NAME_CHARS: Final = 5
LONG_NAME_CHARS: Final = 8
# Probabilities.
TWO_SENTENCES: Final = 0.3
BARE: Final = 0.4  # that the answer contains no comments at all
GIST: Final = 0.5
PATHS: Final = 0.15
SCOPES: Final = 0.2
KEPT_NAME: Final = 0.15
FIRST_NAME: Final = 0.7  # that the query uses the first name of a chunk, not a random one
OUTER_NAME: Final = 0.3  # that the query includes the name of the enclosing definition

MESSAGE: Final = re.compile(r"\"([^\"\n]{18,200})\"|'([^'\n]{18,200})'|`([^`\n]{18,200})`")
_FORMAT: Final = re.compile(r"%[-+0-9.]*[a-zA-Z]|\$?\{[^}]*\}|\\[nrt]")
_MENTIONED: Final = re.compile(
    r"\b[a-z]\w*_\w+\b|\b[A-Za-z]+[a-z][A-Z]\w*\b|(?<=`)[A-Za-z_][\w.:#]*(?=(?:\(\))?`)"
)


def code_pairs(
    chunk: SourceChunk, rng: random.Random, definitions: Definitions
) -> Iterator[TextPair]:
    """Yield all pairs from one chunk of code."""
    yield from _comment_pairs(chunk, rng, definitions)
    yield from _name_pairs(chunk, rng)
    yield from _message_pairs(chunk)
    if chunk.is_test:
        yield from _test_pairs(chunk, definitions)
    if rng.random() < PATHS:
        yield TextPair(path_words(chunk.path), chunk.text, "path", chunk.number)


def find_definitions(chunks: Iterable[SourceChunk]) -> dict[str, SourceChunk]:
    """Return, for each name, the only chunk outside tests that defines it."""
    found: dict[str, SourceChunk | None] = {}
    for chunk in chunks:
        if chunk.is_test:
            continue
        for symbol in chunk.symbols:
            name = whole_identifier(symbol)
            if len(name) >= MIN_NAME_CHARS:
                found[name] = chunk if name not in found else None
    return {name: chunk for name, chunk in found.items() if chunk is not None}


def mention_pairs(sentence: str, home: int, definitions: Definitions) -> Iterator[TextPair]:
    """Yield a sentence with one name removed, paired with another chunk that defines the name.

    `home` is the number of the chunk that contains the sentence.
    """
    for match in _MENTIONED.finditer(sentence):
        name = re.split(r"[.:#]", match[0].strip(".:#"))[-1]
        chunk = definitions.get(whole_identifier(name))
        if chunk is not None and chunk.number != home:
            query = f"{sentence[: match.start()]} {sentence[match.end() :]}"
            if is_prose(query):
                yield TextPair(query, chunk.prepend_path(chunk.text), "mention", chunk.number)


def name_words(name: str) -> str:
    """Return the words of an identifier."""
    return " ".join(split_identifier(name))


def _comment_pairs(
    chunk: SourceChunk, rng: random.Random, definitions: Definitions
) -> Iterator[TextPair]:
    blocks = [block for block in chunk.comments if sum(map(len, block)) >= MIN_COMMENT_CHARS]
    if len(blocks) > MAX_COMMENTS:
        blocks = [blocks[0], *rng.sample(blocks[1:], MAX_COMMENTS - 1)]
    for block in blocks:
        sentences = split_sentences(plain_text("\n".join(block)))
        prose = [sentence for sentence in sentences if is_prose(sentence)]
        if not prose:
            continue
        query = prose[0]
        if len(prose) > 1 and rng.random() < TWO_SENTENCES:
            query = f"{query} {prose[1]}"
        is_bare = rng.random() < BARE
        code = _remove_comments(chunk.text, chunk.comments if is_bare else [block])
        if len("".join(code.split())) >= MIN_CODE_CHARS:
            kind = "bare" if is_bare else "doc"
            yield TextPair(query, chunk.prepend_path(code), kind, chunk.number)
        rest = " ".join(sentences[1:])
        if len(rest) >= MIN_REST_CHARS and rng.random() < GIST:
            yield TextPair(prose[0], rest, "gist", chunk.number)
        for sentence in prose:
            yield from mention_pairs(sentence, chunk.number, definitions)


def _remove_comments(text: str, blocks: Sequence[Sequence[str]]) -> str:
    for block in blocks:
        for comment in block:
            text = text.replace(comment, " ", 1)
    return text


def _name_pairs(chunk: SourceChunk, rng: random.Random) -> Iterator[TextPair]:
    symbols = [name for name in chunk.symbols if len(split_identifier(name)) > 1 or len(name) > 4]
    if not symbols:
        return
    name = symbols[0] if rng.random() < FIRST_NAME else rng.choice(symbols)
    query = name_words(name)
    scope = [title.partition(" ")[2] for title in chunk.scope]
    outer = [title for title in scope if title and not title.endswith(name)]
    if outer and rng.random() < OUTER_NAME:
        query = f"{name_words(outer[-1])} {query}"
    if rng.random() < KEPT_NAME:
        text = chunk.text
    else:
        text = re.sub(rf"\b{re.escape(name)}\b", " ", chunk.text)
    yield TextPair(query, chunk.prepend_path(text), "name", chunk.number)
    if outer and rng.random() < SCOPES:
        yield TextPair(name_words(outer[-1]), chunk.text, "scope", chunk.number)


def _message_pairs(chunk: SourceChunk) -> Iterator[TextPair]:
    found = 0
    for match in MESSAGE.finditer(chunk.text):
        message = _FORMAT.sub(" ", match[1] or match[2] or match[3])
        if " " in message and is_prose(message):
            rest = chunk.text[: match.start()] + chunk.text[match.end() :]
            kind = "test" if chunk.is_test else "message"
            yield TextPair(message, chunk.prepend_path(rest), kind, chunk.number)
            found += 1
            if found == MAX_MESSAGES:
                return


def _test_pairs(chunk: SourceChunk, definitions: Definitions) -> Iterator[TextPair]:
    for symbol in chunk.symbols[:MAX_TESTS]:
        words = split_identifier(symbol)
        if words and words[0] in {"test", "should", "benchmark", "bench"}:
            words = words[1:]
        elif words and words[-1] in {"test", "tests", "spec"}:
            words = words[:-1]
        else:
            continue
        for count in range(len(words), 0, -1):
            tested = definitions.get("".join(words[:count]))
            if tested is not None and (count > 1 or len(words[0]) >= LONG_NAME_CHARS):
                answer = tested.prepend_path(tested.text)
                yield TextPair(" ".join(words), answer, "tested", tested.number)
                break
