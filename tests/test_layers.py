"""The layers described in ARCHITECTURE.md, checked against the imports in `src/rootle`.

Imports inside functions and under TYPE_CHECKING count too: the layers limit dependencies between
packages, not load times.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest
from syntax_trees import syntax_tree

import rootle

SRC = Path(rootle.__file__).parent

# Small packages with one subject each. All other packages may import them.
FOUNDATIONS = {
    "types",
    "errors",
    "protocols",
    "text",
    "concurrency",
    "http",
    "storage",
    "telemetry",
    "serialization",
    "config",
    "plugins",
    "models",
}
# The packages that each package may import, besides the foundations and itself.
ALLOWED: Mapping[str, set[str]] = {
    # Foundations
    "types": set(),
    "errors": set(),
    "protocols": {"types"},
    "text": set(),
    "concurrency": {"errors"},
    "http": {"errors", "concurrency"},
    "storage": {"errors", "protocols"},
    "telemetry": {"errors"},
    "serialization": {"errors", "text", "types"},
    "config": {"errors", "types", "text", "serialization", "storage"},
    "plugins": {"errors"},
    "models": set(),
    # Building blocks: none of them imports another building block.
    "index": set(),
    "sources": set(),
    "syntax": set(),
    "embed": set(),
    "rank": set(),
    "rerank": set(),
    "expansion": set(),
    "web": set(),
    "agents": {"tools"},
    # The write path (`sources`, `ingest`, `indexing`) and the read path (`search`, `rank`,
    # `rerank`) do not import each other.
    "ingest": {"sources", "index", "embed", "syntax"},
    "indexing": {"sources", "ingest", "index", "embed"},
    "search": {"index", "rank", "rerank", "syntax"},
    "history": {"index", "rank", "search"},
    "federation": {"history", "index", "search"},
    "links": {"history", "index", "provenance", "search", "syntax"},
    "memory": {"index"},
    "provenance": {"index", "ingest", "sources"},
    # Assembly
    "app": {
        *("embed", "expansion", "federation", "history", "index", "indexing", "ingest", "memory"),
        *("links", "provenance", "rank", "rerank", "search", "sources", "web"),
    },
    "tools": {"app", "rerank"},
    "server": {"app", "tools", ""},
    "": {"app", "config", "errors", "types"},
    "cli": {"", "agents", "app", "rank", "server", "sources", "tools"},
    "__main__": {"cli"},
}
# Maps an importing and an imported package to the only modules that may be imported.
INTERFACES: Mapping[tuple[str, str], set[str]] = {
    ("search", "index"): {"index.reader"},
    ("history", "index"): {"index.reader"},
    ("history", "rank"): {"rank.rankers.tree_ensemble"},
    ("federation", "index"): {"index.reader"},
    ("links", "index"): {"index.reader"},
    ("memory", "index"): {"index.reader"},
    ("agents", "tools"): {"tools.query_wording"},
    ("cli", "tools"): {"tools.definitions.vectordb_search"},
    ("ingest", "embed"): {"embed.model_choice"},
    ("indexing", "embed"): {"embed.model_choice"},
}
# Modules under 40 lines with a single importer, and the reason why each is a separate module.
SMALL_MODULES_WITH_A_REASON: Mapping[str, str] = {
    "embed.plugin_model": "plugin boundary",
}

HEAVY = (
    *(
        "numpy",
        "Stemmer",
        "sqlite3",
        "tree_sitter",
        "simsimd",
        "tqdm",
        "platformdirs",
        "watchfiles",
        "re2",
    ),
    *("opentelemetry", "mcp", "mcp_types", "pydantic", "anyio"),
)


class Import(NamedTuple):
    module: str  # without "rootle."; "" for the package itself
    target: str
    where: str  # path and line


@pytest.mark.slow
def test_every_import_follows_the_layers() -> None:
    wrong = [found for found in imports() if not is_allowed(found.module, found.target)]
    assert not wrong, explain("these imports are not in the table", wrong)


@pytest.mark.slow
def test_a_package_is_entered_through_its_interface() -> None:
    wrong = [
        found
        for found in imports()
        for interface in [INTERFACES.get((package_of(found.module), package_of(found.target)))]
        if interface is not None and found.target not in interface
    ]
    assert not wrong, explain("these imports bypass an interface", wrong)


def test_ingest_and_search_do_not_import_each_other() -> None:
    write_path, read_path = {"sources", "ingest", "indexing"}, {"search", "rank", "rerank"}
    wrong = [
        found
        for found in imports()
        if {package_of(found.module), package_of(found.target)} & write_path
        and {package_of(found.module), package_of(found.target)} & read_path
        and package_of(found.module) not in {"app", "cli"}
    ]
    assert not wrong, explain("the write path and the read path are separate", wrong)


def test_modules_do_not_import_each_other_in_a_cycle() -> None:
    graph: dict[str, set[str]] = defaultdict(set)
    for found in imports():
        # The package `rootle` resolves its names on first use, so importing it closes no cycle.
        if found.module:
            graph[found.module].add(found.target)
    assert_no_cycle(graph)


def test_packages_do_not_import_each_other_in_a_cycle() -> None:
    graph: dict[str, set[str]] = defaultdict(set)
    for found in imports():
        module, target = package_of(found.module), package_of(found.target)
        if module and module != target:
            graph[module].add(target)
    assert_no_cycle(graph)


def test_the_table_has_no_unused_entry() -> None:
    used = {(package_of(found.module), package_of(found.target)) for found in imports()}
    unused = [
        f"{module} -> {target}"
        for module, targets in ALLOWED.items()
        for target in targets - FOUNDATIONS
        if (module, target) not in used
    ]
    assert not unused, f"remove these from ALLOWED: {unused}"
    assert set(ALLOWED) == {package_of(module) for module in modules()}


def test_the_top_level_has_at_most_8_files() -> None:
    files = [path.name for path in SRC.iterdir() if path.is_file()]
    assert len(files) <= 8, files


def test_a_folder_has_at_most_16_modules() -> None:
    sizes = Counter(
        path.parent.relative_to(SRC).as_posix()
        for path in modules().values()
        if path.name != "__init__.py"
    )
    assert len(sizes) > 20
    assert {folder: size for folder, size in sizes.items() if size > 16} == {}


@pytest.mark.slow
def test_every_class_name_is_unique() -> None:
    classes = Counter(
        node.name
        for path in modules().values()
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.ClassDef)
    )
    assert len(classes) > 200
    assert [name for name, count in classes.items() if count > 1] == []


def test_few_small_modules_have_a_single_importer() -> None:
    importers: dict[str, set[str]] = defaultdict(set)
    for found in imports():
        importers[found.target].add(found.module)
    small = {
        module
        for module, path in modules().items()
        if len(importers[module]) == 1
        and path.name not in {"__init__.py", "__main__.py"}
        and len(path.read_text(encoding="utf-8").splitlines()) < 40
    }
    assert len(small - set(SMALL_MODULES_WITH_A_REASON)) <= 10, sorted(small)
    assert set(SMALL_MODULES_WITH_A_REASON) <= small


def test_the_search_agent_is_small() -> None:
    tree = syntax_tree(SRC / "search/agent.py")
    agents = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name == "SearchAgent"
    ]
    assert len(agents) == 1
    assert agents[0].end_lineno is not None
    assert agents[0].end_lineno - agents[0].lineno < 150
    constructors = [
        node
        for node in agents[0].body
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    ]
    assert len(constructors) == 1
    arguments = constructors[0].args
    assert len([*arguments.args[1:], *arguments.kwonlyargs]) <= 6


@pytest.mark.parametrize(
    ("module", "target"),
    [
        ("types", "text.terms"),
        ("text.terms", "protocols"),
        ("rank.features", "index.reader"),
        ("index.local.manifest", "rank.reciprocal_rank_fusion"),
        ("sources.git.repository", "search.agent"),
        ("ingest.pipeline", "search.agent"),
        ("search.agent", "ingest.plan"),
        ("search.agent", "embed.static"),
        ("app", "cli.main"),
    ],
)
def test_the_table_forbids_an_import(module: str, target: str) -> None:
    assert {module, target} <= set(modules())
    assert not is_allowed(module, target)


def test_importing_rootle_and_parsing_a_command_imports_no_heavy_module() -> None:
    code = (
        "import sys, rootle\n"
        "from rootle.cli.main import build_parser\n"
        "build_parser().parse_args(['search', 'anything'])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.strip() == "[]"


@pytest.mark.slow
def test_listing_the_tools_of_an_app_imports_no_heavy_module() -> None:
    code = (
        "import sys\n"
        "from rootle import open_app\n"
        "from rootle.tools import create_tools\n"
        "assert create_tools(open_app('.', index_dir='x'))\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.strip() == "[]"


def is_allowed(module: str, target: str) -> bool:
    package, imported = package_of(module), package_of(target)
    if package == imported and package:
        return True
    allowed = ALLOWED.get(package, set())
    return imported in allowed or (package not in FOUNDATIONS and imported in FOUNDATIONS)


def package_of(module: str) -> str:
    """Return the folder or single module at the top level: `sources.git.command` -> `sources`."""
    return module.partition(".")[0]


@cache
def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(SRC.rglob("*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        found[".".join(parts).removesuffix("__init__").rstrip(".")] = path
    return found


@cache
def imports() -> tuple[Import, ...]:
    """Return every import of one rootle module by another."""
    return tuple(
        Import(module, target, f"{path.relative_to(SRC.parent)}:{getattr(node, 'lineno', 0)}")
        for module, path in modules().items()
        for node in ast.walk(syntax_tree(path))
        for target in targets(node)
    )


def targets(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"line {node.lineno}: use an absolute import from `rootle`"
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        return
    for name in names:
        if name.split(".")[0] != "rootle":
            continue
        inside = name.removeprefix("rootle").lstrip(".")
        # A name that is not a module is defined in the module before its last dot.
        yield inside if inside in modules() else inside.rpartition(".")[0]


def assert_no_cycle(graph: Mapping[str, set[str]]) -> None:
    assert len(graph) > 10
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' <- '.join(error.args[1])}")


def explain(message: str, wrong: list[Import]) -> str:
    lines = [f"  {found.where}: {found.module or 'rootle'} -> {found.target}" for found in wrong]
    return "\n".join([f"{message} (see the tables in tests/test_layers.py):", *lines])
