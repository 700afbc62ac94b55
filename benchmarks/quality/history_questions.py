"""Quality of answers about the past: questions, the origin of lines, and removed functions.

    python -m benchmarks.quality.history_questions REPOS [--split tune|test] [--only scrapy]
        [--systems bm25,grep,blame,pickaxe,rootle] [--indexes DIR] [--json FILE]

REPOS holds one checkout with its whole history for each entry of `labels/repositories.json` that
has questions in `labels/history/`. A question is answered if one of the first ten commits is
labeled as an answer; the figures are the share of answered questions (hit@10) and the mean
reciprocal rank, for plain and for hard questions and for the agent's queries for these questions.
"change" are the questions about one change, such as "when was gmock dropped" (`changes.jsonl`).
"expanded" are the hard questions, to which a local server adds the words of the agent's query
(`expandEndpoint`). BM25 and `git log --grep` read the messages of the newest 20,000 commits without
merges; `--grep` gets the two rarest words of the question.

For a line, one of the first three commits must be the one that gave the line its meaning; `git
blame` names one commit. For a removed function, the removing commit must be among the first ten;
`git log -S` gets the name of the function and the path that it had, whereas rootle gets a
description in words.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.common import arguments
from benchmarks.common.arguments import (
    INDEXES,
    JSON,
    ONLY,
    REPOS,
    SPLIT,
    TASKS,
    command_parser,
    name_set,
)
from benchmarks.common.metrics import ROOTLE, TOP_K
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import index_folder, indexed_app
from benchmarks.common.statistics import mean
from benchmarks.history.labels import (
    HARD,
    HistoryQuestion,
    history_repositories,
    read_agent_queries,
    read_changes,
    read_places,
    read_questions,
    read_removed_functions,
)
from benchmarks.history.message_search import (
    MessageIndex,
    blame,
    grep_log,
    log_pickaxe,
    read_messages,
)
from benchmarks.history.recorded_expansions import serve_expansions
from rootle import App, Config, SearchQuery

SYSTEMS: Final = ("bm25", "grep", "blame", "pickaxe", ROOTLE)
AGENT: Final = "agent"
EXPANDED: Final = "expanded"
ORIGIN: Final = "why"
REMOVED: Final = "gone"
MAX_RANK: Final = {ORIGIN: 3}  # the last rank that counts, by task; 10 for other tasks
Ask = Callable[[str], list[str]]  # from a query to the hashes of commits, best first


@dataclass(frozen=True)
class HistoryScore:
    """The rank of the first labeled commit in one answer; None: not found."""

    system: str
    task: str  # plain, hard, change, agent, expanded, why or gone
    rank: int | None


@dataclass(frozen=True)
class Case:
    """One query of a task with the commits that answer it."""

    task: str
    query: str
    commits: frozenset[str]


def main() -> None:
    systems = arguments.SYSTEMS.with_settings(type=name_set, default=frozenset(SYSTEMS))
    tasks = TASKS.with_settings(help="tasks for rootle, such as hard,expanded (default: all)")
    parser = command_parser(__doc__, REPOS, SPLIT, ONLY, INDEXES, systems, tasks, JSON)
    args = parser.parse_args()
    if unknown := args.systems - set(SYSTEMS):
        parser.error(f"unknown systems: {', '.join(sorted(unknown))}")
    scores: list[HistoryScore] = []
    for repository in history_repositories(args.only, args.split):
        scores += score_repository(repository.name, repository.root(args.repos), args)
        print(f"{repository.name} done", file=sys.stderr, flush=True)
    figures = summarize(scores)
    print(format_table(figures))
    write_json(args.json, figures)


def score_repository(name: str, root: Path, args: argparse.Namespace) -> list[HistoryScore]:
    """Return the scores of all chosen systems on one repository."""
    questions, places, removed = history_cases(name)
    scores: list[HistoryScore] = []
    if args.systems & {"bm25", "grep"}:
        index = MessageIndex(read_messages(root))
        if "bm25" in args.systems:
            scores += score_cases("bm25", questions, index.search)
        if "grep" in args.systems:
            grep: Ask = lambda query: grep_log(root, index.rare_words(query))  # noqa: E731
            scores += score_cases("grep", questions, grep)
    if "blame" in args.systems:
        scores += score_cases("blame", places, lambda place: blame(root, place))
    if "pickaxe" in args.systems:
        known = {one.query: (one.name, one.path) for one in read_removed_functions(name)}
        scores += score_cases("pickaxe", removed, lambda query: log_pickaxe(root, *known[query]))
    if ROOTLE in args.systems:
        cases = [*questions, *expanded_cases(name), *places, *removed]
        chosen = [one for one in cases if not args.tasks or one.task in args.tasks]
        scores += score_rootle(root, name, args.indexes, chosen)
    return scores


def history_cases(name: str) -> tuple[list[Case], list[Case], list[Case]]:
    """Return the questions, the agent's queries for them, the lines and the removed functions."""
    agent = read_agent_queries()
    questions = []
    for number, one in enumerate(read_questions(name), start=1):
        questions.append(Case(one.kind, one.query, one.commits))
        if query := agent.get(f"{name}-{number}"):
            questions.append(Case(AGENT, query, one.commits))
    questions += [Case(one.kind, one.query, one.commits) for one in read_changes(name)]
    places = [Case(ORIGIN, one.place, one.commits) for one in read_places(name)]
    removed = [Case(REMOVED, one.query, one.commits) for one in read_removed_functions(name)]
    return questions, places, removed


