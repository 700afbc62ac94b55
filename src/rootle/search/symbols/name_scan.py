"""The files that contain a name, read and parsed for one request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.search.query.spelling import find_nearest_names
from rootle.search.symbols.bases.base_classes import aliased_classes, bases_in
from rootle.search.symbols.candidate_files import CandidateFiles
from rootle.search.symbols.definitions import (
    FoundDefinition,
    find_definitions,
    find_definitions_in,
    find_members,
    is_test_place,
    rank_for_members,
    scope_of,
    split_name,
    without_object_keys,
)
from rootle.search.symbols.go.interfaces import GoInterfaces
from rootle.search.symbols.parsed_files import (
    FileOccurrences,
    ParsedFiles,
    classify_line,
    read_occurrences,
)
from rootle.search.symbols.resolution import Resolver
from rootle.search.symbols.scan_limits import OWNER_SCAN, ScanLimits
from rootle.search.symbols.symbol_request import SymbolRequest
from rootle.search.symbols.uses.foreign_uses import ForeignUses
from rootle.search.symbols.uses.owner_evidence import OwnerEvidence
from rootle.search.symbols.uses.owner_filter import CLASSES, MemberUses, OwnerFilter
from rootle.search.symbols.uses.use_rules import (
    PROSE_KINDS,
    USE_KINDS,
    is_mention,
    text_around,
    use_order,
)
from rootle.syntax.assignments import SETTINGS_LANGUAGES
from rootle.syntax.references import OccurrenceRole, classify
from rootle.syntax.source_tree import Position
from rootle.text.languages import CODE_EXTENSIONS
from rootle.text.terms import whole_identifier
from rootle.types import SymbolUse

_MAX_LINE: Final = 200
_MAX_SIMILAR: Final = 5


class NameScan:
    """The files that contain one name, read and parsed for one request."""

    def __init__(
        self, index: IndexReader, parsed: ParsedFiles, request: SymbolRequest, limits: ScanLimits
    ) -> None:
        self._index = index
        self._parsed = parsed
        self._request = request
        self._limits = limits
        owners, self._name = split_name(request.name)
        self._owner = owners[0] if owners else ""
        self._candidates = CandidateFiles(index, request, limits)
        self._files: dict[int, FileOccurrences | None] = {}
        # The functions must not refer to this scan: a reference cycle would keep the index open.
        self._owner_filter = OwnerFilter(
            self._owner,
            partial(_list_read, self._files),
            partial(self._find_bases, index, parsed),
            owners[1:],
        )
        self._definitions: dict[int, dict[Position, FoundDefinition]] = {}
        self._budget = limits.parsed_chars
        self._unparsed_chars = 0
        self._unread_definers: set[int] = set()
        self._has_unparsed = False
        self.has_all_definitions = True

    def definitions(self) -> list[FoundDefinition]:
        """Return the definitions in the files that define the name, the likeliest first."""
        if not self._candidates.has_all_definers:
            self.has_all_definitions = False
        count = 0
        for state in self._candidates.definers:
            is_beyond = self._budget <= 0 or count >= self._limits.definitions
            if not is_beyond or state.id in self._definitions:
                count += len(self._definitions_in(state))
                continue
            self.has_all_definitions = False
            if not self._may_read_unparsed(state, count):
                self._unread_definers.add(state.id)
            elif defined := self._definitions_in(state):
                count += len(defined)
            else:
                self._unread_definers.add(state.id)
        owned = self._owner_filter.select(self._list_found())
        if not owned and self._limits.member_chars:
            for at, members in self._members.items():
                self._definitions[at] = {**members, **self._definitions[at]}
            owned = self._owner_filter.select(self._list_found())
        if self._request.aspect == "definitions":
            owned = [one for one in owned if not self._is_excluded(one.symbol.signature)]
        distinct: dict[tuple[str, int, int], FoundDefinition] = {}
        for one in sorted(owned, key=self._definition_order):
            # The names at both ends of `typedef struct name { … } name;` are one definition.
            symbol = one.symbol
            distinct.setdefault((symbol.path, symbol.start_line, symbol.end_line), one)
        return list(distinct.values())

    def _may_read_unparsed(self, state: FileState, count: int) -> bool:
        """Return whether to look up definitions in a file that is not parsed.

        A quick scan does so until it has found enough definitions (`count`) to show.
        """
        if self._limits.reads_unparsed:
            return True
        self._unparsed_chars += state.chars
        is_short = self._unparsed_chars <= self._limits.read_chars
        return count < self._limits.definitions and is_short

    def _definition_order(self, found: FoundDefinition) -> tuple[object, ...]:
        # Classes and interfaces have implementations, so they precede methods with the same name.
        is_last = self._request.aspect == "implementations" and found.symbol.kind not in CLASSES
        return (is_last, *found.order, found.symbol.path, found.symbol.line)

    def _list_found(self) -> list[FoundDefinition]:
        return [one for some in self._definitions.values() for one in some.values()]

    @cached_property
    def _members(self) -> Mapping[int, Mapping[Position, FoundDefinition]]:
        """The fields, attributes and aliases with the name, by file."""
        # Files that only seem to define the name may have used up the budget.
        self._budget = self._limits.member_chars
        ranks = {
            state.id: rank_for_members(found)
            for state in self._candidates.states
            if (found := self._read(state)) is not None
        }
        candidates = [state for state in self._candidates.states if ranks.get(state.id) is not None]
        members = {}

        def order(state: FileState) -> tuple[bool, int | None, int]:
            # Short files first, so that a long one does not use up the budget.
            return is_test_place(state.path, ""), ranks[state.id], state.chars

        for state in sorted(candidates, key=order):
            self._definitions_in(state)  # parses the file
            parsed = self._files[state.id]
            if parsed is not None and parsed.tree is not None:
                members[state.id] = find_members(parsed)
            elif state.language in CODE_EXTENSIONS:
                self.has_all_definitions = False
        if not self._candidates.has_all_states:
            self.has_all_definitions = False
        return without_object_keys(members)

    @staticmethod
    def _find_bases(index: IndexReader, parsed: ParsedFiles, owner: str) -> Sequence[str]:
        """Return the names of the base classes of the likeliest classes with a name."""
        scan = NameScan(index, parsed, SymbolRequest(owner), OWNER_SCAN)
        scan.definitions()
        bases = [name for found in _list_read(scan._files) for name in bases_in(found)]
        return bases or list(aliased_classes(index, parsed, owner))

    @property
    def is_complete(self) -> bool:
        """Whether the number of uses is exact."""
        if not self._candidates.has_all_states:
            return False
        if self._request.aspect == "definitions":
            return not self._unread_definers
        # In a file without a syntax tree, implementations and inline tests are not recognized.
        return self._request.aspect == "uses" or not self._has_unparsed

    def count_mentions(self) -> int:
        """Return the number of lines that contain the name, except those that define it.

        Files whose definitions were not read are left out.
        """
        lines = 0
        for state in self._candidates.states:
            occurrences = None if state.id in self._unread_definers else self._read(state)
            if occurrences is None:
                continue
            defined = self._definitions.get(state.id, {})
            rows = {at[0] for at in occurrences.positions if at not in defined}
            lines += sum(not self._is_excluded(occurrences.line(row)) for row in rows)
        return lines

    def uses(self) -> list[SymbolUse]:
        """Return the sorted uses for the requested aspect."""
        ordered = sorted(self._candidates.states, key=self._parse_order)
        for state in ordered:
            self._definitions_in(state)
        everything = self._list_found()
        selected = self._owner_filter.select(everything)
        # A C++ constructor has the name of its class, so a call looks like a use of the class.
        named = everything if selected and self._owner == self._name else selected
        wanted = {found.place for found in named}
        is_in_package = any(self._owner_filter.is_in_package(found) for found in selected)
        resolver = Resolver(everything)
        members = MemberUses(selected if self._owner and not is_in_package else ())
        is_member = bool(self._owner) and self._owner != self._name
        owner = self._owner if is_member else ""
        foreign = ForeignUses(
            owner,
            selected,
            self._candidates.texts_with,
            self._owner_filter.base_levels,
            everything,
            are_members=members.are_members,
            is_in_package=is_in_package,
        )
        others = {name.lower() for one in everything for name in one.owners[:1]}
        others.discard(self._owner.lower())

        def is_listed(use: SymbolUse, around: tuple[str, str]) -> bool:
            is_prose = is_member and use.kind in PROSE_KINDS
            if is_prose and not is_mention(self._name, self._owner, around, others):
                return False
            return self._is_wanted(use, wanted, is_in_package) and self._has_aspect(use)

        uses = (self._uses_in(state, resolver, members, foreign, is_listed) for state in ordered)
        found = [*chain.from_iterable(uses)]
        if self._request.aspect == "implementations":
            found = self._with_implicit(found, selected)
            if all(one.symbol.kind not in CLASSES for one in selected):
                found += self._overrides(everything, wanted)
        evidence = OwnerEvidence(owner, self._name, self._files).score
        return sorted(found, key=partial(use_order, is_owned=bool(self._owner), evidence=evidence))

    def _parse_order(self, state: FileState) -> tuple[bool, bool]:
        """Return the sort key for parsing: files with the owner come before the others."""
        found = self._read(state) if self._owner else None
        return is_test_place(state.path, ""), found is not None and self._owner not in found.text

    def file_ids(self) -> Mapping[str, int]:
        """Return the ids of the files that contain the name, by path."""
        return {found.state.path: found.state.id for found in _list_read(self._files)}

    def similar_names(self) -> tuple[str, ...]:
        """Return the defined names that are nearest to the name."""
        key = self._candidates.key
        spelled = self._index.symbols_of(self._index.sparse.definers([key], 50)[key])
        same = [name for name in spelled if whole_identifier(name) == key and name != self._name]
        near = find_nearest_names(key, self._index)
        others = [one.symbol for some in self._definitions.values() for one in some.values()]
        qualified = [f"{one.scope} > {one.name}" if one.scope else one.name for one in others]
        found = dict.fromkeys([*qualified, *same, *near])
        found.pop(self._request.name, None)
        return tuple(found)[:_MAX_SIMILAR]

    def _read(self, state: FileState) -> FileOccurrences | None:
        if state.id not in self._files:
            self._files[state.id] = read_occurrences(self._index, state, self._name)
        return self._files[state.id]

    def _definitions_in(self, state: FileState) -> dict[Position, FoundDefinition]:
        if state.id not in self._definitions:
            found = self._read(state)
            if found is not None:
                found = self._parse(found)
                self._files[state.id] = found
            self._definitions[state.id] = self._find_definitions(found) if found else {}
        return self._definitions[state.id]

    def _find_definitions(self, found: FileOccurrences) -> dict[Position, FoundDefinition]:
        definitions = find_definitions(found)
        if definitions or found.tree is not None:
            return definitions
        # The index lists the chunks that define the name, even in files that are not parsed.
        return find_definitions_in(found, self._candidates.defining_chunks.get(found.state.id, ()))

    def _parse(self, found: FileOccurrences) -> FileOccurrences:
        if found.state.language not in CODE_EXTENSIONS:
            return found
        if self._budget <= 0:
            self._has_unparsed = True
            return found
        self._budget -= len(found.text)
        return replace(found, tree=self._parsed.tree_of(found.state, found.text))

    def _uses_in(
        self,
        state: FileState,
        resolver: Resolver,
        members: MemberUses,
        foreign: ForeignUses,
        is_listed: Callable[[SymbolUse, tuple[str, str]], bool],
    ) -> Iterator[SymbolUse]:
        """Yield the listed uses in a file, one for each line.

        A line can also contain uses that are not listed, such as a use of another class.
        """
        found = self._files.get(state.id)
        if found is None:
            return
        defined = self._definitions[state.id]
        best: dict[int, SymbolUse] = {}
        for at in members.positions(found):
            if (
                at in defined
                or self._is_excluded(found.line(at[0]))
                or foreign.is_foreign(found, at)
            ):
                continue
            use = self._make_use(found, at, resolver)
            if self._request.aspect in ("assignments", "reads"):
                is_set = use.kind != "comment" and found.is_set_at(at)
                if is_set != (self._request.aspect == "assignments"):
                    continue
                is_code = use.kind != "document" or found.state.language in SETTINGS_LANGUAGES
                use = replace(use, kind="assignment") if is_set and is_code else use
            if not is_listed(use, text_around(found, at)):
                continue
            known = best.get(at[0])
            if known is None or self._line_order(use) < self._line_order(known):
                best[at[0]] = use
        yield from best.values()

    def _line_order(self, use: SymbolUse) -> tuple[bool, int]:
        """Return the sort key of the uses on one line, of which only the first is listed."""
        return bool(self._owner) and not use.target, USE_KINDS[use.kind]

    def _make_use(self, found: FileOccurrences, at: Position, resolver: Resolver) -> SymbolUse:
        row, column = at
        line = found.line(row)
        scope, target = "", ""
        if found.tree is None:
            size = len(found.token)
            reference = OccurrenceRole(classify_line(line, column, size, found.state.language))
        else:
            size = found.size
            reference = classify(found.tree, row, column, size)
            if reference.kind == "reference" and self._has_ruby_method and found.may_call_at(at):
                reference = OccurrenceRole("call")
            scope = scope_of(list(found.tree.units_at(row)))
            resolved = resolver.resolve(found, at, reference)
            target = resolved.place if resolved is not None else ""
        path = found.state.path
        is_test = is_test_place(path, scope)
        text = line.strip()[:_MAX_LINE]
        kind = reference.kind
        return SymbolUse(path, row + 1, kind, scope, text, is_test, target)

    @cached_property
    def _has_ruby_method(self) -> bool:
        """Whether a Ruby file defines a method with the name; valid once definitions are known."""
        found = (one.symbol for one in self._list_found())
        return any(one.language == "ruby" and one.kind in ("def", "method") for one in found)

    def _is_wanted(self, use: SymbolUse, wanted: Collection[str], is_in_package: bool) -> bool:
        """Return whether a use may refer to a wanted definition."""
        if not self._owner:
            return True
        # A member of a class cannot be imported, so an import refers to another definition.
        return use.target in wanted if use.target else is_in_package or use.kind != "import"

    def _is_excluded(self, line: str) -> bool:
        excluded = self._request.excluded
        return excluded is not None and excluded.search(line) is not None

    def _has_aspect(self, use: SymbolUse) -> bool:
        if self._request.aspect == "tests":
            return use.is_test and use.kind not in PROSE_KINDS
        if self._request.aspect == "implementations":
            return use.kind == "implementation"
        return True

    def _with_implicit(
        self, uses: Sequence[SymbolUse], selected: Sequence[FoundDefinition]
    ) -> list[SymbolUse]:
        """Add implicit implementations to the uses: a Go type does not name its interfaces.

        Leave out uses that embed a type of the same name from another package.
        """
        definitions = [one for one in selected if one.symbol.language == "go"]
        if not definitions:
            return list(uses)
        types = GoInterfaces(self._index, self._parsed, self._limits)
        kept = [use for use in uses if not types.is_embedded_foreign(use, self._name, definitions)]
        for one in types.implementations(definitions):
            allowed = self._request.files
            if (allowed is None or one.state.id in allowed) and not self._is_excluded(one.line):
                path, text = one.state.path, one.line.strip()[:_MAX_LINE]
                is_test = is_test_place(path, "")
                kept.append(SymbolUse(path, one.row + 1, "implementation", "", text, is_test))
        self._has_unparsed = self._has_unparsed or not types.is_complete
        return kept

    def _overrides(
        self, definitions: Sequence[FoundDefinition], wanted: Collection[str]
    ) -> Iterator[SymbolUse]:
        """Yield other methods with the same name, because they may implement the method."""
        if not self._owner:
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


def _list_read(files: Mapping[int, FileOccurrences | None]) -> Iterator[FileOccurrences]:
    return (found for found in files.values() if found is not None)
