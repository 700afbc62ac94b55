"""Measure at which depth the first answer occurs in each of the lists that retrieval produces.

    python -m benchmarks.quality.candidate_lists REPOS [--large] [--split tune|test]
        [--only jest] [--indexes DIR] [--json FILE]

REPOS holds the checkouts of the labeled repositories, or with `--large` those of the large ones.
Only questions written by people are searched, not agents' queries. A list contains chunks,
ordered by BM25 over their text, by cosine similarity, or by BM25 over the names that they define or
over their comments and headings. For each list and depth, the table has the share of the answerable
questions for which one of the first chunks of the list is in a file with an answer ("file"), or
overlaps the answering lines ("lines"). The last row is the union of the lists.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.common.arguments import INDEXES, JSON, LARGE, ONLY, REPOS, SPLIT, command_parser
from benchmarks.common.internals import index_snapshot
from benchmarks.common.labels import LARGE_LABELS, Label, labeled_repositories
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import index_folder, indexed_app
from benchmarks.common.statistics import mean
from rootle import App
from rootle.embed.static import StaticEmbedder
from rootle.index.local.snapshot import Snapshot
from rootle.protocols import Ids
from rootle.rank.question.parsed import parse_question

DEPTHS: Final = (10, 50, 200, 1000)
UNION: Final = "any list"


@dataclass(frozen=True)
class FirstAnswer:
    """The number of chunks of a list before the first one with an answer; infinite if none has."""

    file: float
    lines: float


FirstAnswers = Mapping[str, FirstAnswer]  # keyed by the name of the list


def main() -> None:
    args = command_parser(__doc__, REPOS, LARGE, SPLIT, ONLY, INDEXES, JSON).parse_args()
    labels = LARGE_LABELS if args.large else None
    found: list[FirstAnswers] = []
    with index_folder(args.indexes) as indexes:
        for repository in labeled_repositories(args.repos, args.split, args.only, labels):
            with indexed_app(repository.root, indexes / repository.name) as app:
                found += search_lists(app, repository.answerable())
    report = summarize_lists(found)
    print(f"{len(found)} questions")
    for name, row in report.items():
        shares = (
            f"{depth}: {row[f'file {depth}']:.3f} {row[f'lines {depth}']:.3f}" for depth in DEPTHS
        )
        print(f"{name:10}", "  ".join(shares))
    write_json(args.json, report)


def search_lists(app: App, labels: Sequence[Label]) -> list[FirstAnswers]:
    """Return the first answers to each question in all lists."""
    index, embedder = index_snapshot(app), StaticEmbedder()
    found: list[FirstAnswers] = []
    for label in labels:
        question = parse_question(label.query, index.sparse.stems)
        content, depth = question.content_terms, max(DEPTHS)
        fields = index.sparse.field_scores
        lists = {
            "text": index.sparse.query(question.terms, depth).ids,
            "cosine": index.dense.nearest(embedder.embed([question.text])[0], depth).hits.ids,
            "names": fields("chunks", ("symbols",), content, depth).ids,
            "comments": fields("chunks", ("comments", "headings"), content, depth).ids,
        }
        answers = {name: find_first(index, ids, label) for name, ids in lists.items()}
        files = min(one.file for one in answers.values())
        lines = min(one.lines for one in answers.values())
        found.append({**answers, UNION: FirstAnswer(files, lines)})
    return found


def find_first(index: Snapshot, chunk_ids: Ids, label: Label) -> FirstAnswer:
    """Return where a list of chunks has the first answer."""
    wanted = {span.path for span in label.spans()}
    rows = index.chunks(chunk_ids.tolist())
    paths = {
        at: state.path for at, state in index.files({row.file_id for row in rows.values()}).items()
    }
    in_file = in_lines = math.inf
    for place, chunk_id in enumerate(chunk_ids.tolist()):
        row = rows[chunk_id]
        path = paths[row.file_id]
        if path not in wanted:
            continue
        in_file = min(in_file, place)
        if any(
            span.path == path
            and span.start_line <= row.end_line
            and row.start_line <= span.end_line
            for span in label.spans()
        ):
            in_lines = place
            break
    return FirstAnswer(in_file, in_lines)


def summarize_lists(found: Sequence[FirstAnswers]) -> dict[str, dict[str, float]]:
    """Return, for each list, the share of questions that have an answer within each depth."""
    return {
        name: {
            f"{part} {depth}": mean(getattr(one[name], part) < depth for one in found)
            for part in ("file", "lines")
            for depth in DEPTHS
        }
        for name in found[0]
    }


if __name__ == "__main__":
    main()