def expanded_cases(name: str) -> list[Case]:
    """Return the hard questions for which an agent's query was recorded."""
    return [
        Case(EXPANDED, one.query, one.commits) for one, _ in pair_recorded(name) if one.kind == HARD
    ]


def pair_recorded(name: str) -> list[tuple[HistoryQuestion, str]]:
    """Return the questions with the words of the agent's queries."""
    agent = read_agent_queries()
    numbered = enumerate(read_questions(name), start=1)
    pairs = ((one, agent.get(f"{name}-{number}", "")) for number, one in numbered)
    return [(one, query.removeprefix("in:history").strip()) for one, query in pairs if query]


def score_rootle(
    root: Path, name: str, indexes: Path | None, cases: Sequence[Case]
) -> list[HistoryScore]:
    """Return rootle's scores, or none if this version of rootle does not index commits."""
    if not hasattr(App, "why"):
        print("rootle: this version does not index commits", file=sys.stderr)
        return []
    asks: dict[str, Callable[[Any, str], list[str]]] = {
        ORIGIN: rootle_why,
        REMOVED: rootle_gone,
        EXPANDED: rootle_expanded,
    }
    scores = []
    words = {question.query: query for question, query in pair_recorded(name)}
    with (
        serve_expansions(words) as url,
        index_folder(indexes) as folder,
        indexed_app(root, folder / name, Config(expand_endpoint=url)) as app,
    ):
        # Otherwise, the first questions would be answered before all commits are indexed.
        if any(case.task != ORIGIN for case in cases):
            app.index_history()
        for case in cases:
            found = asks.get(case.task, rootle_commits)(app, case.query)
            scores.append(HistoryScore(ROOTLE, case.task, find_rank(case, found)))
    return scores


def rootle_commits(app: Any, query: str) -> list[str]:
    """Return the commits that rootle finds for a question about the past."""
    words = query if query.startswith("in:history") else f"in:history {query}"
    return _list_commits(app, SearchQuery(words, limit=TOP_K, expand=False))


def rootle_expanded(app: Any, query: str) -> list[str]:
    """Return the commits that rootle finds when the local server adds words to the query."""
    return _list_commits(app, SearchQuery(f"in:history {query}", limit=TOP_K))


def _list_commits(app: Any, query: SearchQuery) -> list[str]:
    results = app.search(query).results
    return [result.commit.hash for result in results if result.commit is not None]


def rootle_why(app: Any, place: str) -> list[str]:
    """Return the commits that rootle names for a line."""
    return [commit.hash for commit in app.why(place).commits]


def rootle_gone(app: Any, query: str) -> list[str]:
    """Return the commits that removed the code that rootle finds."""
    return [removal.commit.hash for removal in app.gone(query, TOP_K).removals]


def score_cases(system: str, cases: Iterable[Case], ask: Ask) -> list[HistoryScore]:
    """Return the score of a system's answer to each case, in order."""
    return [HistoryScore(system, one.task, find_rank(one, ask(one.query))) for one in cases]


def find_rank(case: Case, found: Sequence[str]) -> int | None:
    """Return the rank of the first commit that answers a case, or None if it is too low."""
    return first_rank(case.commits, found, MAX_RANK.get(case.task, TOP_K))


def first_rank(wanted: Collection[str], found: Sequence[str], limit: int) -> int | None:
    """Return the rank, from 1, of the first wanted commit among the first `limit`."""
    ranks = (rank for rank, commit in enumerate(found[:limit], start=1) if commit in wanted)
    return next(ranks, None)


def summarize(scores: Sequence[HistoryScore]) -> dict[str, dict[str, dict[str, float]]]:
    """Return number, hit rate and mean reciprocal rank by system and task."""
    figures: dict[str, dict[str, dict[str, float]]] = {}
    for system, task in dict.fromkeys((one.system, one.task) for one in scores):
        ranks = [one.rank for one in scores if (one.system, one.task) == (system, task)]
        figures.setdefault(system, {})[task] = {
            "number": len(ranks),
            "first": mean(rank == 1 for rank in ranks),
            "hit": mean(rank is not None for rank in ranks),
            "mrr": mean(1 / rank if rank else 0.0 for rank in ranks),
        }
    return figures


def format_table(figures: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return a table with one line per system and task."""
    lines = [f"{'system':8} {'task':8} {'number':>6} {'hit@1':>6} {'hit':>6} {'MRR':>6}"]
    for system, tasks in figures.items():
        lines += [
            f"{system:8} {task:8} {one['number']:6} {one['first']:6.2f} {one['hit']:6.2f}"
            f" {one['mrr']:6.3f}"
            for task, one in tasks.items()
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
