"""Whether questions on documents find the page, slide, cell, sheet or heading that answers.

    python -m benchmarks.quality.document_questions [--show] [--json FILE]

The 18 documents and 150 questions in `benchmarks/labels/documents/` are written as PDF, Word,
PowerPoint, notebook, Excel, EPUB and mail files next to source files. A result is correct if it is
of the right file and one of its spans is of the right place; "best span" counts only the first
span. BM25 is the baseline. It searches the plain text of the same places, one text each, and shows
up to four places of a file as one result, as rootle does.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.common.arguments import JSON, command_parser
from benchmarks.common.bm25 import Bm25Index
from benchmarks.common.git import commit_changes, run_git
from benchmarks.common.metrics import TOP_K, ndcg
from benchmarks.common.rootle_search import indexed_app
from benchmarks.quality.document_samples import (
    LABELS,
    LabeledDocument,
    read_documents,
    write_project,
)
from rootle import SearchQuery, SearchResult

SPANS: Final = 4  # of one result
_MANY: Final = 1_000

Places = tuple[tuple[str, str], ...]  # file and label of the spans of one result, best first


@dataclass(frozen=True)
class PlaceQuestion:
    """A question, and the places that answer it; one of them suffices."""

    text: str
    voice: str  # "person" or "agent"
    hard: bool
    document: str
    places: frozenset[tuple[str, str]]

    def score(self, results: Sequence[Places], spans: int = SPANS) -> float:
        """Return NDCG@10 if only the first `spans` spans of each result count."""
        for rank, result in enumerate(results[:TOP_K], start=1):
            if self.places & set(result[:spans]):
                return ndcg([rank], 1)
        return 0.0

    def has_file(self, results: Sequence[Places]) -> float:
        """Return NDCG@10 if any place of the right file is correct."""
        files = {path for path, _ in self.places}
        whole = [tuple(place for place in one if place[0] in files) for one in results[:TOP_K]]
        return next((ndcg([rank], 1) for rank, one in enumerate(whole, start=1) if one), 0.0)


def main() -> None:
    parser = command_parser(__doc__, JSON)
    parser.add_argument("--show", action="store_true", help="print what is missed")
    args = parser.parse_args()
    documents = read_documents()
    questions = read_questions(documents)
    with tempfile.TemporaryDirectory() as folder:
        root, texts = Path(folder) / "project", Path(folder) / "texts"
        write_project(root, list(documents.values()))
        _commit(root)
        baseline = PlaceBaseline(texts, documents)
        rows = []
        with indexed_app(root, Path(folder) / "index") as app:
            for question in questions:
                response = app.search(SearchQuery(question.text, limit=TOP_K))
                found = [places_of(result) for result in response.results]
                rows.append((question, score_answers(question, found, baseline)))
                if args.show and rows[-1][1]["place"] < 1:
                    print(f"{question.text}\n    {sorted(question.places)}\n    {found[:3]}")
    report = summarize(rows, documents)
    _print(report)
    if args.json:
        args.json.write_text(json.dumps(report, indent=2) + "\n", "utf-8")


def read_questions(documents: Mapping[str, LabeledDocument]) -> list[PlaceQuestion]:
    """Return all questions."""
    questions = []
    for line in (LABELS / "questions.jsonl").read_text("utf-8").splitlines():
        data = json.loads(line)
        document = documents[data["document"]]
        places = frozenset(document.place(number) for number in data["places"])
        questions.append(
            PlaceQuestion(data["question"], data["voice"], data["hard"], data["document"], places)
        )
    return questions


def places_of(result: SearchResult) -> Places:
    """Return the file with the label of each shown span, the best span first."""
    labels = [result.place, *(span.place for span in result.more_spans)]
    return tuple((result.file_path, label or "") for label in labels)


class PlaceBaseline:
    """BM25 over the texts of places, written to one file each below `root`."""

    def __init__(self, root: Path, documents: Mapping[str, LabeledDocument]) -> None:
        self._places: dict[str, tuple[str, str]] = {}
        write_project(root, [])  # the source files
        for name, document in documents.items():
            for number, part in enumerate(document.parts, start=1):
                path = f"{name}/{number}.txt"
                self._places[path] = document.place(number)
                (root / name).mkdir(exist_ok=True)
                (root / path).write_text("\n".join([document.title, *part.values()]), "utf-8")
        _commit(root)
        self._index = Bm25Index()
        self._index.index(root)

    def search(self, query: str) -> list[Places]:
        """Return the best ten files, each with its best places."""
        files: dict[str, list[tuple[str, str]]] = {}
        for window in self._index.search(query, _MANY):
            place = self._places.get(window.path, (window.path, ""))
            files.setdefault(place[0], []).append(place)
        return [tuple(places[:SPANS]) for places in list(files.values())[:TOP_K]]


def score_answers(
    question: PlaceQuestion, found: Sequence[Places], baseline: PlaceBaseline
) -> dict[str, float]:
    """Return all figures of one question."""
    windows = baseline.search(question.text)
    return {
        "place": question.score(found),
        "best span": question.score(found, 1),
        "file": question.has_file(found),
        "BM25 place": question.score(windows),
        "BM25 best": question.score(windows, 1),
    }


def summarize(
    rows: Sequence[tuple[PlaceQuestion, Mapping[str, float]]],
    documents: Mapping[str, LabeledDocument],
) -> dict[str, dict[str, float]]:
    """Return the mean figures by voice, by difficulty and by format and voice."""
    groups: dict[str, list[Mapping[str, float]]] = {}
    for question, figures in rows:
        for name in _group_names(question, documents[question.document].format):
            groups.setdefault(name, []).append(figures)
    return {
        name: {"questions": len(found)}
        | {key: sum(one[key] for one in found) / len(found) for key in found[0]}
        for name, found in sorted(groups.items())
    }


def _group_names(question: PlaceQuestion, ending: str) -> Iterator[str]:
    yield f"all, {question.voice}"
    if question.hard:
        yield f"all, {question.voice}, hard"
    yield f"{ending}, {question.voice}"


def _commit(root: Path) -> None:
    run_git(root, "init", "-q")
    commit_changes(root, "Add the documents")


def _print(report: Mapping[str, Mapping[str, Any]]) -> None:
    names = list(next(iter(report.values())))
    print(f"{'':20}" + "".join(f"{name:>12}" for name in names))
    for group, figures in report.items():
        values = "".join(f"{figures[name]:12.3f}" for name in names[1:])
        print(f"{group:20}{figures['questions']:12}{values}")


if __name__ == "__main__":
    main()
