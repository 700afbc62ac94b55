"""Recognize uses of a name that certainly belong to an owner other than the requested one.

The text before a name often shows its owner, even if the file is not parsed: `HashMap::new` is no
use of `PackageId::new`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from rootle.search.symbols.definitions import FoundDefinition, package_names
from rootle.search.symbols.go.type_identity import has_folder, parent_folder
from rootle.search.symbols.parsed_files import FileOccurrences
from rootle.search.symbols.types.variable_types import VariableTypes
from rootle.search.symbols.uses.impl_heads import ImplHead, read_impl_heads
from rootle.search.symbols.uses.use_rules import text_around
from rootle.syntax.source_tree import Position, SourceTree

# In these languages, the name before "::" is a scope: a class, a module or a namespace.
_WITH_SCOPES: Final = frozenset({"cpp", "php", "ruby", "rust"})
# In these languages, a capitalized name before "." or "::" is a class, unless the file assigns a
# value to it.
_WITH_CLASS_NAMES: Final = frozenset(
    "dart java javascript kotlin php python ruby scala swift tsx typescript".split()
)
_SCOPE: Final = re.compile(r"(?<!\w)(\w+)(?:::)?(?:<(?:[^<>]|<[^<>]*>)*>)?\s*::\s*$")
_CLASS: Final = re.compile(r"(?<![\w.)\]>$@])([A-Z]\w*[a-z]\w*)\s*(?:\??\.|::)$")
# In these languages, a name after a scope is looked up only in this scope and its base classes. In
# others, such as Rust, a module can also contain names of another module.
_WITH_EXACT_SCOPES: Final = frozenset({"ruby"})
_TOP_LEVEL: Final = re.compile(r"(?<![\w)\]}])::\s*$")
_TYPES: Final = frozenset({"class", "module"})
# Names of the enclosing class or of its base class.
_RELATIVE: Final = frozenset({"Self", "base", "parent", "self", "static", "super", "this"})
# A capitalized name to which a text assigns a value. Such a name need not be a class.
_ASSIGNED: Final = re.compile(r"\b([A-Z]\w*)\b(?=\s*(?::[^=\n(){}]{0,200})?=(?![=>]))")
_GO_IMPORT: Final = re.compile(r'^[ \t]*(?:import[ \t]+)?(\w+|\.)[ \t]+"([^"\n]+)"', re.MULTILINE)
_GO_QUALIFIER: Final = re.compile(r"(?<!\w)(\w+)\.$")
# A variable, or a field of the enclosing class, before the sign that selects a member.
_VARIABLE: Final = re.compile(
    r"(?:(?<![\w.)\]>])|\b(?:this|self)\.|\$this->)\$?([a-z_]\w*)\s*(?:(?:\?|!!)?\.|->)$"
)
# In these languages, a variable can only hold instances of its type or of classes that inherit from
# it.
_NOMINAL: Final = frozenset("cpp csharp dart java kotlin php rust scala swift".split())
# The start of the head of a class, which also names its base classes.
_HEAD: Final = re.compile(
    r"^[ \t]*(?:[\w@\[\]()]+[ \t]+)*"
    r"(?:class|interface|struct|trait|object|record|protocol|extension|enum)[ \t]+"
    r"(?:\w+(?:::|\.))*(\w+)",
    re.MULTILINE,
)
_HEAD_END: Final = re.compile(r"[{;]|:\s*\n")
_RUBY_HEAD_END: Final = re.compile(r"[;\n]")
# The text after a name that qualifies the name of a base class, such as a in `class B < a::C`.
_QUALIFIES: Final = re.compile(r"\s*(?:\.|::|\\)\s*\w")
_MAX_HEAD: Final = 300  # characters before a name that are searched for the head of a class
# In these languages, the head of a class names no base class.
_WITHOUT_BASES: Final = frozenset({"go", "rust"})
_MAX_LINE: Final = 500  # characters of a line that are searched for another name of a class
_MAX_LEVELS: Final = 4  # of classes that inherit from each other, and of their aliases
_MAX_KEPT: Final = 64  # files
_MAX_RELATED: Final = 60  # names; if there are more, every class may be related to the owner

# Returns the language and the text of each file that contains a name; None if there are too many.
FindTexts = Callable[[str], Collection[tuple[str, str]] | None]
# Takes names of classes and yields the names of their base classes, level by level, nearest first.
BaseLevels = Callable[[Collection[str]], Iterable[Sequence[str]]]


class ForeignUses:
    """Finds out which positions of a name cannot be uses of the selected definitions."""

    def __init__(
        self,
        owner: str,
        selected: Sequence[FoundDefinition],
        find_texts: FindTexts,
        base_levels: BaseLevels,
        everything: Sequence[FoundDefinition],
        *,
        are_members: bool,
        is_in_package: bool,
    ) -> None:
        """Create the filter for an owner; "" if the name has no owner.

        `everything` are all definitions with the name. Set `are_members` if all selected
        definitions are members of a class, and `is_in_package` if the owner is the package of one
        of them.
        """
        self._owner = owner
        self._find_texts = find_texts
        languages = {one.symbol.language for one in selected}
        self._folders = {parent_folder(one.symbol.path) for one in selected}
        self._owners = {owner, *(one.owners[0] for one in selected if one.owners)}
        self._are_members = bool(owner and selected) and are_members
        are_types = all(one.symbol.kind in _TYPES for one in selected)
        self._are_scoped_types = bool(owner and selected) and are_types
        self._is_go_package = is_in_package and languages == {"go"}
        self._has_no_bases = languages <= _WITHOUT_BASES
        self._defining = {one.owners[0] for one in everything if one.owners}
        self._base_levels = base_levels
        self._related: Collection[str] | None = None
        self._ancestors: Collection[str] | None = None
        self._scopes: dict[str, bool] = {}  # whether a class or module is certainly not the owner
        # Each of these is read once per file, rather than for each use.
        self._assigned = lru_cache(_MAX_KEPT)(_find_assigned)
        self._types = lru_cache(_MAX_KEPT)(VariableTypes)
        self._impl_heads = lru_cache(_MAX_KEPT)(read_impl_heads)
        self._go_imports = lru_cache(_MAX_KEPT)(_find_go_imports)
        self._packages: dict[str, frozenset[str]] = {}

    def is_foreign(self, found: FileOccurrences, at: Position) -> bool:
        """Return whether the name at a position belongs to another owner."""
        if self._is_go_package:
            return found.state.language == "go" and self._is_outside_package(found, at)
        before = text_around(found, at)[0]
        if self._are_scoped_types and found.state.language in _WITH_EXACT_SCOPES:
            return self._is_in_other_scope(found, before)
        if not self._are_members:
            return False
        qualifier = self._class_before(found, at, before)
        if qualifier:
            return qualifier not in self._owners and self._is_other(qualifier)
        variable = _VARIABLE.search(before)
        return variable is not None and self._has_other_type(found, at, variable[1])

    def _is_in_other_scope(self, found: FileOccurrences, before: str) -> bool:
        """Return whether a type name that follows `before` belongs to another class or module.

        A type name without a scope can belong to the owner only if the file also names the owner or
        a related class.
        """
        if _TOP_LEVEL.search(before):
            return True
        match = _SCOPE.search(before)
        if match is not None:
            return match[1] not in self._owners and self._is_other_scope(match[1])
        return self._names_no_related(found.text)

    def _is_other_scope(self, name: str) -> bool:
        """Return whether a class or module neither inherits from the owner nor is an alias of it.

        If the owner is in too many files to find all its relatives, the files with `name` are read.
        """
        if self._find_related():
            return self._is_other(name)
        if name not in self._scopes:
            texts = self._find_texts(name)
            self._scopes[name] = texts is not None and not any(
                name in _relatives(owner, text, language)
                for language, text in texts
                for owner in self._owners
            )
        return self._scopes[name]

    def _names_no_related(self, text: str) -> bool:
        """Return whether a text names neither an owner nor a class related to one."""
        related = self._find_related()
        return bool(related) and not any(
            re.search(rf"\b{re.escape(name)}\b", text) for name in related
        )

    def _has_other_type(self, found: FileOccurrences, at: Position, variable: str) -> bool:
        """Return whether all types that a file declares for a variable are unrelated to the owner.

        A variable whose type is a base class of the owner may hold an instance of the owner.
        """
        language = found.state.language
        written = self._types(found.text, language)
        types: frozenset[str] = frozenset()
        if language == "go":
            types = written.find_in_function(variable, found.line_starts[at[0]])
        types = types or written.find(variable)
        if not types or not types.isdisjoint(self._owners):
            return False
        if language not in _NOMINAL and not types <= self._defining:
            return False
        return types.isdisjoint(self.find_ancestors()) and all(map(self._is_other, types))

    def find_ancestors(self) -> Collection[str]:
        """Return the owners and their base classes; variables of these types may hold an owner."""
        if self._ancestors is None:
            self._ancestors = self._find_ancestors()
        return self._ancestors

    def _find_ancestors(self) -> Collection[str]:
        ancestors = self._owners.union(*self._base_levels(self._owners))
        for owner in self._owners:
            for language, text in self._find_texts(owner) or ():
                if language == "rust":
                    heads = read_impl_heads(text)
                    ancestors.update(one.trait for one in heads if one.type == owner)
        return ancestors - {""}

    def _class_before(self, found: FileOccurrences, at: Position, before: str) -> str:
        """Return the class or scope that is written before a name; "" if there is none."""
        language = found.state.language
        if language in _WITH_SCOPES and (match := _SCOPE.search(before)) is not None:
            if match[1] == "Self" and language == "rust":
                heads = self._impl_heads(found.text)
                return _enclosing_impl(heads, found.line_starts[at[0]])
            return "" if match[1] in _RELATIVE else match[1]
        if language not in _WITH_CLASS_NAMES or (match := _CLASS.search(before)) is None:
            return ""
        return "" if match[1] in self._assigned(found.text) else match[1]

    def _is_other(self, name: str) -> bool:
        """Return whether a class neither inherits from the owner nor is another name for it."""
        related = self._find_related()
        return bool(related) and name not in related

    def _find_related(self) -> Collection[str]:
        """Return the owners and the classes related to them; none if there are too many files."""
        if self._related is None:
            self._related = find_related(self._owners, self._find_texts)
            if not self._related and self._has_no_bases:
                self._related = self._owners
        return self._related

    def _is_outside_package(self, found: FileOccurrences, at: Position) -> bool:
        """Return whether a name in a Go file is a field, or belongs to another package."""
        before = text_around(found, at)[0]
        if before.endswith("."):
            match = _GO_QUALIFIER.search(before)
            return match is None or not self._is_package(found, match[1])
        path = found.state.path
        if parent_folder(path) not in self._folders:
            return "." not in self._go_imports(found.text)
        if path not in self._packages:
            self._packages[path] = package_names(found)
        if self._owner not in self._packages[path]:
            return True  # the external tests of a package
        return found.tree is not None and _is_field(found.tree, at, found.size)

    def _is_package(self, found: FileOccurrences, qualifier: str) -> bool:
        """Return whether a qualifier in a Go file is the package of the selected definitions."""
        imported = self._go_imports(found.text).get(qualifier)
        if imported is None:
            return qualifier == self._owner
        return any(has_folder(imported, folder) for folder in self._folders)


def find_related(owners: Collection[str], find_texts: FindTexts) -> Collection[str]:
    """Return the owners, the classes that inherit from them, and other names for these classes.

    The result is empty if there are too many of them.
    """
    related = set(owners)
    new = set(owners)
    for _ in range(_MAX_LEVELS):
        found: set[str] = set()
        for name in new:
            texts = find_texts(name)
            if texts is None:
                return ()
            for language, text in texts:
                found.update(_relatives(name, text, language))
        new = found - related
        related |= new
        if len(related) > _MAX_RELATED:
            return ()
        if not new:
            break
    return related


def _relatives(name: str, text: str, language: str) -> Iterator[str]:
    """Yield the classes in a text whose heads contain `name`, and other names for `name`."""
    if language == "rust":
        yield from (one.type for one in read_impl_heads(text) if one.trait == name and one.type)
    head_end = _RUBY_HEAD_END if language == "ruby" else _HEAD_END
    end = -1  # of the last line that was searched for aliases
    for match in re.finditer(rf"\b{re.escape(name)}\b", text):
        if language not in _WITHOUT_BASES and not _QUALIFIES.match(text, match.end()):
            before = text[max(0, match.start() - _MAX_HEAD) : match.start()]
            heads = list(_HEAD.finditer(before))
            rest = before[heads[-1].end() :] if heads else ""
            # In `class A::Name`, the name does not denote a base class.
            if rest not in ("", "::", ".") and head_end.search(rest) is None:
                yield heads[-1][1]
        if match.start() < end:
            continue
        start = text.rfind("\n", max(0, end), match.start()) + 1 or max(0, end)
        end = text.find("\n", match.end())
        end = end if end >= 0 else len(text)
        line = text[start : min(end, start + _MAX_LINE)]
        yield from _aliases(name, line)


def _aliases(name: str, line: str) -> Iterator[str]:
    """Yield other names that a line gives to a class."""
    for pattern in _alias_patterns(name):
        if found := pattern.search(line):
            yield found[1]
    _, keyword, definition = line.partition("typedef")
    words = re.findall(r"\w+", definition.partition(";")[0]) if keyword else []
    if name in words[:-1]:
        yield words[-1]


@lru_cache(maxsize=256)
def _alias_patterns(name: str) -> Sequence[re.Pattern[str]]:
    word = rf"\b{re.escape(name)}\b"
    return [
        re.compile(pattern)
        for pattern in (
            rf"{word}(?:<[^<>\n]*>)?\s+as\s+(\w+)",
            rf"\b(?:type|using|typealias|alias)\s+(\w+)\b[^=;\n]*=\s*(?:\w+(?:\.|::))*{word}(?:<[^;\n]*>)?;?\s*$",
            rf"^\s*(?:export\s+)?(?:const|let|var|val)?\s*(\w+)\s*=\s*(?:\w+(?:\.|::))*{word}\s*;?$",
        )
    ]


def _enclosing_impl(heads: Sequence[ImplHead], offset: int) -> str:
    """Return the type of the last `impl` block that begins before an offset; "" if unknown."""
    at = bisect_left(heads, offset, key=lambda head: head.offset)
    return heads[at - 1].type if at else ""


def _find_assigned(text: str) -> frozenset[str]:
    return frozenset(_ASSIGNED.findall(text))


def _is_field(tree: SourceTree, at: Position, size: int) -> bool:
    """Return whether a name in a Go file is a field in a struct or the key of a literal."""
    leaf = tree.node_at(*at, size)
    if leaf.type == "field_identifier":
        return True
    element = leaf.parent
    keyed = element.parent if element is not None else None
    return (
        keyed is not None and keyed.type == "keyed_element" and keyed.named_children[0] == element
    )


def _find_go_imports(text: str) -> Mapping[str, str]:
    """Map each new name that a Go file gives an import, such as ".", to the import's path."""
    return dict(reversed(_GO_IMPORT.findall(text)))  # the first one counts
