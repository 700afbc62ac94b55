"""Plugins: the example of the documentation, installed by pip, and those that misbehave."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import rootle
from sample import MakeApp

from rootle import plugins
from rootle.errors import PluginError
from rootle.plugins import Plugin, Section, called_within, find_plugins, installed_references, load

TOP = Path(__file__).resolve().parent.parent
EXAMPLE = TOP / "examples/rootle-recipes"
SOUP = "Dish: Borscht\nbeetroot and patience\n\nDish: Gazpacho\ntomato without fire\n"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages with the example in it."""
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


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{site}{os.pathsep}{os.environ['PYTHONPATH']}")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module of the test's own, `own_parts`, that can be imported."""
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


def test_the_example_works_as_it_is_installed(kitchen: Path, installed: None) -> None:
    response = rootle("search", "gazpacho", "--json", cwd=kitchen).data
    assert [result["filePath"] for result in response["results"]] == ["soups.recipe"]
    first = response["results"][0]
    assert (first["startLine"], first["endLine"], first["scope"]) == (4, 5, "dish Gazpacho")
    status = rootle("status", kitchen)
    assert "chunker .recipe, filter finished-only, reranker shared-words" in status.out


def test_reranker_and_embedder_are_chosen_by_name(kitchen: Path, installed: None) -> None:
    settings = ("--set", "rerankerProvider=shared-words", "--set", "embeddingModelID=letters")
    response = rootle("search", "tomato fire", "--json", *settings, cwd=kitchen).data
    assert response["results"][0]["filePath"] == "soups.recipe"
    assert response["degraded"] == []
    assert rootle("status", kitchen, "--json", *settings).data["model"] == "letters"


def test_without_the_package_the_index_is_made_anew(kitchen: Path, installed: None) -> None:
    rootle("index", kitchen)
    os.environ["PYTHONPATH"] = os.environ["PYTHONPATH"].partition(os.pathsep)[2]
    response = rootle("search", "gazpacho", "--json", cwd=kitchen).data
    assert response["results"][0]["filePath"] == "drafts/gazpacho.txt"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise RuntimeError('out of salt')", "RuntimeError: out of salt"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("PARTS = 7", "no list of them"),
        ("PARTS = [7]", "7, which is no Plugin"),
        ("from rootle.plugins import *\nPARTS = Plugin('oven', 'x', int)", 'kind "oven"'),
    ],
)
def test_a_broken_plugin_is_named_and_left_out(
    kitchen: Path, own: Path, make_app: MakeApp, code: str, reason: str
) -> None:
    own.write_text(code)
    notices: list[str] = []
    app = make_app(kitchen, plugins=("own_parts:PARTS",), notices=notices)
    assert app.search("gazpacho").results
    assert len([notice for notice in notices if reason in notice and "own_parts" in notice]) == 1
    assert [reason in broken for broken in app.status().broken_plugins] == [True]


@pytest.mark.parametrize("reference", ["", "module", "module:", ":name", "no.such.module:name"])
def test_a_reference_to_nothing_is_named(reference: str) -> None:
    with pytest.raises(PluginError, match="the plugin"):
        load(reference)


MISBEHAVING = {
    "raises": "def part(*_): raise ValueError('no')",
    "hangs": "import time\ndef part(*_): time.sleep(60)",
    "lies": "def part(*_): return ['nothing', 'of', 'use']",
}


@pytest.mark.parametrize("how", MISBEHAVING)
@pytest.mark.parametrize("kind", ["reranker", "filter", "embedder", "chunker"])
def test_a_part_that_misbehaves_costs_no_answer(
    kitchen: Path,
    own: Path,
    make_app: MakeApp,
    kind: str,
    how: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = ".recipe" if kind == "chunker" else "mine"
    make = f"from rootle.plugins import Plugin\nPARTS = Plugin('{kind}', '{name}', lambda: part)"
    own.write_text(f"{MISBEHAVING[how]}\n{make}\n")
    monkeypatch.setattr("rootle.ingest.plugin_cutter._TIMEOUT_S", 0.3)
    settings: dict[str, object] = {"sparse_timeout_ms": 300, "reranker_timeout_ms": 300}
    settings |= {"reranker_provider": "mine"} if kind == "reranker" else {}
    if kind == "embedder":
        settings |= {"embedding_model_id": "mine", "dense_timeout_ms": 300}
    app = make_app(kitchen, plugins=("own_parts:PARTS",), **settings)
    started = time.monotonic()
    response = app.search("gazpacho fire")
    assert "soups.recipe" in [result.file_path for result in response.results]
    assert time.monotonic() - started < 30
    named = {"reranker": "reranker", "filter": "filter mine", "embedder": "dense", "chunker": ""}
    if kind == "chunker" or (kind, how) == ("filter", "lies"):  # what it says is true enough
        assert response.degraded == ()
    else:
        assert named[kind] in response.degraded


def test_a_chunkers_sections_are_held_to_the_limits(
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


def test_who_never_answers_is_left_to_itself() -> None:
    found = plugins.Found(Plugin("chunker", "slow", lambda: None), "own_parts:PARTS")
    with pytest.raises(PluginError, match="the chunker slow gave no answer within"):
        called_within(found, lambda: time.sleep(5), 0.05)


def test_the_folder_that_one_stands_in_installs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though `python -m rootle` puts it on the path: it may be anybody's repository."""
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


def test_a_section_is_a_record() -> None:
    assert Section(1, 2) == Section(1, 2, (), "")
