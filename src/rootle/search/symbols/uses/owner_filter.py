"""Select the definitions and uses for the owner in a qualified name, such as `Class.method`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from rootle.search.symbols.definitions import FoundDefinition, package_clauses
from rootle.search.symbols.import_paths import is_named, module_names
from rootle.search.symbols.parsed_files import FileOccurrences
from rootle.syntax.blocks.block_titles import SCOPE_SEPARATOR
from rootle.syntax.references import can_rename_member, is_plain_name
from rootle.syntax.source_tree import Position
from rootle.text.languages import CODE_EXTENSIONS
from rootle.text.terms import join_words

CLASSES: Final = frozenset("class struct interface trait impl type record protocol".split())
_METHODS: Final = frozenset("def function method fn func".split())
# In these languages, a method is never used without a receiver or a path.
_ALWAYS_QUALIFIED: Final = frozenset({"go", "rust"})
# Code in each of these languages can inherit from classes in the other languages of its group.
_RELATED_LANGUAGES: Final = tuple(
    frozenset(group.split())
    for group in (
        "astro javascript svelte tsx typescript vue",
        "clojure groovy java kotlin scala",
        "c cpp objc swift",
        "csharp fsharp",
        "elixir erlang",
    )
)
# In these languages, the name of a file is that of a class in it, but not of the other classes.
_WITH_CLASS_FILES: Final = frozenset("csharp java kotlin php scala swift".split())
_WITH_STATIC_METHODS: Final = frozenset({"csharp", "java"})
_STATIC: Final = re.compile(r"\bstatic\b")
_VALUE_END: Final = re.compile(r"""[)\]}"']$|(?<![\w@])(?!this$|base$|super$)[a-z_]\w*$""")
_MAX_SPACE: Final = 80  # characters between a receiver and a name
_MAX_BASES: Final = 5  # levels of base classes
_MAX_CLASSES: Final = 200  # whose base classes are looked up


