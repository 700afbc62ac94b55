"""Measure whether questions with `in:web` find the section of documentation that answers them.

    python -m benchmarks.quality.added_sources requests=PATH flask=PATH python=PATH [--show]

PATH is the built documentation of Requests 2.28, Flask 2.2 and Python 3.11: the folders `html` of
the Debian packages python-requests-doc, python-flask-doc and python3.11-doc. Each question in
`benchmarks/labels/added_sources/` names pages, each with a phrase; a result is correct if it is one
of these pages and one of its spans is in the section that contains the phrase. A section is the
text about a symbol, or the text from one heading to the next. BM25 is the baseline. It searches the
same sections, each as one text, and shows up to four sections of a page as one result, as rootle
does.
"""

from __future__ import annotations

import json
import tempfile
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.common.arguments import SHOW, command_parser
from benchmarks.common.bm25 import Bm25Index
from benchmarks.common.git import commit_changes, run_git
from benchmarks.common.metrics import TOP_K, Hit, ndcg
from benchmarks.common.rootle_search import make_hit
from rootle import SearchQuery, open_app
from rootle.sources.external.child_process import read_local_source
from rootle.sources.external.records import ExternalDocument
from rootle.sources.external.store import make_uri

SPANS: Final = 4  # spans of one result that are scored
_LABELS: Final = Path(__file__).resolve().parent.parent / "labels/added_sources/questions.jsonl"
_MANY: Final = 1_000
_MAX_DOCUMENTS: Final = 100_000

Section = tuple[str, int]  # the URI of a page, and the number of a section in it


