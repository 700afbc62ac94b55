"""Search quality on questions about large repositories, in the words of people and of agents.

    python -m benchmarks.quality.large_repositories REPOS [--split tune|test] [--only jest]
        [--voice user|agent] [--lines 3] [--indexes DIR] [--list] [--json FILE]

REPOS holds one checkout, made by `clone_repos benchmarks/labels/large REPOS`, for each entry of
`labels/large/repositories.json`. Each answerable question is asked in the words of a person and as
the query in `labels/large/agent_queries.jsonl`, which a language model sent after it read only the
question and the name of the repository. The figures are shares of the questions:

    file    the first result is a file with an answer
    lines   the first 60 lines of the first result overlap an answer
    any     the first 60 lines of one of the first ten results do
    tool    the reply of `vectordb_search` prints `--lines` lines of an answer (all of them if it
            has fewer), or a labeled row in a list of the uses of a name

`--list` prints one line per question. Unanswerable questions do not affect these figures.
"recognized" is the share of the unanswerable questions that is answered without confidence, and
"refused" is the same share of the answerable questions.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.common.arguments import (
    INDEXES,
    JSON,
    LINES,
    LIST,
    ONLY,
    REPOS,
    SPLIT,
    command_parser,
)
from benchmarks.common.labels import (
    LARGE_LABELS,
    Label,
    LabeledRepository,
    is_hard,
    labeled_repositories,
)
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import index_folder, indexed_app, timed_search
from benchmarks.common.statistics import mean
from benchmarks.quality.agent_queries import USER, VOICE, Queries, read_queries, recorded_questions
from benchmarks.quality.answer_reading import chars_until_in_view
from benchmarks.quality.label_scores import score_answer
from rootle import App
from rootle.tools import create_tools

LARGE_QUERIES: Final = LARGE_LABELS / "agent_queries.jsonl"
AGENT: Final = "agent"


@dataclass(frozen=True)
class LargeScore:
    """One question in the words of a person or an agent, and whether its answer was shown."""

    repository: str
    voice: str
    label: Label
    query: str
    is_hard: bool
    file_first: bool
    lines_first: bool
    lines_any: bool
    in_tool: bool
    is_confident: bool
    first_path: str


def main() -> None:
    shared = (REPOS, SPLIT, ONLY, INDEXES, JSON)
    parser = command_parser(__doc__, *shared, VOICE, LINES, LIST)
    args = parser.parse_args()
    recorded = read_queries(LARGE_QUERIES)
    voices: dict[str, Queries | None] = {USER: None, AGENT: recorded}
    scores: list[LargeScore] = []
    with index_folder(args.indexes) as indexes:
        for repository in labeled_repositories(args.repos, args.split, args.only, LARGE_LABELS):
            with indexed_app(repository.root, indexes / repository.name) as app:
                for voice in [args.voice] if args.voice else voices:
                    asked = recorded_questions(repository, voices[voice])
                    scores += score_voice(app, repository, voice, asked, args.lines)
            print(f"{repository.name} done", file=sys.stderr, flush=True)
    if args.list:
        for one in scores:
            print(format_score(one))
    figures = summarize_groups(scores)
    print(HEADINGS)
    for name, row in figures.items():
        print(format_figures(name, row))
    write_json(args.json, figures)


def score_voice(
    app: App,
    repository: LabeledRepository,
    voice: str,
    asked: Iterable[tuple[Label, str]],
    lines: int,
) -> Iterator[LargeScore]:
    """Yield the scores of one repository's questions, in the words of a person or an agent."""
    tool = create_tools(app)[0]
    for label, query in asked:
        answer, response = timed_search(app, query)
        score = score_answer(repository.root, label, answer)
        read = chars_until_in_view(tool(query), repository.root, label.spans(), lines)
        yield LargeScore(
            repository.name,
            voice,
            label,
            query,
            is_hard(label, repository.root),
            1 in score.file_ranks,
            1 in score.span_ranks,
            bool(score.span_ranks),
            read < math.inf,
            bool(response.results) and response.confident is not False,
            answer.hits[0].path if answer.hits else "",
        )


def summarize_groups(scores: Sequence[LargeScore]) -> dict[str, dict[str, float]]:
    """Return the figures by voice, and for each voice by repository, difficulty and kind."""
    figures = {}
    for voice in dict.fromkeys(one.voice for one in scores):
        own = [one for one in scores if one.voice == voice]
        groups = {"": own}
        groups |= _group(own, [one.repository for one in own])
        groups |= _group(own, ["hard" if one.is_hard else "plain" for one in own])
        groups |= _group(own, [one.label.kind for one in own])
        for name, group in groups.items():
            if any(one.label.targets for one in group):
                figures[f"{voice} {name}".strip()] = summarize_scores(group)
    return figures


def _group(scores: Sequence[LargeScore], names: Sequence[str]) -> dict[str, list[LargeScore]]:
    groups: dict[str, list[LargeScore]] = {name: [] for name in sorted(set(names))}
    for name, one in zip(names, scores, strict=True):
        groups[name].append(one)
    return groups


def summarize_scores(scores: Sequence[LargeScore]) -> dict[str, float]:
    """Return the figures of a group of scored questions."""
    answerable = [one for one in scores if one.label.targets]
    return {
        "questions": len(answerable),
        "file": mean(one.file_first for one in answerable),
        "lines": mean(one.lines_first for one in answerable),
        "any": mean(one.lines_any for one in answerable),
        "tool": mean(one.in_tool for one in answerable),
        "refused": mean(not one.is_confident for one in answerable),
        "recognized": mean(not one.is_confident for one in scores if not one.label.targets),
    }


HEADINGS: Final = f"{'':24}questions   file  lines    any   tool  refused recognized"


def format_figures(name: str, row: dict[str, float]) -> str:
    """Return one line of the table."""
    return (
        f"{name:24}     {row['questions']:4.0f}  {row['file']:.3f}  {row['lines']:.3f}  "
        f"{row['any']:.3f}  {row['tool']:.3f}    {row['refused']:.3f}      {row['recognized']:.3f}"
    )


def format_score(one: LargeScore) -> str:
    """Return one line about one question, with its query and the first result."""
    marks = zip("FLAT", (one.file_first, one.lines_first, one.lines_any, one.in_tool), strict=True)
    found = "".join(mark if is_found else "." for mark, is_found in marks)
    place = f"{one.repository} {one.voice} {one.label.kind}"
    return f"{found} {place:28} {one.query[:90]!r} {one.first_path}"


if __name__ == "__main__":
    main()
