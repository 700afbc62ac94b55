"""`App.links`: the documents, tests, uses and commits of code, and the code of a section."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import rootle
from sample import FILES, OLD_S, MakeApp, git, make_repository, write, write_tree

from rootle.errors import SourceError
from rootle.tools import create_tools

pytestmark = pytest.mark.slow

GUIDE = """\
# Guide

## Waiting

`retry_backoff` doubles the time; `LruCache.evict_oldest` and `missing_name` do not.

## Other

Nothing.
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo", {**FILES, "docs/waiting.md": GUIDE})


@pytest.mark.fast
def test_code_is_linked_to_its_documents_tests_and_commits(root: Path, make_app: MakeApp) -> None:
    app = make_app(root)
    app.index()
    app.index_history()
    links = app.links("src/net/retry.py#retry_backoff")

    assert (links.name, links.is_document) == ("retry_backoff", False)
    assert [(it.path, it.line) for it in links.documents] == [("docs/waiting.md", 5)]
    assert [(it.path, it.kind) for it in links.tests] == [
        ("tests/test_retry.py", "call"),
        ("tests/test_retry.py", "import"),
    ]
    assert links.total_tests == 2
    assert len(links.commits) == 1
    assert links.notes == ()


def test_documents_about_another_file_with_the_same_name_are_not_linked(
    tmp_path: Path, make_app: MakeApp
) -> None:
    files = {
        "web/src/main/scala/play/test/csrf.scala": "class Filter {\n  def run(): Int = 1\n}\n",
        "web/src/main/scala/play/test/Helper.scala": "object Helper {\n  val f = new Filter()\n}\n",
        "web/src/test/scala/play/FilterSpec.scala": "object Spec {\n  val f = new Filter()\n}\n",
        "docs/page.md": "# Page\n\nSee [the form](code/forms/csrf.scala.html).\n",
        "docs/other.md": "# Other\n\nSee [the form](../guide/csrf.scala).\n",
        "docs/right.md": "# Right\n\nSee [it](../../test/csrf.scala) for more.\n",
        "docs/name.md": "# Name\n\nSee csrf.scala.\n",
    }
    app = make_app(make_repository(tmp_path / "repo", files))
    links = app.links("web/src/main/scala/play/test/csrf.scala#Filter")
    assert sorted(one.path for one in links.documents) == ["docs/name.md", "docs/right.md"]
    assert [one.path for one in links.tests] == ["web/src/test/scala/play/FilterSpec.scala"]
    assert [one.path for one in links.uses] == ["web/src/main/scala/play/test/Helper.scala"]


@pytest.mark.parametrize("title", ["Jumps", "Jumps<'a>", "Default for &'a mut Jumps<'a>"])
def test_the_methods_of_a_type_are_linked_to_the_uses_of_the_type(
    title: str, tmp_path: Path, make_app: MakeApp
) -> None:
    jumps = (
        f"pub struct Jumps {{\n    size: u8,\n}}\n\nimpl {title} {{\n    fn add(&self) {{}}\n}}\n"
    )
    files = {
        "src/jumps.rs": jumps,
        "src/view.rs": "use crate::jumps::Jumps;\n\npub fn open(jumps: &Jumps) {\n}\n",
    }
    app = make_app(write_tree(tmp_path / "repo", files))
    links = app.links("src/jumps.rs:5")
    assert links.name == "Jumps"
    assert [(one.path, one.line) for one in links.uses] == [("src/view.rs", 3), ("src/view.rs", 1)]


def test_a_method_in_a_block_of_a_type_is_linked_to_its_calls(
    tmp_path: Path, make_app: MakeApp
) -> None:
    code = (
        "pub struct Jumps {}\n\nimpl Jumps {\n    fn push_jump(&self) {}\n\n"
        "    fn jump(&self) {\n        self.push_jump();\n    }\n}\n"
    )
    app = make_app(write_tree(tmp_path / "repo", {"src/jumps.rs": code}))
    links = app.links("src/jumps.rs:4")
    assert [(one.line, one.kind) for one in links.uses] == [(7, "call")]


