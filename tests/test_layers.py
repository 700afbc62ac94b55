"""Arrows point down only: what each file imports, held against the floors of the design.

Every import counts, also one inside a function or for type checking alone: the floors say who may
know of whom, not what loads when.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import rootle

SRC = Path(rootle.__file__).parent

# A name stands for a module, or for a folder and all that is in it.
FLOOR_1 = {
    "types",
    "errors",
    "setting",
    "weights",
    "text",
    "languages",
    "backoff",
    "logs",
    "telemetry",
    "transaction",
    "whole_file",
    "file_flags",
}
FLOOR_2 = {
    "protocols",
    "config",
    "settings",
    "wire",
    "markdown",
    "vectors",
    "stems",
    "models",
    "connection",
    "net",
    "events",
    "plugins",
    "reranker",
}
GROUND = FLOOR_1 | FLOOR_2

# Who may import what, beside files of its own folder. What is not in the table may import nothing.
ALLOWED: Mapping[str, set[str]] = {
    # Floor 1: the standard library.
    "types": set(),
    "errors": set(),
    "text": set(),
    "languages": set(),
    "backoff": set(),
    "transaction": set(),
    "whole_file": set(),
    "file_flags": set(),
    "setting": set(),
    "weights": {"setting"},
    "logs": {"errors"},
    "telemetry": set(),  # and OpenTelemetry's API, once somebody else has loaded it
    # Floor 2: floor 1, and the shapes of arrays where vectors are packed.
    "protocols": FLOOR_1,
    "config": FLOOR_1,
    "settings": FLOOR_1 | {"config", "wire"},
    "wire": FLOOR_1,
    "markdown": FLOOR_1,
    "models": FLOOR_1,
    "vectors": FLOOR_1 | {"protocols"},
    "stems": set(),
    "events": FLOOR_1,
    "plugins": FLOOR_1,
    "reranker": FLOOR_1 | {"protocols"},
    "connection": set(),
    "net": FLOOR_1 | {"connection"},
    # Floor 3: the ground, not each other.
    "index": GROUND,
    "embed": GROUND,
    "rank": GROUND,
    "memory": GROUND,
    "websearch": GROUND,
    # Floor 4: the ground, `rank`, and what of the embedded index the two roads share; not each
    # other. Why these files: docs/decisions/0005.
    "ingest": GROUND | {"index.manifest"},
    "search": GROUND | {"rank", "index.manifest", "index.docstore", "index.snapshot"},
    # The files of other programs: it needs neither an index nor a search.
    "install": GROUND,
    # Floor 5: everything below.
    "servers": GROUND | {"index"},
    "embedding_turns": GROUND | {"index", "ingest"},
    "makeup": GROUND | {"ingest"},
    "index_view": GROUND | {"index", "ingest", "makeup"},
    "indexer": GROUND
    | {"index", "embed", "ingest"}
    | {"makeup", "index_view", "servers", "embedding_turns"},
    "index_status": GROUND | {"index", "indexer"},
    "freshness": GROUND | {"index", "index_view", "indexer"},
    "live": GROUND | {"index", "ingest", "indexer"},
    "sources": GROUND | {"ingest"},
    "indexed_names": GROUND | {"index.snapshot"},
    "user_memory": GROUND | {"memory", "search", "indexed_names", "index.snapshot"},
    "places": set(),
    "parts": GROUND
    | {
        "index.folder",
        "index.snapshot",
        "ingest.worker_process",
        "embed",
        "memory",
        "rank",
        "search",
    }
    | {"indexer", "freshness", "places", "user_memory"},
    "app": GROUND
    | {"index.watch_place", "ingest", "search", "websearch"}
    | {"index_status", "live", "makeup", "parts", "places", "sources", "user_memory"},
    # Floor 6: what agents call.
    "tools": GROUND | {"app"},
    # Floor 7: servers.
    "server": GROUND | {"app", "tools", ""},
    # The public names, for type checkers and on first use.
    "": {"app", "config", "errors", "types"},
    # Floor 8: the doors.
    "cli": GROUND | {"app", "ingest", "install", "makeup", "rank", "server", ""},
    "__main__": {"cli"},
}
# Single files that may do more than their folder: the writer of the index, and a process of its
# own that has to open what it needs by name.
ALSO: Mapping[str, set[str]] = {
    "ingest.pipeline": {
        "index.derived",
        "index.docstore",
        "index.embedded_dense",
        "index.embedded_sparse",
        "index.feed_record",
        "index.pending",
        "embed.model_choice",
    },
    "ingest.embedding_queue": {
        "index.derived",
        "index.docstore",
        "index.embedded_dense",
        "index.pending",
    },
    "ingest.readers": {"index.docstore"},
    "ingest.reading": {"index.docstore"},
    "ingest.worker": {"index.database", "index.docstore", "embed.model_choice"},
}
# What of floor 4 the doors may know: they print these, and do not work with them.
CLI_ONLY = {
    "ingest": {"ingest.plan", "ingest.text_reader", "ingest.walker"},
    "rank": {"rank.features", "rank.question"},
}

HEAVY = (
    *(
        "numpy",
        "tantivy",
        "sqlite3",
        "tree_sitter",
        "simsimd",
        "tqdm",
        "platformdirs",
        "watchfiles",
    ),
    *("opentelemetry", "mcp", "mcp_types", "pydantic", "anyio"),
)


class Import(NamedTuple):
    module: str  # without "rootle."; "" for the package itself
    target: str
    where: str


def test_every_import_points_down() -> None:
    wrong = [found for found in imports() if not is_allowed(found.module, found.target)]
    assert not wrong, explain("these imports leave their floor", wrong)


def test_ingest_and_search_never_meet() -> None:
    roads = {"ingest": "search", "search": "ingest"}
    wrong = [found for found in imports() if roads.get(top(found.module)) == top(found.target)]
    assert not wrong, explain("reading and writing are two roads", wrong)


def test_the_command_line_reaches_only_for_what_it_prints() -> None:
    wrong = [
        found
        for found in imports()
        if top(found.module) == "cli"
        and top(found.target) in CLI_ONLY
        and found.target not in CLI_ONLY[top(found.target)]
    ]
    assert not wrong, explain("the command line works through the app", wrong)


def test_no_module_imports_itself_through_others() -> None:
    graph: dict[str, set[str]] = {}
    for found in imports():
        # `import rootle` gives its names on first use, so it closes no circle.
        if found.module:
            graph.setdefault(found.module, set()).add(found.target)
    # The commands are imported by the function that runs them.
    for command in ("search", "index", "watch", "status", "config", "install", "mcp", "memory"):
        graph["cli.main"].discard(f"cli.{command}")
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")


@pytest.mark.parametrize(
    ("module", "target"),
    [
        ("types", "text"),
        ("text", "protocols"),
        ("rank.features", "index.manifest"),
        ("index.manifest", "rank.fusion"),
        ("ingest.git", "search.agent"),
        ("ingest.git", "index.docstore"),
        ("search.agent", "ingest.plan"),
        ("search.agent", "index.derived"),
        ("search.agent", "embed.static"),
        ("app", "cli.main"),
    ],
)
def test_the_table_forbids(module: str, target: str) -> None:
    assert not is_allowed(module, target)


def test_the_table_has_no_line_that_nobody_needs() -> None:
    used = set()
    for found in imports():
        for who in (found.module, top(found.module)):
            used |= {(who, found.target), (who, top(found.target))}
    spare = [
        f"{module} -> {target}"
        for table in (ALLOWED, ALSO)
        for module, targets in table.items()
        for target in targets - GROUND  # the ground is there for everybody
        if (module, target) not in used
    ]
    assert not spare, f"take these out of the table: {spare}"
    known = {top(module) for module in modules()}
    assert set(ALLOWED) == known, "every module and folder of the package stands in ALLOWED"


def test_importing_rootle_and_parsing_a_command_loads_nothing_heavy() -> None:
    code = (
        "import sys, rootle\n"
        "from rootle.cli.main import build_parser\n"
        "build_parser().parse_args(['search', 'anything'])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.strip() == "[]"


def test_listing_the_tools_of_an_app_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from rootle import open_app\n"
        "from rootle.tools import tools_of\n"
        "assert tools_of(open_app('.', index_dir='x'))\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.strip() == "[]"


def is_allowed(module: str, target: str) -> bool:
    if module and top(module) == top(target):
        return True
    allowed = ALLOWED.get(top(module), set()) | ALSO.get(module, set())
    return target in allowed or top(target) in allowed


def top(module: str) -> str:
    """The folder or single module on its floor: `ingest.git` -> `ingest`."""
    return module.partition(".")[0]


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(SRC.rglob("*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        found[".".join(parts).removesuffix("__init__").rstrip(".")] = path
    return found


def imports() -> Iterator[Import]:
    """Every import of one of our modules, wherever it stands."""
    known = modules()
    for module, path in known.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for target in targets(node, known):
                line = getattr(node, "lineno", 0)
                yield Import(module, target, f"{path.relative_to(SRC.parent)}:{line}")


def targets(node: ast.AST, known: Mapping[str, Path]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"line {node.lineno}: imports are written out from `rootle`"
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        return
    for name in names:
        if name.split(".")[0] != "rootle":
            continue
        inside = name.removeprefix("rootle").lstrip(".")
        # What is no module is a name in one.
        yield inside if inside in known else inside.rpartition(".")[0]


def explain(what: str, wrong: list[Import]) -> str:
    lines = [f"  {found.where}: {found.module or 'rootle'} -> {found.target}" for found in wrong]
    return "\n".join([f"{what} (the table is in tests/test_layers.py):", *lines])
