"""Compare rootle with systems that can be installed from PyPI and run offline.

    python -m benchmarks.quality.system_comparison LABEL_REPOS --bench BENCH BENCH_REPOS
        --answers DIR --envs DIR --model DIR [--install] [--only rootle|none]
        [--write docs/research/comparison.md]

LABEL_REPOS and BENCH_REPOS are the checkouts that `labelled_questions` and `public_benchmark` use;
both benchmarks are scored as in those commands. `--install` creates an environment for each system
below `--envs`; `--model` is a folder with a static model, for systems that ship without one.

Answers are cached in `--answers`, one file per system and repository. Other systems are asked only
for missing answers; rootle is asked again in every run. `--only rootle` asks no other system, and
`--only none` asks none at all and scores the cached answers, for example after labels were
corrected. The intervals resample repositories, then the questions within each, 2,000 times; those
of the last column resample paired differences. `--write` replaces the tables between the two
markers in a Markdown page.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.adapters import AdapterError, ask_adapter
from benchmarks.common.arguments import PUBLIC_BENCH, REPOS, command_parser
from benchmarks.common.labels import LabeledRepository, labeled_repositories
from benchmarks.common.metrics import ROOTLE, Answer
from benchmarks.common.public_questions import PublicRepository, public_repositories
from benchmarks.common.reports import format_interval
from benchmarks.common.rootle_search import answer_queries, indexed_app
from benchmarks.common.statistics import cluster_interval, mean
from benchmarks.quality import label_scores, public_benchmark
from benchmarks.quality.answer_cache import AnswerCache, QuestionSet
from benchmarks.quality.peer_systems import SYSTEMS

NONE = "none"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"

Clusters = Sequence[Sequence[float]]  # NDCG@10 by repository and question


@dataclass(frozen=True)
class TableRow:
    """One system's row: the scores that sort the table, and the cells before the last column."""

    clusters: Clusters
    cells: tuple[str, ...]


def main() -> None:
    args = parse_arguments()
    labeled = labeled_repositories(args.repos)
    public = public_repositories(*args.bench) if args.bench else []
    cache = AnswerCache(args.answers)
    question_sets = [*map(label_questions, labeled), *map(public_questions, public)]
    if not args.only:
        ask_peers(cache, question_sets, args)
    if args.only != NONE:
        for questions in question_sets:
            cache.store(ROOTLE, questions, ask_rootle(questions))
    text = "\n".join(tables(cache, labeled, public))
    print(text)
    if args.write:
        page = args.write.read_text(encoding="utf-8")
        before, after = page.split(BEGIN)[0], page.split(END)[1]
        args.write.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", encoding="utf-8")


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, REPOS, PUBLIC_BENCH)
    parser.add_argument(
        "--answers", type=Path, required=True, metavar="DIR", help="cache of answers"
    )
    parser.add_argument(
        "--envs", type=Path, default=Path("envs"), metavar="DIR",
        help="environments of the systems (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--model", type=Path, default=Path("model"), metavar="DIR",
        help="static model for systems without one (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--install", action="store_true", help="create missing environments")
    parser.add_argument("--only", choices=[ROOTLE, NONE], help="systems to ask (default: all)")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="page to update")
    return parser.parse_args()


def label_questions(repository: LabeledRepository) -> QuestionSet:
    """Return the answerable questions about a labeled repository."""
    queries = tuple(label.query for label in repository.answerable())
    return QuestionSet("labels", repository.name, repository.root, queries)


def public_questions(repository: PublicRepository) -> QuestionSet:
    """Return the questions about a repository of the public benchmark."""
    return QuestionSet("bench", repository.name, repository.root, tuple(repository.queries))


def ask_peers(
    cache: AnswerCache, question_sets: Iterable[QuestionSet], args: argparse.Namespace
) -> None:
    """Ask every other system the questions that the cache lacks, one repository at a time."""
    if args.install:
        for system in SYSTEMS:
            system.install(args.envs)
    for questions in question_sets:
        for system in SYSTEMS:
            if cache.contains(system.name, questions):
                continue
            command = system.command(args.envs, args.model)
            try:
                answers = ask_adapter(command, questions.root, questions.queries)
            except AdapterError as error:
                print(f"{questions.name}: {system.name}: {error}", file=sys.stderr)
            else:
                cache.store(system.name, questions, answers)
        print(f"{questions.name}: done", file=sys.stderr)


def ask_rootle(questions: QuestionSet) -> list[Answer]:
    """Return rootle's answers from a new index."""
    with (
        tempfile.TemporaryDirectory() as folder,
        indexed_app(questions.root, Path(folder)) as app,
    ):
        return answer_queries(app, questions.queries)


