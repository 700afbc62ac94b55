"""Measure whether questions find the page, slide, cell, sheet or heading that answers them.

    python -m benchmarks.quality.document_questions [--split tune|test] [--model FOLDER] [--show]
        [--json FILE]

`benchmarks/labels/documents/` contains 18 documents and 150 questions. The documents are written as
PDF, Word, PowerPoint, notebook, Excel, EPUB and mail files next to source files. A result is
correct if it shows the right file and one of its spans is from the right place; "best span" counts
only the first span. BM25 is the baseline. It searches the plain text of the same places, each as
one text, and shows up to four places of a file as one result, as rootle does. "Vectors" orders the
same texts by the cosine similarity of the embedding model alone. `--model` selects another model,
as the configuration key `embeddingModelID` does. `--split` selects the questions about one half of
the documents ("tune" for development, "test" for reports). The half of a document is determined by
a hash of its name.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.arguments import JSON, SHOW, SPLIT, command_parser
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
from rootle import Config, SearchQuery, SearchResult
from rootle.embed.factory import choose_model, open_model

SPANS: Final = 4  # spans of one result that are scored
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
        """Return NDCG@10 when every place in the right file counts as correct."""
        files = {path for path, _ in self.places}
        whole = [tuple(place for place in one if place[0] in files) for one in results[:TOP_K]]
        return next((ndcg([rank], 1) for rank, one in enumerate(whole, start=1) if one), 0.0)


def main() -> None:
    parser = command_parser(__doc__, SPLIT, SHOW, JSON)
    parser.add_argument("--model", default="", help="embedding model (default: the shipped one)")
    args = parser.parse_args()
    config = Config(embedding_model_id=args.model) if args.model else Config()
    documents = read_documents()
    questions = read_questions(documents, args.split)
    with tempfile.TemporaryDirectory() as folder:
        root, texts = Path(folder) / "project", Path(folder) / "texts"
        write_project(root, list(documents.values()))
        _commit(root)
        baselines = Baselines(texts, documents, config)
        rows = []
        with indexed_app(root, Path(folder) / "index", config) as app:
            for question in questions:
                response = app.search(SearchQuery(question.text, limit=TOP_K))
                found = [list_places(result) for result in response.results]
                rows.append((question, score_answers(question, found, baselines)))
                if args.show and rows[-1][1]["place"] < 1:
                    print(f"{question.text}\n    {sorted(question.places)}\n    {found[:3]}")
    report = summarize(rows, documents)
    _print(report)
    if args.json:
        args.json.write_text(json.dumps(report, indent=2) + "\n", "utf-8")


def read_questions(
    documents: Mapping[str, LabeledDocument], split: str | None = None
) -> list[PlaceQuestion]:
    """Return the questions of a split, or all."""
    questions = []
    for line in (LABELS / "questions.jsonl").read_text("utf-8").splitlines():
        data = json.loads(line)
        if split not in (None, choose_split(data["document"])):
            continue
        document = documents[data["document"]]
        places = frozenset(document.place(number) for number in data["places"])
        questions.append(
            PlaceQuestion(data["question"], data["voice"], data["hard"], data["document"], places)
        )
    return questions


def choose_split(document: str) -> str:
    """Return the half to which the questions about a document belong."""
    return "test" if hashlib.sha256(document.encode()).digest()[0] & 0x10 else "tune"


def list_places(result: SearchResult) -> Places:
    """Return the file with the label of each shown span, the best span first."""
    labels = [result.place, *(span.place for span in result.more_spans)]
    return tuple((result.file_path, label or "") for label in labels)


class Baselines:
    """BM25 and vectors over the texts of places; each text is written to a file below `root`."""

    def __init__(
        self, root: Path, documents: Mapping[str, LabeledDocument], config: Config
    ) -> None:
        self._places: dict[str, tuple[str, str]] = {}
        write_project(root, [])  # the source files
        paths = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
        for name, document in documents.items():
            for number, part in enumerate(document.parts, start=1):
                path = f"{name}/{number}.txt"
                self._places[path] = document.place(number)
                (root / name).mkdir(exist_ok=True)
                (root / path).write_text("\n".join([document.title, *part.values()]), "utf-8")
        _commit(root)
        self._words = Bm25Index()
        self._words.index(root)
        self._paths = sorted(paths) + list(self._places)
        self._model = open_model(choose_model(config), config)
        self._vectors = self._embed([(root / path).read_text("utf-8") for path in self._paths])

    def search_words(self, query: str) -> list[Places]:
        """Return the best ten files by BM25, each with its best places."""
        return self._group(window.path for window in self._words.search(query, _MANY))

    def search_vectors(self, query: str) -> list[Places]:
        """Return the best ten files by the cosine of their best places."""
        cosines = self._vectors @ self._embed([query])[0]
        return self._group(self._paths[at] for at in np.argsort(-cosines, kind="stable"))

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.asarray(self._model.embed(texts), np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        normalized: NDArray[np.float32] = vectors / np.maximum(lengths, 1e-9)
        return normalized

    def _group(self, paths: Iterable[str]) -> list[Places]:
        files: dict[str, list[tuple[str, str]]] = {}
        for path in paths:
            place = self._places.get(path, (path, ""))
            files.setdefault(place[0], []).append(place)
        return [tuple(places[:SPANS]) for places in list(files.values())[:TOP_K]]


def score_answers(
    question: PlaceQuestion, found: Sequence[Places], baselines: Baselines
) -> dict[str, float]:
    """Return all figures of one question."""
    windows = baselines.search_words(question.text)
    vectors = baselines.search_vectors(question.text)
    return {
        "place": question.score(found),
        "best span": question.score(found, 1),
        "file": question.has_file(found),
        "BM25 place": question.score(windows),
        "BM25 best": question.score(windows, 1),
        "vectors": question.score(vectors),
        "vectors best": question.score(vectors, 1),
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
    print(f"{'':20}" + "".join(f"{name:>14}" for name in names))
    for group, figures in report.items():
        values = "".join(f"{figures[name]:14.3f}" for name in names[1:])
        print(f"{group:20}{figures['questions']:14}{values}")


if __name__ == "__main__":
    main()
