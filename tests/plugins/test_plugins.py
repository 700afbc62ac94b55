"""Plugins: the documented example, installed by pip, and plugins that misbehave."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import ENVIRONMENT, add_fork_server, rootle
from sample import MakeApp

from rootle.errors import PluginError
from rootle.plugins import hook, registry
from rootle.plugins.registry import (
    Plugin,
    PluginTimeoutError,
    Section,
    call_with_timeout,
    find_plugins,
    installed_references,
    load,
)

TOP = Path(__file__).resolve().parents[2]
EXAMPLE = TOP / "examples/rootle-recipes"
SOUP = "Dish: Borscht\nbeetroot and patience\n\nDish: Gazpacho\ntomato without fire\n"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site-packages folder that contains the example."""
    folder = tmp_path_factory.mktemp("site")
    child = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--no-index", "--no-deps", "--no-build-isolation", "--target", folder, EXAMPLE),
        ],
        capture_output=True,
        text=True,
    )
    assert child.returncode == 0, child.stderr + "\nneeds hatchling: pip install --group dev"
    return folder


@pytest.fixture(scope="session")
def python_path(site: Path) -> str:
    """The import path of commands that can use the example."""
    path = f"{site}{os.pathsep}{ENVIRONMENT['PYTHONPATH']}"
    add_fork_server(PYTHONPATH=path)
    return path


@pytest.fixture
def installed(python_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", python_path)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield the path of the module `own_parts`, which a test writes and rootle can import."""
    monkeypatch.syspath_prepend(tmp_path / "own")
    (tmp_path / "own").mkdir()
    find_plugins.cache_clear()
    yield tmp_path / "own/own_parts.py"
    sys.modules.pop("own_parts", None)
    find_plugins.cache_clear()


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    root = tmp_path / "kitchen"
    (root / "drafts").mkdir(parents=True)
    (root / "soups.recipe").write_text(SOUP)
    (root / "drafts/gazpacho.txt").write_text("gazpacho gazpacho gazpacho\n")
    return root


@pytest.mark.slow
def test_the_installed_example_plugins_work(kitchen: Path, installed: None) -> None:
    response = rootle("search", "gazpacho", "--json", cwd=kitchen).data
    assert [result["filePath"] for result in response["results"]] == ["soups.recipe"]
    first = response["results"][0]
    assert (first["startLine"], first["endLine"], first["scope"]) == (4, 5, "dish Gazpacho")
    status = rootle("status", kitchen)
    assert "chunker .recipe, filter finished-only, reranker shared-words" in status.out
    assert "document reader .recipe.gz, index shelf" in status.out


@pytest.mark.slow
def test_plugins_are_configured_by_name(kitchen: Path, installed: None) -> None:
    settings = ("--set", "rerankerProvider=shared-words", "--set", "embeddingModelID=letters")
    response = rootle("search", "tomato fire", "--json", *settings, cwd=kitchen).data
    assert response["results"][0]["filePath"] == "soups.recipe"
    assert response["degraded"] == []
    assert rootle("status", kitchen, "--json", *settings).data["model"] == "letters"


@pytest.mark.slow
def test_a_document_reader_makes_a_document_searchable_by_line(
    kitchen: Path, installed: None
) -> None:
    packed = "Dish: Solyanka\nolives\n\nDish: Minestrone\nwhatever the garden has\n"
    (kitchen / "more.recipe.gz").write_bytes(gzip.compress(packed.encode()))
    (kitchen / "broken.recipe.gz").write_bytes(b"no gzip at all")
    (kitchen / "photos.gz").write_bytes(gzip.compress(b"minestrone"))
    plan = rootle("index", kitchen, "--dry-run", "--json").data["skipped"]
    assert {one["filePath"]: one["reason"] for one in plan} == {
        "broken.recipe.gz": "reader failed",
        "photos.gz": "binary",
    }
    first = rootle("search", "minestrone garden", "--json", cwd=kitchen).data["results"][0]
    assert (first["filePath"], first["startLine"]) == ("more.recipe.gz", 1)
    assert "whatever the garden has" in first["snippet"]
    skipped = rootle("status", kitchen, "--json").data["skipped"]
    assert skipped == {"binary": 1, "reader failed": 1}
    widened = rootle("search", "minestrone garden", "--context", "--json", cwd=kitchen)
    assert "olives" in str(widened.data["results"][0]["context"])


@pytest.mark.slow
def test_an_index_plugin_can_serve_either_leg(kitchen: Path, installed: None) -> None:
    settings = ("--set", "denseBackend=shelf", "--set", "sparseBackend=shelf")
    rootle("index", kitchen, *settings)
    response = rootle("search", "tomato fire", "--json", *settings, cwd=kitchen).data
    assert response["results"][0]["filePath"] == "soups.recipe"
    assert response["degraded"] == []
    backends = rootle("status", kitchen, "--json", *settings).data["backends"]
    assert [(one["leg"], one["backend"], one["waitingFiles"]) for one in backends] == [
        ("dense", "shelf", 0),
        ("sparse", "shelf", 0),
    ]
    (kitchen / "soups.recipe").write_text(SOUP.replace("tomato", "ajoblanco"))
    response = rootle("search", "ajoblanco", "--json", *settings, cwd=kitchen).data
    assert response["results"][0]["filePath"] == "soups.recipe"
    narrow = ("search", "gazpacho path:soups", "--json")
    response = rootle(*narrow, *settings, cwd=kitchen).data
    assert [result["filePath"] for result in response["results"]] == ["soups.recipe"]
    shelves = Path.home() / ".rootle-shelf"
    assert len(list(shelves.iterdir())) == 2
    rootle("clear", kitchen, *settings)
    assert list(shelves.iterdir()) == []


@pytest.mark.slow
def test_uninstalling_a_plugin_rebuilds_the_index(kitchen: Path, installed: None) -> None:
    rootle("index", kitchen)
    os.environ["PYTHONPATH"] = os.environ["PYTHONPATH"].partition(os.pathsep)[2]
    response = rootle("search", "gazpacho", "--json", cwd=kitchen).data
    assert response["results"][0]["filePath"] == "drafts/gazpacho.txt"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise RuntimeError('out of salt')", "RuntimeError: out of salt"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("PARTS = 7", "neither a"),
        ("PARTS = [7]", "7, which is not a Plugin"),
        ("from rootle.plugins import *\nPARTS = Plugin('oven', 'x', int)", 'kind "oven"'),
    ],
)
def test_a_broken_plugin_is_reported_and_not_used(
    kitchen: Path, own: Path, make_app: MakeApp, code: str, reason: str
) -> None:
    own.write_text(code)
    notices: list[str] = []
    app = make_app(kitchen, plugins=("own_parts:PARTS",), notices=notices)
    assert app.search("gazpacho").results
    assert len([notice for notice in notices if reason in notice and "own_parts" in notice]) == 1
    assert [reason in broken for broken in app.status().broken_plugins] == [True]


