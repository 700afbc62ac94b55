"""Build the corpora of the speed benchmark from source trees that you have.

    python -m benchmarks.speed.corpora OUT TREE... [--only small,c100,c1000] [--small TREE] [--scale X]

Each TREE is a folder of source code (unpacked packages, checkouts). Made under OUT, each a folder
with one git commit: `small`, a copy of one tree (default: the first); `c100`, 500 large files of
100 MB together, as evenly over the languages as the trees allow; `c1000`, 1 GB of files of every
size, no language above a quarter. The same trees give the same corpora: files are taken in the
order of the hash of their path, and the printed git tree is a hash over all of the result.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = {
    "c": ".c .h", "cpp": ".cc .cpp .cxx .hh .hpp", "csharp": ".cs", "elixir": ".ex .exs",
    "go": ".go", "haskell": ".hs", "java": ".java", "javascript": ".cjs .js .jsx .mjs",
    "kotlin": ".kt .kts", "lua": ".lua", "php": ".php", "python": ".py", "ruby": ".rb",
    "rust": ".rs", "scala": ".scala", "shell": ".bash .sh", "sql": ".sql", "swift": ".swift",
    "typescript": ".ts .tsx", "zig": ".zig",
}  # fmt: skip
LANGUAGES = {suffix: name for name, group in SUFFIXES.items() for suffix in group.split()}
SMALLEST, LARGE, LARGEST = 200, 60_000, 900_000
# Folders that search tools leave out by their names get another one, so that every file counts.
LEFT_OUT = {"build", "dist", "node_modules", "out", "target", "vendor", "venv"}
CHOICE = 16  # c100 takes, of so many files next in order, the one that keeps the mean size


@dataclass(frozen=True, order=True)
class Source:
    """A file that may become part of a corpus; sorts in the order of choice."""

    order: bytes
    language: str
    size: int
    name: str  # the tree's name and the path inside it
    path: Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("trees", type=Path, nargs="+", metavar="TREE")
    parser.add_argument("--only", default="small,c100,c1000")
    parser.add_argument("--small", type=Path, metavar="TREE", help="what `small` is a copy of")
    parser.add_argument("--scale", type=float, default=1.0, help="times the sizes (default 1)")
    args = parser.parse_args()
    names = args.only.split(",")
    if unknown := set(names) - {"small", "c100", "c1000"}:
        parser.error(f"no such corpus: {', '.join(unknown)}")
    for tree in [*args.trees, *filter(None, [args.small])]:
        if not tree.is_dir():
            parser.error(f"not a folder: {tree}")
    sources = sorted(find_sources(args.trees)) if set(names) - {"small"} else []
    for name in names:
        folder = args.out / name
        if folder.exists():
            sys.exit(f"{folder} is there already; delete it to build it anew")
        folder.mkdir(parents=True)
        if name == "small":
            shutil.copytree(args.small or args.trees[0], folder, symlinks=True,
                            ignore=shutil.ignore_patterns(".git"), dirs_exist_ok=True)  # fmt: skip
        elif name == "c100":
            files, size = round(500 * args.scale), round(100_000_000 * args.scale)
            write_files(folder, evenly(sources, size / max(files, 1)), files, 2 * size)
        else:
            size = round(1_000_000_000 * args.scale)
            write_files(folder, sources, len(sources), size, language_bytes=size / 4)
        print(f"{name}: {described(folder)}, git tree {committed(folder)}", flush=True)


def find_sources(trees: Iterable[Path]) -> Iterator[Source]:
    for tree in trees:
        for folder, folders, names in os.walk(tree):
            folders[:] = sorted(name for name in folders if name not in (".git", ".hg", ".svn"))
            for name in names:
                path = Path(folder, name)
                language = LANGUAGES.get(path.suffix.lower())
                if language is None or path.is_symlink() or not path.is_file():
                    continue
                size = path.stat().st_size
                inside = f"{tree.resolve().name}/{path.relative_to(tree).as_posix()}"
                if SMALLEST <= size <= LARGEST and inside.isprintable():
                    order = hashlib.sha256(inside.encode()).digest()
                    yield Source(order, language, size, inside, path)


def evenly(sources: Iterable[Source], mean: float) -> Iterator[Source]:
    """Large files, the languages in turns, the mean of their sizes kept near `mean`."""
    waiting: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        if source.size >= LARGE:
            waiting[source.language].append(source)
    count = total = 0
    while waiting:
        for language in sorted(waiting):
            wanted = mean * (count + 1) - total
            near = min(waiting[language][:CHOICE], key=lambda s: (abs(s.size - wanted), s))
            waiting[language].remove(near)
            if not waiting[language]:
                del waiting[language]
            count, total = count + 1, total + near.size
            yield near


def write_files(
    folder: Path,
    sources: Iterable[Source],
    count: int,
    size: int,
    language_bytes: float = float("inf"),
) -> None:
    """Write what is fit, in order, until there are enough files or bytes."""
    seen: set[bytes] = set()
    taken: set[str] = set()
    by_language: Counter[str] = Counter()
    for source in sources:
        if len(taken) >= count or by_language.total() >= size:
            return
        if by_language[source.language] + source.size > language_bytes:
            continue
        data = source.path.read_bytes()
        digest = hashlib.sha256(data).digest()
        *folders, last = source.name.split("/")
        seen_by_all = [f"{part}_" if is_left_out(part) else part for part in folders]
        name = "/".join([source.language, *seen_by_all, last])
        if digest in seen or name.lower() in taken or not is_fit(data):
            continue
        seen.add(digest)
        taken.add(name.lower())
        by_language[source.language] += len(data)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def is_left_out(folder: str) -> bool:
    return folder.lower() in LEFT_OUT or folder.startswith(".")


def is_fit(data: bytes) -> bool:
    """Text that a person wrote: UTF-8, and lines of a usual length."""
    lines = data.split(b"\n")
    if b"\0" in data or len(data) > 200 * len(lines) or max(map(len, lines)) > 20_000:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def described(folder: Path) -> str:
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    languages = sorted(path.name for path in folder.iterdir() if path.is_dir())
    within = f" in {', '.join(languages)}" if folder.name != "small" else ""
    return f"{len(sizes):,} files, {sum(sizes) / 1e6:,.1f} MB{within}"


def committed(folder: Path) -> str:
    """Commit everything, always with the same result; the hash of the tree."""
    who = {"NAME": "bench", "EMAIL": "bench@example.invalid", "DATE": "2024-01-01T00:00:00Z"}
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    env |= {f"GIT_{role}_{key}": who[key] for role in ("AUTHOR", "COMMITTER") for key in who}

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), "-c", "core.autocrlf=false", "-c", "gc.auto=0"]
        done = subprocess.run([*command, *words], env=env, check=True, text=True,
                              stdout=subprocess.PIPE)  # fmt: skip
        return done.stdout.strip()

    git("init", "-q", "-b", "main")
    git("add", "-A", "-f")
    git("commit", "-q", "-m", "corpus")
    return git("rev-parse", "HEAD^{tree}")


if __name__ == "__main__":
    main()
