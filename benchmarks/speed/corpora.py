"""Build the corpora of the speed benchmarks from source trees on this machine.

    python -m benchmarks.speed.corpora OUT TREE... [--only small,c100,c1000] [--small TREE]
        [--scale X]

Each TREE is a folder of source code (unpacked packages, checkouts). OUT gets one folder with one
git commit per corpus: `small`, a copy of one tree (by default the first); `c100`, 500 large files
with 100 MB in total, spread over the languages as evenly as the trees allow; `c1000`, 1 GB of files
of all sizes, at most a quarter of it in one language. The same trees give the same corpora: files
are taken in the order of the hashes of their paths. The printed hash of the git tree covers the
whole corpus.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.arguments import ONLY, SCALE, TREES, command_parser, name_list, option
from benchmarks.common.languages import LANGUAGE_OF

CORPORA = ("small", "c100", "c1000")
ONLY_CORPORA = ONLY.with_settings(
    type=name_list, default=list(CORPORA), help="comma-separated corpora (default: all)"
)
MIN_BYTES, LARGE_BYTES, MAX_BYTES = 200, 60_000, 900_000
# Search tools exclude folders with these names, so such folders are renamed in a corpus.
EXCLUDED_NAMES = {"build", "dist", "node_modules", "out", "target", "vendor", "venv"}
# Number of candidates for the next file. The one that best keeps the mean size is selected.
WINDOW = 16


@dataclass(frozen=True, order=True)
class SourceFile:
    """A file that may become part of a corpus; sorts in the order of selection."""

    order: bytes
    language: str
    size: int
    name: str  # the tree's name and the path inside it
    path: Path


@dataclass(frozen=True)
class Limits:
    """The limits at which a corpus is complete."""

    files: float
    size: float  # bytes
    language_size: float = float("inf")


def main() -> None:
    out = option("out", type=Path, metavar="OUT", help="folder for the corpora")
    parser = command_parser(__doc__, out, TREES, ONLY_CORPORA, SCALE)
    parser.add_argument("--small", type=Path, metavar="TREE", help="tree to copy as `small`")
    args = parser.parse_args()
    if unknown := set(args.only) - set(CORPORA):
        parser.error(f"no such corpus: {', '.join(unknown)}")
    for tree in [*args.trees, *filter(None, [args.small])]:
        if not tree.is_dir():
            parser.error(f"not a folder: {tree}")
    files = sorted(find_files(args.trees)) if set(args.only) - {"small"} else []
    for name in args.only:
        folder = args.out / name
        if folder.exists():
            sys.exit(f"{folder} exists; delete it to rebuild it")
        folder.mkdir(parents=True)
        if name == "small":
            copy_tree(args.small or args.trees[0], folder)
        else:
            fill_corpus(name, folder, files, args.scale)
        print(f"{name}: {describe(folder)}, git tree {commit_all(folder)}", flush=True)


def copy_tree(tree: Path, folder: Path) -> None:
    ignore = shutil.ignore_patterns(".git")
    shutil.copytree(tree, folder, symlinks=True, ignore=ignore, dirs_exist_ok=True)


def fill_corpus(name: str, folder: Path, files: Sequence[SourceFile], scale: float) -> None:
    """Write `c100` or `c1000`, with sizes multiplied by `scale`."""
    if name == "c100":
        count, size = round(500 * scale), round(100_000_000 * scale)
        write_files(folder, balance_languages(files, size / max(count, 1)), Limits(count, 2 * size))
    else:
        size = round(1_000_000_000 * scale)
        write_files(folder, files, Limits(len(files), size, size / 4))


def find_files(trees: Iterable[Path]) -> Iterator[SourceFile]:
    """Yield the source files of suitable size in the trees."""
    for tree in trees:
        for folder, folders, names in os.walk(tree):
            folders[:] = sorted(name for name in folders if name not in (".git", ".hg", ".svn"))
            for name in names:
                path = Path(folder, name)
                language = LANGUAGE_OF.get(path.suffix.lower())
                if language is None or path.is_symlink() or not path.is_file():
                    continue
                size = path.stat().st_size
                inside = f"{tree.resolve().name}/{path.relative_to(tree).as_posix()}"
                if MIN_BYTES <= size <= MAX_BYTES and inside.isprintable():
                    order = hashlib.sha256(inside.encode()).digest()
                    yield SourceFile(order, language, size, inside, path)


def balance_languages(files: Iterable[SourceFile], mean: float) -> Iterator[SourceFile]:
    """Yield large files with a mean size close to `mean`, alternating between the languages."""
    remaining: dict[str, list[SourceFile]] = defaultdict(list)
    for file in files:
        if file.size >= LARGE_BYTES:
            remaining[file.language].append(file)
    count = total = 0
    while remaining:
        for language in sorted(remaining):
            wanted = mean * (count + 1) - total
            nearest = min(remaining[language][:WINDOW], key=lambda f: (abs(f.size - wanted), f))
            remaining[language].remove(nearest)
            if not remaining[language]:
                del remaining[language]
            count, total = count + 1, total + nearest.size
            yield nearest


def write_files(folder: Path, files: Iterable[SourceFile], limits: Limits) -> None:
    """Write suitable files in order, without duplicates, until a limit is reached."""
    digests: set[bytes] = set()
    names: set[str] = set()
    sizes: Counter[str] = Counter()  # by language
    for file in files:
        if len(names) >= limits.files or sizes.total() >= limits.size:
            return
        if sizes[file.language] + file.size > limits.language_size:
            continue
        data = file.path.read_bytes()
        digest = hashlib.sha256(data).digest()
        name = corpus_path(file)
        if digest in digests or name.lower() in names or not is_plain_text(data):
            continue
        digests.add(digest)
        names.add(name.lower())
        sizes[file.language] += len(data)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def corpus_path(file: SourceFile) -> str:
    """Return a file's path in the corpus: below its language, without excluded folder names."""
    *folders, last = file.name.split("/")
    renamed = [f"{name}_" if is_excluded(name) else name for name in folders]
    return "/".join([file.language, *renamed, last])


def is_excluded(folder: str) -> bool:
    return folder.lower() in EXCLUDED_NAMES or folder.startswith(".")


def is_plain_text(data: bytes) -> bool:
    """Return whether data is UTF-8 with lines of ordinary length."""
    lines = data.split(b"\n")
    if b"\0" in data or len(data) > 200 * len(lines) or max(map(len, lines)) > 20_000:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def describe(folder: Path) -> str:
    """Return the number of files, their size, and the languages of a mixed corpus."""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    languages = sorted(path.name for path in folder.iterdir() if path.is_dir())
    suffix = f" in {', '.join(languages)}" if folder.name != "small" else ""
    return f"{len(sizes):,} files, {sum(sizes) / 1e6:,.1f} MB{suffix}"


def commit_all(folder: Path) -> str:
    """Commit everything reproducibly; return the hash of the tree."""
    identity = {"NAME": "bench", "EMAIL": "bench@example.invalid", "DATE": "2024-01-01T00:00:00Z"}
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_{key}": value for key, value in identity.items()}

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), "-c", "core.autocrlf=false", "-c", "gc.auto=0"]
        done = subprocess.run(
            [*command, *words], env=env, check=True, text=True, stdout=subprocess.PIPE
        )
        return done.stdout.strip()

    git("init", "-q", "-b", "main")
    git("add", "-A", "-f")
    git("commit", "-q", "-m", "corpus")
    return git("rev-parse", "HEAD^{tree}")


if __name__ == "__main__":
    main()
