"""The files that contain a name, read and parsed for one request."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Final

from rootle.index.reader import ChunkRow, FileState, IndexReader
from rootle.search.query.spelling import find_nearest_names
from rootle.search.symbols.bases.base_classes import aliased_classes, bases_in
from rootle.search.symbols.candidate_files import CandidateFiles
from rootle.search.symbols.definitions import (
    FoundDefinition,
    find_definitions,
    find_definitions_in,
    is_test_place,
    path_in_name,
    split_name,
)
from rootle.search.symbols.member_definitions import (
    declared_places,
    drop_object_keys,
    find_members,
    rank_for_members,
)
from rootle.search.symbols.parsed_files import (
    FileOccurrences,
    ParsedFiles,
    read_definer,
    read_occurrences,
)
from rootle.search.symbols.scan_limits import OWNER_SCAN, PARSING_COST, ScanLimits
from rootle.search.symbols.symbol_request import SymbolRequest
from rootle.search.symbols.uses.owner_filter import CLASSES, OwnerFilter
from rootle.syntax.assignments import SETTINGS_LANGUAGES
from rootle.syntax.grammars import GRAMMARS
from rootle.syntax.source_tree import Position
from rootle.text.languages import CODE_EXTENSIONS
from rootle.text.terms import whole_identifier

MAX_SIMILAR: Final = 5
MAX_MENTIONS: Final = 3
# All files that are parsed for implementations are likely to have one, so more of them are parsed.
_HEAD_FACTOR: Final = 2


class NameScan:
    """The files that contain one name, read and parsed for one request."""

    def __init__(
        self, index: IndexReader, parsed: ParsedFiles, request: SymbolRequest, limits: ScanLimits
    ) -> None:
        self.index = index
        self.parsed = parsed
        self.request = request
        self.limits = limits
        owners, self.name = split_name(request.name)
        self.owner = owners[0] if owners else ""
        self.path = path_in_name(request.name)
        self.candidates = CandidateFiles(index, request, limits)
        self.files: dict[int, FileOccurrences | None] = {}
        # The functions must not refer to this scan: a reference cycle would keep the index open.
        self.owner_filter = OwnerFilter(
            self.owner,
            partial(_list_read, self.files),
            partial(self._find_bases, index, parsed),
            owners[1:],
            self.path,
        )
        self._definitions: dict[int, dict[Position, FoundDefinition]] = {}
        self._budget = limits.parsed_chars
        if request.aspect == "implementations":
            self._budget *= _HEAD_FACTOR
        self._unparsed_chars = 0
        self._unread_definers: set[int] = set()
        self._unparsed_files = 0
        self._parsed_chars = 0
        self._unlisted: dict[int, Collection[Position]] = {}
        self._excluded: dict[tuple[int, int], bool] = {}
        self._has_all_members = False
        self.has_all_definitions = True

    def definitions(self) -> list[FoundDefinition]:
        """Return the definitions in the files that define the name, the likeliest first."""
        if not self.candidates.has_all_definers:
            self.has_all_definitions = False
        count = 0
        for state in self.candidates.definers:
            is_beyond = self._budget <= 0 or count >= self.limits.definitions
            if not is_beyond or state.id in self._definitions:
                count += len(self.definitions_in(state))
                continue
            self.has_all_definitions = False
            if not self._may_read_unparsed(state, count):
                self._unread_definers.add(state.id)
            elif defined := self.definitions_in(state):
                count += len(defined)
            else:
                self._unread_definers.add(state.id)
        if self.limits.adds_members and self.request.aspect == "definitions":
            self.add_members(parses=True)
        owned = self.owner_filter.select(self.list_found())
        self.has_all_definitions &= self.owner_filter.has_all_bases
        if not owned and self.limits.member_chars:
            self._merge(self._members)
            self._has_all_members = True
            owned = self.owner_filter.select(self.list_found())
        if any(map(_is_in_code, owned)):
            # The keys of settings give a value to a name that code defines. A test that has a
            # variable with the name of a setting does not define the setting.
            for state in self.candidates.definers:
                if state.language in SETTINGS_LANGUAGES:
                    self._definitions[state.id] = {}
            owned = [one for one in owned if one.symbol.language not in SETTINGS_LANGUAGES]
        if self.request.aspect == "definitions":
            owned = [one for one in owned if not self.is_excluded(one.symbol.signature)]
        distinct: dict[tuple[str, int, int], FoundDefinition] = {}
        for one in sorted(owned, key=self._definition_order):
            # The names at both ends of `typedef struct name { … } name;` are one definition.
            symbol = one.symbol
            distinct.setdefault((symbol.path, symbol.start_line, symbol.end_line), one)
        return list(distinct.values())

    def defines_more_than(self, most: int) -> bool:
        """Return whether code outside of tests has more than `most` definitions of the name.

        Files are read only until this is known. Return False for a name with an owner or a path.
        """
        count = 0
        for state in self.candidates.definers if not self.owner and not self.path else ():
            if self._budget <= 0:
                return False
            symbols = [one.symbol for one in self.definitions_in(state).values()]
            code = (one for one in symbols if one.language in CODE_EXTENSIONS)
            others = (one for one in code if not is_test_place(one.path, one.scope))
            count += len({(one.start_line, one.end_line) for one in others})
            if count > most:
                return True
        return False

    def _may_read_unparsed(self, state: FileState, count: int) -> bool:
        """Return whether to look up definitions in a file that is not parsed.

        A quick scan does so until it has found enough definitions (`count`) to show.
        """
        if self.limits.reads_unparsed:
            return True
        self._unparsed_chars += state.chars
        is_short = self._unparsed_chars <= self.limits.read_chars
        return count < self.limits.definitions and is_short

    def _definition_order(self, found: FoundDefinition) -> tuple[object, ...]:
        # Classes and interfaces have implementations, so they precede methods with the same name.
        is_last = self.request.aspect == "implementations" and found.symbol.kind not in CLASSES
        return (is_last, *found.order, found.symbol.path, found.symbol.line)

    def list_found(self) -> list[FoundDefinition]:
        return [one for some in self._definitions.values() for one in some.values()]

    def list_read(self) -> Iterator[FileOccurrences]:
        """Yield the files that were read and contain the name."""
        return _list_read(self.files)

    def add_members(self, *, parses: bool) -> None:
        """Add the fields and the like that other definitions with the name would hide.

        Only places are examined whose text looks like a declaration. Without `parses`, only files
        that were parsed before are examined.
        """
        if self._has_all_members or not self.list_found():
            return  # `definitions` examines all places of a name without other definitions
        members = {}
        for state in sorted(self.candidates.states, key=_member_order):
            found = self.read(state)
            places = declared_places(found) if found is not None else ()
            if parses and places and state.language in CODE_EXTENSIONS:
                self.has_all_definitions &= self._budget > 0 or state.id in self._definitions
                self.definitions_in(state)
            parsed = self.files[state.id] if state.id in self._definitions else None
            known = self._definitions.get(state.id, {})
            new = [at for at in places if at not in known]
            if new and parsed is not None and parsed.tree is not None:
                members[state.id] = find_members(parsed, new)
        self._merge(drop_object_keys(members, is_defined=True))

    def _merge(self, members: Mapping[int, Mapping[Position, FoundDefinition]]) -> None:
        for at, found in members.items():
            self._definitions[at] = {**found, **self._definitions[at]}

    def members(self) -> list[FoundDefinition]:
        """Return the fields, attributes and aliases with the name, even if it has a definition."""
        found = [one for some in self._members.values() for one in some.values()]
        return sorted(found, key=self._definition_order)

    @cached_property
    def _members(self) -> Mapping[int, Mapping[Position, FoundDefinition]]:
        """The fields, attributes and aliases with the name, by file."""
        # Files that only seem to define the name may have used up the budget.
        self._budget = self.limits.member_chars
        ranks = {
            state.id: rank_for_members(found)
            for state in self.candidates.states
            if (found := self.read(state)) is not None
        }
        candidates = [state for state in self.candidates.states if ranks.get(state.id) is not None]
        members = {}

        def order(state: FileState) -> tuple[bool, int | None, int]:
            is_test, chars = _member_order(state)
            return is_test, ranks[state.id], chars

        for state in sorted(candidates, key=order):
            self.definitions_in(state)  # parses the file
            parsed = self.files[state.id]
            if parsed is not None and parsed.tree is not None:
                members[state.id] = find_members(parsed, parsed.positions)
            elif state.language in CODE_EXTENSIONS:
                self.has_all_definitions = False
        if not self.candidates.has_all_states:
            self.has_all_definitions = False
        return drop_object_keys(members)

    @staticmethod
    def _find_bases(index: IndexReader, parsed: ParsedFiles, owner: str) -> Sequence[str]:
        """Return the names of the base classes of the likeliest classes with a name."""
        scan = NameScan(index, parsed, SymbolRequest(owner), OWNER_SCAN)
        scan.definitions()
        bases = [name for found in _list_read(scan.files) for name in bases_in(found)]
        return bases or list(aliased_classes(index, parsed, owner))

    @property
    def is_complete(self) -> bool:
        """Whether the number of uses is exact."""
        if not self.candidates.has_all_states or not self.owner_filter.has_all_bases:
            return False
        if self.request.aspect == "definitions":
            return not self._unread_definers
        # In a file without a syntax tree, implementations and inline tests are not recognized.
        return self.request.aspect == "uses" or not self._unparsed_files

    @property
    def unread_files(self) -> int:
        """A lower bound for the number of unread or unparsed files that may have further uses."""
        if self.is_complete or self.request.aspect == "definitions":
            return 0
        unparsed = 0 if self.request.aspect == "uses" else self._unparsed_files
        return self.candidates.unread_files + unparsed

    @property
    def cost(self) -> int:
        """The characters that were read so far, and `PARSING_COST` times those that were parsed."""
        read = sum(len(found.text) for found in _list_read(self.files))
        return read + PARSING_COST * self._parsed_chars

    def count_mentions(self) -> tuple[int, tuple[str, ...]]:
        """Return the number of lines that contain the name, and the places of a few of them.

        Lines that define the name are left out, as are files whose definitions were not read. A
        place is a text such as "cart.py:3". If there are more than MAX_MENTIONS lines, no place is
        returned.
        """
        lines = 0
        places: list[str] = []
        for state in self.candidates.states:
            occurrences = None if state.id in self._unread_definers else self.read(state)
            if occurrences is None:
                continue
            rows = {at[0] for at in occurrences.positions if not self.is_defined_at(state, at)}
            kept = [row for row in sorted(rows) if not self.has_excluded(occurrences, row)]
            lines += len(kept)
            if lines <= MAX_MENTIONS:
                places += [f"{state.path}:{row + 1}" for row in kept]
        return lines, tuple(places) if lines <= MAX_MENTIONS else ()

    def file_ids(self) -> Mapping[str, int]:
        """Return the ids of the files that contain the name, by path."""
        return {found.state.path: found.state.id for found in _list_read(self.files)}

    def similar_names(self) -> tuple[str, ...]:
        """Return the defined names that are nearest to the name."""
        key = self.candidates.key
        spelled = self.index.list_symbols(self.index.sparse.definers([key], 50)[key])
        same = [name for name in spelled if whole_identifier(name) == key and name != self.name]
        near = find_nearest_names(key, self.index)
        others = [one.symbol for some in self._definitions.values() for one in some.values()]
        qualified = [f"{one.scope} > {one.name}" if one.scope else one.name for one in others]
        found = dict.fromkeys([*qualified, *same, *near])
        found.pop(self.request.name, None)
        return tuple(found)[:MAX_SIMILAR]

    def read(self, state: FileState) -> FileOccurrences | None:
        if state.id not in self.files:
            self.files[state.id] = read_occurrences(self.index, state, self.name)
        return self.files[state.id]

    def has_parsed(self, state: FileState) -> bool:
        """Return whether the definitions in a file were looked up."""
        return state.id in self._definitions

    def definitions_in(self, state: FileState) -> dict[Position, FoundDefinition]:
        if state.id not in self._definitions:
            found = self.read(state)
            if found is None and state.id in self.candidates.defining_chunks:
                found = read_definer(self.index, state, self.name)
            if found is not None:
                found = self._parse(found)
                self.files[state.id] = found
            self._definitions[state.id] = self._find_definitions(found) if found else {}
        return self._definitions[state.id]

    def is_defined_at(self, state: FileState, at: Position) -> bool:
        """Return whether the name is defined at a position, even by an unlisted definition."""
        known, others = self._definitions.get(state.id, {}), self._unlisted.get(state.id, ())
        return at in known or at in others

    def _find_definitions(self, found: FileOccurrences) -> dict[Position, FoundDefinition]:
        definitions, others = find_definitions(found)
        if others:
            self._unlisted[found.state.id] = others
            self.has_all_definitions = False
        if definitions or found.tree is not None:
            return definitions
        # The index lists the chunks that define the name, even in files that are not parsed.
        return find_definitions_in(found, self._defining_chunks(found.state))

    def _defining_chunks(self, state: FileState) -> Sequence[ChunkRow]:
        """Return the chunks of a file that define the name, in code only with its exact letters."""
        chunks = self.candidates.defining_chunks.get(state.id, ())
        if not chunks or state.language not in CODE_EXTENSIONS:
            return chunks
        names = self.index.list_symbols([row.id for row in chunks])
        return chunks if self.name in names else ()

    def _parse(self, found: FileOccurrences) -> FileOccurrences:
        if found.state.language not in CODE_EXTENSIONS:
            return found
        if self._budget <= 0:
            self._unparsed_files += 1
            return found
        self._budget -= len(found.text)
        self._parsed_chars += 0 if self.parsed.has(found.state) else len(found.text)
        tree = self.parsed.parse_tree(found.state, found.text)
        parsed = found.with_tree(tree)
        # Of a language with a grammar, files that are too large or too deeply nested are unparsed.
        is_unparsed = parsed.tree is None and found.state.language in GRAMMARS
        self._unparsed_files += is_unparsed
        return parsed

    def has_excluded(self, found: FileOccurrences, row: int) -> bool:
        """Return whether the request excludes a line of a file. Each line is checked only once."""
        if self.request.excluded is None:
            return False
        key = found.state.id, row
        if key not in self._excluded:
            self._excluded[key] = self.is_excluded(found.line(row))
        return self._excluded[key]

    def is_excluded(self, line: str) -> bool:
        excluded = self.request.excluded
        return excluded is not None and excluded.search(line) is not None


def _is_in_code(found: FoundDefinition) -> bool:
    """Return whether a definition is in code outside of tests."""
    symbol = found.symbol
    return symbol.language in CODE_EXTENSIONS and not is_test_place(symbol.path, symbol.scope)


def _member_order(state: FileState) -> tuple[bool, int]:
    """Return the sort key of a file that is parsed for the fields in it.

    Short files come first, so that a long one does not use up the budget.
    """
    return is_test_place(state.path, ""), state.chars


def _list_read(files: Mapping[int, FileOccurrences | None]) -> Iterator[FileOccurrences]:
    return (found for found in files.values() if found is not None)
