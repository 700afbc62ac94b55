"""From unpacked packages to the weights of the shipped embedding, in one command.

    python -m training.embedding.train_embedding PACKAGES... --histories DIR --reserved DIR... --out DIR

PACKAGES are folders with one unpacked package in each of their folders. `--histories` holds clones
with history. Each `--reserved` folder is a repository that must not be trained on. See
`training/README.md` for the steps.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.corpus.reserved_repos import NAMES, Shingles, read_names, shingles_of_repositories
from training.corpus.sampling import Project, find_projects
from training.embedding.batches import BatchMaker, BatchSettings, choose_vocabulary, in_vocabulary
from training.embedding.contrastive import TrainSettings, initial_rows, train
from training.embedding.held_out import HeldOut, held_out_pairs
from training.embedding.merge_tables import join
from training.embedding.weight_files import restored, write_weights
from training.pairs.extract_pairs import Shard, mine
from training.pairs.subword_counts import load_mined, take

# 44,000 rows of 256 bytes, their scales and words stay below twelve megabytes.
VOCABULARY = 44_000
MIN_PROJECTS = 3


@dataclass(frozen=True, slots=True)
class Phase:
    """One run over the pairs, with its own rate and its own batches."""

    training: TrainSettings
    batching: BatchSettings


# The second is short and drops less: words that question and answer share count in full again.
PHASES = (
    Phase(TrainSettings(), BatchSettings()),
    Phase(
        TrainSettings(epochs=1, learning_rate=0.004),
        BatchSettings(run=32, dropout=0.1, shared_share=0.0, per_language=60_000, seed=77),
    ),
)

_log = logging.getLogger("training")


def main() -> None:
    args = parse_arguments()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    mined = args.work / "mined"
    if not (mined / "spread.npy").exists():
        known = shingles_of_repositories(args.reserved)
        _log.info("%d reserved shingles", len(known))
        projects = find_projects(args.packages, args.histories)
        mine(shards_of(projects, known, args), mined)
    learn(mined, args.out, PHASES, args.join)


def learn(
    mined_folder: Path, out: Path, phases: Sequence[Phase], others: Sequence[Path] = ()
) -> None:
    """From mined pairs to weights, joined with other tables."""
    mined = load_mined(mined_folder)
    chosen = choose_vocabulary(mined, VOCABULARY, MIN_PROJECTS)
    bags = in_vocabulary(mined.bags, chosen, len(mined.vocabulary))
    is_held_out = held_out_pairs(mined, bags)
    held_out = HeldOut(take(bags, np.flatnonzero(is_held_out)), len(chosen))
    pairs = take(bags, np.flatnonzero(~is_held_out))
    _log.info("%d pairs, %d words, %d held-out pairs", len(pairs), len(chosen), held_out.pairs)
    rows = initial_rows(mined.spread[chosen], len(mined.project_names), phases[0].training)
    for phase in phases:
        maker = BatchMaker(pairs, phase.batching, len(chosen))
        _log.info("%d batches an epoch", maker.batches_per_epoch)
        rows = train(rows, maker, phase.training, held_out.mrr)
    words = [mined.vocabulary[word] for word in chosen]
    if others:
        _log.info("held-out MRR and recall@10, alone: %.4f %.4f", *held_out.figures(rows))
        rows = join(rows, words, others, pairs)
    for name, table in (("trained", rows), ("quantised", restored(rows))):
        _log.info("held-out MRR and recall@10, %s: %.4f %.4f", name, *held_out.figures(table))
    write_weights(rows, words, out)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("packages", type=Path, nargs="+")
    parser.add_argument("--histories", type=Path)
    parser.add_argument("--reserved", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--join", type=Path, nargs="+", default=[], metavar="TABLE",
                        help="tables to join with: folders or prefixes of files")  # fmt: skip
    parser.add_argument("--work", type=Path, default=Path("build/embedding"))
    parser.add_argument("--jobs", type=int, default=2, help="processes that mine")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def shards_of(projects: list[Project], known: Shingles, args: argparse.Namespace) -> list[Shard]:
    names = read_names(NAMES)
    return [
        Shard(projects[at :: args.jobs], names, known, args.work / f"shard{at}", args.seed)
        for at in range(args.jobs)
    ]


if __name__ == "__main__":
    main()