def test_a_section_is_linked_to_the_definitions_that_it_names(
    root: Path, make_app: MakeApp
) -> None:
    app = make_app(root)
    waiting = app.links("docs/waiting.md#Waiting")

    assert waiting.is_document
    assert [(it.path, it.name) for it in waiting.definitions] == [
        ("src/net/retry.py", "retry_backoff"),
        ("src/store/cache.py", "evict_oldest"),
    ]
    assert app.links("docs/waiting.md#Other").definitions == ()
    assert len(waiting.commits) == 1
    assert waiting.notes == ()
    with pytest.raises(SourceError):
        app.links("docs/missing.md:1")


def test_a_variable_has_its_own_links_and_commits(root: Path, make_app: MakeApp) -> None:
    text = (
        "import time\n\n\n# Seconds.\nwait_limit = 3\n\n\ndef wait():\n    time.sleep(wait_limit)\n"
    )
    write_tree(root, {"src/wait.py": text, "docs/limit.md": "# Limit\n\nSet `wait_limit`.\n"})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Limit the wait")
    app = make_app(root)
    links = app.links("src/wait.py#wait_limit")

    assert (links.place, links.name) == ("src/wait.py:4-5", "wait_limit")
    assert [(it.path, it.line) for it in links.uses] == [("src/wait.py", 9)]
    assert [(it.path, it.line) for it in links.documents] == [("docs/limit.md", 3)]
    why = app.why("src/wait.py#wait_limit")
    assert (why.place, why.name) == ("src/wait.py:4-5", "wait_limit")


def test_agents_read_links(root: Path, make_app: MakeApp) -> None:
    tools = {tool.name: tool for tool in create_tools(make_app(root))}
    answer = tools["vectordb_read"].execute({"source": "links:docs/waiting.md#Waiting"})

    assert "Defines what this section names:" in answer.text
    assert "src/net/retry.py:4" in answer.text


def test_only_commits_that_changed_the_place_are_listed(tmp_path: Path, make_app: MakeApp) -> None:
    text = "def wait_twice(delay):\n    return 2 * delay\n\n\nLIMIT = 1\n"
    root = write_tree(tmp_path / "repo", {"wait.py": text})
    git(root, "init", "-q")
    for day, limit in enumerate((1, 2, 3)):
        # The hunk header of the diff names the function above, which does not change.
        write(root, "wait.py", text.replace("LIMIT = 1", f"LIMIT = {limit}"), when_s=OLD_S + day)
        git(root, "add", "-A")
        git(root, "commit", "-qm", f"Limit {limit}", when_s=OLD_S + day)
    app = make_app(root)

    links = app.links("wait.py#wait_twice")
    assert [commit.subject for commit in links.commits] == ["Limit 1"]
    assert not links.commits_are_of_file
    assert app.links("wait.py:5").commits[0].subject == "Limit 3"

    write(root, "wait.py", text + "\n\ndef never_committed():\n    return LIMIT\n")
    app.index()
    tools = {tool.name: tool for tool in create_tools(app)}
    answer = tools["vectordb_read"].execute({"source": "links:wait.py#never_committed"})
    assert "Last commits of the file:" in answer.text
    # git lists all commits of the file, although none is indexed.
    assert [f"Limit {at}" in answer.text for at in (1, 2, 3)] == [True, True, True]


def test_a_use_whose_definition_is_not_known_is_marked(tmp_path: Path, make_app: MakeApp) -> None:
    files = {
        "a.py": "class Url:\n    def unescape(self):\n        return 1\n",
        "b.py": "def read(parser):\n    return parser.unescape()\n",
    }
    app = make_app(write_tree(tmp_path / "code", files))
    tools = {tool.name: tool for tool in create_tools(app)}
    answer = tools["vectordb_read"].execute({"source": "links:a.py#Url.unescape"})
    assert "b.py:2 (call, by name)  return parser.unescape()" in answer.text


