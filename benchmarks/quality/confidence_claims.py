"""Check the confidence in answers to questions with absent words, and the notes about these words.

    python -m benchmarks.quality.confidence_claims REPOS [--indexes DIR] [--show]

REPOS holds one checkout, made by `clone_repos benchmarks/labels/confidence REPOS`, for each
repository of `labels/confidence`. Half of the questions, in English, German and French, have an
answer. The others are commit hashes of other repositories, or combine a word that occurs in the
repository by chance with words that do not occur there. A note is false if the word that it calls
absent was not typed, or is part of a path or of the text of an indexed file. The files are read
directly, without the index. `--show` prints wrong verdicts and false notes.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.arguments import INDEXES, REPOS, SHOW, command_parser
from benchmarks.common.git import run_git, tracked_texts
from benchmarks.common.labels import LABELS
from benchmarks.common.rootle_search import index_folder, indexed_app

_QUOTED = r'"[^"]+"(?:(?:, | or )"[^"]+")*'
# The second form is that of earlier versions.
_CLAIM = re.compile(rf"no indexed text has the word ({_QUOTED})|({_QUOTED}) occurs? nowhere here")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Question:
    """A question and a file that answers it, or None if no file does."""

    repository: str
    language: str
    query: str
    path: str | None


@dataclass(frozen=True)
class Verdict:
    """The confidence of the answer to a question, and the false claims of its notes."""

    question: Question
    is_confident: bool
    false_claims: tuple[str, ...]


class Texts:
    """The paths of a checkout, and the texts of its files."""

    def __init__(self, root: Path, unindexed: Container[str]) -> None:
        """Read all tracked texts, except those of files that are known not to be indexed."""
        paths = run_git(root, "ls-files")
        texts = (data for path, data in tracked_texts(root) if path not in unindexed)
        decoded = (data.decode(errors="replace") for data in texts)
        self._text = "\0".join([paths, *decoded]).lower()

    def contain(self, word: str) -> bool:
        return word.lower() in self._text


def main() -> None:
    parser = command_parser(
        __doc__, REPOS, INDEXES, SHOW.with_settings(help="print wrong verdicts and false notes")
    )
    args = parser.parse_args()
    text = (LABELS / "confidence" / "questions.jsonl").read_text(encoding="utf-8")
    verdicts: list[Verdict] = []
    with index_folder(args.indexes) as indexes:
        for name, questions in parse_questions(text).items():
            verdicts += ask_questions(args.repos / name, indexes / name, questions)
    if args.show:
        print("\n".join(map(describe, filter(is_wrong, verdicts))))
    print(format_table(verdicts))


def parse_questions(text: str) -> dict[str, list[Question]]:
    """Return the questions, grouped by repository."""
    found: dict[str, list[Question]] = defaultdict(list)
    for line in text.splitlines():
        question = Question(**json.loads(line))
        found[question.repository].append(question)
    return found


def ask_questions(root: Path, index_dir: Path, questions: Iterable[Question]) -> list[Verdict]:
    """Return the verdict on each question."""
    with indexed_app(root, index_dir) as app:
        texts = Texts(root, dict(app.status().skipped_files))
        verdicts = []
        for question in questions:
            response = app.search(question.query)
            is_confident = bool(response.results) and response.confident is not False
            claims = false_claims(question.query, response.suggestions, texts)
            verdicts.append(Verdict(question, is_confident, claims))
    return verdicts


def false_claims(query: str, notes: Iterable[str], texts: Texts) -> tuple[str, ...]:
    """Return the words that notes call absent although they occur or were not typed."""
    typed = set(_WORD.findall(query.lower()))
    claims = (match[1] or match[2] for note in notes for match in _CLAIM.finditer(note))
    named = [word for claim in claims for word in re.findall('"([^"]+)"', claim)]
    return tuple(word for word in named if word.lower() not in typed or texts.contain(word))


def is_wrong(verdict: Verdict) -> bool:
    return verdict.is_confident is (verdict.question.path is None) or bool(verdict.false_claims)


def describe(verdict: Verdict) -> str:
    question = verdict.question
    state = "confident" if verdict.is_confident else "not confident"
    claims = f", false claims: {', '.join(verdict.false_claims)}" if verdict.false_claims else ""
    return f"{question.repository} {question.language}: {question.query}: {state}{claims}"


def format_table(verdicts: Sequence[Verdict]) -> str:
    lines = ["language  answerable: confident   unanswerable: confident   notes with false claims"]
    for language in ("en", "de", "fr", "all"):
        found = [one for one in verdicts if language in (one.question.language, "all")]
        cells = []
        for has_answer in (True, False):
            group = [one for one in found if (one.question.path is not None) is has_answer]
            cells.append(f"{sum(one.is_confident for one in group)} of {len(group)}")
        false = sum(bool(one.false_claims) for one in found)
        lines.append(f"{language:9} {cells[0]:>21} {cells[1]:>25} {false:>25}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
