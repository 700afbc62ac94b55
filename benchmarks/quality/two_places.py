"""Measure how many answers of `vectordb_search` show both places that a task requires.

    python -m benchmarks.quality.two_places REPOS [--only kafka] [--indexes DIR] [--json FILE]

REPOS contains checkouts of the repositories in `labels/two_places/tasks.jsonl`, at the commits in
`labels/repositories.json` and `labels/large/repositories.json`; tasks of other repositories are
left out. Each task asks for two places, in words other than those of the code. Two language models
each wrote a query for each task, from its text and the definition of the tool alone
(`queries.jsonl`). The repositories are in the tune splits. The figures are shares of the queries,
or characters:

    both     the answer shows three lines of both places (all lines if a place has fewer)
    any      the answer shows such lines of at least one place
    first    the first result is a file with one of the places
    weak     rootle is not confident in the answer
    chars    mean number of characters of an answer
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks.agent_loop.tasks import parse_place
from benchmarks.common.arguments import INDEXES, JSON, ONLY, REPOS, command_parser
from benchmarks.common.labels import LABELS, Target
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import index_folder, indexed_app
from benchmarks.common.statistics import mean
from benchmarks.quality.answer_reading import chars_until_in_view
from rootle.tools import create_tools

FOLDER: Final = LABELS / "two_places"
_LINES: Final = 3
_FIRST: Final = re.compile(r"^1\. (.+?):\d+-\d+\b", re.MULTILINE)


@dataclass(frozen=True)
class TwoPlaceTask:
    """A task whose answer is two places, each with equivalent alternatives."""

    id: str
    repository: str
    kind: str  # "explain" or "change"
    places: tuple[Target, Target]
    queries: tuple[str, ...]  # one by each language model

    @property
    def group(self) -> str:
        """Either "one file", if the best spans of the two places are in one, or "two files"."""
        return "one file" if self.places[0][0].path == self.places[1][0].path else "two files"


@dataclass(frozen=True)
class TwoPlaceAnswer:
    """Counts of the places that the answer to one query shows, and its length."""

    id: str
    kind: str
    group: str
    shown: int  # number of places, 0 to 2
    is_first: bool
    is_weak: bool
    chars: int


def main() -> None:
    parser = command_parser(__doc__, REPOS, ONLY, INDEXES, JSON)
    args = parser.parse_args()
    tasks = [
        task
        for task in read_tasks()
        if (args.repos / task.repository).is_dir()
        and (not args.only or task.repository in args.only)
    ]
    found: list[TwoPlaceAnswer] = []
    with index_folder(args.indexes) as indexes:
        for name in sorted({task.repository for task in tasks}):
            root = args.repos / name
            with indexed_app(root, indexes / name) as app:
                search = create_tools(app)[0]
                some = [task for task in tasks if task.repository == name]
                found += answer_tasks(some, root, search)
    figures = group_figures(found)
    for name, one in figures.items():
        print(f"{name:10} " + "  ".join(f"{key} {value}" for key, value in one.items()))
    write_json(args.json, {"figures": figures, "answers": list(map(asdict, found))})


def read_tasks(folder: Path = FOLDER) -> list[TwoPlaceTask]:
    """Return the tasks with their queries, in the order of the file."""
    queries: dict[str, list[str]] = {}
    for record in _read_lines(folder / "queries.jsonl"):
        queries.setdefault(record["id"], []).append(record["query"])
    return [
        TwoPlaceTask(
            record["id"],
            record["repository"],
            record["kind"],
            _two([tuple(map(parse_place, some)) for some in record["places"]]),
            tuple(queries[record["id"]]),
        )
        for record in _read_lines(folder / "tasks.jsonl")
    ]


def _two(places: Sequence[Target]) -> tuple[Target, Target]:
    first, second = places
    return first, second


def _read_lines(path: Path) -> Iterator[dict[str, str]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def answer_tasks(
    tasks: Iterable[TwoPlaceTask], root: Path, search: Callable[[str], str]
) -> list[TwoPlaceAnswer]:
    """Return what the answers to all queries of some tasks show."""
    return [examine(task, search(query), root) for task in tasks for query in task.queries]


def examine(task: TwoPlaceTask, text: str, root: Path) -> TwoPlaceAnswer:
    """Return what one answer shows of the places of its task."""
    shown = [
        any(chars_until_in_view(text, root, [span], _LINES) <= len(text) + 1 for span in target)
        for target in task.places
    ]
    first = _FIRST.search(text)
    paths = {span.path for target in task.places for span in target}
    return TwoPlaceAnswer(
        task.id,
        task.kind,
        task.group,
        sum(shown),
        first is not None and first[1] in paths,
        "not confident" in text,
        len(text),
    )


def group_figures(answers: Sequence[TwoPlaceAnswer]) -> dict[str, dict[str, float]]:
    """Return the figures of all answers, of each kind of task and of each group."""
    groups = {"all": list(answers)}
    for name in ("explain", "change"):
        groups[name] = [one for one in answers if one.kind == name]
    for name in ("one file", "two files"):
        groups[name] = [one for one in answers if one.group == name]
    return {name: _summarize(some) for name, some in groups.items() if some}


def _summarize(answers: Sequence[TwoPlaceAnswer]) -> dict[str, float]:
    return {
        "queries": len(answers),
        "both": round(mean(one.shown == 2 for one in answers), 3),
        "any": round(mean(one.shown > 0 for one in answers), 3),
        "first": round(mean(one.is_first for one in answers), 3),
        "weak": round(mean(one.is_weak for one in answers), 3),
        "chars": round(mean(one.chars for one in answers)),
    }


if __name__ == "__main__":
    main()