@dataclass(frozen=True, slots=True)
class SectionedPage:
    """A page of documentation, divided into sections."""

    text: str
    starts: tuple[int, ...]  # the first line of each section, from 1

    def section_at(self, line: int) -> int:
        """Return the number of the section that contains a line."""
        return bisect_right(self.starts, line) - 1

    def section_with(self, phrase: str) -> int:
        """Return the number of the section that contains a phrase."""
        before, found, _ = self.text.partition(phrase)
        if not found:
            raise ValueError(f"the page does not contain: {phrase}")
        return self.section_at(before.count("\n") + 1)

    def sections(self) -> list[str]:
        """Return the text of each section."""
        lines = self.text.split("\n")
        ends = [*(start - 1 for start in self.starts[1:]), len(lines)]
        return [
            "\n".join(lines[start - 1 : end]) for start, end in zip(self.starts, ends, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class SectionQuestion:
    """A question, and the sections that answer it; one of them suffices."""

    text: str
    voice: str  # "person" or "agent"
    sections: frozenset[Section]

    def score(self, results: Sequence[Sequence[Section]]) -> float:
        """Return NDCG@10 of results, each with the sections of its spans."""
        for rank, found in enumerate(results[:TOP_K], start=1):
            if self.sections & set(found):
                return ndcg([rank], 1)
        return 0.0


def main() -> None:
    parser = command_parser(__doc__, SHOW)
    parser.add_argument("folders", nargs="+", metavar="NAME=PATH", help="built documentation")
    args = parser.parse_args()
    folders = dict(one.split("=", 1) for one in args.folders)
    with tempfile.TemporaryDirectory() as work:
        pages = {
            uri: page
            for name, folder in folders.items()
            for uri, page in read_pages(name, Path(folder).resolve(), work)
        }
        questions = read_questions(pages, folders)
        baseline = SectionBaseline(Path(work) / "sections", pages)
        found = _search(Path(work), folders, pages, questions)
    rows = []
    for question, results in zip(questions, found, strict=True):
        rows.append((question.voice, question.score(results), baseline.score(question)))
        if args.show and rows[-1][1] < 1:
            print(f"{question.text}\n    {sorted(question.sections)}\n    {list(results[:3])}")
    _report(rows)


def read_pages(name: str, folder: Path, work: str) -> Iterable[tuple[str, SectionedPage]]:
    """Yield the pages of a folder with their URIs."""
    for item in read_local_source(str(folder), "", _MAX_DOCUMENTS, work):
        if isinstance(item, ExternalDocument):
            yield make_uri(name, item.path), divide(item)


def divide(document: ExternalDocument) -> SectionedPage:
    """Divide a page at its symbols and headings."""
    starts = {1}
    in_code = False
    for number, line in enumerate(document.text.split("\n"), start=1):
        in_code ^= line.startswith("```")
        if line.startswith("#") and not in_code:
            starts.add(number)
    last = document.text.count("\n")
    for section in document.sections:
        starts |= {section.start_line, min(section.end_line + 1, last)}
    return SectionedPage(document.text, tuple(sorted(starts)))


def read_questions(
    pages: Mapping[str, SectionedPage], sources: Iterable[str]
) -> list[SectionQuestion]:
    """Return the questions on these sources."""
    found = []
    for line in _LABELS.read_text("utf-8").splitlines():
        data = json.loads(line)
        if data["source"] in sources:
            places = ((make_uri(data["source"], path), phrase) for path, phrase in data["places"])
            sections = frozenset((uri, pages[uri].section_with(phrase)) for uri, phrase in places)
            found.append(SectionQuestion(data["question"], data["voice"], sections))
    return found


def find_sections(hit: Hit, page: SectionedPage) -> list[Section]:
    """Return the sections of the first spans of a result."""
    return [
        (hit.path, number)
        for start, end in hit.ranges[:SPANS]
        for number in range(page.section_at(start), page.section_at(end) + 1)
    ]


class SectionBaseline:
    """BM25 over sections; each section is written to a file of its own below `root`."""

    def __init__(self, root: Path, pages: Mapping[str, SectionedPage]) -> None:
        self._sections: dict[str, Section] = {}
        root.mkdir()
        for number, (uri, page) in enumerate(pages.items()):
            (root / str(number)).mkdir()
            for section, text in enumerate(page.sections()):
                path = f"{number}/{section}.txt"
                self._sections[path] = (uri, section)
                (root / path).write_text(text, "utf-8")
        run_git(root, "init", "-q")
        commit_changes(root, "Add the sections")
        self._index = Bm25Index()
        self._index.index(root)

    def score(self, question: SectionQuestion) -> float:
        """Return NDCG@10 of the best ten pages, each with its best sections."""
        pages: dict[str, list[Section]] = {}
        for window in self._index.search(question.text, _MANY):
            section = self._sections[window.path]
            pages.setdefault(section[0], []).append(section)
        return question.score([found[:SPANS] for found in list(pages.values())[:TOP_K]])


def _search(
    work: Path,
    folders: Mapping[str, str],
    pages: Mapping[str, SectionedPage],
    questions: Sequence[SectionQuestion],
) -> list[list[list[Section]]]:
    """Add the folders to an empty project, and search them."""
    project = work / "project"
    project.mkdir()
    with open_app(project, index_dir=work / "index") as app:
        for name, folder in folders.items():
            app.sources.add(folder, name=name)
        responses = [
            app.search(SearchQuery(f"in:web {question.text}", limit=TOP_K))
            for question in questions
        ]
    hits = [[make_hit(result) for result in response.results] for response in responses]
    return [[find_sections(hit, pages[hit.path]) for hit in found] for found in hits]


def _report(rows: Sequence[tuple[str, float, float]]) -> None:
    print(f"{'':10}{'questions':>10}{'rootle':>10}{'BM25':>10}")
    for voice in ("person", "agent"):
        ours = [row[1] for row in rows if row[0] == voice]
        plain = [row[2] for row in rows if row[0] == voice]
        if ours:
            means = f"{sum(ours) / len(ours):10.3f}{sum(plain) / len(plain):10.3f}"
            print(f"{voice:10}{len(ours):10}{means}")


if __name__ == "__main__":
    main()
