"""Look-up of definitions and of uses by name, compared with Universal Ctags and `git grep -w`.

    python -m benchmarks.quality.symbol_lookup CHECKOUTS [--names 100] [--used 30] [--show]

CHECKOUTS holds one git work tree per repository. Per repository, `--names` unique top-level names
are sampled from the tags that ctags finds in the indexed files. Each of them is looked up with the
question "where is NAME defined". The table shows how often the defining file is the first result,
and how often the line of the definition is shown. For the first `--used` names that have uses, "who
calls NAME" is asked. The rows of the answer are compared with the lines of `git grep -w`, without
the comments and strings that Pygments finds. Definitions do not count as uses. `--methods` is the
number of sampled Python methods; each has a name that several classes define. For the uses of these
methods, the definitions that rootle finds are compared with those of Jedi, which must be installed.
The command needs Universal Ctags with JSON output.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from benchmarks.common.arguments import CHECKOUTS, INDEXES, JSON, ONLY, SHOW, command_parser
from benchmarks.common.internals import index_snapshot
from benchmarks.common.rootle_search import index_folder, indexed_app
from benchmarks.quality.symbol_oracles import (
    JediOracle,
    Tag,
    code_paths,
    find_uses,
    read_tags,
    sample_repeated,
    sample_unique,
)
from rootle import App, SearchQuery, SearchResponse, SearchResult

_ALL = 10_000


@dataclass
class Tally:
    """Counts of one repository."""

    names: int = 0
    file_first: int = 0
    shown: int = 0
    used: int = 0
    use_lines: int = 0  # lines of git grep, without comments and strings
    found_lines: int = 0
    first_hits: int = 0  # questions whose first hit contains the name
    resolved: int = 0  # uses that both rootle and Jedi resolve to a definition
    right: int = 0  # uses that both resolve to the same definition
    listed: int = 0  # uses in the answers for methods; Jedi resolves these uses
    expected: int = 0  # of the listed uses, those that Jedi resolves to this method
    reported: int = 0  # of the listed uses, those that rootle resolves to this method

    def add(self, other: Tally) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def main() -> None:
    parser = command_parser(__doc__, CHECKOUTS, ONLY, INDEXES, SHOW, JSON)
    parser.add_argument("--names", type=int, default=100, help="names per repository")
    parser.add_argument("--used", type=int, default=30, help="names whose uses are looked up")
    parser.add_argument("--methods", type=int, default=0, help="methods to compare with Jedi")
    args = parser.parse_args()
    total = Tally()
    tallies: dict[str, Tally] = {}
    print(_HEADER)
    with index_folder(args.indexes) as indexes:
        for root in sorted(path for path in args.checkouts.iterdir() if (path / ".git").exists()):
            if args.only and root.name not in args.only:
                continue
            with indexed_app(root, indexes / root.name) as app:
                tally = measure(app, root, args)
            tallies[root.name] = tally
            total.add(tally)
            print(format_row(root.name, tally), flush=True)
    print(format_row("all", total))
    if args.json:
        records = {name: vars(tally) for name, tally in {**tallies, "all": total}.items()}
        args.json.write_text(json.dumps(records, indent=1), encoding="utf-8")


def measure(app: App, root: Path, args: Any) -> Tally:
    """Return the counts of one repository."""
    indexed = {state.path for state in index_snapshot(app).all_files() if state.skip is None}
    paths = frozenset(code_paths(root, indexed))
    tags = read_tags(root, paths)
    sample = sample_unique(tags, args.names, root.name)
    tally = Tally()
    for tag in sample:
        tally.add(look_up(app, tag, show=args.show))
    defined = {(tag.name, tag.path, tag.line) for tag in tags}
    for tag in sample:
        if tally.used == args.used:
            break
        expected = {
            (path, line)
            for path, line in find_uses(root, tag.name, paths)
            if (tag.name, path, line) not in defined
        }
        if expected:
            tally.add(look_up_uses(app, tag, expected, show=args.show))
    if args.methods and any(path.endswith(".py") for path in paths):
        python = [tag for tag in tags if tag.language == "python"]
        oracle = JediOracle(root)
        for tag in sample_repeated(python, args.methods, root.name):
            places = {(one.path, one.line) for one in python if one.name == tag.name}
            tally.add(resolve_uses(app, tag, oracle, places, show=args.show))
    return tally


def look_up(app: App, tag: Tag, *, show: bool) -> Tally:
    """Ask where a name is defined."""
    response = app.search(SearchQuery(f"where is {tag.name} defined", limit=10))
    first = response.results[0] if response.results else None
    tally = score_definition(tag, first)
    if show and not tally.shown:
        found = f"{first.file_path}:{first.start_line}" if first else "nothing"
        print(f"  {tag.name}: {tag.path}:{tag.line}, but first is {found}")
    return tally


def score_definition(tag: Tag, first: SearchResult | None) -> Tally:
    """Count whether the first result is in the defining file, and shows the line."""
    is_first = first is not None and first.file_path == tag.path
    is_shown = first is not None and is_first and _covers(first, tag.line)
    return Tally(names=1, file_first=is_first, shown=is_shown)


def look_up_uses(app: App, tag: Tag, expected: set[tuple[str, int]], *, show: bool) -> Tally:
    """Ask who calls a name."""
    response = app.search(SearchQuery(f"who calls {tag.name}", limit=10))
    found = set(_use_lines(app, tag.name, response))
    first = response.results[0] if response.results else None
    has_name = first is not None and any(tag.name in text for text in _shown_texts(first))
    missed = expected - found
    if show and (missed or not has_name):
        print(f"  {tag.name}: missed {sorted(missed)[:5]}, first hit has it: {has_name}")
    return Tally(
        used=1,
        use_lines=len(expected),
        found_lines=len(expected & found),
        first_hits=has_name,
    )


def resolve_uses(
    app: App, tag: Tag, oracle: JediOracle, defined: Collection[tuple[str, int]], *, show: bool
) -> Tally:
    """Compare the uses of a method that rootle resolves with those that Jedi resolves.

    `defined` are the definitions of the name. Other places that Jedi finds, such as assignments, do
    not count.
    """
    owner = tag.scope.rpartition(".")[2]
    answer = app.symbols(f"{owner}.{tag.name}", "uses", limit=_ALL)
    places = {(symbol.path, symbol.line) for symbol in answer.definitions}
    tally = Tally()
    for use in answer.uses[:50]:
        if use.kind in ("comment", "string", "document") or not use.path.endswith(".py"):
            continue
        known = oracle.targets(use.path, use.line, tag.name)
        known &= set(defined)
        if not known:
            continue
        is_right = bool(known & places)
        tally.add(score_use(is_right=is_right, is_resolved=bool(use.target)))
        if show and use.target and not is_right:
            print(f"  {owner}.{tag.name}: {use.path}:{use.line} {use.text[:60]} -> {known}")
    return tally


def score_use(*, is_right: bool, is_resolved: bool) -> Tally:
    """Count a use in the answer for a method.

    The use is right if Jedi resolves it to this method, and resolved if rootle resolves it to any
    definition.
    """
    is_reported = is_right and is_resolved
    return Tally(
        listed=1, expected=is_right, resolved=is_resolved, right=is_reported, reported=is_reported
    )


def _covers(result: SearchResult, line: int) -> bool:
    spans = [(result.start_line, result.end_line)]
    spans += [(span.start_line, span.end_line) for span in result.more_spans]
    return any(first <= line <= last for first, last in spans)


def _shown_texts(result: SearchResult) -> Sequence[str]:
    return [result.snippet, *(span.snippet for span in result.more_spans)]


def _use_lines(app: App, name: str, response: SearchResponse) -> Iterator[tuple[str, int]]:
    """Yield the lines of a symbol answer or, without `App.symbols`, the lines that are shown."""
    if hasattr(app, "symbols"):  # earlier versions, which this command also measures, lack it
        answer = app.symbols(name, "uses", limit=_ALL)
        # Lines that ctags does not list as definitions, such as nested functions.
        yield from ((symbol.path, symbol.line) for symbol in answer.definitions)
        for use in answer.uses:
            if use.kind not in ("comment", "string", "document"):
                yield use.path, use.line
        return
    for result in response.results:
        for first, text in [
            (result.start_line, result.snippet),
            *((span.start_line, span.snippet) for span in result.more_spans),
        ]:
            for at, line in enumerate(text.split("\n")):
                if name in line:
                    yield result.file_path, first + at


_HEADER = (
    f"{'repository':<14}{'names':>6}{'file first':>12}{'shown':>8}"
    f"{'uses':>6}{'recall':>9}{'first hit':>11}{'precision':>11}{'resolved':>10}{'listed':>9}"
)


def format_row(name: str, tally: Tally) -> str:
    """Return one line of the table."""
    return (
        f"{name:<14}{tally.names:>6}{_share(tally.file_first, tally.names):>12}"
        f"{_share(tally.shown, tally.names):>8}{tally.used:>6}"
        f"{_share(tally.found_lines, tally.use_lines):>9}{_share(tally.first_hits, tally.used):>11}"
        f"{_share(tally.right, tally.resolved):>11}{_share(tally.reported, tally.expected):>10}"
        f"{_share(tally.expected, tally.listed):>9}"
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


if __name__ == "__main__":
    main()
