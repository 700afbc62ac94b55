"""Rules for the list of uses: the order, and which words of prose mention a member."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final

from rootle.rank.path_features import is_generated
from rootle.search.symbols.parsed_files import FileOccurrences
from rootle.syntax.source_tree import Position
from rootle.text.terms import WORD
from rootle.types import SymbolUse

# The kinds of uses, in the order in which they are listed.
USE_KINDS: Final = {
    kind: at
    for at, kind in enumerate(
        """test assignment call implementation reference type import export comment string
        document""".split()
    )
}
PROSE_KINDS: Final = frozenset({"comment", "string", "document"})
_QUALIFIER: Final = re.compile(r"(?<!\w)(\w+)(?:\(\))?(?:\.|::|->|#)$")
_NO_WORD: Final = re.compile(r"\w_|_\w|[a-z0-9][A-Z]")  # in names, but not in words of prose
_MENTION_CHARS: Final = 120  # searched before and after a name for the name of its class


def use_order(
    use: SymbolUse, *, is_owned: bool, evidence: Callable[[SymbolUse], int]
) -> tuple[object, ...]:
    """Return the sort key of a use; `is_owned` is set for the uses of a member.

    `evidence` returns a number for a use without a target. The more signs there are that the use
    belongs to the class of the member, the higher the number.
    """
    is_prose = use.kind in PROSE_KINDS
    # For a member, uses without a target come after the others, because their class is unknown.
    is_doubtful = is_owned and not use.target
    is_last = use.is_test or is_generated(use.path)
    certainty = -evidence(use) if is_doubtful else 0
    return (is_prose, is_doubtful, is_last, certainty, USE_KINDS[use.kind], use.path, use.line)


def text_around(found: FileOccurrences, at: Position) -> tuple[str, str]:
    """Return the text before and after a name on its line, up to a limit."""
    return found.text_around(at, _MENTION_CHARS)


def is_mention(name: str, owner: str, around: tuple[str, str], others: Collection[str]) -> bool:
    """Return whether a name in prose refers to a member of a class.

    If not, the name is an ordinary word or a member of another class. `around` is the text before
    and after the name. `others` are the names of other classes with a member of this name, in lower
    case.
    """
    before, after = around
    qualifier = _QUALIFIER.search(before)
    if qualifier is not None:
        return qualifier[1].lower() not in others
    is_code = before.endswith("`") or after.startswith("(") or _NO_WORD.search(name)
    return bool(is_code) or owner in WORD.findall(f"{before} {after}")