class OwnerFilter:
    """Selects definitions by the owner in a name, or all definitions if there is no owner."""

    def __init__(
        self,
        owner: str,
        list_files: Callable[[], Iterable[FileOccurrences]],
        find_bases: Callable[[str], Sequence[str]],
        outer: tuple[str, ...] = (),
        path: str = "",
    ) -> None:
        """Create a filter for an owner; "" if the name has no owner.

        `outer` are the names before the owner, innermost first: A for "A.Owner.name". If `path` is
        not empty, only definitions in files whose paths end with it are selected.
        `list_files` returns the files that were read so far. The packages of these files are owners
        too. `find_bases` returns the names of the base classes of a class.
        """
        self._owner = owner
        self._outer = outer
        self._path = path
        self._list_files = list_files
        self._find_bases = find_bases
        self._clauses: dict[str, list[tuple[str, ...]]] = {}
        self._bases: dict[str, Sequence[str]] = {}
        self.has_all_bases = True  # whether no base class was left out because of the limit

    def select(self, found: Sequence[FoundDefinition]) -> list[FoundDefinition]:
        """Return the definitions in the owner, or else the definitions in its base classes.

        The owner can also be a module.
        """
        if self._path:
            found = [one for one in found if is_path_end(one.symbol.path, self._path)]
        if not self._owner:
            return list(found)
        return self._select_modules(found) or self._select_qualified(
            [one for one in found if self._is_directly_in(one)]
            or self._select_in_package(found)
            or [one for one in found if self._is_within(one)]
            or self._select_inherited(found)
        )

    def _select_modules(self, found: Sequence[FoundDefinition]) -> list[FoundDefinition]:
        """Return the Lua tables with the same full name as their module, such as `shop.cart`."""
        names = (*reversed(self._outer), self._owner)
        tables = (one for one in found if one.symbol.language == "lua" and not one.owners)
        return [one for one in tables if is_named(one.symbol.path, (*names, one.symbol.name))]

    def _is_directly_in(self, found: FoundDefinition) -> bool:
        in_module = found.is_in_module and self._owner == module_names(found.symbol.path)[0]
        return in_module or self._owner in found.owners[: 1 + found.is_extension]

    def _select_in_package(self, found: Sequence[FoundDefinition]) -> list[FoundDefinition]:
        """Return the definitions in the package that the name begins with, if there is one.

        Its subpackages do not count: a.b.c.Name is not the definition of b.Name.
        """
        names = (*reversed(self._outer), self._owner)
        return [
            one
            for one in found
            if not one.owners
            and any(package[-len(names) :] == names for package in self._find_packages(one))
        ]

    def _select_qualified(self, found: list[FoundDefinition]) -> list[FoundDefinition]:
        """Return the definitions whose full names end with the whole qualified name, if any do.

        Otherwise, return those whose paths contain the other parts of the name, or else all.
        """
        if not self._outer:
            return found
        names = (self._owner, *self._outer)
        return (
            [one for one in found if one.owners[: len(names)] == names]
            or [one for one in found if one.is_in_module and is_named(one.symbol.path, names[::-1])]
            or [one for one in found if self._is_below(one, names)]
            or found
        )

    def _is_below(self, found: FoundDefinition, names: tuple[str, ...]) -> bool:
        count = len(found.owners)
        places = {*path_names(found.symbol.path), *self._list_packages(found.symbol.path)}
        return found.owners == names[:count] and places.issuperset(names[count:])

    def is_in_package(self, found: FoundDefinition) -> bool:
        """Return whether the owner is the package that a definition belongs to."""
        if not self._owner or found.owners:
            return False
        return self._owner in self._list_packages(found.symbol.path)

    def _is_within(self, found: FoundDefinition) -> bool:
        return (
            self._owner in found.owners
            or self._owner in _outer_names(found)
            or self.is_in_package(found)
        )

    def base_levels(self, names: Iterable[str]) -> Iterator[list[str]]:
        """Yield the names of the base classes of `names`: direct ones, then their bases, and so on.

        A name is yielded only once.
        """
        new = list(names)
        known = set(new)
        for _ in range(_MAX_BASES):
            bases = [base for name in new for base in self._list_bases(name)]
            new = [base for base in dict.fromkeys(bases) if base not in known]
            if not new:
                return
            known.update(new)
            yield new

    def _select_inherited(self, found: Sequence[FoundDefinition]) -> list[FoundDefinition]:
        """Return the definitions in the nearest base classes of the owner."""
        for names in self.base_levels([self._owner] if found else []):
            selected = [one for one in found if one.owners and one.owners[0] in names]
            if selected:
                return selected
        return []

    def _list_bases(self, name: str) -> Sequence[str]:
        if name not in self._bases and len(self._bases) >= _MAX_CLASSES:
            self.has_all_bases = False
            return ()
        if name not in self._bases:
            self._bases[name] = self._find_bases(name)
        return self._bases[name]

    def _find_packages(self, found: FoundDefinition) -> list[tuple[str, ...]]:
        """Return the possible packages of a definition; the clauses of a Scala file are nested."""
        clauses = self._list_clauses(found.symbol.path)
        nested = tuple(part for clause in clauses for part in clause)
        return [*clauses, nested] if clauses else []

    def _list_packages(self, path: str) -> frozenset[str]:
        return frozenset(part for clause in self._list_clauses(path) for part in clause)

    def _list_clauses(self, path: str) -> list[tuple[str, ...]]:
        if path not in self._clauses:
            self._clauses |= {one.state.path: package_clauses(one) for one in self._list_files()}
        return self._clauses.get(path, [])


