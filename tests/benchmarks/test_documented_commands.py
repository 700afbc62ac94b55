"""Each command or file of the benchmarks and the training that the project mentions exists."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest
from syntax_trees import syntax_tree

_ROOT = Path(__file__).parents[2]
_COMMAND = re.compile(r"python -m ((?:benchmarks|training)\.[\w.]*\w)")
_FILE = re.compile(r"(?<![\w/.-])((?:benchmarks|training)/[\w/]+\.(?:py|jsonl?|tsv|txt))\b")

# Adapters of systems that are not installed for development.
OTHER_SYSTEMS = {
    f"benchmarks.peers.{name}"
    for name in (
        "bm25s_windows", "chroma_vectors", "codebase_index_search", "haystack_bm25",
        "lancedb_hybrid", "llama_index_bm25", "rank_bm25_windows", "semble_search",
        "tantivy_search_cli", "tantivy_windows", "whoosh_windows",
    )
}  # fmt: skip


def tracked_pages() -> list[Path]:
    """Return the tracked files that may mention a command, except for the changelog."""
    listing = subprocess.run(
        ["git", "-C", str(_ROOT), "ls-files", "*.md", "*.py", "*.toml", "Makefile"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return [_ROOT / line for line in listing.split("\n") if line and line != "CHANGELOG.md"]


def mentions(pattern: re.Pattern[str]) -> set[tuple[str, str]]:
    """Return each mention with the page that it is on."""
    return {
        (found, str(page.relative_to(_ROOT)))
        for page in tracked_pages()
        if page.exists()
        for found in pattern.findall(page.read_text(encoding="utf-8"))
    }


def test_every_mentioned_command_is_a_module_with_a_main_function() -> None:
    commands = mentions(_COMMAND)
    assert len(commands) > 50
    for command, page in sorted(commands):
        path = _ROOT / f"{command.replace('.', '/')}.py"
        assert path.exists(), f"{page}: {command}"
        text = path.read_text(encoding="utf-8")
        assert 'if __name__ == "__main__":' in text, f"{page}: {command}"


@pytest.mark.slow
def test_every_mentioned_file_exists() -> None:
    files = mentions(_FILE)
    assert len(files) > 20
    missing = [f"{page}: {path}" for path, page in sorted(files) if not (_ROOT / path).exists()]
    assert missing == []


@pytest.mark.parametrize("folder", ["benchmarks", "training"])
def test_every_command_documents_itself(folder: str) -> None:
    modules = [
        path
        for path in (_ROOT / folder).rglob("*.py")
        if "peers" not in path.parts and 'if __name__ == "__main__":' in path.read_text()
    ]
    assert len(modules) >= 8
    for path in modules:
        name = ".".join(path.relative_to(_ROOT).with_suffix("").parts)
        doc = ast.get_docstring(ast.parse(path.read_text())) or ""
        script = f"python {path.relative_to(_ROOT)}"
        assert f"python -m {name}" in doc or script in doc, name


@pytest.mark.slow
def test_every_command_is_imported_or_run_by_a_test() -> None:
    tested = set().union(*map(named_modules, (_ROOT / "tests").rglob("*.py")))
    commands = {
        ".".join(path.relative_to(_ROOT).with_suffix("").parts)
        for folder in ("benchmarks", "training")
        for path in (_ROOT / folder).rglob("*.py")
        if 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")
    }
    assert len(commands) > 80
    assert commands >= OTHER_SYSTEMS
    assert sorted(commands - tested - OTHER_SYSTEMS) == []


def named_modules(path: Path) -> set[str]:
    """Return the modules and names that a test imports, and its strings, such as values of `-m`."""
    found = set()
    for node in ast.walk(syntax_tree(path)):
        if isinstance(node, ast.ImportFrom):
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


def test_no_module_changes_the_import_path() -> None:
    for folder in ("benchmarks", "training"):
        for path in (_ROOT / folder).rglob("*.py"):
            assert "sys.path" not in path.read_text(), path
