"""Small repositories with questions whose answers are known, for the ranker to learn from.

    python -m training.questions.generate_questions PACKAGES... --clones DIR --reserved DIR...
        --leave-out repos.json --out DIR

Reads the projects that `questions/projects.tsv` names. PACKAGES are folders with one unpacked package
in each of their folders; `--clones` holds clones. `--reserved` folders are repositories of which no
copy may be read, `--leave-out` lists more that are not to be read themselves. Writes
`OUT/<project>/repo`, `OUT/<project>/questions.jsonl` and `OUT/projects.jsonl`.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from benchmarks.common.labels import HARD_SHARE, word_overlap

from rootle.ingest.chunking.grammars import GRAMMARS
from rootle.text.languages import UNKNOWN, language_of
from training.corpus.reserved_repos import (
    NAMES,
    Reserved,
    Shingles,
    read_names,
    repository_texts,
    shingles_of_repositories,
)
from training.corpus.sampling import Project, find_projects, root_of
from training.questions.chunk_questions import Asked, Span
from training.questions.repository_questions import ask

MIN_FILES: Final = 25
MAX_FILES: Final = 1_700
MIN_QUESTIONS: Final = 12

_FOREIGN: Final = re.compile(
    r"(?:^|/)(?:node_modules|vendor|third_party|third-party|debian|\.git|\.pc|__pycache__)/"
)
_HERE: Final = Path(__file__).parent
_log = logging.getLogger("training")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A project of the list and the folders of it that make the repository; none: all."""

    project: Project
    folders: tuple[str, ...]

    @property
    def name(self) -> str:
        return re.sub(r"[^\w.+-]", "-", "-".join((self.project.name, *self.folders[:1])))


def main() -> None:
    args = parse_arguments()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    args.out.mkdir(parents=True, exist_ok=True)
    known = _known_shingles(args.reserved, args.out / "reserved.npy")
    chosen = choose_projects(args)
    make = partial(make_repository, out=args.out, known=known)
    with ProcessPoolExecutor(args.jobs) as pool:
        made = [entry for entry in pool.map(make, chosen) if entry]
    listing = "".join(f"{json.dumps(entry)}\n" for entry in made)
    (args.out / "projects.jsonl").write_text(listing)
    kinds = sum((Counter(entry["kinds"]) for entry in made), Counter())
    _log.info("%d projects, %d questions: %s", len(made), kinds.total(), dict(kinds))


def choose_projects(args: argparse.Namespace) -> list[Chosen]:
    """The projects of the list that are at hand; one that must not be read is an error."""
    found = {one.name: one for one in find_projects(args.packages, None)}
    if args.clones is not None:
        for folder in args.clones.iterdir():
            found[f"github/{folder.name}"] = Project(f"github/{folder.name}", folder, True)
    names = set(read_names(NAMES))
    for path in args.leave_out:
        names |= {entry["name"].lower() for entry in json.loads(path.read_text())}
    reserved = Reserved(names, np.zeros(0, np.uint64))
    chosen = []
    for line in args.projects.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, *folders = line.split()
        project = found.get(name)
        if project is None:
            _log.warning("%s: not at hand", name)
        elif reserved.has_name(name.replace("+", "/")):
            raise ValueError(f"{name} is reserved: take it out of {args.projects}")
        else:
            chosen.append(Chosen(project, tuple(folders)))
    return chosen


def make_repository(chosen: Chosen, out: Path, known: Shingles) -> dict | None:
    """Write one repository and its questions; what the listing says of it, None if unfit.

    One that is there already, with its `project.json`, is not made again.
    """
    folder = out / chosen.name
    if (folder / "project.json").exists():
        made: dict = json.loads((folder / "project.json").read_text())
        return made
    reserved = Reserved(read_names(NAMES), known)
    texts = dict(read_texts(chosen, reserved))
    files = [path for path in texts if language_of(path) in GRAMMARS]
    if not MIN_FILES <= len(files) <= MAX_FILES:
        _log.warning("%s: %d source files, left out", chosen.name, len(files))
        return None
    asked, texts = ask(texts, random.Random(chosen.project.number))
    if len(asked) < MIN_QUESTIONS:
        _log.warning("%s: %d questions, left out", chosen.name, len(asked))
        return None
    write_repository(folder, texts, asked)
    size = Counter({path: len(texts[path]) for path in files})
    languages: Counter[str] = Counter()
    for path, count in size.items():
        languages[language_of(path)] += count
    kinds = Counter(one.kind for one in asked)
    _log.info("%s: %d files, %d questions %s", chosen.name, len(texts), len(asked), dict(kinds))
    entry = {
        "name": chosen.name, "source": chosen.project.name, "folders": chosen.folders,
        "language": languages.most_common(1)[0][0], "files": len(files), "kinds": kinds,
    }  # fmt: skip
    (folder / "project.json").write_text(json.dumps(entry))
    return entry


def read_texts(chosen: Chosen, reserved: Reserved) -> Iterator[tuple[str, str]]:
    """Path and text of all that is kept of a project."""
    folder = chosen.project.folder
    folder = folder if chosen.project.is_history else root_of(folder)
    for path, text in repository_texts(folder, lambda name: language_of(name) != UNKNOWN):
        path = path.replace("\\", "/")
        if chosen.folders and not path.startswith(tuple(f"{one}/" for one in chosen.folders)):
            continue
        if _FOREIGN.search(path) or "\0" in text or reserved.has_name(path):
            continue
        if text and not reserved.has_text(text):
            yield path, text


def write_repository(folder: Path, texts: dict[str, str], asked: Iterable[Asked]) -> None:
    """The texts below `repo`, the questions one a line beside it."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in texts.items():
        full = folder / "repo" / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text, encoding="utf-8", errors="replace", newline="")
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as out:
        for one in asked:
            hard = all(
                word_overlap(one.query, _span_text(texts, span)) <= HARD_SHARE
                for span in one.targets
            )
            record = {"query": one.query, "kind": one.kind, "hard": hard, "targets": one.targets}
            out.write(json.dumps(record) + "\n")


def _span_text(texts: dict[str, str], span: Span) -> str:
    path, first, last = span
    return "\n".join(texts[path].split("\n")[first - 1 : last])


def _known_shingles(folders: Sequence[Path], kept: Path) -> Shingles:
    if not kept.exists():
        np.save(kept, shingles_of_repositories(folders))
    known: Shingles = np.load(kept)
    return known


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("packages", type=Path, nargs="*")
    parser.add_argument("--projects", type=Path, default=_HERE / "projects.tsv")
    parser.add_argument("--clones", type=Path)
    parser.add_argument("--reserved", type=Path, nargs="*", default=[])
    parser.add_argument("--leave-out", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    main()
