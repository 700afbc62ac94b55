"""Repeat the first search of each recorded session of the agent loop with the current version.

    python -m benchmarks.agent_loop.first_searches WORK [FILE …] [--lines 3] [--list] [--json FILE]

WORK is the folder that `checkouts` prepared. Without files, the queries of all records in
`recorded/` and `earlier/` are used, which come from several players for each task. No model is
needed. The figures are shares of the searches, or characters:

    all      the answer shows `--lines` lines of every required place (all of them if it has fewer)
    any      the answer shows such lines of at least one required place
    file     the first result is a file with a required place
    weak     rootle is not confident in the answer
    right    of the weak answers, the share whose first result is a file with a required place
    chars    mean number of characters of an answer
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.agent_loop.session_log import SessionRecord, read_records
from benchmarks.agent_loop.tasks import FOLDER, KINDS, SIZES, AgentTask
from benchmarks.agent_loop.workspace import WORK, open_workspace
from benchmarks.common.arguments import JSON, LINES, LIST, RESULT_FILES, command_parser
from benchmarks.common.reports import write_json
from benchmarks.common.statistics import mean
from benchmarks.quality.answer_reading import chars_until_in_view
from rootle import App, open_app
from rootle.tools import call_tool, create_tools

_SEARCH: Final = "vectordb_search"
_FOLDERS: Final = ("recorded", "earlier")
_FIRST: Final = re.compile(r"^1\. (.+?):\d+-\d+\b", re.MULTILINE)
_WARM_UP: Final = {"query": "license"}  # loads the model and the index


@dataclass(frozen=True)
class FirstSearch:
    """The first query of a session, and what its answer shows now."""

    session: str
    task: str
    shown: int  # number of required places that the answer shows
    required: int
    is_file_first: bool
    is_weak: bool
    chars: int


def main() -> None:
    listing = LIST.with_settings(help="print one line per search")
    parser = command_parser(__doc__, WORK, RESULT_FILES, LINES, listing, JSON)
    args = parser.parse_args()
    workspace = open_workspace(args.work)
    paths = args.files or [path for name in _FOLDERS for path in (FOLDER / name).glob("*.jsonl")]
    searches = first_queries(read_records(sorted(paths)))
    apps: dict[str, App] = {}
    found = []
    for record, query in searches:
        task = workspace.tasks[record.task]
        root = workspace.root(task.repository)
        if task.repository not in apps:
            index_dir = workspace.index_dir(task.repository)
            apps[task.repository] = open_app(root, index_dir=index_dir)
            _ask(apps[task.repository], _WARM_UP)
        text = _ask(apps[task.repository], query)
        found.append(examine(record, task, text, root, args.lines))
        if args.list:
            print(found[-1])
    for app in apps.values():
        app.close()
    figures = group_figures(found, workspace.tasks)
    for name, one in figures.items():
        print(f"{name:8} " + "  ".join(f"{key} {value}" for key, value in one.items()))
    write_json(args.json, {"figures": figures, "searches": list(map(asdict, found))})


def first_queries(
    records: Iterable[SessionRecord],
) -> list[tuple[SessionRecord, Mapping[str, Any]]]:
    """Return the arguments of the first call of each session that begins with a search."""
    return [
        (record, record.calls[0].arguments)
        for record in records
        if record.calls and record.calls[0].tool == _SEARCH
    ]


def examine(
    record: SessionRecord, task: AgentTask, text: str, root: Path, lines: int
) -> FirstSearch:
    """Return what an answer shows of the places that a task requires."""
    shown = [
        any(chars_until_in_view(text, root, [span], lines) <= len(text) + 1 for span in target)
        for target in task.required
    ]
    first = _FIRST.search(text)
    return FirstSearch(
        record.session,
        record.task,
        sum(shown),
        len(shown),
        first is not None and first[1] in {span.path for span in task.spans()},
        "not confident" in text,
        len(text),
    )


def group_figures(
    searches: Sequence[FirstSearch], tasks: Mapping[str, AgentTask]
) -> dict[str, dict[str, float]]:
    """Return the figures of all searches, of each repository size and of each kind of task."""
    groups = {"all": list(searches)}
    groups |= {size: [one for one in searches if tasks[one.task].size == size] for size in SIZES}
    groups |= {kind: [one for one in searches if tasks[one.task].kind == kind] for kind in KINDS}
    return {name: summarize(group) for name, group in groups.items() if group}


def summarize(searches: Sequence[FirstSearch]) -> dict[str, float]:
    """Return the figures of one group of searches."""
    weak = [one for one in searches if one.is_weak]
    return {
        "searches": len(searches),
        "all": round(mean(one.shown == one.required for one in searches), 3),
        "any": round(mean(one.shown > 0 for one in searches), 3),
        "file": round(mean(one.is_file_first for one in searches), 3),
        "weak": round(len(weak) / len(searches), 3),
        "right": round(mean(one.is_file_first for one in weak), 3) if weak else 0.0,
        "chars": round(mean(one.chars for one in searches)),
    }


def _ask(app: App, arguments: Mapping[str, Any]) -> str:
    return call_tool(create_tools(app), _SEARCH, arguments).text


if __name__ == "__main__":
    main()
