"""Questions on the packages of two projects that pin conflicting versions.

    python -m benchmarks.quality.dependency_questions WORK [--show] [--half tune|test]
        [--json FILE]

The labels in `benchmarks/labels/dependencies` name 15 packages, each in an old and a new version,
and contain questions with their answers: definitions, or lines that contain a given text. The
command installs the packages from PyPI into a virtual environment per project below WORK (once,
without their dependencies), and asks each question with `in:deps`. A question is answered if one of
the first results shows a line of an answer, in the file of the version that the project pins. For a
class, only the lines before its first method count. Both projects share one index, as they do for a
user.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.common.arguments import HALF, JSON, SHOW, WORK, command_parser
from rootle import Config, SearchQuery, SearchResponse, SearchResult, open_app

LABELS: Final = Path(__file__).parent.parent / "labels" / "dependencies"
PROJECTS: Final = ("old", "new")
DEPTHS: Final = (1, 3, 5)
HALVES: Final = ("tune", "test")
_WORK: Final = WORK.with_settings(help="folder for environments and indexes")

Lines = range


@dataclass(frozen=True)
class Label:
    """A question about the packages of a project, and the lines that answer it."""

    project: str
    question: str
    answers: Mapping[str, Sequence[Lines]]  # path in the environment -> lines

    def rank(self, response: SearchResponse) -> int | None:
        """Return the position of the first result that shows an answer, from 1."""
        for at, result in enumerate(response.results, start=1):
            if self._is_answer(result):
                return at
        return None

    def _is_answer(self, result: SearchResult) -> bool:
        path = path_in_package(result.file_path)
        spans = [(result.start_line, result.end_line)]
        spans += [(span.start_line, span.end_line) for span in result.more_spans]
        return any(
            first < lines.stop and lines.start <= last
            for lines in self.answers.get(path, ())
            for first, last in spans
        )


def path_in_package(uri: str) -> str:
    """Return the path of a file in its package: "deps:httpx@0.28.1/httpx/a.py" -> "httpx/a.py"."""
    return uri.partition("@")[2].partition("/")[2]


def read_labels(sites: Mapping[str, Path]) -> list[Label]:
    """Return all labels. `sites` maps projects to their site-packages folders."""
    labels = []
    for line in (LABELS / "questions.jsonl").read_text("utf-8").splitlines():
        data = json.loads(line)
        site = sites[data["project"]]
        answers: dict[str, list[Lines]] = {}
        for answer in data["answers"]:
            text = (site / answer["path"]).read_text("utf-8")
            answers.setdefault(answer["path"], []).extend(find_lines(text, answer))
        labels.append(Label(data["project"], data["question"], answers))
    return labels


def select_half(labels: Sequence[Label], half: str | None) -> list[Label]:
    """Return the labels of one half: the first, third, fifth … questions are for tuning.

    If `half` is None, return all labels. A question that is asked for both projects is in the same
    half for both.
    """
    texts = list(dict.fromkeys(label.question for label in labels))
    halves = {text: HALVES[at % len(HALVES)] for at, text in enumerate(texts)}
    return [label for label in labels if half in (None, halves[label.question])]


def find_lines(text: str, answer: Mapping[str, str]) -> list[Lines]:
    """Return the lines of a definition, or the lines that contain a text.

    Raise ValueError if there are none.
    """
    if "text" in answer:
        lines = enumerate(text.splitlines(), start=1)
        found = [range(at, at + 1) for at, line in lines if answer["text"] in line]
    else:
        wanted = answer["definition"]
        found = [lines for name, lines in list_definitions(ast.parse(text)) if name == wanted]
    if not found:
        raise ValueError(f"{answer} is not in its file")
    return found


def list_definitions(node: ast.AST, scope: str = "") -> Iterator[tuple[str, Lines]]:
    """Yield the qualified name of each definition with its lines.

    The lines of a class end before its first method.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{scope}{child.name}"
            end = child.end_lineno or child.lineno
            if isinstance(child, ast.ClassDef):
                methods = [
                    one.lineno
                    for one in child.body
                    if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))
                ]
                end = min([end, *(line - 1 for line in methods)])
            yield name, range(child.lineno, end + 1)
            yield from list_definitions(child, f"{name}.")
        else:
            yield from list_definitions(child, scope)


def summarize(ranks: Sequence[int | None], wrong_versions: int) -> dict[str, float]:
    """Return the share of answered questions by depth, and the number of wrong versions."""
    count = len(ranks)
    shares = {
        f"answered in the first {depth}": sum(
            rank is not None and rank <= depth for rank in ranks
        ) / count
        for depth in DEPTHS
    }  # fmt: skip
    return {"questions": count, **shares, "results of other versions": wrong_versions}


def main() -> None:
    parser = command_parser(__doc__, _WORK, HALF, SHOW, JSON)
    args = parser.parse_args()
    os.environ["XDG_CACHE_HOME"] = os.fspath(args.work.resolve() / "cache")
    sites = {project: install(args.work.resolve(), project) for project in PROJECTS}
    labels = select_half(read_labels(sites), args.half)
    report: dict[str, Any] = {}
    for project in PROJECTS:
        own = [label for label in labels if label.project == project]
        report[project] = measure(args.work.resolve() / project, own, show=args.show)
    print(json.dumps(report, indent=2))
    if args.json:
        args.json.write_text(json.dumps(report, indent=2) + "\n", "utf-8")


def install(work: Path, project: str) -> Path:
    """Install the packages of a project if necessary; return its site-packages folder."""
    root = work / project
    venv = root / ".venv"
    python = venv / "bin" / "python"
    if not (root / "requirements.txt").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pinned = LABELS / f"{project}.txt"
        pip: list[str | Path] = [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "-r",
            pinned,
        ]
        subprocess.run(pip, check=True)
        (root / "requirements.txt").write_text(pinned.read_text("utf-8"), "utf-8")
    return next(iter(venv.glob("lib/python*/site-packages")))


def measure(root: Path, labels: Sequence[Label], *, show: bool) -> dict[str, Any]:
    """Index the packages of a project and ask its questions."""
    pinned = set((root / "requirements.txt").read_text("utf-8").replace("==", " ").splitlines())
    ranks: list[int | None] = []
    wrong = 0
    config = Config(search_log=False, include_memories=False)
    with open_app(root, config=config) as app:
        started = time.perf_counter()
        status = app.index_dependencies()
        seconds = time.perf_counter() - started
        started = time.perf_counter()
        app.index_dependencies()
        again = time.perf_counter() - started
        for label in labels:
            response = app.search(SearchQuery(f"in:deps {label.question}", limit=max(DEPTHS)))
            rank = label.rank(response)
            ranks.append(rank)
            wrong += sum(result.origin not in pinned for result in response.results)
            if show and (rank is None or rank > 1):
                found = [f"{one.file_path}:{one.start_line}" for one in response.results[:3]]
                print(f"{rank or '-'}  {label.question}\n     {found}", file=sys.stderr)
    return {
        **summarize(ranks, wrong),
        "packages": len(status.packages),
        "files": sum(package.files for package in status.packages),
        "seconds to index": round(seconds, 2),
        "seconds to list again": round(again, 3),
        "MB of the shared index": round(status.index_bytes / 1e6, 1),
    }


if __name__ == "__main__":
    main()
