"""Retrieval of English code by questions in other languages, with and without the glossary.

    python -m benchmarks.quality.translated_questions REPOS [--indexes DIR] [--show]

REPOS is the same as for `labelled_questions`. `labels/translated.jsonl` has 40 questions of the
tune split, translated by hand into German, Spanish, Chinese and Japanese. A question counts as
answered if one of the first ten results is a file that answers the original question. `--show`
prints the unanswered questions.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from unittest.mock import patch

from benchmarks.common.arguments import INDEXES, REPOS, SHOW, command_parser
from benchmarks.common.labels import LABELS, LabeledRepository, labeled_repositories
from benchmarks.common.rootle_search import index_folder, indexed_app, search_hits
from benchmarks.common.statistics import mean
from rootle import App, Config
from rootle.search.query import parse

LANGUAGES = ("en", "de", "es", "zh", "ja")


@dataclass(frozen=True)
class TranslatedQuestion:
    """A question in some language; `original` is its English text."""

    language: str
    query: str
    original: str


Hits = dict[tuple[str, bool], list[bool]]  # keyed by language and use of the glossary


def main() -> None:
    parser = command_parser(__doc__, REPOS, INDEXES, SHOW)
    args = parser.parse_args()
    text = (LABELS / "translated.jsonl").read_text(encoding="utf-8")
    hits: Hits = defaultdict(list)
    with index_folder(args.indexes) as indexes:
        for name, questions in parse_questions(text).items():
            (repository,) = labeled_repositories(args.repos, only=[name])
            # The answers with and without the glossary would have the same key in the cache.
            config = Config(enable_cache=False)
            with indexed_app(repository.root, indexes / name, config) as app:
                for missed in ask_questions(app, repository, questions, hits):
                    if args.show:
                        print(f"{missed.language} {name}: {missed.query}\n   {missed.original}")
    print(format_table(hits))


def parse_questions(text: str) -> dict[str, list[TranslatedQuestion]]:
    """Return the questions by repository; each English original is included once."""
    found: dict[str, list[TranslatedQuestion]] = defaultdict(list)
    for line in text.splitlines():
        record = json.loads(line)
        questions = found[record["repository"]]
        original = TranslatedQuestion("en", record["of"], record["of"])
        if original not in questions:
            questions.append(original)
        questions.append(TranslatedQuestion(record["language"], record["query"], record["of"]))
    return found


def ask_questions(
    app: App, repository: LabeledRepository, questions: list[TranslatedQuestion], hits: Hits
) -> list[TranslatedQuestion]:
    """Add each outcome to `hits`; return the questions that are missed even with the glossary."""
    wanted = {label.query: {span.path for span in label.spans()} for label in repository.labels}
    missed = []
    for question in questions:
        files = wanted[question.original]
        for has_glossary in (False, True):
            is_found = finds_file(app, question.query, files, has_glossary=has_glossary)
            hits[question.language, has_glossary].append(is_found)
        if not is_found:
            missed.append(question)
    return missed


def finds_file(app: App, query: str, files: set[str], *, has_glossary: bool) -> bool:
    """Return whether one of the first ten results is one of the files."""
    if has_glossary:
        hits = search_hits(app, query)
    else:
        with patch.object(parse, "detect_language", return_value=None):
            hits = search_hits(app, query)
    return any(hit.path in files for hit in hits)


def format_table(hits: Hits) -> str:
    lines = ["hit@10 by file   without  with the glossary"]
    for language in LANGUAGES:
        without, with_glossary = (mean(hits[language, used]) for used in (False, True))
        lines.append(f"{language:16} {without:7.3f}  {with_glossary:.3f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
