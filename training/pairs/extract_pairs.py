"""Extract training pairs from packages and histories, in several processes."""

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
from training.corpus.reserved_repos import ReservedRepositories, Shingles
from training.corpus.sampling import Project, Sampler
from training.corpus.source_chunks import SourceChunk, split_file
from training.pairs.code_pairs import code_pairs, find_definitions
from training.pairs.history_pairs import history_pairs
from training.pairs.prose_pairs import prose_pairs
from training.pairs.subword_counts import PairWriter, load_pairs, merge_pairs, save_pairs
from training.pairs.text_pair import TextPair

# Maximum number of pairs of each kind per project, so that neither large projects nor frequent
# kinds dominate.
KIND_LIMITS: Final = {
    "doc": 3_000, "bare": 2_000, "name": 1_500, "path": 300, "scope": 300, "message": 800,
    "test": 600, "tested": 400, "mention": 1_500, "gist": 800, "heading": 800, "sentence": 1_200,
    "fence": 400, "commit": 8_000, "body": 1_500,
}  # fmt: skip
SAMPLE_SHARE: Final = 0.002  # share of the pairs that are written as text for inspection

LanguagePair = tuple[TextPair, str]  # a pair, and the language of its answer

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Shard:
    """The projects and output folder of one process, and the reserved names and shingles."""

    projects: Sequence[Project]
    reserved_names: Sequence[str]
    reserved_shingles: Shingles
    out: Path
    seed: int


def extract_pairs(shards: Sequence[Shard], out: Path) -> None:
    """Extract every shard, and write the merged pairs to `out`."""
    if len(shards) == 1:
        extract_shard(shards[0])
    else:
        with ProcessPoolExecutor(len(shards)) as pool:
            list(pool.map(extract_shard, shards))
    save_pairs(merge_pairs([load_pairs(shard.out) for shard in shards]), out)


def extract_shard(shard: Shard) -> None:
    """Write the pairs of a shard, a record per project, and samples as text."""
    reserved = ReservedRepositories(shard.reserved_names, shard.reserved_shingles)
    sampler, writer = Sampler(reserved), PairWriter()
    shard.out.mkdir(parents=True, exist_ok=True)
    with (
        (shard.out / "projects.jsonl").open("w", encoding="utf-8") as records,
        (shard.out / "samples.jsonl").open("w", encoding="utf-8") as samples,
    ):
        for project in shard.projects:
            rng = random.Random(shard.seed + project.seed)
            before, sizes = len(writer), Counter[str]()
            writer.start_project(project.name)
            for pair, language in limit_kinds(_project_pairs(project, sampler, sizes, rng), rng):
                writer.add(pair, language)
                if rng.random() < SAMPLE_SHARE:
                    sample = [pair.kind, language, pair.query, pair.answer]
                    samples.write(json.dumps(sample) + "\n")
            count = len(writer) - before
            record = {"name": project.name, "pairs": count, "bytes": sizes}
            records.write(json.dumps(record) + "\n")
            records.flush()
            _log.info("%s: %d pairs, %d in total", project.name, count, len(writer))
    (shard.out / "dropped.json").write_text(json.dumps(sampler.dropped))
    save_pairs(writer.finish(), shard.out)


def _project_pairs(
    project: Project, sampler: Sampler, sizes: Counter[str], rng: random.Random
) -> Iterator[LanguagePair]:
    chunks: list[SourceChunk] = []
    for file in sampler.read_files(project):
        sizes[file.language] += len(file.text)
        chunks += split_file(file.path, file.language, file.text, len(chunks))
    definitions = find_definitions([one for one in chunks if one.language not in PROSE])
    for chunk in chunks:
        make_pairs = prose_pairs if chunk.language in PROSE else code_pairs
        for pair in make_pairs(chunk, rng, definitions):
            # A mention is answered by another chunk, perhaps in another language.
            yield pair, chunks[pair.answer_id].language
    if project.is_history:
        for pair in history_pairs(project.folder / ".git", sampler.reserved, rng):
            yield pair, "history"


def limit_kinds(pairs: Iterator[LanguagePair], rng: random.Random) -> Iterator[LanguagePair]:
    """Yield the pairs, grouped by kind, without duplicates; kinds above their limit are sampled."""
    by_kind: dict[str, list[LanguagePair]] = defaultdict(list)
    known: set[tuple[str, int]] = set()
    for pair, language in pairs:
        key = (pair.query.lower(), pair.answer_id)
        if key not in known:
            known.add(key)
            by_kind[pair.kind].append((pair, language))
    for kind, found in by_kind.items():
        limit = KIND_LIMITS[kind]
        yield from found if len(found) <= limit else rng.sample(found, limit)
