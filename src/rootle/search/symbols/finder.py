"""Find the definitions and the uses of a name.

The index stores no references. Its word index lists the files that contain a name, and these files
are parsed when a user asks (docs/decisions/0041-references-are-found-when-asked.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from rootle.index.reader import IndexReader
from rootle.search.symbols.bases.alias_targets import AliasTarget, AliasTargets
from rootle.search.symbols.bases.extended_types import ExtendedTypes
from rootle.search.symbols.bases.foreign_bases import ForeignBases, select_bases
from rootle.search.symbols.covering_tests.file_tests import FileTests
from rootle.search.symbols.definitions import FoundDefinition, has_owner, is_test_place, split_name
from rootle.search.symbols.name_rarity import is_rare_name
from rootle.search.symbols.name_scan import MAX_SIMILAR, NameScan
from rootle.search.symbols.name_variants import find_variants
from rootle.search.symbols.parsed_files import ParsedFiles
from rootle.search.symbols.scan_limits import (
    DEFINITION_SCAN,
    FULL_SCAN,
    MEMBER_SCAN,
    OWNED_SCAN,
    QUICK_SCAN,
)
from rootle.search.symbols.symbol_cursor import decode_offset, encode_offset
from rootle.search.symbols.symbol_request import DEFAULT_LIMIT, SymbolRequest
from rootle.search.symbols.uses.assigned_value import put_value_first
from rootle.search.symbols.uses.name_uses import NameUses
from rootle.search.symbols.uses.use_rules import PROSE_KINDS, USE_KINDS, use_order
from rootle.syntax.files.file_symbols import COMPONENT, other_spelling
from rootle.text.languages import CODE_EXTENSIONS
from rootle.types import Symbol, SymbolAnswer, SymbolUse


class SymbolFinder:
    """Answers questions about names. Thread-safe."""

    def __init__(self) -> None:
        self._parsed = ParsedFiles()

    def find(self, index: IndexReader, request: SymbolRequest) -> SymbolAnswer:
        """Return the definitions of a name and a page of its uses.

        Raise StaleCursorError if the cursor is unreadable or from another request or generation.
        """
        files = FileTests(index, self._parsed, request, may_be_word=False)
        scan = NameScan(index, self._parsed, replace(request, name=files.name), FULL_SCAN)
        definitions = scan.definitions()
        targets = self._targets(index, scan, definitions)
        return self._answer(index, request, scan, definitions, targets, files)

    def find_definitions(self, index: IndexReader, name: str) -> tuple[list[Symbol], int]:
        """Return the definitions of a name, and the cost of finding them.

        Unlike `find`, this does not count the uses, so only files that define the name are read.
        The cost is the number of characters that were read, where each character that was parsed
        counts as `PARSING_COST` characters.
        """
        scan = NameScan(index, self._parsed, SymbolRequest(name), DEFINITION_SCAN)
        definitions = scan.definitions()
        targets = self._targets(index, scan, definitions)
        return list(_add_targets(definitions, targets)), scan.cost

    def find_few_definitions(self, index: IndexReader, name: str, most: int) -> list[Symbol]:
        """Return the definitions of a name; none if it is too common.

        A name is too common if code outside of tests has more than `most` definitions of it. If the
        name has no owner, files are read only until this is known.
        """
        scan = NameScan(index, self._parsed, SymbolRequest(name), DEFINITION_SCAN)
        if scan.defines_more_than(most):
            return []
        definitions = scan.definitions()
        found = _add_targets(definitions, self._targets(index, scan, definitions))
        code = [one for one in found if one.language in CODE_EXTENSIONS]
        code = [one for one in code if not is_test_place(one.path, one.scope)] or code
        return code if len(code) <= most else []

    def _targets(
        self, index: IndexReader, scan: NameScan, definitions: Sequence[FoundDefinition]
    ) -> Sequence[AliasTarget]:
        """Return aliases with their targets. If there are too many, mark the scan as incomplete."""
        aliases = AliasTargets(index, self._parsed)
        found = aliases.find(definitions)
        scan.has_all_definitions &= aliases.is_complete
        return found

    def find_with_files(
        self,
        index: IndexReader,
        request: SymbolRequest,
        *,
        is_quick: bool = False,
        may_be_word: bool = False,
    ) -> tuple[SymbolAnswer, Mapping[str, int]] | None:
        """Return the answer of `find`, and the ids of the files that contain the name, by path.

        Return None if definitions are requested and there are none. Set `may_be_word` if the name
        may be an ordinary word: then fields and similar definitions, which are found only by
        reading files, are ignored unless the name is rare. Set `is_quick` to read less of the
        files.
        """
        files = FileTests(index, self._parsed, request, may_be_word=may_be_word)
        named = replace(request, name=files.name)
        quick = OWNED_SCAN if has_owner(request.name) else QUICK_SCAN
        limits = quick if is_quick else FULL_SCAN
        is_word = may_be_word and not is_rare_name(request.name, index)
        if is_word:
            limits = replace(limits, member_chars=0)
        scan = NameScan(index, self._parsed, named, limits)
        definitions = scan.definitions()
        if not definitions and is_quick and not is_word:
            scan = NameScan(index, self._parsed, named, MEMBER_SCAN)
            definitions = scan.definitions()
        if request.aspect == "definitions" and not definitions:
            return None
        targets = self._targets(index, scan, definitions)
        answer = self._answer(index, request, scan, definitions, targets, files)
        ids = {one.definition.symbol.path: one.file_id for one in targets}
        return answer, {**scan.file_ids(), **ids, **files.ids}

    def _answer(
        self,
        index: IndexReader,
        request: SymbolRequest,
        scan: NameScan,
        definitions: Sequence[FoundDefinition],
        targets: Sequence[AliasTarget],
        files: FileTests,
    ) -> SymbolAnswer:
        """Return the answer; `targets` are the targets of aliases among `definitions`."""
        has_all_types = has_all_implementations = has_all_others = True
        local_variables = 0
        mentions: tuple[str, ...] = ()
        if request.aspect == "definitions":
            uses: list[SymbolUse] = []
            (total, mentions), counts = scan.count_mentions(), Counter[str]()
        else:
            found = NameUses(scan)
            others, has_all_others = self._find_other_spelling(index, scan, definitions)
            uses = files.add_to(_merge_uses(found.find(), others))
            has_all_types = found.has_all_types
            has_all_implementations = found.has_all_implementations
            if request.value:
                uses = put_value_first(uses, request.name, request.value)
            total, counts = len(uses), Counter(use.kind for use in uses)
            local_variables = found.local_variables
            definitions = scan.definitions()
        if request.aspect == "implementations":
            definitions = select_bases(definitions, uses)
            uses, definitions = self._drop_foreign(index, request, uses, definitions)
            total, counts = len(uses), Counter(use.kind for use in uses)
        offset, page, cursor = _select_page(index, request, uses)
        symbols = _add_targets(definitions, targets)
        symbols += tuple(files.definitions({symbol.path for symbol in symbols}))
        types = ExtendedTypes(index, self._parsed)
        extended: tuple[str, ...] = ()
        if request.aspect == "implementations":
            extended = types.select_from(page)
        return SymbolAnswer(
            request.name,
            request.aspect,
            symbols,
            page,
            offset,
            total,
            {kind: counts[kind] for kind in USE_KINDS if counts[kind]},
            scan.is_complete and has_all_implementations and has_all_others and files.is_complete,
            cursor,
            self._similar(index, scan, symbols),
            scan.has_all_definitions,
            request.files is not None and (request.aspect == "definitions" or not symbols),
            uses_by_name=sum(not (use.target or use.kind in PROSE_KINDS) for use in uses),
            has_all_types=has_all_types,
            unread_files=scan.unread_files,
            extended=extended,
            has_all_extended=types.is_complete,
            local_variables=local_variables,
            mentions=mentions,
            is_only_definition=scan.has_all_definitions and len(scan.list_found()) == 1,
        )

    def _find_other_spelling(
        self, index: IndexReader, scan: NameScan, definitions: Sequence[FoundDefinition]
    ) -> tuple[list[SymbolUse], bool]:
        """Return the uses of a component by the other spelling of its name: cart-row for CartRow.

        Lines that also contain the first spelling are left out, because they are listed already.
        The second value is whether the uses are complete.
        """
        components = {one.place for one in definitions if one.symbol.kind == COMPONENT}
        name = other_spelling(scan.name) if components and not has_owner(scan.request.name) else ""
        if not name:
            return [], True
        other = NameScan(index, self._parsed, replace(scan.request, name=name), scan.limits)
        other.definitions()
        uses = NameUses(other).find()
        rows = {
            (found.state.path, at[0] + 1) for found in scan.list_read() for at in found.positions
        }
        new = [one for one in uses if one.target in components and (one.path, one.line) not in rows]
        return new, other.is_complete

    def _similar(
        self, index: IndexReader, scan: NameScan, symbols: Sequence[Symbol]
    ) -> tuple[str, ...]:
        """Return the most similar defined names.

        Return none if code outside of tests defines the name. If only tests define it, return names
        with the same letters.
        """
        if any(not is_test_place(symbol.path, symbol.scope) for symbol in symbols):
            return ()
        variants = find_variants(index, self._parsed, scan)
        found = [_describe_place(one.symbol) for one in variants]
        if not symbols:
            known = {one.symbol.name for one in variants}
            found += [name for name in scan.similar_names() if name not in known]
        return tuple(found)[:MAX_SIMILAR]

    def _drop_foreign(
        self,
        index: IndexReader,
        request: SymbolRequest,
        uses: list[SymbolUse],
        definitions: list[FoundDefinition],
    ) -> tuple[list[SymbolUse], list[FoundDefinition]]:
        """Return the implementations of these definitions.

        If they all implement a name of another library, return them without the definitions.
        """
        if has_owner(request.name) or not definitions:
            return uses, definitions
        bases = ForeignBases(index, self._parsed, split_name(request.name)[1], definitions)
        kept = [use for use in uses if not bases.is_foreign(use)]
        return (uses, []) if uses and not kept else (kept, definitions)


def _merge_uses(uses: list[SymbolUse], others: list[SymbolUse]) -> list[SymbolUse]:
    if not others:
        return uses
    order = partial(use_order, is_owned=False, evidence=lambda _: 0)
    return sorted([*uses, *others], key=order)


def _select_page(
    index: IndexReader, request: SymbolRequest, uses: Sequence[SymbolUse]
) -> tuple[int, tuple[SymbolUse, ...], str | None]:
    """Return the position and the uses of the requested page, and the cursor of the next one.

    Raise StaleCursorError in the same cases as `SymbolFinder.find`.
    """
    offset = request.offset
    if request.cursor is not None:
        offset = decode_offset(request.cursor, request.digest_text, index.generation)
    limit = DEFAULT_LIMIT if request.limit is None else request.limit
    end = min(offset + limit, len(uses))
    if not request.has_mentions:
        end = min(end, sum(use.kind not in PROSE_KINDS for use in uses))
    page = tuple(uses[offset:end])
    end = offset + len(page)
    if end >= len(uses):
        return offset, page, None
    return offset, page, encode_offset(end, request.digest_text, index.generation)


def _describe_place(symbol: Symbol) -> str:
    """Return a text such as "type Config > MaxSize (config.go:12)"."""
    scope = f"{symbol.scope} > " if symbol.scope else ""
    return f"{scope}{symbol.name} ({symbol.path}:{symbol.line})"


def _add_targets(
    definitions: Sequence[FoundDefinition], targets: Sequence[AliasTarget]
) -> tuple[Symbol, ...]:
    """Return the definitions to which aliases refer, and then `definitions` with marked aliases.

    A definition that is already listed is not repeated.
    """
    of = {one.alias.place: one.definition for one in targets}
    symbols = [
        replace(one.symbol, alias_of=of[one.place].symbol.name) if one.place in of else one.symbol
        for one in definitions
    ]
    known = {(symbol.path, symbol.line) for symbol in symbols}
    new = {one.definition.place: one.definition.symbol for one in targets}
    return (
        *(one for one in new.values() if (one.path, one.line) not in known),
        *symbols,
    )
