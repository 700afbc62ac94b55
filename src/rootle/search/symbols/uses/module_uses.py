"""Exclude occurrences of a name that cannot be uses of a module's function or variable.

Code in another file can use it only through its module, as in `cart.total()`, or after an import.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Final

from tree_sitter import Node

from rootle.search.symbols.definitions import FoundDefinition
from rootle.search.symbols.import_paths import module_names
from rootle.search.symbols.parsed_files import FileOccurrences
from rootle.search.symbols.uses.owner_filter import is_of_other_language
from rootle.search.symbols.uses.use_rules import text_around
from rootle.syntax.declared.local_variables import is_key
from rootle.syntax.references import can_rename_member, classify
from rootle.syntax.source_tree import Position
from rootle.text.languages import JAVASCRIPT

# In these languages, each file is a module, which contains the functions that are not in a class.
_LANGUAGES: Final = JAVASCRIPT | {"lua", "python"}
# Values that are no module.
_SELF: Final = frozenset({"self", "this", "cls", "super"})
# A function of Lua that is called with a value, as in `value:total()`.
_LUA_METHOD: Final = re.compile(r"\bfunction\s+[\w.]+:|\(\s*self\b")
_INDEXES: Final = frozenset({"dot_index_expression", "method_index_expression"})
# Matches the text before the name of a JavaScript function or class.
_EXPRESSION: Final = re.compile(r"\b(?:function|class)\b[\s*]*+\Z")
# The nodes of functions and classes that are values. Only their own code can use their names.
_EXPRESSIONS: Final = frozenset({"function_expression", "generator_function", "class"})
# A receiver in the text before a name.
_RECEIVER: Final = re.compile(r"(?<![\w.])([\w.]*\w|\))\s*[.:]$")
# The last name in the path of a module.
_LAST_IN_PATH: Final = re.compile(r"\b(\w{1,100})[\"'\]]")
# A value that is assigned: loaded modules, or the last name in `shop.timer`.
_VALUE: Final = re.compile(
    r"=[ \t]*(?:[\w.]{1,100}[ \t]+or[ \t]+)?"
    r"(?:(?P<loaded>(?:x?pcall|require)\b[^\n]{0,200})|(?:\w+\.)*(?P<member>\w+))"
)
_MAX_TARGETS: Final = 200  # characters before "=" with the names of the variables
_NO_CODE: Final = frozenset({"comment", "string", "import", "export"})


class ModuleUses:
    """Knows the module of the selected definitions, if they are not members of classes."""

    def __init__(
        self,
        owner: str,
        selected: Sequence[FoundDefinition],
        find_full_names: Callable[[FileOccurrences, Position, str], Sequence[str]],
        *,
        may_be_key: bool,
    ) -> None:
        """`owner` is the module in a qualified name; "" if the name has no owner.

        `find_full_names` returns the names in a receiver, with the full names of imported modules.
        Set `may_be_key` if keys and names of arguments count as uses.
        """
        is_in_modules = bool(owner and selected) and all(map(_is_in_module, selected))
        languages = {one.symbol.language for one in selected} if is_in_modules else set()
        self._languages = languages | (JAVASCRIPT if languages & JAVASCRIPT else set())
        self._find_full_names = find_full_names
        self._may_be_key = may_be_key
        paths = (module_names(one.symbol.path) for one in selected)
        tables = (name for one in selected for name in one.owners[:1])
        self._renaming: dict[str, bool] = {}  # by path
        self._assigned: dict[str, frozenset[str]] = {}  # variables by path
        self._modules = {owner, *(name for names in paths for name in names), *tables}

    def is_excluded(self, found: FileOccurrences, at: Position) -> bool:
        """Return whether an occurrence with an unknown definition cannot be a use in code."""
        language = found.state.language
        if not self._languages:
            return False
        receiver = self._find_receiver(found, at)
        if is_of_other_language(found, self._languages):
            return (receiver or "").rpartition(".")[2] not in self._modules
        if receiver is None or language not in self._languages:
            return False
        if not receiver:
            return self._is_key(found, at) or (language == "lua" and not self._may_rename(found))
        names = self._find_full_names(found, at, receiver)
        if not names or names[-1] in self._modules:
            return False
        if language == "lua":
            return not self._is_assigned(found, names[0])
        is_value = len(names) == 1 and names[0] in _SELF
        return is_value or (receiver.endswith(")") and "import" not in receiver)

    def _find_receiver(self, found: FileOccurrences, at: Position) -> str | None:
        """Return the receiver of a name, which may be ""; None if the name is not in code."""
        if found.tree is not None:
            role = classify(found.tree, *at, found.size)
            return None if role.kind in _NO_CODE else role.receiver
        # Without a syntax tree, only a receiver shows that the name is in code.
        match = _RECEIVER.search(text_around(found, at)[0])
        return match[1] if match is not None else None

    def _is_key(self, found: FileOccurrences, at: Position) -> bool:
        if found.tree is None or self._may_be_key:
            return False
        return is_key(found.tree, *at, found.size)

    def _may_rename(self, found: FileOccurrences) -> bool:
        """Return whether a file assigns the member to a variable, as in `local a = module.a`."""
        path, tree = found.state.path, found.tree
        if path not in self._renaming:
            self._renaming[path] = tree is None or any(
                can_rename_member(tree, *at, found.size) for at in found.positions
            )
        return self._renaming[path]

    def _is_assigned(self, found: FileOccurrences, variable: str) -> bool:
        """Return whether a file assigns the module to a variable, as in `local t = shop.timer`.

        The module can also be one of several values: `local ok, t = pcall(require, "timer")`.
        """
        path = found.state.path
        if path not in self._assigned:
            self._assigned[path] = frozenset(_list_assigned(found.text, self._modules))
        return variable in self._assigned[path]


def _list_assigned(text: str, modules: Set[str]) -> Iterator[str]:
    """Yield the Lua variables to which one of `modules` is assigned."""
    for found in _VALUE.finditer(text):
        loaded = _LAST_IN_PATH.findall(found["loaded"] or "")
        if modules.isdisjoint([found["member"], *loaded]):
            continue
        before = text[max(0, found.start() - _MAX_TARGETS) : found.start()].rpartition("\n")[2]
        for part in reversed(before.split(",")):
            words = part.split()
            yield from words[-1:]
            if len(words) != 1:
                break


def is_function_head(found: FileOccurrences, at: Position) -> bool:
    """Return whether a name belongs to the head of a function or class, which uses no value.

    Examples are `Cart` in `function Cart:total()` in Lua, and the last `fill` in the JavaScript
    `exports.fill = function fill() {}`.
    """
    if found.tree is None or found.tree.language not in ("lua", *JAVASCRIPT):
        return False
    before = text_around(found, at)[0]
    if found.tree.language != "lua":
        node = found.tree.node_at(*at, found.size) if _EXPRESSION.search(before) else None
        around = node.parent if node is not None else None
        return around is not None and around.type in _EXPRESSIONS
    if "function" not in before:
        return False
    return _is_lua_head(found.tree.node_at(*at, found.size))


def _is_lua_head(node: Node) -> bool:
    while node.parent is not None and node.parent.type in _INDEXES:
        node = node.parent
    around = node.parent
    if around is None or around.type != "function_declaration":
        return False
    return around.child_by_field_name("name") == node


def find_owner(found: Sequence[FoundDefinition]) -> str:
    """Return the name of the class or module that all definitions are in; "" if there is none."""
    names = {
        *(one.owners[0] for one in found if one.owners),
        *(_find_module(one) for one in found if not one.owners),
    }
    return names.pop() if len(names) == 1 else ""


def _find_module(found: FoundDefinition) -> str:
    return module_names(found.symbol.path)[0] if _is_in_module(found) else ""


def _is_in_module(found: FoundDefinition) -> bool:
    symbol = found.symbol
    if symbol.language == "lua":
        is_method = _LUA_METHOD.search(symbol.signature) is not None
        return not is_method and (not found.owners or found.is_in_module)
    return symbol.language in _LANGUAGES and not found.owners
