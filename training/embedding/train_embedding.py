"""Train the weights of the shipped embedding from unpacked packages, in one command.

    python -m training.embedding.train_embedding PACKAGES... --histories DIR --reserved DIR...
        --out DIR [--merge TABLE...]

PACKAGES are folders with one unpacked package per subfolder. `--histories` holds clones with
history. Each `--reserved` folder is a repository that must not be trained on. `training/README.md`
describes the steps.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.common.arguments import HISTORIES, JOBS, OUT, PACKAGES, SEED, command_parser

from training.arguments import RESERVED, WORK_DIR
from training.corpus.reserved_repos import Shingles, read_names, repository_shingles
from training.corpus.sampling import Project, find_projects
from training.embedding.batches import (
    BatchSampler,
    BatchSettings,
    choose_vocabulary,
    restrict_vocabulary,
)
from training.embedding.contrastive import TrainSettings, initial_rows, train
from training.embedding.held_out import HeldOutPairs, held_out_mask
from training.embedding.merge_tables import merge_tables
from training.embedding.weight_files import quantized_copy, write_weights
from training.pairs.extract_pairs import Shard, extract_pairs
from training.pairs.subword_counts import has_pairs, load_pairs, select_pairs

# 44,000 rows of 256 bytes with their scales and words take less than twelve megabytes.
VOCABULARY = 44_000
MIN_PROJECTS = 3


@dataclass(frozen=True, slots=True)
class Phase:
    """One training run over the pairs."""

    training: TrainSettings
    batching: BatchSettings


# The first phase often drops the words that a query shares with its answer, so that the model
# learns from the other words. The second phase is short and treats shared words like other words.
PHASES = (
    Phase(TrainSettings(), BatchSettings()),
    Phase(
        TrainSettings(epochs=1, learning_rate=0.004),
        BatchSettings(run=32, dropout=0.1, shared_share=0.0, per_language=60_000, seed=77),
    ),
)

_WORK = WORK_DIR.with_settings(
    required=False, default=Path("build/embedding"),
    help="folder for the extracted pairs (default: %(default)s)",
)  # fmt: skip
_log = logging.getLogger("training")


def main() -> None:
    args = parse_arguments()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    extracted = args.work / "pairs"
    if not has_pairs(extracted):
        shingles = repository_shingles(args.reserved)
        _log.info("%d reserved shingles", len(shingles))
        projects = find_projects(args.packages, args.histories)
        extract_pairs(make_shards(projects, shingles, args), extracted)
    train_table(extracted, args.out, PHASES, args.merge)


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, PACKAGES, HISTORIES, RESERVED, OUT, _WORK, JOBS, SEED)
    parser.add_argument(
        "--merge", type=Path, nargs="+", default=[], metavar="TABLE",
        help="tables to merge with: folders, or common file prefixes",
    )  # fmt: skip
    args = parser.parse_args()
    if not args.reserved:
        parser.error("--reserved: expected at least one repository")
    return args


def make_shards(
    projects: list[Project], shingles: Shingles, args: argparse.Namespace
) -> list[Shard]:
    """Return one shard of the projects for each process."""
    names = read_names()
    return [
        Shard(projects[job :: args.jobs], names, shingles, args.work / f"shard{job}", args.seed)
        for job in range(args.jobs)
    ]


def train_table(
    extracted_folder: Path, out: Path, phases: Sequence[Phase], others: Sequence[Path] = ()
) -> None:
    """Train on extracted pairs, merge with other tables, and write the weights."""
    extracted = load_pairs(extracted_folder)
    chosen = choose_vocabulary(extracted, VOCABULARY, MIN_PROJECTS)
    every = restrict_vocabulary(extracted.counts, chosen, len(extracted.vocabulary))
    mask = held_out_mask(extracted, every)
    held_out = HeldOutPairs(select_pairs(every, np.flatnonzero(mask)), len(chosen))
    pairs = select_pairs(every, np.flatnonzero(~mask))
    _log.info("%d pairs, %d words, %d held-out pairs", len(pairs), len(chosen), held_out.count)
    projects = len(extracted.project_names)
    rows = initial_rows(extracted.project_counts[chosen], projects, phases[0].training)
    for phase in phases:
        sampler = BatchSampler(pairs, phase.batching, len(chosen))
        _log.info("%d batches per epoch", sampler.batches_per_epoch)
        rows = train(rows, sampler, phase.training, held_out.mrr)
    words = [extracted.vocabulary[word] for word in chosen]
    if others:
        _log.info("held-out MRR and recall@10, alone: %.4f %.4f", *held_out.evaluate(rows))
        rows = merge_tables(rows, words, others, pairs)
    for name, table in (("trained", rows), ("quantized", quantized_copy(rows))):
        _log.info("held-out MRR and recall@10, %s: %.4f %.4f", name, *held_out.evaluate(table))
    write_weights(rows, words, out)


if __name__ == "__main__":
    main()
