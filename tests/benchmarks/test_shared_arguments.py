"""The options that several commands of the benchmarks and the training share."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.common.arguments import JSON, ONLY, SEED, SPLIT, command_parser, name_list
from syntax_trees import syntax_tree

_ROOT = Path(__file__).parents[2]
# Names that mean something else in each module that declares them.
OTHER_MEANINGS: Mapping[str, str] = {
    "--bench": "oracle_analysis has its checkouts in another argument",
    "--held-out": "question_words.build holds out a share of pairs, impact a number of commits",
    "--labels": "check_labels reads label files, the training reads labeled checkouts",
    "--large": "a flag of benchmarks, but a folder of checkouts in the training",
    "--model": "a name on a server, an embedding model, a static table, or decision trees",
    "--only": "names of repositories, a place in a file, or one of two groups of systems",
    "--out": "compare_answers writes a file, the training writes a folder",
    "--packages": "installed packages, or packages of rootle",
    "--show": "the number of questions that compare_answers shows; a flag elsewhere",
}


def test_shared_options_are_parsed() -> None:
    parser = command_parser("First line.\n\nMore.", ONLY, SPLIT, JSON)
    assert parser.description == "First line."
    args = parser.parse_args(["--only", "one,two,", "--split", "tune"])
    assert (args.only, args.split, args.json) == (frozenset({"one", "two"}), "tune", None)
    assert parser.parse_args([]).only == frozenset()
    assert name_list("b,a,") == ["b", "a"]


def test_a_variant_of_an_option_differs_only_in_its_settings() -> None:
    parser = command_parser("", SEED.with_settings(default=None))
    assert parser.parse_args([]).seed is None
    assert parser.parse_args(["--seed", "7"]).seed == 7
    assert command_parser("", SEED).parse_args([]).seed == 1


def test_no_option_is_declared_in_two_modules() -> None:
    modules: dict[str, set[str]] = defaultdict(set)
    for folder in ("benchmarks", "training"):
        for path in sorted((_ROOT / folder).rglob("*.py")):
            for name in declared_names(path):
                modules[name].add(str(path.relative_to(_ROOT)))
    assert len(modules) > 100
    repeated = {name: sorted(found) for name, found in modules.items() if len(found) > 1}
    wrong = {name: found for name, found in repeated.items() if name not in OTHER_MEANINGS}
    assert not wrong, f"declare these once, and vary them by with_settings(): {wrong}"
    assert set(OTHER_MEANINGS) <= set(repeated)


def declared_names(path: Path) -> Iterator[str]:
    """Yield the name of each argument that a module declares."""
    for node in ast.walk(syntax_tree(path)):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else ""
            name = function.id if isinstance(function, ast.Name) else name
            if name in ("option", "add_argument"):
                yield str(node.args[0].value)
