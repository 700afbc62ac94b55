"""Packages and histories into bags of pairs, in a few processes side by side."""

from __future__ import annotations

import json
import logging
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.text.languages import PROSE
from training.corpus.chunks import Place, cut_file
from training.corpus.reserved_repos import Reserved, Shingles
from training.corpus.sampling import Project, Sampler
from training.pairs.code_pairs import code_pairs, find_definitions
from training.pairs.history_pairs import history_pairs
from training.pairs.prose_pairs import prose_pairs
from training.pairs.subword_counts import BagWriter, load_mined, merge_mined, save_mined
from training.pairs.training_pair import Pair

# Pairs of one kind out of one project, so that neither a large project nor a cheap kind drowns
# the others.
KIND_LIMITS: Final = {
    "doc": 3_000, "bare": 2_000, "name": 1_500, "path": 300, "scope": 300, "message": 800,
    "test": 600, "tested": 400, "mention": 1_500, "gist": 800, "heading": 800, "sentence": 1_200,
    "fence": 400, "commit": 8_000, "body": 1_500,
}  # fmt: skip

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Shard:
    """What one process mines."""

    projects: Sequence[Project]
    names: Sequence[str]
    known: Shingles
    out: Path
    seed: int


def mine(shards: Sequence[Shard], out: Path) -> None:
    """Mine every shard, and write them merged to `out`."""
    if len(shards) == 1:
        mine_shard(shards[0])
    else:
        with ProcessPoolExecutor(len(shards)) as pool:
            list(pool.map(mine_shard, shards))
    merged = merge_mined([load_mined(shard.out) for shard in shards])
    save_mined(merged, out)


def mine_shard(shard: Shard) -> None:
    """All pairs of a shard's projects; also what was read of each, and samples to look at."""
    reserved = Reserved(shard.names, shard.known)
    sampler, writer = Sampler(reserved), BagWriter()
    shard.out.mkdir(parents=True, exist_ok=True)
    with (
        (shard.out / "projects.jsonl").open("w", encoding="utf-8") as read,
        (shard.out / "samples.jsonl").open("w", encoding="utf-8") as samples,
    ):
        for project in shard.projects:
            rng = random.Random(shard.seed + project.number)
            before, size = len(writer), Counter[str]()
            writer.open_project(project.name)
            for pair, language in _limited(_project_pairs(project, sampler, size, rng), rng):
                writer.add(pair, language)
                if rng.random() < 0.002:
                    said = [pair.kind, language, pair.question, pair.answer]
                    samples.write(json.dumps(said) + "\n")
            entry = {"name": project.name, "pairs": len(writer) - before, "bytes": size}
            read.write(json.dumps(entry) + "\n")
            read.flush()
            _log.info("%s: %d pairs, %d in all", project.name, len(writer) - before, len(writer))
    (shard.out / "dropped.json").write_text(json.dumps(sampler.dropped))
    save_mined(writer.finish(), shard.out)


def _project_pairs(
    project: Project, sampler: Sampler, size: Counter[str], rng: random.Random
) -> Iterator[tuple[Pair, str]]:
    places: list[Place] = []
    for file in sampler.files(project):
        size[file.language] += len(file.text)
        places += cut_file(file.path, file.language, file.text, len(places))
    definitions = find_definitions([place for place in places if place.language not in PROSE])
    for place in places:
        pairs = prose_pairs if place.language in PROSE else code_pairs
        for pair in pairs(place, rng, definitions):
            # A mention is about another place, and counts for that one's language.
            home = places[pair.place]
            yield pair, home.language
    if project.is_history:
        for pair in history_pairs(project.folder / ".git", sampler.reserved, rng):
            yield pair, "history"


def _limited(pairs: Iterator[tuple[Pair, str]], rng: random.Random) -> Iterator[tuple[Pair, str]]:
    by_kind: dict[str, list[tuple[Pair, str]]] = defaultdict(list)
    asked: set[tuple[str, int]] = set()
    for pair, language in pairs:
        key = (pair.question.lower(), pair.place)
        if key not in asked:
            asked.add(key)
            by_kind[pair.kind].append((pair, language))
    for kind, found in by_kind.items():
        limit = KIND_LIMITS[kind]
        yield from found if len(found) <= limit else rng.sample(found, limit)