def tables(
    cache: AnswerCache,
    labeled: Sequence[LabeledRepository],
    public: Sequence[PublicRepository],
) -> Iterable[str]:
    """Yield a Markdown table for each set of questions, under its title."""
    for split in ("test", "tune"):
        part = [one for one in labeled if one.split == split]
        if part:
            title = f"**Labels, {split} split** ({len(part)} repositories)"
            yield f"{title}\n\n{label_table(cache, part)}"
    if public:
        title = f"**Public benchmark, development half** ({len(public)} repositories)"
        yield f"{title}\n\n{public_table(cache, public)}"


def complete_systems(cache: AnswerCache, question_sets: Sequence[QuestionSet]) -> list[str]:
    """Return the systems that answered all questions; report the others."""
    complete = []
    for name in (ROOTLE, *(system.name for system in SYSTEMS)):
        missing = [one.name for one in question_sets if not cache.contains(name, one)]
        if missing:
            print(f"{name} is left out: no answers about {', '.join(missing)}", file=sys.stderr)
        else:
            complete.append(name)
    return complete


def label_table(cache: AnswerCache, repositories: Sequence[LabeledRepository]) -> str:
    """Return the table of the labeled questions."""
    rows = {}
    question_sets = [label_questions(one) for one in repositories]
    for system in complete_systems(cache, question_sets):
        scores = {
            one.name: label_scores.score_answers(
                one.root, one.answerable(), cache.load(system, questions)
            )
            for one, questions in zip(repositories, question_sets, strict=True)
        }
        figures = label_scores.summarize(scores)
        by_span = [
            [one.span_ndcg for one in repository_scores] for repository_scores in scores.values()
        ]
        by_file = [
            [one.file_ndcg for one in repository_scores] for repository_scores in scores.values()
        ]
        cells = (
            format_estimate(figures["span_ndcg"], by_span),
            format_estimate(figures["file_ndcg"], by_file),
            f"{figures['span_hit1']:.2f}",
            f"{figures['span_hit10']:.2f}",
            f"{figures['hard_span_hit10']:.2f}",
        )
        rows[system] = TableRow(by_span, cells)
    heads = ("NDCG@10 by span (95 %)", "by file (95 %)", "hit@1", "hit@10", "hard: hit@10")
    return format_table(heads, rows)


def public_table(cache: AnswerCache, repositories: Sequence[PublicRepository]) -> str:
    """Return the table of the public benchmark."""
    rows = {}
    question_sets = [public_questions(one) for one in repositories]
    for system in complete_systems(cache, question_sets):
        scores = [
            public_benchmark.score_answers(one, cache.load(system, questions))
            for one, questions in zip(repositories, question_sets, strict=True)
        ]
        clusters = [one.scores for one in scores]
        cells = (
            format_estimate(cluster_mean(clusters), clusters),
            f"{mean(one.hit1 for one in scores):.2f}",
            f"{mean(one.hit10 for one in scores):.2f}",
        )
        rows[system] = TableRow(clusters, cells)
    return format_table(("NDCG@10 (95 %)", "hit@1", "hit@10"), rows)


def cluster_mean(clusters: Clusters) -> float:
    """Return the mean over repositories of the means over their questions."""
    return mean(map(mean, clusters))


def format_estimate(value: float, clusters: Clusters) -> str:
    return f"{value:.3f} {format_interval(cluster_interval(clusters))}"


def format_lead(rootle: Clusters, other: Clusters) -> str:
    """Return rootle's mean lead over a system, paired by question, with its interval."""
    differences = [
        [score - other_score for score, other_score in zip(*pair, strict=True)]
        for pair in zip(rootle, other, strict=True)
    ]
    interval = format_interval(cluster_interval(differences), "+.3f", " to ")
    return f"{cluster_mean(differences):+.3f} {interval}"


def format_table(heads: Sequence[str], rows: Mapping[str, TableRow]) -> str:
    """Return a Markdown table, the best system first."""
    descriptions = {system.name: system.description for system in SYSTEMS}
    lines = [f"| system | {' | '.join(heads)} | rootle is ahead by |"]
    lines.append("| --- " * (len(heads) + 2) + "|")
    for name, row in sorted(rows.items(), key=lambda one: -cluster_mean(one[1].clusters)):
        if name == ROOTLE:
            label, lead = f"**{name}**", ""
        else:
            label = f"{name} ({descriptions[name]})"
            lead = format_lead(rows[ROOTLE].clusters, row.clusters)
        lines.append(f"| {label} | {' | '.join(row.cells)} | {lead} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
