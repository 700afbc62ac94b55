"""Generate small repositories and questions with known answers, to train the ranker.

    python -m training.questions.generate_questions PACKAGES... --clones DIR --reserved DIR...
        --leave-out repos.json --out DIR

The command reads the projects that `projects.tsv` names. PACKAGES are folders with one unpacked
package per subfolder; `--clones` holds clones. `--reserved` folders are repositories whose text
must not be used, not even from copies; `--leave-out` lists more repositories that must not be read.
The command writes `OUT/<project>/repo`, `OUT/<project>/questions.jsonl` and `OUT/projects.jsonl`.
Existing projects are kept.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from benchmarks.common.arguments import CLONE_FOLDER, JOBS, OUT, PACKAGES, command_parser
from benchmarks.common.labels import HARD_SHARE, word_overlap

from rootle.syntax.grammars import GRAMMARS
from rootle.text.languages import UNKNOWN, file_language
from training.arguments import RESERVED
from training.corpus.reserved_repos import (
    ReservedRepositories,
    Shingles,
    read_names,
    repository_shingles,
    repository_texts,
)
from training.corpus.sampling import Project, archive_root, find_projects
from training.questions.chunk_questions import CodeQuestion, LineSpan
from training.questions.repository_questions import make_questions

MIN_FILES: Final = 25
MAX_FILES: Final = 1_700
MIN_QUESTIONS: Final = 12
OPTIONAL_PACKAGES: Final = PACKAGES.with_settings(nargs="*")

_THIRD_PARTY: Final = re.compile(
    r"(?:^|/)(?:node_modules|vendor|third_party|third-party|debian|\.git|\.pc|__pycache__)/"
)
_log = logging.getLogger("training")


@dataclass(frozen=True, slots=True)
class SelectedProject:
    """A listed project with the folders that form the repository (if empty, all folders)."""

    project: Project
    folders: tuple[str, ...]

    @property
    def name(self) -> str:
        return re.sub(r"[^\w.+-]", "-", "-".join((self.project.name, *self.folders[:1])))


def main() -> None:
    args = parse_arguments()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    args.out.mkdir(parents=True, exist_ok=True)
    shingles = cached_shingles(args.reserved, args.out / "reserved.npy")
    make = partial(make_repository, out=args.out, shingles=shingles)
    with ProcessPoolExecutor(args.jobs) as pool:
        records = [record for record in pool.map(make, select_projects(args)) if record]
    listing = "".join(f"{json.dumps(record)}\n" for record in records)
    (args.out / "projects.jsonl").write_text(listing)
    kinds = sum((Counter(record["kinds"]) for record in records), Counter[str]())
    _log.info("%d projects, %d questions: %s", len(records), kinds.total(), dict(kinds))


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, OPTIONAL_PACKAGES, CLONE_FOLDER, RESERVED, OUT, JOBS)
    parser.add_argument(
        "--projects", type=Path, default=Path(__file__).with_name("projects.tsv"), metavar="FILE",
        help="list of projects (default: projects.tsv)",
    )  # fmt: skip
    parser.add_argument(
        "--leave-out", type=Path, nargs="*", default=[], metavar="FILE",
        help="lists of repositories that must not be read",
    )  # fmt: skip
    return parser.parse_args()


def select_projects(args: argparse.Namespace) -> list[SelectedProject]:
    """Return the listed projects that are available. Raise ValueError if one is reserved."""
    found = {one.name: one for one in find_projects(args.packages, None)}
    if args.clones is not None:
        for folder in args.clones.iterdir():
            name = f"github/{folder.name}"
            found[name] = Project(name, folder, is_history=True)
    names = set(read_names())
    for path in args.leave_out:
        names |= {record["name"].lower() for record in json.loads(path.read_text())}
    reserved = ReservedRepositories(names, np.zeros(0, np.uint64))
    selected = []
    for line in args.projects.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, *folders = line.split()
        project = found.get(name)
        if project is None:
            _log.warning("%s: not available", name)
        elif reserved.has_name(name.replace("+", "/")):
            raise ValueError(f"{name} is reserved: remove it from {args.projects}")
        else:
            selected.append(SelectedProject(project, tuple(folders)))
    return selected


def make_repository(
    selected: SelectedProject, out: Path, shingles: Shingles
) -> dict[str, Any] | None:
    """Write a repository and its questions; return its record, or None if it is unsuitable."""
    folder = out / selected.name
    if (folder / "project.json").exists():
        existing: dict[str, Any] = json.loads((folder / "project.json").read_text())
        return existing
    reserved = ReservedRepositories(read_names(), shingles)
    texts = dict(read_texts(selected, reserved))
    files = [path for path in texts if file_language(path) in GRAMMARS]
    if not MIN_FILES <= len(files) <= MAX_FILES:
        _log.warning("%s: %d source files, skipped", selected.name, len(files))
        return None
    questions, texts = make_questions(texts, random.Random(selected.project.seed))
    if len(questions) < MIN_QUESTIONS:
        _log.warning("%s: %d questions, skipped", selected.name, len(questions))
        return None
    write_repository(folder, texts, questions)
    languages: Counter[str] = Counter()
    for path in files:
        languages[file_language(path)] += len(texts[path])
    kinds = Counter(one.kind for one in questions)
    counts = len(texts), len(questions), dict(kinds)
    _log.info("%s: %d files, %d questions %s", selected.name, *counts)
    record = {
        "name": selected.name, "source": selected.project.name, "folders": selected.folders,
        "language": languages.most_common(1)[0][0], "files": len(files), "kinds": kinds,
    }  # fmt: skip
    (folder / "project.json").write_text(json.dumps(record))
    return record


def read_texts(
    selected: SelectedProject, reserved: ReservedRepositories
) -> Iterator[tuple[str, str]]:
    """Yield path and text of each usable file of a project."""
    project = selected.project
    folder = project.folder if project.is_history else archive_root(project.folder)
    for native_path, text in repository_texts(folder, lambda name: file_language(name) != UNKNOWN):
        path = native_path.replace("\\", "/")
        if selected.folders and not path.startswith(tuple(f"{one}/" for one in selected.folders)):
            continue
        if _THIRD_PARTY.search(path) or "\0" in text or reserved.has_name(path):
            continue
        if text and not reserved.has_text(text):
            yield path, text


def write_repository(
    folder: Path, texts: Mapping[str, str], questions: Iterable[CodeQuestion]
) -> None:
    """Write the texts to `repo`, and one question per line to `questions.jsonl`."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in texts.items():
        full_path = folder / "repo" / path
        full_path.parent.mkdir(parents=True, exist_ok=True)
        full_path.write_text(text, encoding="utf-8", errors="replace", newline="")
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as file:
        for one in questions:
            hard = all(
                word_overlap(one.query, _span_text(texts, span)) <= HARD_SHARE
                for span in one.targets
            )
            record = {"query": one.query, "kind": one.kind, "hard": hard, "targets": one.targets}
            file.write(json.dumps(record) + "\n")


def _span_text(texts: Mapping[str, str], span: LineSpan) -> str:
    path, first, last = span
    return "\n".join(texts[path].split("\n")[first - 1 : last])


def cached_shingles(folders: Sequence[Path], path: Path) -> Shingles:
    """Return the shingles of reserved repositories, cached in a file."""
    if not path.exists():
        np.save(path, repository_shingles(folders))
    shingles: Shingles = np.load(path)
    return shingles


if __name__ == "__main__":
    main()
