"""Find the definitions and the uses of a name.

The index stores no references. Its word index lists the files that contain a name, and these files
are parsed when a user asks (docs/decisions/0041-references-are-found-when-asked.md).
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Final

from rootle.index.reader import ChunkRow, FileState, IndexReader
from rootle.search.query.spelling import find_nearest_names
from rootle.search.symbols.definitions import (
    FoundDefinition,
    definer_order,
    find_definitions,
    find_definitions_in,
    find_members,
    is_test_place,
    package_names,
    rank_for_members,
    scope_of,
    split_name,
)
from rootle.search.symbols.parsed_files import (
    FileOccurrences,
    ParsedFiles,
    classify_line,
    read_occurrences,
)
from rootle.search.symbols.resolution import Resolver, base_names
from rootle.search.symbols.symbol_cursor import decode_offset, encode_offset
from rootle.search.symbols.symbol_request import DEFAULT_LIMIT, SymbolRequest
from rootle.syntax.references import OccurrenceRole, classify
from rootle.text.languages import CODE_EXTENSIONS
from rootle.text.terms import MAX_WORD_CHARS, WORD, whole_identifier
from rootle.types import SymbolAnswer, SymbolUse


@dataclass(frozen=True, slots=True)
class ScanLimits:
    """How much is read for one name. Beyond a limit, counts are lower bounds ("at least").

    In files that are not parsed, uses are classified by the text of their lines, and definitions
    are found by the text of their lines or by the chunks that define the name.
    """

    files: int
    read_chars: int
    parsed_chars: int
    definitions: int
    reads_unparsed: bool  # whether definitions are also looked up in files that are not parsed
    member_chars: int  # to parse for fields and the like, if nothing else has the name


# Reading 60 million characters takes about a second, and so does parsing two million.
FULL_SCAN: Final = ScanLimits(
    4_000,
    60_000_000,
    2_000_000,
    definitions=sys.maxsize,
    reads_unparsed=True,
    member_chars=2_000_000,
)
# For a query that is only a name, and may be meant as a word.
QUICK_SCAN: Final = ScanLimits(
    100, 500_000, 200_000, definitions=10, reads_unparsed=False, member_chars=0
)
# For a query that is only a name, if nothing but a field or the like may have it.
_MEMBER_SCAN: Final = replace(QUICK_SCAN, files=400, read_chars=3_000_000, member_chars=200_000)
# For a name with its owner, such as Class.method, of which there are few definitions.
_OWNED_SCAN: Final = replace(
    QUICK_SCAN, parsed_chars=FULL_SCAN.parsed_chars, definitions=FULL_SCAN.definitions
)
# For the classes with a name whose base classes are looked up.
_OWNER_SCAN: Final = replace(_OWNED_SCAN, definitions=200)
_MAX_BASES: Final = 5  # levels of base classes
_MAX_DEFINERS: Final = 3_000  # chunks
_MAX_LINE: Final = 200
_MAX_SIMILAR: Final = 5

# The kinds of uses, in the order in which they are listed.
_KINDS: Final = {
    kind: at
    for at, kind in enumerate(
        ("call", "implementation", "reference", "type", "import", "comment", "string", "document")
    )
}
_PROSE_KINDS: Final = frozenset({"comment", "string", "document"})


class SymbolFinder:
    """Answers questions about names. Thread-safe."""

    def __init__(self) -> None:
        self._parsed = ParsedFiles()

    def find(self, index: IndexReader, request: SymbolRequest) -> SymbolAnswer:
        """Return the definitions of a name and a page of its uses.

        Raise StaleCursorError if the cursor is unreadable or from another request or generation.
        """
        scan = _Scan(index, self._parsed, request, FULL_SCAN)
        return self._answer(index, request, scan, scan.definitions())

    def find_with_files(
        self,
        index: IndexReader,
        request: SymbolRequest,
        *,
        is_quick: bool = False,
        may_be_word: bool = False,
    ) -> tuple[SymbolAnswer, Mapping[str, int]] | None:
        """Return the answer of `find`, and the ids of the files that contain the name, by path.

        Return None if definitions are requested and there are none. If the name may be an ordinary
        word (`may_be_word`), fields and the like do not count, so that this is known before any
        file is read. If `is_quick`, less is read for a name that many files define or contain.
        """
        quick = _OWNED_SCAN if split_name(request.name)[0] else QUICK_SCAN
        limits = quick if is_quick else FULL_SCAN
        if may_be_word:
            limits = replace(limits, member_chars=0)
        scan = _Scan(index, self._parsed, request, limits)
        definitions = scan.definitions()
        if not definitions and is_quick and not may_be_word:
            scan = _Scan(index, self._parsed, request, _MEMBER_SCAN)
            definitions = scan.definitions()
        if request.aspect == "definitions" and not definitions:
            return None
        return self._answer(index, request, scan, definitions), scan.file_ids()

    def _answer(
        self,
        index: IndexReader,
        request: SymbolRequest,
        scan: _Scan,
        definitions: Sequence[FoundDefinition],
    ) -> SymbolAnswer:
        offset = request.offset
        if request.cursor is not None:
            offset = decode_offset(request.cursor, request.digest_text, index.generation)
        if request.aspect == "definitions":
            uses: list[SymbolUse] = []
            total, counts = scan.count_mentions(), Counter[str]()
        else:
            uses = scan.uses()
            total, counts = len(uses), Counter(use.kind for use in uses)
            definitions = scan.definitions()
        limit = DEFAULT_LIMIT if request.limit is None else request.limit
        page = uses[offset : offset + limit]
        end = offset + len(page)
        cursor = None
        if end < len(uses):
            cursor = encode_offset(end, request.digest_text, index.generation)
        symbols = tuple(found.symbol for found in definitions)
        return SymbolAnswer(
            request.name,
            request.aspect,
            symbols,
            tuple(page),
            offset,
            total,
            {kind: counts[kind] for kind in _KINDS if counts[kind]},
            scan.is_complete,
            cursor,
            () if symbols else scan.similar_names(),
            scan.has_all_definitions,
            request.files is not None and (request.aspect == "definitions" or not symbols),
        )


class _Scan:
    """The files that contain one name, read and parsed for one request."""

    def __init__(
        self, index: IndexReader, parsed: ParsedFiles, request: SymbolRequest, limits: ScanLimits
    ) -> None:
        self._index = index
        self._parsed = parsed
        self._request = request
        self._limits = limits
        self._owners, self._name = split_name(request.name)
        self._key = whole_identifier("".join(WORD.findall(self._name)))
        self._files: dict[int, FileOccurrences | None] = {}
        self._definitions: dict[int, dict[tuple[int, int], FoundDefinition]] = {}
        self._budget = limits.parsed_chars
        self._packages: dict[str, frozenset[str]] = {}
        self._unread_definers: set[int] = set()
        self._bases: dict[str, Sequence[str]] = {}
        self._has_unparsed = False
        self.has_all_definitions = True

    def definitions(self) -> list[FoundDefinition]:
        """Return the definitions in the files that define the name, the likeliest first."""
        count = 0
        for state in self._definers:
            is_beyond = self._budget <= 0 or count >= self._limits.definitions
            if not is_beyond or state.id in self._definitions:
                count += len(self._definitions_in(state))
                continue
            self.has_all_definitions = False
            if not (self._limits.reads_unparsed and self._definitions_in(state)):
                self._unread_definers.add(state.id)
        owned = self._select_owned(self._list_found())
        if not owned and self._limits.member_chars:
            self._find_members()
            owned = self._select_owned(self._list_found())
        if self._request.aspect == "definitions":
            owned = [one for one in owned if not self._is_excluded(one.symbol.signature)]
        distinct: dict[tuple[str, int, int], FoundDefinition] = {}
        for one in sorted(owned, key=_definition_order):
            # The names at both ends of `typedef struct name { … } name;` are one definition.
            symbol = one.symbol
            distinct.setdefault((symbol.path, symbol.start_line, symbol.end_line), one)
        return list(distinct.values())

    def _list_found(self) -> list[FoundDefinition]:
        return [one for some in self._definitions.values() for one in some.values()]

    def _find_members(self) -> None:
        """Add the fields, attributes and aliases with the name, in the files that are parsed."""
        self._budget = min(self._budget, self._limits.member_chars)
        ranks = {
            state.id: rank_for_members(found)
            for state in self._states
            if (found := self._read(state)) is not None
        }
        candidates = [state for state in self._states if ranks.get(state.id) is not None]
        for state in sorted(
            candidates, key=lambda state: (is_test_place(state.path, ""), ranks[state.id])
        ):
            definitions = self._definitions_in(state)
            parsed = self._files[state.id]
            if parsed is not None and parsed.tree is not None:
                self._definitions[state.id] = find_members(parsed) | definitions
            elif state.language in CODE_EXTENSIONS:
                self.has_all_definitions = False
        if len(self._states) < len(self._ranked_ids):
            self.has_all_definitions = False

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing from the number of uses."""
        if len(self._states) < len(self._ranked_ids):
            return False
        if self._request.aspect == "definitions":
            return not self._unread_definers
        # Without a syntax tree, implementations and tests inside other files are not recognized.
        return self._request.aspect == "uses" or not self._has_unparsed

    def count_mentions(self) -> int:
        """Return the number of lines that contain the name, except for its definitions.

        Files whose definitions were not read are left out.
        """
        lines = 0
        for state in self._states:
            occurrences = None if state.id in self._unread_definers else self._read(state)
            if occurrences is None:
                continue
            defined = {row for row, _ in self._definitions.get(state.id, {})}
            rows = {row for row, _ in occurrences.positions} - defined
            lines += sum(not self._is_excluded(occurrences.line(row)) for row in rows)
        return lines

    def uses(self) -> list[SymbolUse]:
        """Return the sorted uses for the requested aspect."""
        ordered = sorted(self._states, key=lambda state: is_test_place(state.path, ""))
        for state in ordered:
            self._definitions_in(state)
        everything = self._list_found()
        selected = self._select_owned(everything)
        wanted = {found.place for found in selected}
        is_in_package = any(self._is_in_package(found) for found in selected)
        resolver = Resolver(everything)
        found = [use for state in ordered for use in self._uses_in(state, resolver)]
        found = [use for use in found if self._is_wanted(use, wanted, is_in_package)]
        found = [use for use in found if self._has_aspect(use)]
        if self._request.aspect == "implementations":
            found += self._overrides(everything, wanted)
        return sorted(found, key=lambda use: _use_order(use, is_owned=bool(self._owners)))

    def file_ids(self) -> Mapping[str, int]:
        """Return the ids of the files that contain the name, by path."""
        return {found.state.path: at for at, found in self._files.items() if found is not None}

    def similar_names(self) -> tuple[str, ...]:
        """Return the defined names that are nearest to the name."""
        key = self._key
        spelled = self._index.symbols_of(self._index.sparse.definers([key], 50)[key])
        same = [name for name in spelled if whole_identifier(name) == key and name != self._name]
        near = find_nearest_names(key, self._index)
        others = [one.symbol for some in self._definitions.values() for one in some.values()]
        qualified = [f"{one.scope} > {one.name}" if one.scope else one.name for one in others]
        found = dict.fromkeys([*qualified, *same, *near])
        found.pop(self._request.name, None)
        return tuple(found)[:_MAX_SIMILAR]

    @cached_property
    def _ranked_ids(self) -> Sequence[int]:
        """The ids of the files with the words of the name, by BM25."""
        terms = self._terms(self._name)
        if not terms:
            return []
        return self._index.sparse.files_with(terms, [], self._limits.files + 1, self._request.files)

    @cached_property
    def _states(self) -> list[FileState]:
        ids = self._ranked_ids[: self._limits.files]
        states = self._index.files(ids)
        ordered = [states[at] for at in ids]
        ends = accumulate(state.chars for state in ordered)
        # At least one file is read.
        return ordered[: 1 + sum(end < self._limits.read_chars for end in ends)]

    def _terms(self, name: str) -> list[str]:
        words = [whole_identifier(word) for word in WORD.findall(name)]
        fitting = [word for word in words if word and len(word) <= MAX_WORD_CHARS]
        return [stem for word in fitting for stem in self._index.sparse.stems(word)]

    @cached_property
    def _definers(self) -> list[FileState]:
        """The files that may define the name, those with likelier definitions first."""
        chunks = self._defining_chunks
        if sum(map(len, chunks.values())) >= _MAX_DEFINERS:
            self.has_all_definitions = False
        files = dict.fromkeys(chunks)
        allowed = self._request.files
        if allowed is not None and self._request.aspect == "definitions":
            files = dict.fromkeys(at for at in files if at in allowed)
        states = list(self._index.files(files).values())
        inside = {
            at for at, rows in chunks.items() if any(self._is_in_owner(row.scope) for row in rows)
        }
        return sorted(
            self._with_owner(states),
            key=lambda state: (state.id not in inside, *definer_order(state.path, self._name)),
        )

    def _with_owner(self, states: Sequence[FileState]) -> Sequence[FileState]:
        """Return the files that contain the requested owner, or whose path does.

        If there are none, return all files: their definitions are suggested as similar names.
        """
        if not self._owners:
            return states
        owner = self._owners[0]
        terms = self._terms(owner)
        ids = [state.id for state in states]
        if not terms or not ids:
            return states
        found = set(self._index.sparse.files_with(terms, [], len(ids), ids))
        kept = [state for state in states if state.id in found or owner in _path_names(state.path)]
        return kept or states

    def _is_in_owner(self, scope: str) -> bool:
        """Return whether the path of definitions of a chunk contains the requested owner."""
        return bool(self._owners) and self._owners[0] in re.findall(r"\w+", scope)

    def _read(self, state: FileState) -> FileOccurrences | None:
        if state.id not in self._files:
            self._files[state.id] = read_occurrences(self._index, state, self._name)
        return self._files[state.id]

    def _definitions_in(self, state: FileState) -> dict[tuple[int, int], FoundDefinition]:
        if state.id not in self._definitions:
            found = self._read(state)
            if found is not None:
                found = self._parse(found)
                self._files[state.id] = found
            self._definitions[state.id] = self._find_definitions(found) if found else {}
        return self._definitions[state.id]

    def _find_definitions(self, found: FileOccurrences) -> dict[tuple[int, int], FoundDefinition]:
        definitions = find_definitions(found)
        if definitions or found.tree is not None:
            return definitions
        # The index lists the chunks that define the name, also of files that are not parsed here.
        return find_definitions_in(found, self._defining_chunks.get(found.state.id, ()))

    @cached_property
    def _defining_chunks(self) -> Mapping[int, Sequence[ChunkRow]]:
        """The chunks that define the name, by file."""
        key = self._key
        ids = self._index.sparse.definers([key], _MAX_DEFINERS)[key] if key else []
        chunks: defaultdict[int, list[ChunkRow]] = defaultdict(list)
        for row in self._index.chunks(ids).values():
            chunks[row.file_id].append(row)
        return chunks

    def _parse(self, found: FileOccurrences) -> FileOccurrences:
        if found.state.language not in CODE_EXTENSIONS:
            return found
        if self._budget <= 0:
            self._has_unparsed = True
            return found
        self._budget -= len(found.text)
        return replace(found, tree=self._parsed.tree_of(found.state, found.text))

    def _select_owned(self, found: Sequence[FoundDefinition]) -> list[FoundDefinition]:
        """Return the definitions with the requested owner, or else in its base classes.

        A module counts as an owner.
        """
        if not self._owners:
            return list(found)
        owner = self._owners[0]
        exact = [one for one in found if owner in one.owners[:1]]
        others = [
            one
            for one in found
            if owner in one.owners
            or owner in _path_names(one.symbol.path)
            or self._is_in_package(one)
        ]
        return exact or others or self._select_inherited(found)

    def _select_inherited(self, found: Sequence[FoundDefinition]) -> list[FoundDefinition]:
        """Return the definitions in the nearest base classes of the requested owner."""
        names = list(self._owners[:1]) if found else []
        known = set(names)
        for _ in range(_MAX_BASES):
            bases = [base for name in names for base in self._bases_of(name)]
            names = [base for base in dict.fromkeys(bases) if base not in known]
            known.update(names)
            selected = [one for one in found if one.owners and one.owners[0] in names]
            if selected or not names:
                return selected
        return []

    def _bases_of(self, owner: str) -> Sequence[str]:
        """Return the names of the base classes of the likeliest classes with a name."""
        if owner not in self._bases:
            scan = _Scan(self._index, self._parsed, SymbolRequest(owner), _OWNER_SCAN)
            scan.definitions()
            self._bases[owner] = [
                name
                for found in scan._files.values()
                if found is not None and found.tree is not None
                for units in found.tree.definitions_of(owner).values()
                if units and units[-1].symbol == owner and units[-1].is_box
                for name in base_names(units[-1])
            ]
        return self._bases[owner]

    def _is_in_package(self, found: FoundDefinition) -> bool:
        """Return whether the requested owner is the package that a definition belongs to."""
        if not self._owners or found.owners:
            return False
        return self._owners[0] in self._packages_of(found.symbol.path)

    def _packages_of(self, path: str) -> frozenset[str]:
        if path not in self._packages:
            files = (one for one in self._files.values() if one is not None)
            self._packages |= {one.state.path: package_names(one) for one in files}
        return self._packages.get(path, frozenset())

    def _uses_in(self, state: FileState, resolver: Resolver) -> Iterator[SymbolUse]:
        found = self._files.get(state.id)
        if found is None:
            return
        defined = self._definitions[state.id]
        best: dict[int, SymbolUse] = {}
        for at in found.positions:
            if at in defined or self._is_excluded(found.line(at[0])):
                continue
            use = self._make_use(found, at, resolver)
            known = best.get(at[0])
            if known is None or _KINDS[use.kind] < _KINDS[known.kind]:
                best[at[0]] = use
        yield from best.values()

    def _make_use(
        self, found: FileOccurrences, at: tuple[int, int], resolver: Resolver
    ) -> SymbolUse:
        row, column = at
        line = found.line(row)
        scope, target = "", ""
        if found.tree is None:
            size = len(found.name)
            reference = OccurrenceRole(classify_line(line, column, size, found.state.language))
        else:
            size = len(found.name.encode("utf-8", "replace"))
            reference = classify(found.tree, row, column, size)
            scope = scope_of(list(found.tree.units_at(row)))
            resolved = resolver.resolve(found, row, reference)
            target = resolved.place if resolved is not None else ""
        path = found.state.path
        is_test = is_test_place(path, scope)
        text = line.strip()[:_MAX_LINE]
        kind = reference.kind
        return SymbolUse(path, row + 1, kind, scope, text, is_test, target)

    def _is_wanted(self, use: SymbolUse, wanted: Collection[str], is_in_package: bool) -> bool:
        """Return whether a use may lead to a wanted definition."""
        if not self._owners:
            return True
        # A member of a class cannot be imported, so an import refers to another definition.
        return use.target in wanted if use.target else is_in_package or use.kind != "import"

    def _is_excluded(self, line: str) -> bool:
        excluded = self._request.excluded
        return excluded is not None and excluded.search(line) is not None

    def _has_aspect(self, use: SymbolUse) -> bool:
        if self._request.aspect == "tests":
            return use.is_test and use.kind not in _PROSE_KINDS
        if self._request.aspect == "implementations":
            return use.kind == "implementation"
        return True

    def _overrides(
        self, definitions: Sequence[FoundDefinition], wanted: Collection[str]
    ) -> Iterator[SymbolUse]:
        """Yield the other definitions with the name of a method. They may implement this method."""
        if not self._owners:
            return
        for one in definitions:
            symbol = one.symbol
            is_other = one.place not in wanted and not self._is_excluded(symbol.signature)
            if is_other and one.owners:
                is_test = is_test_place(symbol.path, symbol.scope)
                yield SymbolUse(
                    symbol.path,
                    symbol.line,
                    "implementation",
                    symbol.scope,
                    symbol.signature,
                    is_test,
                )


def _path_names(path: str) -> Sequence[str]:
    return re.split(r"[/.]", path)


def _definition_order(found: FoundDefinition) -> tuple[object, ...]:
    return (*found.order, found.symbol.path, found.symbol.line)


def _use_order(use: SymbolUse, *, is_owned: bool) -> tuple[object, ...]:
    is_prose = use.kind in _PROSE_KINDS
    # If the name is a member, its uses without a target come last: their class is not known.
    is_doubtful = is_owned and not use.target
    return (is_prose, is_doubtful, use.is_test, _KINDS[use.kind], use.path, use.line)
