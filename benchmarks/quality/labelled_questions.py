"""Search quality on our own labelled set: the right lines, hard questions, and honesty.

    python -m benchmarks.quality.labelled_questions REPOS [--split tune|test] [--only scrapy] [--indexes DIR]
        [--json FILE] [--adapter NAME=COMMAND]...

REPOS holds one checkout for each entry of `labels/repositories.json`; `quality/clone_repos.py` makes them. Of a
result the first 60 lines count: its span, then its `moreSpans`. A target is met by the first of ten
results that overlaps any of its spans; a result counts for one target; the ideal order has every
target at the top. By file, it is enough to be in the file. A question that the repository cannot
answer is recognised where the response is not `confident` or is empty; the same of a question that
has an answer is a refusal. Tokens are what a reader has to go through until the first answer is in
view, four characters each, all ten results where it is not among them. Adapters are those of
`quality/public_benchmark.py`.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.labels import LABELS, Label, Span, is_hard, read_labels
from benchmarks.quality.public_benchmark import (
    OURS,
    TOP_K,
    AdapterError,
    Answer,
    Found,
    adapters_of,
    ask_adapter,
    found,
    ndcg,
)
from rootle import SearchQuery, open_app
from rootle.text.terms import CHARS_PER_TOKEN

SHOWN_LINES = 60
_DRAWS = 2_000  # of the bootstrap


@dataclass(frozen=True)
class Judged:
    """What one system's answer to one question was worth."""

    label: Label
    hard: bool
    by_span: set[int]  # ranks at which targets are met
    by_file: set[int]
    tokens: float
    confident: bool
    score: float  # of the first result, 0 to 1

    def ndcg(self, ranks: set[int]) -> float:
        return ndcg(ranks, len(self.label.targets))


