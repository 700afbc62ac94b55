"""Find the documents, tests, uses and commits of code, and the definitions that a section names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.history.commit_results import describe_commit
from rootle.history.commit_view import CommitView
from rootle.index.reader import IndexReader
from rootle.links.drift.code_words import fold
from rootle.links.drift.mentions import DOCUMENT_LANGUAGES, find_mentions, read_lines
from rootle.provenance.explain import LastChanges
from rootle.provenance.mentions import FindDocuments, find_documents
from rootle.provenance.place import CodePlace
from rootle.search.symbols.finder import SymbolFinder
from rootle.search.symbols.symbol_request import MAX_LIMIT, SymbolRequest
from rootle.types import COMMIT_URI, CommitFacts, PlaceLinks, Symbol, SymbolUse

_MAX_SHOWN: Final = 5
_MAX_COMMITS: Final = 3
_MAX_DEFINITIONS: Final = 20
_MAX_NAMES: Final = 100  # names of a section that are looked up
# If a name has more definitions than this, it is unclear which of them a section is about.
_MAX_SAME_NAME: Final = 3
_TEXT_KINDS: Final = frozenset({"comment", "string", "document"})


@dataclass(frozen=True, slots=True)
class LinkSources:
    """The components that provide the links."""

    open_index: Callable[[], IndexReader]
    finder: SymbolFinder
    find_files: FindDocuments
    commits: CommitView | None  # None if no commits are indexed
    # Takes a place and a maximum number. Returns the last commits that changed the place. The index
    # of commits also names functions for each change, but these names are not used here: git names
    # the function that starts above a change, even if the change is below its end.
    last_changes: Callable[[CodePlace, int], LastChanges]


def find_links(place: CodePlace, sources: LinkSources) -> PlaceLinks:
    """Return the links of a place, without updating an index."""
    is_document = place.whole.language in DOCUMENT_LANGUAGES
    uses: Sequence[SymbolUse] = ()
    is_complete = True
    if not is_document and place.names:
        uses, is_complete = _find_uses(place, sources)
    tests = [use for use in uses if use.is_test]
    others = [use for use in uses if not use.is_test]
    documents = () if is_document else find_documents(place, sources.open_index, sources.find_files)
    changes = sources.last_changes(place, _MAX_COMMITS)
    return PlaceLinks(
        place.text,
        place.names[-1] if place.names else "",
        is_document,
        tuple(_named_definitions(place, sources)) if is_document else (),
        documents,
        tuple(others[:_MAX_SHOWN]),
        len(others),
        tuple(tests[:_MAX_SHOWN]),
        len(tests),
        is_complete,
        tuple(_add_files(commit, sources.commits) for commit in changes.commits),
        (changes.note,) if changes.note else (),
        changes.are_of_file,
    )


def _find_uses(place: CodePlace, sources: LinkSources) -> tuple[list[SymbolUse], bool]:
    """Return the uses of a place in code, and whether they are complete.

    Uses that certainly refer to another definition with the same name are left out.
    """
    # The title of a test case or of an anonymous block consists of several words.
    *owners, name = (one if len(one.split()) == 1 else "" for one in place.names[-2:])
    if not name:
        return [], True
    owner = owners[-1] if owners else ""
    uses, is_complete = _search_uses(f"{owner}.{name}" if owner else name, place, sources)
    classes = _Uses([], [])
    if owner and not all(use.target for use in uses.kept):
        # If the type of a receiver is unknown, it is likely to be the class that its file imports.
        classes, _ = _search_uses(owner, place, sources)
    own = {use.path for use in classes.kept if use.target}
    others = {use.path for use in classes.others}

    def order(use: SymbolUse) -> int:
        # Without an import, a line that names the class, such as `cacheManager.clear()` for
        # CacheManager, is likelier to use its method than `names.clear()`.
        if use.target:
            return 0
        if use.path in own:
            return 1
        if owner and fold(owner) in fold(use.text):
            return 2
        # The file may still use the class of the place, for example through a subclass.
        return 4 if use.path in others else 3

    return sorted(uses.kept, key=order), is_complete


@dataclass(frozen=True, slots=True)
class _Uses:
    kept: list[SymbolUse]  # of the definition at a place, or of an unknown definition
    others: list[SymbolUse]  # of other definitions with the same name


def _search_uses(name: str, place: CodePlace, sources: LinkSources) -> tuple[_Uses, bool]:
    """Return the uses of a name in code, and whether they are complete.

    A use is kept unless it refers to a definition that does not belong to the place. If no
    definition overlaps the place, as for a block with methods of a type, all definitions in the
    same file belong to it. If the file has none, all uses are kept.
    """
    request = SymbolRequest(name, "uses", limit=MAX_LIMIT)
    answer = sources.finder.find(sources.open_index(), request)
    here = [one for one in answer.definitions if one.path == place.whole.source]
    around = [
        one
        for one in here
        if one.start_line <= place.last_line and place.first_line <= one.end_line
    ]
    own = {f"{one.path}:{one.line}" for one in around or here}
    found = _Uses([], [])
    head = (place.whole.source, place.passage.start_line)
    for use in answer.uses:
        # A block with methods names its type in its first line.
        if use.kind not in _TEXT_KINDS and (use.path, use.line) != head:
            is_other = own and use.target and use.target not in own
            (found.others if is_other else found.kept).append(use)
    return found, answer.is_complete


def _named_definitions(place: CodePlace, sources: LinkSources) -> Iterator[Symbol]:
    """Yield the definitions of the names in a section, at most three for a name.

    Definitions in tests are left out if there are others.
    """
    names: dict[str, None] = {}
    for line in read_lines(place.passage.lines, place.whole.language):
        for mention in find_mentions(line):
            if mention.kind in ("name", "call"):
                name = mention.text.partition("(")[0].lstrip("@$")
                names[name] = None
    index, count = sources.open_index(), 0
    for name in list(names)[:_MAX_NAMES]:
        if count >= _MAX_DEFINITIONS:
            break
        found = sources.finder.find_few_definitions(index, name, _MAX_SAME_NAME)
        count += len(found)
        yield from found


def _add_files(commit: CommitFacts, view: CommitView | None) -> CommitFacts:
    """Return a commit with the files that it changed, if it is indexed."""
    state = None if view is None else view.commit_at(f"{COMMIT_URI}{commit.hash}")
    return commit if view is None or state is None else describe_commit(view, state)