class MemberUses:
    """Excludes occurrences of a name that cannot be uses of the requested members."""

    def __init__(self, members: Sequence[FoundDefinition]) -> None:
        self.are_members = bool(members) and all(map(_is_class_member, members))
        self._are_methods = all(one.symbol.kind in _METHODS for one in members)
        self._are_static = bool(members) and all(map(_is_static, members))
        self._languages = {one.symbol.language for one in members}

    def positions(self, found: FileOccurrences) -> Sequence[Position]:
        """Return the positions in a file at which the name can be a use of the members."""
        if self._are_static and found.state.language in _WITH_STATIC_METHODS:
            if found.state.language == "java":
                return found.positions
            excluded = self._places_after_values(found)
            return [at for at in found.positions if at not in excluded]
        tree = found.tree
        if not self.are_members:
            return found.positions
        if tree is None:
            if not self._are_methods or found.state.language not in _ALWAYS_QUALIFIED:
                return found.positions
            pairs = zip(found.positions, found.offsets, strict=True)
            return [at for at, offset in pairs if _is_qualified(found.text, offset)]
        plain = {
            at
            for at in found.positions
            if is_plain_name(tree, *at, found.size, is_method=self._are_methods)
        }
        if plain and any(can_rename_member(tree, *at, found.size) for at in found.positions):
            return found.positions
        return [at for at in found.positions if at not in plain]

    def doubtful_positions(self, found: FileOccurrences) -> Collection[Position]:
        """Return the positions in a file at which the name is a use only if it can be resolved.

        Java allows calling a static method on a value, but usually the value has another method
        with the name. C# does not allow it.
        """
        is_doubtful = self._are_static and found.state.language == "java"
        return self._places_after_values(found) if is_doubtful else ()

    def _places_after_values(self, found: FileOccurrences) -> Collection[Position]:
        pairs = zip(found.positions, found.offsets, strict=True)
        return {at for at, offset in pairs if _has_value(found.text, offset)}

    def needs_receiver(self, found: FileOccurrences) -> bool:
        """Return whether code in a file can use the members only with a receiver.

        Code in a language other than that of the members cannot be in their class.
        """
        return self.are_members and is_of_other_language(found, self._languages)


def is_of_other_language(found: FileOccurrences, languages: Collection[str]) -> bool:
    """Return whether a file contains code in a language that is unrelated to all of `languages`."""
    related = {_related_languages(language) for language in languages}
    language = found.state.language
    return language in CODE_EXTENSIONS and _related_languages(language) not in related


def _related_languages(language: str) -> frozenset[str]:
    """Return the languages whose code can directly use members of classes in this language."""
    found = (group for group in _RELATED_LANGUAGES if language in group)
    return next(found, frozenset({language}))


def _is_class_member(found: FoundDefinition) -> bool:
    symbol = found.symbol
    if symbol.language == "go":
        return bool(found.owners)
    return symbol.scope.rpartition(SCOPE_SEPARATOR)[2].partition(" ")[0] in CLASSES


def _is_static(found: FoundDefinition) -> bool:
    """Return whether a definition is a static method that no value can be the receiver of."""
    symbol = found.symbol
    is_method = symbol.language in _WITH_STATIC_METHODS and symbol.kind == "method"
    before = symbol.signature.partition(f"{symbol.name}(")[0].partition(f"{symbol.name}<")[0]
    has_class = bool(found.owners) and found.owners[0][:1].isupper()
    return is_method and has_class and not found.is_extension and _STATIC.search(before) is not None


def _has_value(text: str, offset: int) -> bool:
    """Return whether the name at an offset follows a value, as in `values.name` and `f().name`.

    A static method follows the name of its class.
    """
    before = text[max(0, offset - _MAX_SPACE) : offset].rstrip()
    if not before.endswith("."):
        return False
    return _VALUE_END.search(before[:-1].rstrip().removesuffix("?")) is not None


def _is_qualified(text: str, offset: int) -> bool:
    """Return whether a name at an offset follows a receiver, as in `value.name`."""
    before = text[max(0, offset - _MAX_SPACE) : offset].rstrip()
    return before.endswith((".", "::")) and not before.endswith("..")


def _outer_names(found: FoundDefinition) -> Sequence[str]:
    """Return the names in the path of a definition that can be those of its owner."""
    path = found.symbol.path
    if found.owners and found.symbol.language in _WITH_CLASS_FILES:
        path = path.rpartition("/")[0]
    return path_names(path)


def is_path_end(path: str, end: str) -> bool:
    """Return whether a path is `end`, or ends with it after a slash."""
    return f"/{path}".endswith(f"/{end}")


def path_names(path: str) -> Sequence[str]:
    """Return the names in a path: "a", "b" and "py" for "a/b.py".

    A name such as "mime-types" is followed by its spelling in code, mimeTypes.
    """
    names = re.split(r"[/.]", path)
    return [*names, *(join_words(name) for name in names if "-" in name)]