@pytest.mark.parametrize("reference", ["", "module", "module:", ":name", "no.such.module:name"])
def test_an_invalid_reference_is_named_in_the_error(reference: str) -> None:
    with pytest.raises(PluginError, match="the plugin"):
        load(reference)


MISBEHAVING = {
    "raises": "def part(*_): raise ValueError('no')",
    "hangs": "import time\ndef part(*_): time.sleep(60)",
    "lies": "def part(*_): return ['nothing', 'of', 'use']",
}


@pytest.mark.parametrize("how", MISBEHAVING)
@pytest.mark.parametrize(
    "kind", ["reranker", "filter", "embedder", "chunker", "document reader", "index"]
)
def test_a_misbehaving_plugin_does_not_prevent_an_answer(
    kitchen: Path,
    own: Path,
    make_app: MakeApp,
    kind: str,
    how: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = {"chunker": ".recipe", "document reader": ".menu"}.get(kind, "mine")
    (kitchen / "today.menu").write_bytes(b"gazpacho")
    make = f"from rootle.plugins import Plugin\nPARTS = Plugin('{kind}', '{name}', lambda: part)"
    own.write_text(f"{MISBEHAVING[how]}\n{make}\n")
    monkeypatch.setattr("rootle.plugins.hook._TIMEOUT_S", 0.3)
    monkeypatch.setattr("rootle.index.remote.plugin_index.READ_TIMEOUT_S", 0.3)
    settings: dict[str, object] = {"sparse_timeout_ms": 300, "reranker_timeout_ms": 300}
    settings |= {"reranker_provider": "mine"} if kind == "reranker" else {}
    if kind == "embedder":
        settings |= {"embedding_model_id": "mine", "dense_timeout_ms": 300}
    if kind == "index":
        settings |= {"dense_backend": "mine", "dense_timeout_ms": 300}
    app = make_app(kitchen, plugins=("own_parts:PARTS",), **settings)
    started = time.monotonic()
    response = app.search("gazpacho fire")
    assert "soups.recipe" in [result.file_path for result in response.results]
    assert time.monotonic() - started < 30
    named = {"reranker": "reranker", "filter": "filter mine", "embedder": "dense", "index": "dense"}
    if kind == "document reader":
        assert app.status().skipped == {"reader failed": 1}
    if kind in ("chunker", "document reader") or (kind, how) == (
        "filter",
        "lies",
    ):  # a wrong filter result cannot be detected
        assert response.degraded == ()
    else:
        assert named[kind] in response.degraded


def test_lines_outside_of_the_sections_of_a_chunker_are_found(
    kitchen: Path, own: Path, make_app: MakeApp
) -> None:
    own.write_text(
        "from rootle.plugins import Plugin, Section\n"
        "def cut(text): return [Section(3, 4, names=('Borscht',)), Section(6, 6)]\n"
        "PARTS = Plugin('chunker', '.soup', lambda: cut)\n"
    )
    (kitchen / "winter.soup").write_text(
        "For the winter.\nServe with rye bread.\nDish: Borscht\nbeetroot\nbetween\nstew\nEnjoy it\n"
    )
    app = make_app(kitchen, plugins=("own_parts:PARTS",))
    places = [(chunk.start_line, chunk.end_line) for chunk in app.chunks("winter.soup")]
    assert places == [(1, 2), (3, 4), (5, 5), (6, 6), (7, 7)]
    (best, *_) = app.search('"rye bread"').results
    assert (best.file_path, best.start_line, best.end_line) == ("winter.soup", 1, 2)
    assert app.status().partial_files == ()


def test_a_chunker_whose_names_are_no_list_is_not_used(
    kitchen: Path, own: Path, make_app: MakeApp, caplog: pytest.LogCaptureFixture
) -> None:
    own.write_text(
        "from rootle.plugins import Plugin, Section\n"
        "def cut(text): return [Section(1, 2, names='abc')]\n"
        "PARTS = Plugin('chunker', '.stew', lambda: cut)\n"
    )
    (kitchen / "beef.stew").write_text("two hours\non low heat\n")
    app = make_app(kitchen, plugins=("own_parts:PARTS",))
    assert app.search("low heat").results[0].file_path == "beef.stew"
    assert "whose names are a tuple of strings" in caplog.text


def test_an_embedder_that_returns_too_few_vectors_is_treated_as_down(
    kitchen: Path, own: Path, make_app: MakeApp
) -> None:
    own.write_text(
        "from rootle.plugins import Plugin\n"
        "def embed(texts): return [[1.0, 2.0]]\n"
        "PARTS = Plugin('embedder', 'mine', lambda: embed)\n"
    )
    app = make_app(kitchen, plugins=("own_parts:PARTS",), embedding_model_id="mine")
    report = app.index()
    assert report.chunks_pending == report.chunks_total > 1
    assert "an array of shape (1, 2) for" in report.pending_reason
    response = app.search("gazpacho fire")
    assert "soups.recipe" in [result.file_path for result in response.results]
    assert response.degraded


def test_a_configured_plugin_that_cannot_be_loaded_is_reported(
    kitchen: Path, own: Path, make_app: MakeApp
) -> None:
    own.write_text("raise RuntimeError('out of salt')")
    settings = {"dense_backend": "mine", "reranker_provider": "mine"}
    app = make_app(kitchen, plugins=("own_parts:PARTS",), **settings)
    response = app.search("gazpacho fire")
    assert response.results
    assert set(response.degraded) == {"dense", "reranker"}
    (backend,) = app.status().backends
    assert 'the index "mine" is not available' in backend.reason
    assert "out of salt" in backend.reason


EAGER = """
from rootle.plugins import Plugin

class Eager:
    def __init__(self, place): self.ids, self.stamp = {}, ""
    def read_stamp(self): return self.stamp
    def create(self, dimensions): self.ids, self.stamp = {}, ""
    def put(self, chunks): self.ids.update((chunk.id, 1.0) for chunk in chunks)
    def delete_stale(self, live): pass
    def commit(self, stamp): self.stamp = stamp
    def count(self): return len(self.ids)
    def contains(self, chunk): return chunk in self.ids
    def drop(self): pass
    def query(self, asked, k, files): return list(self.ids.items())

PARTS = Plugin("index", "eager", lambda: Eager)
"""


@pytest.mark.parametrize("leg", ["sparse", "dense"])
def test_hits_of_an_index_plugin_outside_the_filter_are_dropped(
    kitchen: Path, own: Path, make_app: MakeApp, leg: str
) -> None:
    own.write_text(EAGER)
    settings = {f"{leg}_backend": "eager"}
    app = make_app(kitchen, plugins=("own_parts:PARTS",), **settings)
    everything = {result.file_path for result in app.search("gazpacho").results}
    assert everything == {"soups.recipe", "drafts/gazpacho.txt"}
    response = app.search("gazpacho", {"filePaths": ["drafts"]})
    assert [result.file_path for result in response.results] == ["drafts/gazpacho.txt"]
    assert response.degraded == ()


def test_a_vector_index_plugin_without_hits_counts_as_failed_unless_nothing_is_indexed(
    kitchen: Path, own: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    own.write_text(EAGER.replace("list(self.ids.items())", "[]"))
    settings = {"plugins": ("own_parts:PARTS",), "dense_backend": "eager"}
    response = make_app(kitchen, **settings).search("where is the soup stirred")
    assert response.degraded == ("dense",)
    assert response.results
    (tmp_path / "empty").mkdir()
    empty = make_app(tmp_path / "empty", index_dir=tmp_path / "empty-index", **settings)
    assert empty.search("where is the soup stirred").degraded == ()


def test_sections_of_a_chunker_plugin_respect_the_size_limit(
    kitchen: Path, own: Path, make_app: MakeApp
) -> None:
    own.write_text(
        "from rootle.plugins import Plugin, Section\n"
        "def cut(text): return [Section(1, len(text.split(chr(10))), scope='all')]\n"
        "PARTS = Plugin('chunker', '.recipe', lambda: cut)\n"
    )
    (kitchen / "soups.recipe").write_text("stir and wait for quite some time\n" * 300)
    app = make_app(kitchen, plugins=("own_parts:PARTS",), max_chunk_size_tokens=64)
    assert app.index().chunks_total > 300 * 34 // 256


def test_a_plugin_that_never_returns_is_abandoned() -> None:
    found = registry.FoundPlugin(Plugin("chunker", "slow", lambda: None), "own_parts:PARTS")
    with pytest.raises(PluginTimeoutError, match="the chunker slow gave no answer within"):
        call_with_timeout(found, lambda: time.sleep(5), 0.05)


@pytest.mark.parametrize("error", [ValueError("no answer found"), None])
def test_a_plugin_is_called_again_after_an_error_but_not_after_a_timeout(
    error: ValueError | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook, "_TIMEOUT_S", 0.05 if error is None else 60.0)
    plugin = hook.PluginHook(
        registry.FoundPlugin(Plugin("chunker", "own", lambda: None), "own_parts:PARTS")
    )

    def fail() -> None:
        if error is None:
            time.sleep(5)
        else:
            raise error

    with pytest.raises(PluginError):
        plugin.call(fail)
    if error is None:
        with pytest.raises(PluginError, match="timed out earlier"):
            plugin.call(lambda: "parts")
    else:
        assert plugin.call(lambda: "parts") == "parts"


def test_entry_points_in_the_current_folder_are_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`python -m rootle` imports from the current folder, which may be an untrusted repository."""
    info = tmp_path / "evil-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[rootle.plugins]\nevil = evil:PLUGINS\n")
    monkeypatch.syspath_prepend(tmp_path)
    installed_references.cache_clear()
    assert "evil:PLUGINS" in installed_references()
    monkeypatch.chdir(tmp_path)
    installed_references.cache_clear()
    assert "evil:PLUGINS" not in installed_references()
    installed_references.cache_clear()


def test_a_section_is_a_dataclass() -> None:
    assert Section(1, 2) == Section(1, 2, (), "")
