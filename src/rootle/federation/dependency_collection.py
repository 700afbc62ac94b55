"""The collection of the packages that a project depends on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.errors import QueryError
from rootle.federation.collection import Position
from rootle.federation.outside_results import mark_as_outside
from rootle.federation.package_names import (
    find_named_packages,
    may_name_package,
    remove_package_names,
)
from rootle.index.reader import IndexReader
from rootle.search.query.operators import ParsedQuery, parse_query
from rootle.search.query.parse import parse_text
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import SearchRequest
from rootle.serialization.outside_text import split_package
from rootle.types import (
    DependencyPackage,
    ResultKind,
    SearchQuery,
    SearchResponse,
    SearchResult,
)

# If at most this many files of the project mention a package, the project says little about it, and
# the results from packages come first.
_FEW_FILES: Final = 2
_MAX_NAMED: Final = 3
_MAX_CACHED: Final = 8


@dataclass(frozen=True, slots=True)
class KnownPackages:
    """The packages of a project when they were last indexed."""

    aliases: Mapping[str, str]  # lower-case names in questions -> packages
    packages: Sequence[DependencyPackage]
    missing: Sequence[DependencyPackage]
    refused: Sequence[str]
    unsearched: Sequence[str] = ()  # packages that only other packages require


@dataclass(frozen=True, slots=True)
class DependencyCollection:
    """Answers `in:deps`, and questions that name an indexed package."""

    read_known: Callable[[], KnownPackages | None]  # None while no packages are indexed
    # Returns one page of the packages that are installed now; the second argument is `explain`.
    search_installed: Callable[[SearchQuery, bool], SearchResponse]
    count_mentions: Callable[[str], int]  # returns how many files of the project contain a word

    @property
    def kind(self) -> ResultKind:
        """The value of `in:` that names the collection."""
        return "deps"

    def find_position(self, question: ParsedQuery) -> Position | None:
        """Return a position if the question names an indexed package, or contains its name.

        The files of the project come first, because most questions ask about the project. If hardly
        any of these files contain the name, the packages come first. If the name may be meant as an
        ordinary word, the packages are searched only if the project has no confident answer.
        """
        known = self.read_known()
        if known is None or _list_commit_filters(question):
            return None
        named = find_named_packages(question.text, known.aliases)
        if not named:
            return "fallback" if may_name_package(question.text, known.aliases) else None
        return "first" if self.count_mentions(named[0]) <= _FEW_FILES else "after"

    def search(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        """Return the files of packages. If the question names packages, search only those.

        Raise QueryError if the question has a filter by date or author: packages have none.
        """
        filters = _list_commit_filters(parse_query(query.text_query))
        if filters:
            raise QueryError(
                f"{filters[0]} filters by the commits of the project, and in:deps searches "
                "installed packages; leave out one of them"
            )
        response = self.search_installed(query, explain)
        known = self.read_known()
        results = tuple(_describe(result) for result in response.results)
        notes = () if known is None else _make_notes(query, results, known)
        return replace(response, results=results, suggestions=(*notes, *response.suggestions))


class NamedPackageScope:
    """Narrows a search to the packages that the question names, if it names any."""

    def __init__(self, read_known: Callable[[], KnownPackages | None]) -> None:
        self._read_known = read_known
        self._files: dict[str, Mapping[str, Collection[int]]] = {}

    def __call__(self, request: SearchRequest, scoped: ScopedQuery) -> ScopedQuery:
        """Return the narrower scope.

        If filters exclude all files in it, return `scoped` unchanged.
        """
        known = self._read_known()
        text = parse_query(request.query.text_query).text
        named = () if known is None else find_named_packages(text, known.aliases)
        if not named:
            return scoped
        files = self._list_files(request.session.index)
        ids = {one for name in named for one in files.get(name, ())}
        narrowed = ids if scoped.files is None else ids & set(scoped.files)
        if not narrowed:
            return scoped
        question = scoped.question
        if known is not None and not (question.parsed.is_exact or question.expansion):
            rest = remove_package_names(text, known.aliases)
            plain = parse_text(rest, request.session.index)
            question = replace(plain, parsed=replace(question.parsed, text=rest))
        return replace(scoped, files=narrowed, question=question)

    def _list_files(self, index: IndexReader) -> Mapping[str, Collection[int]]:
        """Return the ids of the files of each package."""
        key = index.state_id()
        known = self._files.get(key)  # another thread may clear the cache at any time
        if known is not None:
            return known
        found: dict[str, list[int]] = {}
        for state in index.all_files():
            if package := split_package(state.path):
                found.setdefault(package[0], []).append(state.id)
        if len(self._files) >= _MAX_CACHED:
            self._files.clear()
        self._files[key] = found
        return found


def _list_commit_filters(question: ParsedQuery) -> list[str]:
    dates = {"since": question.since, "until": question.until}
    filters = [f"{name}:{value}" for name, value in dates.items() if value]
    return filters + [f"author:{author}" for author in question.authors]


def _describe(result: SearchResult) -> SearchResult:
    found = split_package(result.file_path)
    return mark_as_outside(result, "deps", " ".join(found) if found else None, "dependency")


def _make_notes(
    query: SearchQuery, results: Sequence[SearchResult], known: KnownPackages
) -> tuple[str, ...]:
    """Return notes on missing packages, and on those whose version differs from the lock file."""
    if query.cursor:
        return ()
    shown = {result.origin for result in results}
    notes = [
        f"{one.name}: the lock file names {one.locked}, and {one.version} is installed and searched"
        for one in known.packages
        if one.locked not in ("", one.version) and f"{one.name} {one.version}" in shown
    ]
    if known.missing:
        named = [f"{one.name} {one.version}".strip() for one in _sort_missing(query, known)]
        more = f" and {len(named) - _MAX_NAMED} more" if len(named) > _MAX_NAMED else ""
        remedies = dict.fromkeys(f"`{one.remedy}`" for one in known.missing)
        notes.append(
            f"not installed, so not searched: {', '.join(named[:_MAX_NAMED])}{more}; to install: "
            f"{', '.join(remedies)}"
        )
    if unsearched := _find_unsearched(query, known):
        notes.append(
            f"not searched, because only other packages require it: {', '.join(unsearched)}; to "
            "search such packages, set dependencies to all in the configuration"
        )
    return (*notes, *known.refused[:1])


def _sort_missing(query: SearchQuery, known: KnownPackages) -> list[DependencyPackage]:
    """Return the missing packages, those that the question names first."""
    words = set(query.text_query.lower().replace("_", "-").split())
    return sorted(known.missing, key=lambda one: one.name.lower() not in words)


def _find_unsearched(query: SearchQuery, known: KnownPackages) -> tuple[str, ...]:
    """Return the packages that the question names and that are not searched."""
    names = {name.lower(): name for name in known.unsearched if name.lower() not in known.aliases}
    return find_named_packages(parse_query(query.text_query).text, names)[:_MAX_NAMED]
