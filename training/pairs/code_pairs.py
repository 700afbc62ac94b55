"""Pairs out of code: what comments, names, messages and tests say, and the code they say it of."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from typing import Final

from rootle.text.terms import path_words, split_identifier, whole_identifier
from training.corpus.chunks import Place
from training.corpus.text_cleaning import is_prose, plain_text, sentences
from training.pairs.training_pair import Pair

Definitions = Mapping[str, Place]

COMMENTS: Final = 3  # of a place
MESSAGES: Final = 2
MIN_CODE: Final = 40  # characters that must be left of a place without its comment
TWO_SENTENCES: Final = 0.3
BARE: Final = 0.4  # of the comments' answers go without the other comments too
GIST: Final = 0.5
PATHS: Final = 0.15
SCOPES: Final = 0.2
KEPT_NAME: Final = 0.15
LONG_NAME: Final = 8

MESSAGE: Final = re.compile(r"\"([^\"\n]{18,200})\"|'([^'\n]{18,200})'|`([^`\n]{18,200})`")
_FORMAT: Final = re.compile(r"%[-+0-9.]*[a-zA-Z]|\$?\{[^}]*\}|\\[nrt]")
_MENTIONED: Final = re.compile(
    r"\b[a-z]\w*_\w+\b|\b[A-Za-z]+[a-z][A-Z]\w*\b|(?<=`)[A-Za-z_][\w.:#]*(?=(?:\(\))?`)"
)


def code_pairs(place: Place, rng: random.Random, definitions: Definitions) -> Iterator[Pair]:
    """All pairs of one place of code."""
    yield from _comment_pairs(place, rng, definitions)
    yield from _name_pairs(place, rng)
    yield from _message_pairs(place)
    if place.is_test:
        yield from _test_pairs(place, definitions)
    if rng.random() < PATHS:
        yield Pair(path_words(place.path), place.text, "path", place.number)


def find_definitions(places: list[Place]) -> dict[str, Place]:
    """Name in one spelling -> the one place outside the tests that defines it."""
    found: dict[str, Place | None] = {}
    for place in places:
        if place.is_test:
            continue
        for symbol in place.symbols:
            name = whole_identifier(symbol)
            if len(name) >= 5:
                found[name] = place if name not in found else None
    return {name: place for name, place in found.items() if place is not None}


def mention_pairs(sentence: str, home: int, definitions: Definitions) -> Iterator[Pair]:
    """What a sentence somewhere else says of a name, for the place that defines the name."""
    for match in _MENTIONED.finditer(sentence):
        name = re.split(r"[.:#]", match[0].strip(".:#"))[-1]
        place = definitions.get(whole_identifier(name))
        if place is not None and place.number != home:
            question = f"{sentence[: match.start()]} {sentence[match.end() :]}"
            if is_prose(question):
                yield Pair(question, place.answer(place.text), "mention", place.number)


def words_of(name: str) -> str:
    return " ".join(split_identifier(name))


def _comment_pairs(place: Place, rng: random.Random, definitions: Definitions) -> Iterator[Pair]:
    blocks = [block for block in place.comments if sum(map(len, block)) >= 18]
    if len(blocks) > COMMENTS:
        blocks = [blocks[0], *rng.sample(blocks[1:], COMMENTS - 1)]
    for block in blocks:
        said = sentences(plain_text("\n".join(block)))
        prose = [sentence for sentence in said if is_prose(sentence)]
        if not prose:
            continue
        question = prose[0]
        if len(prose) > 1 and rng.random() < TWO_SENTENCES:
            question = f"{question} {prose[1]}"
        is_bare = rng.random() < BARE
        code = _without(place.text, [block] if not is_bare else place.comments)
        if len("".join(code.split())) >= MIN_CODE:
            yield Pair(question, place.answer(code), "bare" if is_bare else "doc", place.number)
        rest = " ".join(said[1:])
        if len(rest) >= 60 and rng.random() < GIST:
            yield Pair(prose[0], rest, "gist", place.number)
        for sentence in prose:
            yield from mention_pairs(sentence, place.number, definitions)


def _without(text: str, blocks: list[tuple[str, ...]] | tuple[tuple[str, ...], ...]) -> str:
    for block in blocks:
        for comment in block:
            text = text.replace(comment, " ", 1)
    return text


def _name_pairs(place: Place, rng: random.Random) -> Iterator[Pair]:
    symbols = [name for name in place.symbols if len(split_identifier(name)) > 1 or len(name) > 4]
    if not symbols:
        return
    name = symbols[0] if rng.random() < 0.7 else rng.choice(symbols)
    question = words_of(name)
    scope = [title.partition(" ")[2] for title in place.scope]
    outer = [title for title in scope if title and not title.endswith(name)]
    if outer and rng.random() < 0.3:
        question = f"{words_of(outer[-1])} {question}"
    if rng.random() < KEPT_NAME:
        text = place.text
    else:
        text = re.sub(rf"\b{re.escape(name)}\b", " ", place.text)
    yield Pair(question, place.answer(text), "name", place.number)
    if outer and rng.random() < SCOPES:
        yield Pair(words_of(outer[-1]), place.text, "scope", place.number)


def _message_pairs(place: Place) -> Iterator[Pair]:
    found = 0
    for match in MESSAGE.finditer(place.text):
        said = _FORMAT.sub(" ", match[1] or match[2] or match[3])
        if " " in said and is_prose(said):
            rest = place.text[: match.start()] + place.text[match.end() :]
            kind = "test" if place.is_test else "message"
            yield Pair(said, place.answer(rest), kind, place.number)
            found += 1
            if found == MESSAGES:
                return


def _test_pairs(place: Place, definitions: Definitions) -> Iterator[Pair]:
    for symbol in place.symbols[:3]:
        parts = split_identifier(symbol)
        if parts and parts[0] in {"test", "should", "benchmark", "bench"}:
            parts = parts[1:]
        elif parts and parts[-1] in {"test", "tests", "spec"}:
            parts = parts[:-1]
        else:
            continue
        for count in range(len(parts), 0, -1):
            tested = definitions.get("".join(parts[:count]))
            if tested is not None and (count > 1 or len(parts[0]) >= LONG_NAME):
                yield Pair(" ".join(parts), tested.answer(tested.text), "tested", tested.number)
                break
