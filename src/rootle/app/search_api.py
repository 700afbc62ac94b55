"""The part of the public API that searches and reads."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from rootle.app.base import AppBase
from rootle.errors import IndexMissingError, IndexStorageError, QueryError
from rootle.serialization.folder_filter import relative_filters
from rootle.serialization.json import (
    apply_filters,
    check_integer,
    check_query_types,
    check_text,
    check_texts,
)
from rootle.serialization.revision_filter import split_revision
from rootle.text.terms import compose
from rootle.types import (
    EXTERNAL_URI,
    PACKAGE_URI,
    FileOutline,
    Filters,
    IndexCoverage,
    Passage,
    SearchQuery,
    SearchResponse,
    SymbolAnswer,
    SymbolAspect,
    ignore_progress,
)

if TYPE_CHECKING:
    from rootle.federation.name_answers import NameLookup
    from rootle.search.symbols.symbol_request import SymbolRequest

# The maximum number of attempts of a search while other threads rebuild or delete the index.
_MAX_ATTEMPTS: Final = 5
# The path of a file in an earlier version, as shown in results: "<commit hash>:<path>".
_VERSION: Final = re.compile(r"([0-9a-f]{12,64}):.+", re.DOTALL)


class SearchApi(AppBase):
    """Searches the folder and reads its files."""

    def search(
        self,
        query: SearchQuery | str,
        filters: Filters | Mapping[str, Any] | None = None,
        *,
        explain: bool = False,
        context: bool = False,
        budget: int | None = None,
        exclude: Sequence[str] = (),
        at: str | None = None,
    ) -> SearchResponse:
        """Search the folder. If a check for changes is due, update the index first.

        If the query already has a filter, the same filter in `filters` is ignored.

        `context` adds the surrounding code to each result. `budget` is the maximum number of tokens
        of the results and the memories, as Markdown. `exclude` lists lines to leave out of the
        contexts, as "path:start-end".

        `at` is a hash, tag, branch or date. If it is set, the files of that commit are searched; an
        index of the commit is created first if there is none.

        Raises QueryError for an invalid query or an unknown revision, IndexStorageError if there is
        no index and none can be built, and SearchUnavailableError if neither full-text search nor
        vector search responds.
        """
        query = apply_filters(query, filters)
        has_exclude = not isinstance(exclude, tuple) or bool(exclude)
        if context is not False or budget is not None or has_exclude or at is not None:
            # A program may pass values of any type.
            given: Mapping[str, Any] = {"context": context, "budget": budget, "exclude": exclude}
            query = _add_options(query, given, at)
        revised = split_revision(query)
        revised = relative_filters(revised, self.root)
        revised = replace(revised, text_query=compose(revised.text_query))
        self._check_query(revised)
        search = partial(self._search_in_budget, revised, explain=explain)
        return _explain_selection(self._log_search(query, search), revised)

    def read(self, source: str) -> Passage:
        """Return lines of a file or a commit.

        `source` is "path", "path:120", "path:120-180", "path#heading", "path#definition", a commit
        hash, or the URI or URL of a document from an added source. The path of a file of an
        installed package begins with "deps:". A file of the folder need not be indexed yet, and a
        generated file is read although it is never indexed. Raises SourceError for a file that does
        not exist, is outside the folder, or is excluded from the index for any reason other than
        being generated; the message suggests an alternative.
        """
        check_text("source", source)
        from rootle.ingest.source_refs import names_package, read_source

        if names_package(source, self.root):
            return read_source(source, self._container.dependencies().documents())
        return read_source(source, self._container.documents())

    def outline(self, path: str) -> FileOutline:
        """Return the lines of a document, as they were last indexed, and its definitions.

        Raises SourceError if the document is not indexed.
        """
        check_text("path", path)
        read = self._container.outlines().read
        # A file in the folder may have a name that begins like one of these URIs.
        if path.startswith((EXTERNAL_URI, PACKAGE_URI)) and os.path.lexists(self.root / path):
            return read(path, self._container.indexer().snapshot())
        if path.startswith(EXTERNAL_URI):
            return read(path, self._container.external().index().snapshot())
        if found := _VERSION.fullmatch(path):
            return (
                self._container.history()
                .revision_search()
                .read_index(found[1], lambda index, place: read(path, index, place))
            )
        if path.startswith(PACKAGE_URI):
            return self._container.dependencies().read_index(partial(read, path))
        return read(path, self._container.indexer().snapshot())

    def definition_places(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return "path:line" for each name that has exactly one definition with this spelling.

        Raises IndexMissingError if there is no index. This method does not build or update the
        index.
        """
        names = check_texts("names", names)
        from rootle.search.results.definition_places import find_definition_places

        return find_definition_places(self._container.indexer().snapshot(), names)

    def line_finder(self, query: str) -> Callable[[Sequence[str]], Mapping[int, int]] | None:
        """Return a function that finds the lines that match the phrases and the regex of a query.

        The function takes the lines of a file. It returns the number of each line with a match, and
        the position of the first match in this line. The result is empty if a phrase or the regex
        does not occur in the file. Returns None if the query has neither a phrase nor a regex.
        Raises QueryError for an invalid query.
        """
        from rootle.search.query.operators import parse_query
        from rootle.search.query.phrase_and_regex_filter import line_finder

        parsed = parse_query(split_revision(SearchQuery(query)).text_query)
        return line_finder(parsed) if parsed.is_exact else None

    def excluded_lines(self, query: str, lines: Sequence[str]) -> frozenset[int]:
        """Return the numbers of the lines of a file that contain an excluded word of a query.

        Raises QueryError for an invalid query.
        """
        from rootle.search.query.operators import lines_with_match, parse_query

        parsed = parse_query(split_revision(SearchQuery(query)).text_query)
        return lines_with_match(parsed.excluded_pattern, lines)

    def restrictions(self, query: str) -> str:
        """Return the filters and the excluded words of a query, exactly as written."""
        from rootle.search.query.operators import restrictions_in

        return restrictions_in(query)

    def symbols(
        self,
        name: str,
        aspect: SymbolAspect = "definitions",
        *,
        limit: int | None = None,
        cursor: str | None = None,
        at: str | None = None,
    ) -> SymbolAnswer:
        """Return the definitions of a name, and its uses if `aspect` asks for them.

        `name` may be qualified: "Class.method", "module.function", "ns::Class". A list of
        parameters after it, as in "Class#method(Type)", is ignored. At most `limit`
        uses are returned, 30 by default. To get the next ones, pass `next_cursor` of the answer as
        `cursor`. The index is updated first if a check for changes is due. If `at` is a hash, tag,
        branch or date, the files of that commit are searched instead of those in the folder. A name
        that begins with "deps:" is looked up in the installed packages.

        Raises QueryError for an invalid name, limit or revision, and StaleCursorError if the cursor
        comes from another request or the index has changed since then.
        """
        check_text("name", name)
        check_integer("limit", limit)
        from rootle.search.symbols.symbol_request import (
            SymbolRequest,
            check_request,
            strip_parameters,
        )

        name = compose(strip_parameters(name))
        plain = name.removeprefix(PACKAGE_URI)
        request = SymbolRequest(plain, aspect, limit=limit, cursor=cursor)
        check_request(request)
        if plain != name:
            return self._package_symbols(request, at)
        if at is not None:
            from rootle.history.revision_search import add_symbol_place

            finder = self._container.symbol_finder()
            return (
                self._container.history()
                .revision_search()
                .read_index(
                    at, lambda index, place: add_symbol_place(finder.find(index, request), place)
                )
            )
        self._container.refresher().refresh(ignore_progress, fully=False)
        return self._container.symbol_finder().find(self._container.indexer().snapshot(), request)

    @property
    def has_indexed_packages(self) -> bool:
        """Whether packages are indexed, so that names can be looked up in them."""
        is_off = self.config.dependencies == "off"
        return not is_off and self._container.dependencies().read_known() is not None

    def _package_symbols(self, request: SymbolRequest, at: str | None) -> SymbolAnswer:
        if at is not None:
            raise QueryError(
                f"{PACKAGE_URI}{request.name} is looked up in installed packages, and at: means "
                "files of one commit; leave out one of them"
            )
        if "/" in request.name:
            raise QueryError(
                f'"{PACKAGE_URI}{request.name}" is a package or a file, not a name; read it with '
                "`rootle show` or vectordb_read"
            )
        finder = self._container.symbol_finder()
        packages = self._container.dependencies()
        return packages.read_installed(lambda index: finder.find(index, request))

    def check(self, query: SearchQuery) -> None:
        """Raise QueryError for an invalid query, without building an index.

        The revision in `at` is not looked up, so `search` may still reject it.
        """
        self._check_query(split_revision(check_query_types(query)))

    def _log_search(
        self, query: SearchQuery, search: Callable[[], SearchResponse]
    ) -> SearchResponse:
        """Return the answer of a search, and write one line to the search log.

        A search may search several indexes, or none. An invalid query is not logged.
        """
        from rootle.search.search_trace import collect_searches, merge_records

        log, response = self._container.search_log(), None
        with collect_searches() as parts:
            try:
                response = search()
            except QueryError:
                parts.clear()
                raise
            finally:
                if log is not None and (parts or response is not None):
                    log.write(merge_records(query, parts, response, time.time()))
        return response

    def _search_in_budget(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        from rootle.search.long_question import MAX_QUERY_CHARS

        search = partial(self._search_any, explain=explain)
        is_long = len(query.text_query) > MAX_QUERY_CHARS
        response = _search_beginning(query, search) if is_long else search(query)
        if query.budget is None:
            return response
        from rootle.search.results.answer_budget import fit_budget

        return fit_budget(response, query.budget)

    def _search_any(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        """Search the files of a commit, or everything that the query selects."""
        if query.at is not None:
            at, query = query.at, replace(query, text_query=self._resolve_filters(query.text_query))
            history = self._container.history()
            return history.revision_search().search(query, at, explain=explain)
        refresher = self._container.refresher()
        for _ in range(_MAX_ATTEMPTS if self.config.enable_indexing else 0):
            replacement_count = refresher.replacement_count
            try:
                return self._search(query, explain=explain)
            except IndexMissingError:
                # The index was deleted after the last check.
                refresher.invalidate()
            except IndexStorageError:
                # If another thread is rebuilding the index, the next attempt waits for it.
                if refresher.replacement_count == replacement_count:
                    raise
        return self._search(query, explain=explain)

    def _search(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        from rootle.federation.federated_search import FederatedSearch

        federated = FederatedSearch(self.config, self._container.collections(), self._on_warning)
        search = partial(self._search_project, explain=explain)
        return federated.search(query, search, explain=explain)

    def _search_project(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        from rootle.federation.combined_search import CombinedSearch
        from rootle.history.release_questions import answer_with_release

        history = self._container.history()
        combined = CombinedSearch(
            self.config,
            history.require_commits,
            history.existing_commit_search,
            history.find_date,
            cache(self._open_names),
        )
        find_files = partial(self._search_files_and_images, explain=explain)
        search = partial(combined.search, find_files=find_files, explain=explain)
        return answer_with_release(query, search, history.existing_commit_search)

    def _open_names(self) -> NameLookup:
        from rootle.app.changed_places import open_name_lookup

        return open_name_lookup(self.root, self._container)

    def _search_files_and_images(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        search_files = partial(self._search_files, explain=explain)
        images = self._container.images()
        if images is None:
            return search_files(query)
        return images.search.search(query, search_files, explain=explain)

    def _search_files(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        staleness = self._container.refresher().refresh(ignore_progress, fully=False)
        self._subscriptions.publish_updates_of_others()
        coverage = self._measure_coverage()
        is_stale = staleness is not None
        response = self._container.agent().search(query, explain=explain, stale=is_stale)
        embedding = ("embedding",) if self._container.model_choice().note else ()
        unfinished = ("partial",) if coverage is not None else ()
        failed = tuple(f"source {name}" for name in self._container.failed_sources())
        degraded = (*embedding, *unfinished, *failed)
        if not degraded and staleness is None and coverage is None:
            return response
        return replace(
            response,
            degraded=(*degraded, *response.degraded),
            staleness=staleness,
            coverage=coverage,
        )

    def _measure_coverage(self) -> IndexCoverage | None:
        """Return the searchable part of an unfinished index; None if it is complete."""
        if not self._may_search_unfinished or self._container.refresher().has_index:
            return None
        from rootle.indexing.status import measure_coverage

        return measure_coverage(self._container.indexer())


def _add_options(query: SearchQuery, given: Mapping[str, Any], at: str | None) -> SearchQuery:
    """Return the query with the options of a call. Raise QueryError if one has the wrong type."""
    options = check_query_types(replace(SearchQuery("", at=at), **given))
    if options.context or options.budget is not None or options.exclude:
        budget = query.budget if options.budget is None else options.budget
        exclude = (*query.exclude, *options.exclude)
        query = replace(query, context=True, budget=budget, exclude=exclude)
    return query if at is None else replace(query, at=at)


def _search_beginning(
    query: SearchQuery, search: Callable[[SearchQuery], SearchResponse]
) -> SearchResponse:
    """Search for a shortened question, and say in a note that it was shortened."""
    from rootle.search.long_question import note_shortened, shorten_question

    shortened = replace(query, text_query=shorten_question(query.text_query))
    return note_shortened(query, search(shortened))


def _explain_selection(response: SearchResponse, query: SearchQuery) -> SearchResponse:
    """Return a response whose interpretation contains the `in:` and `at:` of the query.

    They select the indexes to search, so the search of a single index does not see them.
    """
    if response.interpretation is None:
        return response
    from rootle.search.query.operators import parse_query

    kinds = parse_query(query.text_query).kinds
    shown = replace(response.interpretation, kinds=kinds, at=query.at or "")
    return replace(response, interpretation=shown)
