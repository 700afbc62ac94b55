"""Score how well removed code matches a question about it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

from rootle.errors import QueryError
from rootle.history.commit_search import RemovedLines
from rootle.index.reader import SparseReader
from rootle.search.query.operators import parse_query, phrase_pattern
from rootle.text.languages import CODE_EXTENSIONS, file_language
from rootle.text.stemmer import open_stemmer
from rootle.text.terms import (
    STOP_WORDS,
    WORD,
    TermTable,
    file_stem,
    path_words,
    text_terms,
    whole_identifier,
    word_terms,
)

_MAX_QUESTION_CHARS: Final = 1_000
_MAX_NAME_WORDS: Final = 4  # consecutive words of a question that may form one name
_MAX_JOINED_WORDS: Final = 20
# Names that look like code, because they have an underscore, an inner capital or "()".
_NAME: Final = re.compile(
    r"(?<![\w.])(?:[\w$]+(?:::|\.|#|->))*"
    r"(?:[A-Za-z]\w*_\w+|_\w+|[a-z]+\w*[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Za-z_]\w*(?=\(\)))[?!]?"
)
_QUALIFIER: Final = re.compile(r"::|\.|#|->")
# Words for removals and for kinds of code, which are ignored because many commits contain them.
_ASKING: Final = frozenset(
    "remove removed removes delete deleted deletes drop dropped gone old former formerly function"
    " method class code commit longer anymore exist exists existed used".split()
)
_REMOVES: Final = re.compile(
    r"\b(?:remov|delet|drop|get rid|clean ?up|unused|dead code|simplif|replac|rid of|no longer)",
    re.IGNORECASE,
)
# The weight of a word of the question, by where it occurs in the removal.
_IN_NAME: Final = 1.0
_IN_LINES: Final = 0.7
_IN_LINES_OFTEN: Final = 0.85
_IN_PLACE: Final = 0.6
_IN_MESSAGE: Final = 0.5
# Values that are added to the share of the question's words that occur in the removal. The score is
# the sum, divided by its maximum.
_WHOLE_DEFINITION: Final = 0.15
_SIMILAR_NAME: Final = 0.3
_REMOVING_COMMIT: Final = 0.1
_COMMIT_RANK: Final = 0.35
_SIMILARITY: Final = 3.0
_SAME_NAME: Final = 3.0
_OTHER_SPELLING: Final = 0.9
_OTHER_OWNER: Final = 0.8  # if the class of the definition is not the class in the question
# The score of code that contains the name, but is not its definition. It is higher than all scores
# of code without the name.
_CONTAINS_NAME: Final = 0.45
_PROSE_WITH_NAME: Final = 0.4
_HALF_RANK: Final = 5  # the rank at which a commit gets half of _COMMIT_RANK
_MIN_SHARE: Final = 0.3  # the share of the words of a question that must occur
# The share for code with a similar meaning. A description may use words that are not in the code,
# but code without any words of the description is noise.
_MIN_SHARE_IF_SIMILAR: Final = 0.1
_MAX_SCORE: Final = (
    1 + _WHOLE_DEFINITION + _SIMILAR_NAME + _REMOVING_COMMIT + _COMMIT_RANK + _SIMILARITY
)
_LONG_LINES: Final = 60


@dataclass(frozen=True)
class RemovalQuestion:
    """A question about removed code."""

    text: str  # without quotes
    names: tuple[str, ...]  # names of definitions in the question, without their qualifiers
    phrases: tuple[str, ...]  # quoted texts that the removed code must contain
    owner: str = ""  # the qualifier before the name, such as "Pool" in "Pool.close"

    @property
    def is_word(self) -> bool:
        """Whether the question is a single word, such as a name, instead of a description."""
        return len(self.text.split()) == 1

    @property
    def name(self) -> str:
        """The name, if the question is just a name such as "retry_404"; otherwise ""."""
        is_name = not self.phrases and _NAME.fullmatch(self.text) is not None
        return self.names[0] if is_name and self.names else ""

    @property
    def whole_name(self) -> str:
        """The name with its class or module if the question is only a name; otherwise ""."""
        if self.phrases or not self.is_word or not self.names:
            return ""
        return f"{self.owner}.{self.names[0]}" if self.owner else self.names[0]

    @cached_property
    def _name_pattern(self) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w){re.escape(self.name)}(?!\w)")

    def is_in(self, code: RemovedLines) -> bool:
        """Return whether code contains the name as a whole word."""
        return bool(self.name) and any(map(self._name_pattern.search, code.lines))

    @cached_property
    def keys(self) -> frozenset[str]:
        """The normalized names. A question of a few words, such as "add node", may be one name."""
        words = WORD.findall(self.text)
        joined = ["".join(words)] if 1 < len(words) <= _MAX_NAME_WORDS else []
        return frozenset(_key(name) for name in (*self.names, *joined))

    def joined_terms(self, sparse: SparseReader) -> list[str]:
        """Join consecutive words of the question. Return the stems that the index contains."""
        words = WORD.findall(self.text.lower())[:_MAX_JOINED_WORDS]
        pairs = [
            "".join(words[at : at + size])
            for size in range(2, _MAX_NAME_WORDS + 1)
            for at in range(len(words) - size + 1)
        ]
        terms = sparse.stems(" ".join(dict.fromkeys(pairs)))
        _, frequencies = sparse.file_frequencies(terms)
        return [term for term, count in zip(terms, frequencies, strict=True) if count]

    def weigh_terms(self, sparse: SparseReader) -> Mapping[str, float]:
        """Return the stems of the question with their weights. Rare stems weigh more."""
        words = [word.lower() for word in WORD.findall(self.text)]
        specific = [w for w in words if w not in STOP_WORDS and w not in _ASKING] or words
        kept = [word for word in WORD.findall(self.text) if word.lower() in specific]
        terms = list(dict.fromkeys(stem for word in kept for stem in _table()[word].split()))
        count, frequencies = sparse.file_frequencies(terms)
        return {
            term: math.log(1 + (count + 1) / (frequency + 1))
            for term, frequency in zip(terms, frequencies, strict=True)
        }


def parse_question(query: str) -> RemovalQuestion:
    """Return the parsed question. Raise QueryError if it contains no words."""
    parsed = parse_query(query[:_MAX_QUESTION_CHARS])
    text = " ".join((parsed.text, *parsed.phrases)).strip()
    if not WORD.search(text):
        raise QueryError(f"the query contains no words: {query!r}; describe or name removed code")
    words = parsed.text.split()
    names = [found[0] for found in _NAME.finditer(parsed.text)]
    if len(words) == 1 and WORD.search(words[0]):
        names = [words[0].removesuffix("()")]
    split = [_QUALIFIER.split(name) for name in names]
    short = tuple(dict.fromkeys(parts[-1] for parts in split if parts[-1]))
    owner = split[0][-2] if len(words) == 1 and len(split[0]) > 1 else ""
    return RemovalQuestion(text, short, parsed.phrases, owner)


def score_removal(
    question: RemovalQuestion,
    weights: Mapping[str, float],
    code: RemovedLines,
    message: str,
    rank: float,
    similarity: float = 0.0,
) -> float:
    """Return how well removed code matches a question; 0 means no match.

    `message` is the message of the commit, and `rank` is the rank of the commit for the question,
    from 0. `similarity` is the similarity of the definition to the question, from 0 to 1; 0 if the
    definition is not among the most similar definitions.
    """
    if question.phrases and not _contains_phrases(question, code):
        return 0.0
    is_same = is_named(question, code)
    if not is_same and question.is_in(code):
        # All lines of code with the name get the same score, so that the newest commit comes first:
        # it removed the name.
        is_code = file_language(code.path) in CODE_EXTENSIONS
        return _CONTAINS_NAME if is_code else _PROSE_WITH_NAME
    if is_same == 1 and question.name:
        return 1.0  # the same for all definitions, so that the one removed last comes first
    needs_words = not is_same and not question.phrases
    min_share = _MIN_SHARE_IF_SIMILAR if similarity and not question.is_word else _MIN_SHARE
    if needs_words and _may_share(weights, code, message) < min_share:
        return 0.0
    share = _share(weights, code, message)
    if needs_words and share < min_share:
        return 0.0
    total = share + _COMMIT_RANK / (1 + rank / _HALF_RANK)
    total += _WHOLE_DEFINITION if code.name else 0.0
    total += _SIMILAR_NAME * _name_similarity(weights, code.name)
    total += _SIMILARITY * similarity
    total += _REMOVING_COMMIT if _REMOVES.search(message) else 0.0
    total = min(total / _MAX_SCORE, 1.0)
    if question.keys:
        # A definition with the requested name comes before all other code.
        total = (total + _SAME_NAME * is_same) / (1 + _SAME_NAME)
    return total


def _may_share(weights: Mapping[str, float], code: RemovedLines, message: str) -> float:
    """Return an upper bound for the share of the question's words that occur in a removal.

    Most code contains few of the words, and searching a text is much faster than splitting it into
    words. Words begin with their stem, except for its last letter, which may differ.
    """
    text = "\n".join((*code.lines, code.name, code.scope, code.path, message)).lower()
    text = f"{text}\n{text.replace('_', '')}"
    found = sum(weight for term, weight in weights.items() if term[: max(2, len(term) - 1)] in text)
    return found / (sum(weights.values()) or 1.0)


def is_named(question: RemovalQuestion, code: RemovedLines) -> float:
    """Return 1 if the code has the name in the question, less if the spelling or owner differs.

    Return 0 for any other name.
    """
    if not code.name:
        return 0.0
    if code.name in question.names:
        return 1.0 if _is_owner(question.owner, code) else _OTHER_OWNER
    return _OTHER_SPELLING * (_key(code.name) in question.keys)


def _is_owner(owner: str, code: RemovedLines) -> bool:
    """Return whether code is in the class or module `owner`; true if `owner` is empty."""
    return not owner or owner in WORD.findall(code.scope) or owner == file_stem(code.path)


def _key(name: str) -> str:
    return whole_identifier("".join(WORD.findall(name)))


def _contains_phrases(question: RemovalQuestion, code: RemovedLines) -> bool:
    text = "\n".join(code.lines)
    return all(
        re.search(phrase_pattern(phrase), text, re.IGNORECASE) for phrase in question.phrases
    )


def _share(weights: Mapping[str, float], code: RemovedLines, message: str) -> float:
    """Return the share of the question's words that occur, weighted by where they occur."""
    table = _table()
    name = set(text_terms(code.name, table).split())
    lines = Counter(text_terms("\n".join(code.lines), table).split())
    place = set(text_terms(f"{code.scope} {path_words(code.path)}", table).split())
    said = set(text_terms(message, table).split())
    length = 1 / (1 + max(0.0, math.log2(max(1, len(code.lines)) / _LONG_LINES)) / 4)
    found = 0.0
    for term, weight in weights.items():
        count = lines[term]
        found += weight * max(
            _IN_NAME * (term in name),
            (_IN_LINES_OFTEN if count > 1 else _IN_LINES * count) * length,
            _IN_PLACE * (term in place),
            _IN_MESSAGE * (term in said),
        )
    total = sum(weights.values())
    return found / total if total else 0.0


def _name_similarity(weights: Mapping[str, float], name: str) -> float:
    """Return the Dice coefficient of the words of a question and the words of a name."""
    parts = {stem for word in WORD.findall(name) for stem in _stems(word)}
    common = sum(part in weights for part in parts)
    if not common:
        return 0.0
    return 2 * common / (len(parts) + len(weights))


def _stems(word: str) -> list[str]:
    terms = word_terms(word)
    return _stemmer()(" ".join(terms[:-1] if len(terms) > 1 else terms))


@cache
def _table() -> TermTable:
    return TermTable(_stemmer())


_stemmer = cache(open_stemmer)