def main() -> None:
    args = parse_arguments()
    listed = json.loads((LABELS / "repositories.json").read_text())
    judged: dict[str, dict[str, list[Judged]]] = {OURS: {}, **{name: {} for name in args.adapters}}
    with tempfile.TemporaryDirectory() as scratch:
        for repo in listed:
            name = repo["name"]
            if args.split not in ("", repo["split"]) or (args.only and name not in args.only):
                continue
            root = args.repos / name
            labels = read_labels(name)
            index_dir = (args.indexes or Path(scratch)) / name
            judged[OURS][name] = judge(root, labels, *ask_rootle(root, labels, index_dir))
            print(row_text(name, OURS, {name: judged[OURS][name]}), flush=True)
            for other, command in args.adapters.items():
                try:
                    answers = ask_adapter(command, root, [{"query": one.query} for one in labels])
                except AdapterError as error:
                    print(f"{name}: {other}: {error}", file=sys.stderr)
                    continue
                judged[other][name] = judge(root, labels, answers)
                print(row_text("", other, {name: judged[other][name]}), flush=True)
    if not judged[OURS]:
        sys.exit("none of these repositories is there")
    for system, of_one in judged.items():
        if of_one:
            print(row_text("all", system, of_one))
    if args.json:
        figures = {system: figures_of(of_one) for system, of_one in judged.items() if of_one}
        args.json.write_text(json.dumps(figures, indent=1) + "\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("repos", type=Path)
    parser.add_argument("--split", default="", choices=["", "tune", "test"])
    parser.add_argument("--only", default="")
    parser.add_argument("--indexes", type=Path, help="keep the indexes here for the next run")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--adapter", action="append", default=[], metavar="NAME=COMMAND")
    args = parser.parse_args()
    args.only = set(filter(None, args.only.split(",")))
    args.adapters = adapters_of(args.adapter, parser, taken=(OURS,))
    return args


def ask_rootle(
    root: Path, labels: Sequence[Label], index_dir: Path
) -> tuple[list[Answer], list[bool], list[float]]:
    """The answers, whether each is confident, and the score of each one's first result."""
    answers, confident, scores = [], [], []
    with open_app(root, index_dir=index_dir) as app:
        app.index()
        for label in labels:
            started = time.perf_counter()
            response = app.search(SearchQuery(label.query, limit=TOP_K))
            ms = (time.perf_counter() - started) * 1000
            answers.append(Answer(tuple(map(found, response.results)), ms))
            confident.append(bool(response.results) and response.confident is not False)
            scores.append(response.results[0].score if response.results else 0.0)
    return answers, confident, scores


def judge(
    root: Path,
    labels: Sequence[Label],
    answers: Sequence[Answer],
    confident: Sequence[bool] | None = None,
    scores: Sequence[float] | None = None,
) -> list[Judged]:
    judged = []
    for at, (label, answer) in enumerate(zip(labels, answers, strict=True)):
        shown = [first_lines(result) for result in answer.results[:TOP_K]]
        by_span = ranks_of(label, shown, overlaps)
        judged.append(
            Judged(
                label,
                is_hard(label, root),
                by_span,
                ranks_of(label, shown, lambda result, span: result.path == span.path),
                tokens_until(root, shown, min(by_span, default=len(shown))),
                confident[at] if confident else True,
                scores[at] if scores else 0.0,
            )
        )
    return judged


def first_lines(result: Found) -> Found:
    """The lines of a result that count."""
    left, spans = SHOWN_LINES, []
    for start, end in result.spans:
        if left > 0:
            spans.append((start, min(end, start + left - 1)))
            left -= end - start + 1
    return Found(result.path, tuple(spans))


def ranks_of(
    label: Label, shown: Sequence[Found], meets: Callable[[Found, Span], bool]
) -> set[int]:
    """The ranks at which targets are met; a result that meets two counts once."""
    ranks = set()
    for target in label.targets:
        met = (
            rank
            for rank, result in enumerate(shown, start=1)
            if rank not in ranks and any(meets(result, span) for span in target)
        )
        ranks.add(next(met, 0))
    return ranks - {0}


def overlaps(result: Found, span: Span) -> bool:
    return result.path == span.path and any(
        start <= span.end_line and span.start_line <= end for start, end in result.spans
    )


def tokens_until(root: Path, shown: Sequence[Found], rank: int) -> float:
    """The tokens of the first `rank` results as a reader gets them: paths and lines."""
    chars = 0
    for result in shown[:rank]:
        try:
            lines = (root / result.path).read_text("utf-8", errors="replace").split("\n")
        except OSError:
            continue
        chars += len(result.path)
        chars += sum(
            len(line) + 1 for start, end in result.spans for line in lines[start - 1 : end]
        )
    return chars / CHARS_PER_TOKEN


def figures_of(of_one: dict[str, list[Judged]]) -> dict:
    """The figures of one system over some repositories."""
    asked = [one for judged in of_one.values() for one in judged if one.label.targets]
    hard = [one for one in asked if one.hard]
    nothing = [one for judged in of_one.values() for one in judged if not one.label.targets]
    by_repo = [
        [one.ndcg(one.by_span) for one in judged if one.label.targets] for judged in of_one.values()
    ]
    return {
        "repositories": len(of_one),
        "questions": len(asked),
        "ndcgBySpan": mean(one.ndcg(one.by_span) for one in asked),
        "ndcgBySpan95": interval(by_repo),
        "ndcgByFile": mean(one.ndcg(one.by_file) for one in asked),
        "hit1BySpan": mean(1 in one.by_span for one in asked),
        "hit10BySpan": mean(bool(one.by_span) for one in asked),
        "hit1ByFile": mean(1 in one.by_file for one in asked),
        "hit10ByFile": mean(bool(one.by_file) for one in asked),
        "hardHit10BySpan": mean(bool(one.by_span) for one in hard),
        "hardHit10ByFile": mean(bool(one.by_file) for one in hard),
        "noAnswerRecognised": mean(not one.confident for one in nothing),
        "answerableRefused": mean(not one.confident for one in asked),
        "medianTokensUntilAnswer": statistics.median(one.tokens for one in asked),
        "kinds": {
            kind: mean(one.ndcg(one.by_span) for one in asked if one.label.kind == kind)
            for kind in sorted({one.label.kind for one in asked})
        },
    }


def mean(values: Iterable[float]) -> float:
    values = list(values)
    return statistics.fmean(values) if values else 0.0


def interval(by_repo: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The 95 % interval of a mean: repositories drawn again, then questions within each."""
    rng = random.Random(1)
    means = []
    for _ in range(_DRAWS):
        drawn = rng.choices(by_repo, k=len(by_repo))
        means.append(mean(mean(rng.choices(one, k=len(one))) for one in drawn if one))
    means.sort()
    return means[int(0.025 * _DRAWS)], means[int(0.975 * _DRAWS)]


def row_text(name: str, system: str, of_one: dict[str, list[Judged]]) -> str:
    f = figures_of(of_one)
    text = (
        f"{name:12} {system:10} NDCG@10 by span {f['ndcgBySpan']:.3f} by file {f['ndcgByFile']:.3f}"
        f"  hit@1 {f['hit1BySpan']:.2f}  hit@10 {f['hit10BySpan']:.2f}/{f['hit10ByFile']:.2f}"
        f"  hard {f['hardHit10BySpan']:.2f}/{f['hardHit10ByFile']:.2f}"
        f"  {f['medianTokensUntilAnswer']:5.0f} tokens"
    )
    if system == OURS:
        text += f"  recognised {f['noAnswerRecognised']:.2f} refused {f['answerableRefused']:.2f}"
    if len(of_one) > 1:
        text += f"  95 % {f['ndcgBySpan95'][0]:.3f}-{f['ndcgBySpan95'][1]:.3f}"
    return text


if __name__ == "__main__":
    main()
