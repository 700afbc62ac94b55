"""How well questions in other languages find English code, with and without the glossary.

    python -m benchmarks.quality.translated_questions REPOS [--indexes DIR] [--show]

REPOS holds the checkouts of `quality/labelled_questions.py`. `labels/translated.jsonl` has 40 questions of the tuning
half, put into German, Spanish, Chinese and Japanese by hand. A question counts as answered where
one of the ten results is a file that answers the original. `--show` prints those that are missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path
from unittest.mock import patch

from benchmarks.common.labels import LABELS, read_labels
from rootle import App, SearchQuery, open_app

TOP_K = 10
LANGUAGES = ("en", "de", "es", "zh", "ja")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("repos", type=Path)
    parser.add_argument("--indexes", type=Path, help="keep the indexes here for the next run")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    hits: dict[tuple[str, bool], list[bool]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        for name, questions in by_repository().items():
            index_dir = (args.indexes or Path(scratch)) / name
            wanted = wanted_files(name)
            with open_app(args.repos / name, index_dir=index_dir) as app:
                app.index()
                for language, text, original in questions:
                    for has_glossary in (False, True):
                        files = wanted[original]
                        is_found = finds(app, text, files, has_glossary=has_glossary)
                        hits[language, has_glossary].append(is_found)
                        if args.show and has_glossary and not is_found:
                            print(f"{language} {name}: {text}\n   {original}")
    print("hit@10 by file   without  with the glossary")
    for language in LANGUAGES:
        without, with_it = (statistics.fmean(hits[language, has]) for has in (False, True))
        print(f"{language:16} {without:7.3f}  {with_it:.3f}")


def by_repository() -> dict[str, list[tuple[str, str, str]]]:
    """For each repository (language, question, original), the originals once as English."""
    found: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for line in (LABELS / "translated.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        questions = found[record["repository"]]
        original = ("en", record["of"], record["of"])
        if original not in questions:
            questions.append(original)
        questions.append((record["language"], record["query"], record["of"]))
    return found


def wanted_files(name: str) -> dict[str, set[str]]:
    """For each question of a repository the files that answer it."""
    return {
        label.query: {span.path for target in label.targets for span in target}
        for label in read_labels(name)
    }


def finds(app: App, text: str, files: set[str], *, has_glossary: bool) -> bool:
    query = SearchQuery(text, limit=TOP_K)
    if has_glossary:
        results = app.search(query).results
    else:
        with patch("rootle.search.query.parse.detect_language", return_value=None):
            results = app.search(query).results
    return any(result.file_path in files for result in results)


if __name__ == "__main__":
    main()
