"""List the uses of a name in the files that a scan has read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from typing import Final

from rootle.index.reader import FileState
from rootle.search.symbols.bases.extending_files import can_extend
from rootle.search.symbols.definitions import FoundDefinition, is_test_place
from rootle.search.symbols.go.interfaces import GoInterfaces
from rootle.search.symbols.name_scan import NameScan
from rootle.search.symbols.parsed_files import FileOccurrences, classify_line
from rootle.search.symbols.resolution import Resolver
from rootle.search.symbols.types.code_files import CodeFiles
from rootle.search.symbols.types.receivers import TYPED_LANGUAGES
from rootle.search.symbols.uses.alias_uses import find_alias_places
from rootle.search.symbols.uses.foreign_uses import ForeignUses
from rootle.search.symbols.uses.module_uses import ModuleUses, find_owner, is_function_head
from rootle.search.symbols.uses.owner_evidence import OwnerEvidence
from rootle.search.symbols.uses.owner_filter import CLASSES, MemberUses
from rootle.search.symbols.uses.package_parts import PackageParts
from rootle.search.symbols.uses.use_rules import (
    PROSE_KINDS,
    USE_KINDS,
    is_mention,
    text_around,
    use_order,
)
from rootle.syntax.assignments import SETTINGS_LANGUAGES
from rootle.syntax.blocks.block_titles import format_scope
from rootle.syntax.declared.local_variables import LocalVariables
from rootle.syntax.files.file_symbols import FILE_KINDS
from rootle.syntax.references import OccurrenceRole, can_rename_member, classify
from rootle.syntax.source_tree import Position
from rootle.types import SymbolUse

_MAX_LINE: Final = 200
# The kinds of uses that can be uses of a variable. Uses of other kinds have another syntax.
_OF_VARIABLES: Final = frozenset({"reference", "call"})
_IMPORTS: Final = frozenset({"import", "export"})
_VALUE_ASPECTS: Final = frozenset({"assignments", "reads"})


class NameUses:
    """The uses of a name for one request."""

    def __init__(self, scan: NameScan) -> None:
        """Parse the files of the scan that may be parsed."""
        self._scan = scan
        self.has_all_implementations = True
        self._has_all_trees = True
        # The number of lines that are left out because a local variable has the name.
        self.local_variables = 0
        states = filter(self._may_have_uses, scan.candidates.states)
        self._states = sorted(states, key=self._parse_order)
        for state in self._states:
            scan.definitions_in(state)
        if scan.limits.adds_members and scan.request.aspect != "implementations":
            scan.add_members(parses=False)
        self._everything = scan.list_found()
        self._selected = scan.owner_filter.select(self._everything)
        # A C++ constructor has the name of its class, so a call looks like a use of the class.
        has_class = any(one.symbol.kind in CLASSES for one in self._everything)
        owner = scan.owner or (find_owner(self._selected) if scan.path else "")
        self._is_qualified = bool(owner or scan.path)
        is_class = bool(self._selected) and has_class and owner == scan.name
        named = self._everything if is_class else self._selected
        self._wanted = {found.place for found in named}
        self._is_in_package = any(map(scan.owner_filter.is_in_package, self._selected))
        has_member = bool(owner) and not self._is_in_package
        self._members = MemberUses(self._selected if has_member else ())
        self._owner = owner if owner != scan.name else ""
        self._foreign = ForeignUses(
            self._owner,
            self._selected,
            scan.candidates.texts_with,
            scan.owner_filter.base_levels,
            self._everything,
            are_members=self._members.are_members,
            is_in_package=self._is_in_package,
        )
        self._packages = PackageParts(self._everything)
        files = CodeFiles(scan.index, scan.parsed, scan.files.get, scan.limits.type_chars)
        wanted = self._selected if self._is_qualified else self._everything
        self._files = files
        self._resolver = Resolver(self._everything, files, wanted, self._foreign.find_ancestors)
        self._modules = ModuleUses(
            self._owner,
            self._selected,
            self._resolver.full_names,
            may_be_key=scan.request.aspect in _VALUE_ASPECTS,
        )

    @property
    def has_all_types(self) -> bool:
        """Whether all files were considered when the types of receivers were looked up."""
        return self._files.is_complete and self._has_all_trees

    def find(self) -> list[SymbolUse]:
        """Return the sorted uses for the requested aspect."""
        found = [*chain.from_iterable(map(self._uses_in, self._states))]
        if self._scan.request.aspect == "implementations":
            found = self._add_implicit(found, self._selected)
            if all(one.symbol.kind not in CLASSES for one in self._selected):
                found += self._overrides()
        evidence = OwnerEvidence(self._owner, self._scan.name, self._scan.files).score
        order = partial(use_order, is_owned=self._is_qualified, evidence=evidence)
        return sorted(found, key=order)

    @cached_property
    def _other_owners(self) -> Collection[str]:
        """The other classes with a member of this name, in lower case."""
        others = {name.lower() for one in self._everything for name in one.owners[:1]}
        return others - {self._owner.lower()}

    def _is_listed(self, use: SymbolUse, found: FileOccurrences, at: Position) -> bool:
        if self._owner and use.kind in PROSE_KINDS:
            around = text_around(found, at)
            if not is_mention(self._scan.name, self._owner, around, self._other_owners):
                return False
        return self._is_wanted(use, found, at) and self._has_aspect(use)

    def _may_have_uses(self, state: FileState) -> bool:
        """Return whether a file may have uses for the requested aspect."""
        if self._scan.request.aspect != "implementations" or self._scan.has_parsed(state):
            return True
        found = self._scan.read(state)
        return found is not None and can_extend(found)

    def _parse_order(self, state: FileState) -> tuple[bool, bool]:
        """Return the sort key for parsing: files with the owner come before the others."""
        found = self._scan.read(state) if self._scan.owner else None
        lacks_owner = found is not None and self._scan.owner not in found.text
        return lacks_owner, is_test_place(state.path, "")

    def _uses_in(self, state: FileState) -> Iterator[SymbolUse]:
        """Yield the listed uses in a file, one for each line.

        A line can also contain uses that are not listed, such as a use of another class.
        """
        found = self._scan.files.get(state.id)
        if found is None:
            return
        self._scan.definitions_in(state)
        found = self._parse(found)
        best: dict[int, SymbolUse] = {}
        hidden: set[int] = set()  # rows with a local variable that has the name
        imports: list[tuple[Position, SymbolUse]] = []
        variables = self._local_variables(state, found)
        needs_receiver = self._members.needs_receiver(found)
        doubtful = self._members.doubtful_positions(found)
        for at in self._members.positions(found):
            if (
                self._scan.is_defined_at(state, at)
                or self._scan.has_excluded(found, at[0])
                or self._is_foreign(found, at)
                or is_function_head(found, at)
                or self._packages.contain(found, at)
            ):
                continue
            made = self._make_use(found, at)
            if at in doubtful and made.target not in self._wanted:
                continue
            may_be_foreign = not made.target and made.kind not in PROSE_KINDS
            if may_be_foreign and self._modules.is_excluded(found, at):
                continue
            if needs_receiver and made.kind not in PROSE_KINDS and not _has_receiver(found, at):
                continue
            if self._may_introduce_alias(made, found, at):
                imports.append((at, made))
            use = self._select_aspect(made, found, at)
            if use is None or not self._is_listed(use, found, at):
                continue
            if variables is not None and _is_variable(made, variables, at):
                hidden.add(at[0])
                continue
            self._keep_best(best, use)
        for use in self._uses_of_aliases(found, imports):
            self._keep_best(best, use)
        self.local_variables += len({row + 1 for row in hidden} - best.keys())
        yield from best.values()

    def _may_introduce_alias(self, use: SymbolUse, found: FileOccurrences, at: Position) -> bool:
        """Return whether a use may be an import of a wanted definition, maybe with another name."""
        if use.kind not in _IMPORTS or not self._is_wanted(use, found, at):
            return False
        is_known = bool(use.target) or not self._everything
        return is_known or not self._resolver.is_other_import(found, at)

    def _keep_best(self, best: dict[int, SymbolUse], use: SymbolUse) -> None:
        """Make a use the best one of its line, unless the line has a better one."""
        known = best.get(use.line)
        if known is None or self._line_order(use) < self._line_order(known):
            best[use.line] = use

    def _select_aspect(
        self, use: SymbolUse, found: FileOccurrences, at: Position
    ) -> SymbolUse | None:
        """Return a use as the requested aspect shows it; None if it is not of this aspect."""
        if self._scan.request.aspect not in _VALUE_ASPECTS:
            return use
        is_set = use.kind != "comment" and found.is_set_at(at)
        if is_set != (self._scan.request.aspect == "assignments"):
            return None
        is_code = use.kind != "document" or found.state.language in SETTINGS_LANGUAGES
        return replace(use, kind="assignment") if is_set and is_code else use

    def _uses_of_aliases(
        self, found: FileOccurrences, imports: Sequence[tuple[Position, SymbolUse]]
    ) -> Iterator[SymbolUse]:
        """Yield the listed uses of the aliases that imports give to the name."""
        for place, imported in find_alias_places(found, imports, self._read_text, self._values):
            made = self._make_use(place.found, place.at, place.role, imported.target)
            use = self._select_aspect(made, place.found, place.at)
            is_excluded = self._scan.has_excluded(found, place.at[0])
            if use is not None and self._has_aspect(use) and not is_excluded:
                yield use

    @cached_property
    def _values(self) -> Collection[str]:
        """The places of the definitions that have the name of their file."""
        return {one.place for one in self._everything if one.symbol.kind in FILE_KINDS}

    def _read_text(self, path: str) -> str:
        """Return the text of a file that was read; "" if there is none."""
        return self._texts.get(path, "")

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        """Maps the paths of the files that were read to their texts; valid after all were read."""
        return {one.state.path: one.text for one in self._scan.list_read()}

    def _local_variables(self, state: FileState, found: FileOccurrences) -> LocalVariables | None:
        """Return the local variables with the name in a parsed file.

        Return None if no definition is known: then the question may be about these variables.
        """
        if found.tree is None or not self._everything:
            return None
        # After `close = file.close`, calls are listed: a call of the variable calls the method.
        is_renamed = any(can_rename_member(found.tree, *at, found.size) for at in found.positions)
        places = [at for at in found.positions if not self._scan.is_defined_at(state, at)]
        return LocalVariables(found.tree, places, found.size, is_plain_call=not is_renamed)

    def _parse(self, found: FileOccurrences) -> FileOccurrences:
        """Return a file with its tree, so that the types of receivers can be read."""
        is_typed = self._owner and found.state.language in TYPED_LANGUAGES
        if found.tree is not None or not is_typed:
            return found
        if not self._files.may_parse_uses:
            self._has_all_trees = False
            return found
        file = self._files.get(found.state)
        return found if file is None else found.with_tree(file.tree)

    def _is_foreign(self, found: FileOccurrences, at: Position) -> bool:
        """Return whether a use certainly belongs to another class.

        The declarations of the repository are more exact than the text of the file.
        """
        if self._members.are_members and self._resolver.is_of_package(found, at):
            return True
        return self._foreign.is_foreign(found, at) and not self._resolver.is_certain(found, at)

    def _line_order(self, use: SymbolUse) -> tuple[bool, int]:
        """Return the key that sorts the uses on one line; only the first of them is listed."""
        return self._is_qualified and not use.target, USE_KINDS[use.kind]

    def _make_use(
        self,
        found: FileOccurrences,
        at: Position,
        role: OccurrenceRole | None = None,
        target: str = "",
    ) -> SymbolUse:
        """Return the use at a position. Its role and its target are determined if not given."""
        row, column = at
        scope = ""
        if found.tree is None:
            size, language = len(found.token), found.state.language
            reference = OccurrenceRole(classify_line(*found.line_around(at), size, language))
        else:
            size = found.size
            reference = role or classify(found.tree, row, column, size)
            if reference.kind == "reference" and self._has_ruby_method and found.may_call_at(at):
                reference = OccurrenceRole("call")
            scope = format_scope(list(found.tree.units_at(row)))
        target = target if role is not None else self._resolver.resolve(found, at, reference)
        path = found.state.path
        is_test = is_test_place(path, scope)
        text = found.line_start(row).strip()[:_MAX_LINE]
        kind = "document" if found.is_page_text_at(at) else reference.kind
        return SymbolUse(path, row + 1, kind, scope, text, is_test, target)

    @cached_property
    def _has_ruby_method(self) -> bool:
        """Whether a known definition of the name is a Ruby method.

        The value is cached, so it is valid only if all definitions are known at the first access.
        """
        found = (one.symbol for one in self._scan.list_found())
        return any(one.language == "ruby" and one.kind in ("def", "method") for one in found)

    def _is_wanted(self, use: SymbolUse, found: FileOccurrences, at: Position) -> bool:
        """Return whether a use may refer to a wanted definition."""
        if not self._is_qualified:
            return True
        # A member of a class cannot be imported, so an import refers to another definition.
        if use.target:
            return use.target in self._wanted
        if self._is_in_package or use.kind not in _IMPORTS:
            return True
        return not self._members.are_members and self._loads_module(found, at)

    def _loads_module(self, found: FileOccurrences, at: Position) -> bool:
        """Return whether an import loads the module with the qualified name: `require("a.b")`."""
        before = text_around(found, at)[0]
        return found.ends_path_at(at) and before.endswith((f"{self._owner}.", f"{self._owner}/"))

    def _has_aspect(self, use: SymbolUse) -> bool:
        if self._scan.request.aspect == "tests":
            return use.is_test and use.kind not in PROSE_KINDS
        if self._scan.request.aspect == "implementations":
            return use.kind == "implementation"
        return True

    def _add_implicit(
        self, uses: Sequence[SymbolUse], selected: Sequence[FoundDefinition]
    ) -> list[SymbolUse]:
        """Add implicit implementations to the uses, because a Go type does not name its interfaces.

        Leave out uses that embed another type with the same name as the interface.
        """
        definitions = [one for one in selected if one.symbol.language == "go"]
        if not definitions:
            return list(uses)
        scan = self._scan
        types = GoInterfaces(scan.index, scan.parsed, scan.limits)
        others = types.list_other_types(definitions)
        kept = [
            use
            for use in uses
            if use.target not in others
            and not types.is_embedded_foreign(use, self._scan.name, definitions)
        ]
        for one in types.implementations(definitions, uses):
            allowed = scan.request.files
            if (allowed is None or one.state.id in allowed) and not self._scan.is_excluded(
                one.line
            ):
                path, text = one.state.path, one.line.strip()[:_MAX_LINE]
                is_test = is_test_place(path, "")
                kept.append(
                    SymbolUse(path, one.row + 1, "implementation", "", text, is_test, one.interface)
                )
        self.has_all_implementations = types.is_complete
        return kept

    def _overrides(self) -> Iterator[SymbolUse]:
        """Yield other methods with the same name, because they may implement the method."""
        if not self._is_qualified:
            return
        for one in self._everything:
            symbol = one.symbol
            is_other = one.place not in self._wanted and not self._scan.is_excluded(
                symbol.signature
            )
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


def _is_variable(use: SymbolUse, variables: LocalVariables, at: Position) -> bool:
    """Return whether a use refers to a local variable or parameter, not to a definition."""
    if use.kind not in _OF_VARIABLES:
        return False
    return variables.is_called(*at) if use.kind == "call" else variables.is_variable(*at)


def _has_receiver(found: FileOccurrences, at: Position) -> bool:
    return text_around(found, at)[0].rstrip().endswith((".", ":", "->"))