def test_uses_of_a_class_of_the_same_name_in_another_module_are_not_listed(
    tmp_path: Path, make_app: MakeApp
) -> None:
    files = {
        "shop/menu.py": "class Item:\n    def render(self):\n        return 1\n",
        "shop/table.py": "class Item:\n    def render(self):\n        return 2\n",
        "tests/test_menu.py": (
            "from shop.menu import Item\n\n\ndef test_a(make):\n"
            "    assert Item()\n    assert make().render() == 1\n"
        ),
        "tests/test_grid.py": (
            "from shop.table import Item\n\n\ndef test_b(make):\n"
            "    assert Item()\n    assert make().render() == 2\n"
        ),
    }
    app = make_app(write_tree(tmp_path / "code", files))
    for module, test in (("menu", "menu"), ("table", "grid")):
        links = app.links(f"shop/{module}.py#Item")
        assert {use.path for use in links.tests} == {f"tests/test_{test}.py"}
        method = app.links(f"shop/{module}.py#Item.render")
        assert method.tests[0].path == f"tests/test_{test}.py"


@pytest.mark.slow
def test_a_place_may_be_relative_to_the_current_folder(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root / "src/net")
    options = ("--root", str(root), "--index-dir", str(tmp_path / "index"))
    shown = rootle("show", "--links", "retry.py#retry_backoff", *options)
    assert "docs/waiting.md:5 (retry_backoff)" in shown.out


def test_a_place_of_an_earlier_version_has_no_links_and_commits(
    root: Path, make_app: MakeApp
) -> None:
    app = make_app(root)
    for ask in (app.links, app.why):
        with pytest.raises(SourceError, match=r'version "HEAD".*name src/net/retry.py without'):
            ask("HEAD:src/net/retry.py:4")


@pytest.mark.slow
def test_the_commands_print_links(root: Path, tmp_path: Path) -> None:
    options = ("--root", str(root), "--index-dir", str(tmp_path / "index"))
    shown = rootle("show", "--links", "src/net/retry.py#retry_backoff", *options)
    found = rootle("search", "retry_backoff", "--links", *options)
    data = rootle("search", "retry_backoff", "--links", "--json", *options).data

    assert "docs/waiting.md:5 (retry_backoff)" in shown.out
    assert "Tests (2 of 2):" in found.out
    assert data["links"][0]["totalTests"] == 2


@pytest.mark.slow
def test_show_says_that_nothing_is_linked_in_a_repository_without_commits(tmp_path: Path) -> None:
    root = tmp_path / "new"
    write_tree(root, {"net/retry.py": "def wait_twice():\n    return 2\n"})
    git(root, "init", "-q")
    place = ("net/retry.py#wait_twice", "--root", root, "--index-dir", tmp_path / "index")
    shown = rootle("show", "--links", *place)
    again = rootle("show", "--links", *place)

    assert (shown.code, shown.out) == (1, "")
    assert "nothing is linked to net/retry.py:1-2" in shown.err
    assert "the file is not committed yet" in shown.err
    assert again.err == shown.err


def test_calls_on_a_variable_named_like_the_class_come_before_other_calls(
    tmp_path: Path, make_app: MakeApp
) -> None:
    calls = "".join(f"def run_{at}(names):\n    names.flush()\n\n\n" for at in range(8))
    root = make_repository(
        tmp_path / "repo",
        {
            "src/manager.py": "class CacheManager:\n    def flush(self):\n        pass\n",
            "src/a.py": calls,
            "src/z.py": "def stop(cache_manager):\n    cache_manager.flush()\n",
        },
    )
    links = make_app(root).links("src/manager.py#CacheManager.flush")
    assert links.uses[0].path == "src/z.py"
    assert links.total_uses == 9


def test_a_definition_in_a_test_is_not_linked_if_there_is_another(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_repository(
        tmp_path / "repo",
        {
            "src/settings.py": "BOT_NAME = 'bot'\n",
            "tests/test_settings.py": "BOT_NAME = 'test'\n",
            "docs/settings.md": "# Settings\n\nSet `BOT_NAME`.\n",
        },
    )
    definitions = make_app(root).links("docs/settings.md#Settings").definitions
    assert [one.path for one in definitions] == ["src/settings.py"]
