"""Random source files and pages, with words whose frequencies differ as in real text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Final

_NOUNS: Final = """account order invoice session packet window buffer kernel thread parser schema
column index cursor ledger vector matrix socket sensor engine planner broker worker folder archive
snapshot journal replica quorum leader shard bucket segment token cipher digest ticket basket
shipment carrier lantern harbour compass meadow pebble quarry""".split()
_VERBS: Final = """load store parse merge split encode decode rotate verify cancel resume flush
compact publish consume schedule retry throttle validate compress expand resolve dispatch allocate
release inspect restore""".split()
# Common words first: the n-th word is drawn in proportion to 1/n, as in natural language.
_NOUN_WEIGHTS: Final = [1 / rank for rank in range(1, len(_NOUNS) + 1)]
_VERB_WEIGHTS: Final = [1 / rank for rank in range(1, len(_VERBS) + 1)]


def draw_noun(rng: Random) -> str:
    """Return a noun. The first nouns of the list are frequent, the last ones rare."""
    return rng.choices(_NOUNS, _NOUN_WEIGHTS)[0]


def draw_verb(rng: Random) -> str:
    """Return a verb. The first verbs of the list are frequent, the last ones rare."""
    return rng.choices(_VERBS, _VERB_WEIGHTS)[0]


def draw_name(rng: Random) -> str:
    """Return a function name. There are few names, so that many files share one."""
    return f"{draw_verb(rng)}_{draw_noun(rng)}"


def random_line(rng: Random, suffix: str) -> str:
    """Return a line that may occur anywhere in a file of this type."""
    words = f"{draw_verb(rng)} the {draw_noun(rng)} before the {draw_noun(rng)} {draw_verb(rng)}s"
    return f"{_COMMENTS.get(suffix, '')}{words}\n"


def random_text(rng: Random, suffix: str) -> str:
    """Return the text of a file of this type: usually a few definitions or sections, rarely 60."""
    count = rng.choice((1, 2, 3, 3, 4, 6, 8, 8, 12, 60))
    return _SEPARATORS.get(suffix, "").join(_PARTS[suffix](rng) for _ in range(count))


def random_questions(rng: Random, count: int) -> tuple[str, ...]:
    """Return questions of every kind in turn: words, names, phrases, patterns and filters."""
    return tuple(_QUESTIONS[place % len(_QUESTIONS)](rng) for place in range(count))


def random_suffix(rng: Random) -> str:
    """Return the suffix of a file type."""
    return rng.choice(_SUFFIXES)


def _python(rng: Random) -> str:
    name, noun, other = draw_name(rng), draw_noun(rng), draw_noun(rng)
    return (
        f"def {name}({noun}: int) -> int:\n"
        f'    """{draw_verb(rng).title()} the {noun} that a {other} {draw_noun(rng)} has."""\n'
        f"    {other} = {draw_name(rng)}({noun}, {rng.randrange(1000)})\n"
        f"    return {other} + {rng.randrange(9)}\n"
    )


def _javascript(rng: Random) -> str:
    name, noun = draw_name(rng), draw_noun(rng)
    return (
        f"// {draw_verb(rng).title()} each {noun} of the {draw_noun(rng)}.\n"
        f"function {name}({noun}) {{\n  return {draw_name(rng)}({noun});\n}}\n"
    )


def _go(rng: Random) -> str:
    name, noun = draw_name(rng).title().replace("_", ""), draw_noun(rng)
    return (
        f"// {name} waits until the {draw_noun(rng)} can {draw_verb(rng)}.\n"
        f"func {name}({noun} int) int {{\n\treturn {noun} * {rng.randrange(99)}\n}}\n"
    )


def _markdown(rng: Random) -> str:
    lines = "".join(random_line(rng, ".md") for _ in range(rng.randrange(1, 5)))
    return f"## {draw_verb(rng).title()} the {draw_noun(rng)}\n\n{lines}"


def _settings(rng: Random) -> str:
    return f"{draw_noun(rng)}_{draw_noun(rng)}: {rng.randrange(100)}\n"


def _plain(rng: Random) -> str:
    return "".join(random_line(rng, ".txt") for _ in range(rng.randrange(1, 6)))


_PARTS: Final[Mapping[str, Callable[[Random], str]]] = {
    ".py": _python,
    ".js": _javascript,
    ".go": _go,
    ".md": _markdown,
    ".yaml": _settings,
    ".txt": _plain,
}
_SUFFIXES: Final[Sequence[str]] = (*_PARTS, ".py", ".py", ".md")
_SEPARATORS: Final[Mapping[str, str]] = {".py": "\n\n", ".js": "\n", ".go": "\n", ".md": "\n"}
_COMMENTS: Final[Mapping[str, str]] = {".py": "# ", ".js": "// ", ".go": "// ", ".yaml": "# "}

_QUESTIONS: Final[Sequence[Callable[[Random], str]]] = (
    draw_name,
    lambda rng: f"how does the {draw_noun(rng)} {draw_verb(rng)} the {draw_noun(rng)}",
    lambda rng: f"{draw_noun(rng)} {draw_noun(rng)}",
    lambda rng: f'"{draw_verb(rng)} the {draw_noun(rng)}"',
    draw_noun,
    lambda rng: f"/{draw_verb(rng)}_\\w+\\(/",
    lambda rng: f"where is the {draw_noun(rng)} {draw_noun(rng)} lang:python",
    lambda rng: f"{draw_verb(rng)} {draw_noun(rng)} -{draw_noun(rng)}",
    lambda rng: f"{draw_noun(rng)} of the {draw_noun(rng)} path:docs",
    lambda rng: f"{draw_noun(rng)} -path:src/core",
    lambda rng: draw_name(rng).replace("_", "").replace("e", "ee", 1),  # misspelled
)
