"""`App.drift`: texts that name code, files or options that no longer exist."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from time import process_time
from types import ModuleType

import pytest
from command import rootle
from commit_repository import commit_files
from commit_writer import init_repository
from sample import OLD_S, MakeApp, git, write, write_tree

from rootle import App
from rootle.errors import QueryError
from rootle.links.drift import (
    code_words,
    comments,
    find_drift,
    past_files,
    past_names,
    signatures,
    texts,
)
from rootle.links.drift.comments import DividedText
from rootle.serialization.json import to_json
from rootle.serialization.links import drift_lines
from rootle.tools import create_tools
from rootle.types import DriftReport

pytestmark = pytest.mark.slow

_WATCHDOG_S = 15  # the calls took a minute when their time was quadratic
RETRY = '''\
"""Requests."""


def retry_backoff(attempt, base):
    """Return the seconds to wait.

    :param attempt: number of the attempt
    :param base: seconds before the first attempt
    """
    return base * 2**attempt


def fetch_page(url, retries=3):
    return open_connection(url, retries)
'''
RENAMED = RETRY.replace("retry_backoff", "wait_seconds")
GUIDE = """\
# Guide

Call `retry_backoff(attempt, base)` before the next attempt, and `fetch_page` afterwards.
"""


def make_history(root: Path, *commits: Mapping[str, str | None]) -> list[str]:
    """Create a repository with one commit for each mapping; the text None deletes a file."""
    init_repository(root)
    hashes = []
    for number, files in enumerate(commits):
        for path, text in files.items():
            if text is None:
                (root / path).unlink()
            else:
                write(root, path, text)
        hashes.append(commit_files(root, f"Change {number}", when_s=OLD_S + number * 86_400))
    return hashes


def find(app: App, *paths: str) -> list[DriftReport]:
    return list(app.drift(paths).reports)


@pytest.mark.fast
def test_a_renamed_function_is_reported_with_the_commit_that_renamed_it(
    tmp_path: Path, make_app: MakeApp
) -> None:
    hashes = make_history(
        tmp_path / "repo",
        {"net/retry.py": RETRY, "docs/guide.md": GUIDE},
        {"net/retry.py": RENAMED},
        {"net/other.py": "LIMIT = 3\n"},
    )
    (report,) = find(make_app(tmp_path / "repo"))

    assert (report.path, report.line, report.name) == ("docs/guide.md", 3, "retry_backoff")
    assert (report.kind, report.origin, report.is_changed) == ("name", "document", False)
    assert report.evidence == "net/retry.py defined retry_backoff"
    assert report.commit is not None
    assert report.commit.hash == hashes[1]


def test_a_check_of_a_document_reads_only_files_that_contain_its_names(
    tmp_path: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "repo"
    other = {"net/page.py": "# See retry_backoff.\ndef fetch_page(url):\n    return url\n"}
    filler = {f"other/part{number}.py": f"def other{number}(): ...\n" * 40 for number in range(9)}
    make_history(root, {"net/retry.py": RETRY, "docs/guide.md": GUIDE, **other, **filler})
    app = make_app(root)
    read: list[str] = []
    divide = comments.divide

    def record(text: str, language: str) -> DividedText:
        read.append(text)
        return divide(text, language)

    monkeypatch.setattr(code_words, "divide", record)
    assert find(app, "docs/guide.md") == []
    assert 1 <= len(read) <= 2
    assert all("retry_backoff" in text for text in read)
    read.clear()
    assert find(app, "docs/guide.md") == []
    assert read == []

    write(root, "net/retry.py", RENAMED)
    git(root, "commit", "-qam", "Rename", when_s=OLD_S + 86_400)
    app.index()
    assert [one.name for one in find(app, "docs/guide.md")] == ["retry_backoff"]
    # The names in the code are known now, but the comments in it are still checked.
    assert [(one.path, one.line) for one in find(app, "net")] == [("net/page.py", 1)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Use `json_loads_all` of another library, `my_helper` or `YOUR_TOKEN`.",
        "`retry_backoff` was removed in version 2.",
        "The former `retry_backoff` doubled the time.",
        "See [the code](https://example.com/blob/v1/retry.py) of `retry_backoff_ms`.",
    ],
)
def test_names_of_others_and_sentences_about_the_past_are_not_reported(
    sentence: str, tmp_path: Path, make_app: MakeApp
) -> None:
    make_history(
        tmp_path / "repo",
        {"net/retry.py": RETRY, "README.md": f"# Retry\n\n{sentence}\n"},
        {"net/retry.py": RENAMED},
    )
    assert find(make_app(tmp_path / "repo")) == []


@pytest.mark.parametrize(
    "guide",
    [
        "Call it:\n\n```kotlin\nval page: Page by retry_backoff(first)\n```\n",
        "The declaration:\n\n```python\ndef retry_backoff(attempt, base):\n```\n",
        "First:\n\n```python\nfrom net.retry import retry_backoff\n```\n",
        "Most callers use function retry_backoff and wait.\n",
    ],
)
def test_examples_that_use_or_quote_a_removed_function_are_reported(
    guide: str, tmp_path: Path, make_app: MakeApp
) -> None:
    make_history(
        tmp_path / "repo",
        {"net/retry.py": RETRY, "README.md": f"# Retry\n\n{guide}"},
        {"net/retry.py": RENAMED},
    )
    (report,) = find(make_app(tmp_path / "repo"))
    assert report.name.removesuffix("()") == "retry_backoff"


@pytest.mark.parametrize(
    "example",
    [
        "def retry_backoff(url):\n    return 3",
        "from tenacity import retry_backoff",
        "const retry_backoff = 3",
        "class retry_backoff : BaseController {",
        "run(retry_backoff=3)",
    ],
)
def test_examples_that_define_or_import_the_name_themselves_are_not_reported(
    example: str, tmp_path: Path, make_app: MakeApp
) -> None:
    guide = f"# Retry\n\n```python\n{example}\nrun(retry_backoff)\n```\n"
    make_history(
        tmp_path / "repo",
        {"net/retry.py": RETRY, "README.md": guide},
        {"net/retry.py": RENAMED},
    )
    assert find(make_app(tmp_path / "repo")) == []


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (
            "net/url.py",
            'def join(url):\n    """Example:\n\n    def retry_backoff(url):\n    """\n',
        ),
        ("net/url.py", 'TEXT = """\ndef retry_backoff(url):\n    pass\n"""\n'),
        ("net/url.js", "const text = `\nfunction retry_backoff(url) {\n}\n`;\n"),
        (
            "lib/url.ex",
            'defmodule Url do\n  @doc """\n      def retry_backoff(x) do\n  """\nend\n',
        ),
        ("net/url.go", "package net\n\n/*\nfunc retry_backoff(x int) {\n*/\nvar Limit = 1\n"),
    ],
)
def test_examples_in_removed_comments_and_strings_are_no_definitions(
    path: str, code: str, tmp_path: Path, make_app: MakeApp
) -> None:
    guide = "# Retry\n\n```python\nretry_backoff(first)\n```\n"
    make_history(
        tmp_path / "repo", {path: code, "net/a.py": "A = 1\n", "README.md": guide}, {path: None}
    )
    assert find(make_app(tmp_path / "repo")) == []


def test_a_removed_key_in_quotation_marks_is_reported(tmp_path: Path, make_app: MakeApp) -> None:
    code = 'OPTIONS = {\n    "retry_backoff": 3,\n    "limit": 2,\n}\n'
    make_history(
        tmp_path / "repo",
        {"net/options.py": code, "README.md": "# Retry\n\nSet `retry_backoff`, too.\n"},
        {"net/options.py": code.replace("retry_backoff", "wait")},
    )
    assert [report.name for report in find(make_app(tmp_path / "repo"))] == ["retry_backoff"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "README.md",
            "(retry_backoff)=\n\n# Retry\n\nSee {ref}`retry_backoff`, or [it](#retry_backoff).\n",
        ),
        ("guide.rst", ".. _retry_backoff:\n\nRetry\n=====\n\nSee :ref:`retry_backoff`.\n"),
        ("guide.adoc", "[[retry_backoff]]\n== Retry\n\nSee <<retry_backoff>> and xref:a.adoc[].\n"),
        ("README.md", "# Retry\n\n```ruby\nget '/retry_backoff/:name' do\n```\n"),
        ("README.md", '# Retry\n\n```js\nimport wait from "./lib/retry_backoff";\n```\n'),
        (
            "README.md",
            "# Retry\n\n```dot\nretry_backoff[shape=box];\n```\n\nThe state `retry_backoff`.\n",
        ),
        (
            "guide.rst",
            "Retry\n=====\n\n.. graphviz::\n\n   digraph {\n     retry_backoff[shape=box];\n   }\n",
        ),
        ("guide.adoc", "== Retry\n\n[plantuml]\n----\nretry_backoff -> wait\n----\n"),
        (
            "README.md",
            "# Retry\n\n```python\ncode = '''\ndef retry_backoff(attempt, base):\n'''\n```\n",
        ),
    ],
)
def test_labels_paths_diagrams_and_strings_of_documents_are_not_names_of_code(
    path: str, text: str, tmp_path: Path, make_app: MakeApp
) -> None:
    make_history(tmp_path / "repo", {"net/retry.py": RETRY, path: text}, {"net/retry.py": RENAMED})
    assert find(make_app(tmp_path / "repo")) == []


@pytest.mark.fast
def test_a_file_that_is_ignored_by_the_index_exists(tmp_path: Path, make_app: MakeApp) -> None:
    page = "# Data\n\n![chart](data/chart.svg) shows `data/keep.jsonl`. [Count](src/old.py).\n"
    root = tmp_path / "repo"
    make_history(
        root,
        {
            ".rootleignore": "data/\n",
            "src/a.py": "count = 1\n",
            "data/chart.svg": "<svg/>\n",
            "data/keep.jsonl": "{}\n",
            "src/old.py": "old_count = 1\n",
            "README.md": page,
        },
        {"data/keep.jsonl": '{"a": 1}\n', "data/chart.svg": "<svg></svg>\n"},
        {"src/old.py": None},
    )
    assert [report.name for report in find(make_app(root))] == ["src/old.py"]


def test_a_link_in_a_comment_of_scala_is_checked(tmp_path: Path, make_app: MakeApp) -> None:
    code = "class RetryBackoff(val base: Int)\n"
    user = "/** Waits, as [[RetryBackoff]] says, between all attempts. */\nclass Wait\n"
    make_history(
        tmp_path / "repo",
        {"src/Retry.scala": code, "src/Wait.scala": user},
        {"src/Retry.scala": "class Delay(val base: Int)\n"},
    )
    assert [report.name for report in find(make_app(tmp_path / "repo"))] == ["RetryBackoff"]


@pytest.mark.parametrize(
    ("path", "comment"),
    [
        (
            "src/Wait.php",
            "<?php\n/**\n * @method bool retryBackoff(array $record)\n"
            " * @property-read int $retryBackoff the seconds\n */\nclass Wait {}\n",
        ),
        (
            "lua/wait.lua",
            "---@class Options\n---@field retryBackoff? number the seconds\nlocal M = {}\n",
        ),
        ("src/wait.js", "/**\n * @typedef {{base: number}} retryBackoff\n */\nconst limit = 1;\n"),
    ],
)
def test_names_that_comments_declare_exist(
    path: str, comment: str, tmp_path: Path, make_app: MakeApp
) -> None:
    code = "function retryBackoff(base) {\n  return base;\n}\n"
    make_history(
        tmp_path / "repo",
        {"src/retry.js": code, path: comment},
        {"src/retry.js": code.replace("retryBackoff", "waitSeconds")},
    )
    assert find(make_app(tmp_path / "repo")) == []


@pytest.mark.parametrize(
    ("path", "code", "text"),
    [
        (
            "src/Body.php",
            "<?php\nclass Body implements StreamInterface\n{\n"
            "    public function isWritable()\n    {\n        return true;\n    }\n}\n",
            "Call `isWritable()` first.\n",
        ),
        (
            "src/Logs.kt",
            "class Logs(val size: Int) : ThreadElement<Map<Int, Int>> {\n"
            "    override fun updateContext(size: Int): Int {\n        return size\n    }\n}\n",
            "The method `updateContext` is called.\n",
        ),
        (
            "src/item.rs",
            "impl ToPyObject for Item {\n    fn go(&self) -> u8 {\n        1\n    }\n}\n",
            "Implement `ToPyObject`.\n",
        ),
        ("src/c.zig", "pub usingnamespace @cImport({\n    go();\n});\n", "Use `@cImport()`.\n"),
        (
            "lib/apps.ex",
            "defmodule Apps do\n  defp loaded_apps(application) do\n    application\n  end\nend\n",
            "Then :application.loaded_apps is called.\n",
        ),
        ("src/a.c", "#define _CRT_NO_WARNINGS 1\n", "Set `_CRT_NO_WARNINGS` first.\n"),
        (
            "core/Pool.scala",
            "case class Pool(\n    name: String,\n    maxConnections: Int\n)\n",
            "Set `maxConnections`:\n\n```\ndb.default.driver.maxConnections = 5\n```\n",
        ),
        (
            "core/Http.java",
            "class Http {\n    boolean useProxy;\n}\n",
            "* `shop.http.useProxy`: whether to use the proxy\n",
        ),
        ("lib/red_cloth.rb", "class RedCloth\nend\n", "It is fixed in `RedCloth` r128.\n"),
        (
            "Rakefile",
            "namespace :retry_backoff do\n  puts 1\nend\n",
            "Works around retry_backoff.\n",
        ),
    ],
)
def test_names_of_other_libraries_are_not_reported(
    path: str, code: str, text: str, tmp_path: Path, make_app: MakeApp
) -> None:
    make_history(
        tmp_path / "repo",
        {path: code, "net/application.py": "A = 1\n", "README.md": f"# Use\n\n{text}"},
        {path: None},
    )
    assert find(make_app(tmp_path / "repo")) == []


def test_a_member_that_is_not_written_as_a_setting_is_reported(
    tmp_path: Path, make_app: MakeApp
) -> None:
    pool = "case class Pool(\n    name: String,\n    maxConnections: Int\n)\n"
    make_history(
        tmp_path / "repo",
        {"core/Pool.scala": pool, "README.md": "# Use\n\nSet `pool.maxConnections` first.\n"},
        {"core/Pool.scala": "case class Pool(\n    name: String\n)\n"},
    )
    (report,) = find(make_app(tmp_path / "repo"))
    assert report.name == "pool.maxConnections"


def test_a_file_that_the_user_creates_from_a_template_is_not_reported(
    tmp_path: Path, make_app: MakeApp
) -> None:
    text = "# Install\n\nEdit config/database.yml and config/cache.yml.\n"
    settings = {"config/database.yml": "a: 1\n", "config/cache.yml": "b: 1\n"}
    make_history(
        tmp_path / "repo",
        {**settings, "README.md": text},
        {**dict.fromkeys(settings), "config/database.yml.example": "a: 2\n"},
    )
    assert [report.name for report in find(make_app(tmp_path / "repo"))] == ["config/cache.yml"]


def test_a_name_in_code_that_moved_to_another_repository_is_not_reported(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = tmp_path / "repo"
    make_history(root, {"net/retry.py": RETRY, "net/pool.py": "A = 1\n", "README.md": GUIDE})
    git(root, "rm", "-q", "net/retry.py")
    git(root, "commit", "-q", "-m", "Make the shop depend on mill/retry")
    assert find(make_app(root)) == []


def test_a_disabled_definition_in_a_comment_is_not_reported(
    tmp_path: Path, make_app: MakeApp
) -> None:
    code = "#define RETRY_BACKOFF  3\n#define RETRY_LIMIT 4\n"
    make_history(
        tmp_path / "repo",
        {"src/retry.h": code, "src/wait.h": "#define WAIT 1\n"},
        {"src/retry.h": "#define RETRY_LIMIT 4\n"},
        {"src/wait.h": "/* #define RETRY_BACKOFF  3 */\n#define WAIT 1\n"},
    )
    assert find(make_app(tmp_path / "repo")) == []


def test_the_generic_type_of_a_removed_property_is_no_definition(
    tmp_path: Path, make_app: MakeApp
) -> None:
    code = (
        "import java.lang.ref.WeakReference\n\nobject Factory {\n\n"
        "    private var parameters: WeakReference<Parameters>? = null\n\n"
        "    fun post(name: String) {\n        parameters = WeakReference(name)\n    }\n}\n"
    )
    disabled = "".join(f"//{line}\n" for line in code.split("\n"))
    make_history(
        tmp_path / "repo",
        {"src/Factory.kt": code, "README.md": "# Use\n\n    val all = list<WeakReference<A>>()\n"},
        {"src/Factory.kt": disabled},
        {"src/Factory.kt": None, "src/Other.kt": "fun other() {}\n"},
    )
    assert find(make_app(tmp_path / "repo")) == []


@pytest.mark.fast
@pytest.mark.parametrize(
    ("spelled", "is_reported"),
    [
        ("wait_seconds = 1", True),
        ("# retry_backoff", True),
        ("key = 'retry-backoff'", False),
        ("value = retryBackoff", False),
        ("call(retry_back-off)", False),
        ("retry = backoff", True),
    ],
)
def test_a_name_that_remains_in_another_spelling_in_a_file_of_code_exists(
    spelled: str, is_reported: bool, tmp_path: Path, make_app: MakeApp
) -> None:
    filler = {f"other/part{number}.py": f"def other{number}(): ...\n" * 40 for number in range(9)}
    root = tmp_path / "repo"
    make_history(
        root,
        {"net/retry.py": RETRY, "docs/guide.md": GUIDE, **filler},
        {"net/retry.py": RENAMED, "net/other.py": f"{spelled}\n"},
    )
    found = [one.name for one in find(make_app(root), "docs/guide.md") if one.kind == "name"]
    assert found == (["retry_backoff"] if is_reported else [])


def test_an_overridden_method_of_a_class_of_the_project_is_reported(
    tmp_path: Path, make_app: MakeApp
) -> None:
    base = "open class Store(size: Int) {\n    open fun close() {}\n}\n"
    code = "class Logs(val size: Int) : Store(size) {\n    override fun flushStore() {\n    }\n}\n"
    make_history(
        tmp_path / "repo",
        {"src/Store.kt": base, "src/Logs.kt": code, "README.md": "Call `flushStore` first.\n"},
        {"src/Logs.kt": None},
    )
    assert [report.name for report in find(make_app(tmp_path / "repo"))] == ["flushStore"]


def test_a_method_of_a_variable_may_belong_to_the_base_of_its_class(
    tmp_path: Path, make_app: MakeApp
) -> None:
    code = "class Request < Rack::Request\nend\n\ndef media_type(type)\n  type\nend\n"
    text = "# Types\n\n```ruby\nrequest.media_type # of the body\n```\n"
    make_history(
        tmp_path / "repo",
        {"lib/base.rb": f"attr_reader :request\n{code}", "README.md": text},
        {"lib/base.rb": f"attr_reader :request\n{code.replace('media_type', 'mime_type')}"},
    )
    assert find(make_app(tmp_path / "repo")) == []


def test_an_import_of_a_compiled_file_names_its_typescript_source(
    tmp_path: Path, make_app: MakeApp
) -> None:
    user = "/** @typedef {import('./point.js').default} Point */\nconst limit = 1;\n"
    make_history(
        tmp_path / "repo",
        {"src/point.js": "export default 1;\n", "src/line.js": user},
        {"src/point.js": None, "src/point.ts": "export default 1;\n"},
    )
    assert find(make_app(tmp_path / "repo")) == []


@pytest.mark.parametrize(
    ("head", "is_reported"),
    [("url, **all_options", False), ("url, *retries_of", True), ("url", True)],
)
def test_a_keyword_that_is_still_accepted_is_not_reported(
    head: str, is_reported: bool, tmp_path: Path, make_app: MakeApp
) -> None:
    make_history(
        tmp_path / "repo",
        {"net/retry.py": RETRY, "README.md": "Call `fetch_page(url, retries=3)` first.\n"},
        {"net/retry.py": RETRY.replace("url, retries=3", head)},
    )
    kinds = [report.kind for report in find(make_app(tmp_path / "repo"))]
    assert kinds == ["signature"] * is_reported


def test_a_signature_that_does_not_list_its_keywords_is_not_reported(
    tmp_path: Path, make_app: MakeApp
) -> None:
    make_history(
        tmp_path / "repo",
        {
            "net/retry.py": "def fetch_page(url, *args, **kwargs):\n    return url\n",
            "README.md": "Call `fetch_page(url, *args, **kwargs)` first.\n",
        },
        {"net/retry.py": "def fetch_page(first):\n    return first\n"},
    )
    assert find(make_app(tmp_path / "repo")) == []


@pytest.mark.fast
def test_the_output_of_a_notebook_is_not_checked(tmp_path: Path, make_app: MakeApp) -> None:
    def cell(source: str, output: str) -> dict[str, object]:
        shown = {"output_type": "stream", "name": "stdout", "text": output}
        return {"cell_type": "code", "source": source, "outputs": [shown]}

    cells = [
        cell("start = 1", "a warning:\nThe caller of retry_backoff waits, as it should"),
        cell("# The caller of wait_for_all waits, as it should\nstop = 2", "2"),
    ]
    notebook = {"cells": cells, "metadata": {"language_info": {"name": "python"}}}
    both = f"{RETRY}\n\ndef wait_for_all(pages):\n    return pages\n"
    make_history(
        tmp_path / "repo",
        {"net/retry.py": both, "docs/try.ipynb": json.dumps(notebook)},
        {"net/retry.py": RENAMED},
    )
    assert [report.name for report in find(make_app(tmp_path / "repo"))] == ["wait_for_all"]


def test_paths_in_the_examples_of_a_vim_help_page_are_not_checked(
    tmp_path: Path, make_app: MakeApp
) -> None:
    page = "*net.txt*\n\nCreate the file and run:\n\n>sh\n    run ./net/limits.py\n<\n"
    make_history(
        tmp_path / "repo",
        {"net/limits.py": RETRY, "net/client.py": "URL = 1\n", "doc/net.txt": page},
        {"net/limits.py": None},
    )
    assert find(make_app(tmp_path / "repo")) == []


@pytest.mark.parametrize("files", [1, 120])
def test_definitions_in_long_commits_are_found(
    files: int, tmp_path: Path, make_app: MakeApp
) -> None:
    lines = "".join(f"    step_{number} = {number} * base\n" for number in range(400))
    long = f"def first_of_all(base):\n{lines}\n\n{RETRY}"
    others = {f"net/part_{number}.py": f"PART = {number}\n" for number in range(files)}
    hashes = make_history(
        tmp_path / "repo",
        {"net/z_retry.py": long, "README.md": GUIDE, **others},
        {"net/z_retry.py": "LIMIT = 3\n", **dict.fromkeys(others)},
    )
    app = make_app(tmp_path / "repo")
    found = {report.name: report.commit for report in find(app)}

    assert found["retry_backoff"] is not None
    assert found["retry_backoff"].hash == hashes[1]


@pytest.mark.slow
def test_long_lines_in_long_commits_are_read_in_bounded_time(
    tmp_path: Path, make_app: MakeApp
) -> None:
    steps = "".join(f"step_{number} = {number}\n" for number in range(400))
    generated = f"{'var ' * 20_000}(retry_backoff\n"
    make_history(
        tmp_path / "repo",
        {"net/z_retry.py": f"{steps}{generated}{RETRY}", "README.md": GUIDE},
        {"net/z_retry.py": "LIMIT = 3\n"},
    )
    assert "retry_backoff" in {report.name for report in find(make_app(tmp_path / "repo"))}


def test_the_name_of_an_extension_property_is_checked(tmp_path: Path, make_app: MakeApp) -> None:
    code = "val Owner.pageScope: Scope\n    get() = find(this)\n"
    make_history(
        tmp_path / "repo",
        {"src/Scopes.kt": code, "README.md": "# Scopes\n\nUse the `pageScope` of an owner.\n"},
        {"src/Scopes.kt": code.replace("pageScope", "ownScope")},
    )
    assert [report.name for report in find(make_app(tmp_path / "repo"))] == ["pageScope"]


@pytest.mark.parametrize(
    "path",
    [
        *("CHANGELOG.md", "docs/decisions/0001-retry.md", "docs/upgrading.md", "docs/v1.2/a.md"),
        *("docs/net-3.x/a.md", "site/2024-11-28-waiting/index.md", "audit/report.md"),
    ],
)
def test_documents_about_earlier_versions_are_not_reported(
    path: str, tmp_path: Path, make_app: MakeApp
) -> None:
    make_history(tmp_path / "repo", {"net/retry.py": RETRY, path: GUIDE}, {"net/retry.py": RENAMED})
    assert find(make_app(tmp_path / "repo")) == []


def test_a_comment_and_a_documented_parameter_are_reported(
    tmp_path: Path, make_app: MakeApp
) -> None:
    comment = "# The caller of retry_backoff closes the connection, if there is one.\n"
    changed = RENAMED.replace("(attempt, base)", "(attempt)").replace("base * 2", "2")
    make_history(
        tmp_path / "repo",
        {"net/retry.py": RETRY, "net/pool.py": f"{comment}LIMIT = 3\n"},
        {"net/retry.py": RENAMED},
        {"net/retry.py": changed},
    )
    reports = find(make_app(tmp_path / "repo"))

    assert [(it.path, it.line, it.name, it.kind) for it in reports] == [
        ("net/pool.py", 1, "retry_backoff", "name"),
        ("net/retry.py", 8, "base", "parameter"),
    ]
    assert reports[1].replacement == "wait_seconds(attempt)"


@pytest.mark.fast
def test_a_moved_file_is_reported_with_its_new_path(tmp_path: Path, make_app: MakeApp) -> None:
    guide = "Limits are in `net/limits.py`. Read [the client](../net/client.py), too.\n"
    make_history(
        tmp_path / "repo",
        {"net/limits.py": RETRY, "net/client.py": "URL = 1\n", "docs/guide.md": guide},
        {"net/limits.py": None, "core/limits.py": RETRY},
    )
    (report,) = find(make_app(tmp_path / "repo"))

    assert (report.name, report.kind, report.is_changed) == ("net/limits.py", "path", True)
    assert report.replacement == "core/limits.py"
    # On a line of its own, the new path is not cut off in a narrow terminal.
    assert "  now core/limits.py" in drift_lines(report)


def test_an_option_and_a_keyword_that_were_removed_are_reported(
    tmp_path: Path, make_app: MakeApp
) -> None:
    main = 'parser.add_argument("--max-retries", type=int)\nparser.add_argument("--limit")\n'
    text = "Pass `--max-retries` or `--limit-rate` to `fetch_page(url, retries=3)`.\n"
    make_history(
        tmp_path / "repo",
        {"net/retry.py": RETRY, "main.py": main, "README.md": text},
        {"main.py": 'parser.add_argument("--limit")\n'},
        {"net/retry.py": RETRY.replace("retries", "attempts")},
    )
    reports = find(make_app(tmp_path / "repo"))

    assert {(it.name, it.kind, it.replacement) for it in reports} == {
        ("--max-retries", "option", ""),
        ("fetch_page(url, retries=3)", "signature", "fetch_page(url, attempts=3)"),
    }


_MAIN = 'import net\n\nparser.add_argument("--max-retries", type=int)\n'
_TEXTS: Mapping[str, str] = {
    "docs/flow.mmd": "flowchart LR\n  A[retry_backoff] --> B[--max-retries]\n",
    "docs/guide.html": "<h1>Guide</h1>\n<p>retry_backoff and --max-retries</p>\n",
    "plot.svg": '<svg xmlns="http://www.w3.org/2000/svg"><text>retry_backoff</text></svg>\n',
    "docs/calls.csv": "function,option\nretry_backoff,--max-retries\n",
    "standup.vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\nretry_backoff and --max-retries\n",
    "man/net.1": ".TH NET 1\n.SH HISTORY\nThe \\fBretry_backoff\\fP of \\-\\-max\\-retries.\n",
}


@pytest.mark.parametrize("path", _TEXTS)
def test_a_document_that_repeats_a_removed_name_does_not_hide_it(
    path: str, tmp_path: Path, make_app: MakeApp
) -> None:
    make_history(
        tmp_path / "repo",
        {"net/retry.py": RETRY, "main.py": _MAIN, "README.md": f"{GUIDE}\nPass `--max-retries`.\n"},
        {"net/retry.py": RENAMED, "main.py": "import net\n", path: _TEXTS[path]},
    )
    reports = find(make_app(tmp_path / "repo"))

    assert [(it.path, it.name) for it in reports] == [
        ("README.md", "retry_backoff"),
        ("README.md", "--max-retries"),
    ]


def test_a_name_in_a_template_a_table_or_the_code_of_a_notebook_exists(
    tmp_path: Path, make_app: MakeApp
) -> None:
    cell = {"cell_type": "code", "source": "retry_backoff(1, 2)", "outputs": []}
    notebook = {"cells": [cell], "metadata": {"language_info": {"name": "python"}}}
    for path, text in {
        "net/page.html": "<p>{{ retry_backoff(1, 2) }}</p>\n",
        "net/calls.csv": "function\nretry_backoff\n",
        "docs/try.ipynb": json.dumps(notebook),
    }.items():
        root = tmp_path / path.rpartition(".")[2]
        make_history(
            root,
            {"net/retry.py": RETRY, "README.md": GUIDE},
            {"net/retry.py": RENAMED, path: text},
        )
        assert find(make_app(root)) == []


@pytest.mark.parametrize(
    "page",
    [
        ".TH NET 1\n.SH OPTIONS\n.B \\-\\-max\\-retries\nSee \\fIretry_backoff\\fP(3).\n",
        ".Dd May 1\n.Dt NET 1\n.Sh OPTIONS\n.It Fl Fl max-retries Ar n\n.Xr retry_backoff 3\n",
    ],
)
def test_an_outdated_manual_page_is_reported(page: str, tmp_path: Path, make_app: MakeApp) -> None:
    make_history(
        tmp_path / "repo",
        {"net/retry.py": RETRY, "main.py": _MAIN, "man/net.1": page},
        {"net/retry.py": RENAMED, "main.py": "import net\n"},
    )
    app = make_app(tmp_path / "repo")

    assert {(it.path, it.name) for it in find(app)} == {
        ("man/net.1", "--max-retries"),
        ("man/net.1", "retry_backoff"),
    }
    assert find(app, "man/net.1") == find(app)


def test_an_example_in_a_manual_page_may_define_the_name_itself(
    tmp_path: Path, make_app: MakeApp
) -> None:
    page = ".Dd May 1\n.Dt NET 5\n.Sh FORMAT\n.Bd -literal\nstruct retry_header {\n.Ed\n"
    make_history(
        tmp_path / "repo",
        {"net/retry.c": "struct retry_header {\n\tint base;\n};\n", "man/net.5": page},
        {"net/retry.c": "struct wait_header {\n\tint base;\n};\n"},
    )
    assert find(make_app(tmp_path / "repo")) == []


@pytest.mark.fast
def test_a_path_at_the_end_of_a_sentence_is_reported_without_the_period(
    tmp_path: Path, make_app: MakeApp
) -> None:
    make_history(
        tmp_path / "repo",
        {"net/limits.py": RETRY, "net/client.py": "URL = 1\n", "guide.txt": "See net/limits.py.\n"},
        {"net/limits.py": None},
    )
    assert [it.name for it in find(make_app(tmp_path / "repo"))] == ["net/limits.py"]


def test_a_module_that_was_deleted_is_reported(tmp_path: Path, make_app: MakeApp) -> None:
    text = "Import `shop.prices.total` and `shop.orders.ship`.\n"
    make_history(
        tmp_path / "repo",
        {
            "shop/__init__.py": "",
            "shop/prices.py": "def total():\n    return 1\n",
            "shop/orders.py": "def ship():\n    return 2\n",
            "README.md": text,
        },
        {"shop/prices.py": None, "shop/costs.py": "SUM = 1\n\n\ndef sum_up():\n    return SUM\n"},
    )
    assert [it.name for it in find(make_app(tmp_path / "repo"))] == ["shop.prices.total"]


@pytest.mark.parametrize("is_repository", [False, True])
def test_without_commits_only_qualified_names_are_reported(
    is_repository: bool, tmp_path: Path, make_app: MakeApp
) -> None:
    text = (
        "`RetryPolicy.should_wait` and `RetryPolicy.should_retry` decide, `retry_forever` waits.\n"
        "Limits are in `net/limits.py`, paths in `other/limits.py`.\n"
    )
    code = "class RetryPolicy:\n    def should_retry(self, status):\n        return status\n"
    write_tree(tmp_path / "folder", {"net/retry.py": code, "README.md": text})
    if is_repository:
        git(tmp_path / "folder", "init", "-q")
    answer = make_app(tmp_path / "folder").drift()

    assert [it.name for it in answer.reports] == ["RetryPolicy.should_wait", "net/limits.py"]
    assert answer.reports[0].commit is None
    assert any("no commits can be searched" in note for note in answer.suggestions)


def test_the_progress_of_a_check_is_reported(tmp_path: Path, make_app: MakeApp) -> None:
    make_history(
        tmp_path / "repo",
        {"net/retry.py": RETRY, "docs/guide.md": GUIDE, "README.md": GUIDE},
        {"net/retry.py": RENAMED},
    )
    seen: list[tuple[int, int]] = []
    answer = make_app(tmp_path / "repo").drift((), lambda done, total: seen.append((done, total)))

    assert seen[0] == (0, 3)
    assert seen == sorted(seen)
    assert seen[-1] == (3 + answer.texts, 3 + answer.texts)


def test_only_the_given_paths_are_checked(tmp_path: Path, make_app: MakeApp) -> None:
    make_history(
        tmp_path / "repo",
        {"net/retry.py": RETRY, "docs/guide.md": GUIDE, "README.md": GUIDE},
        {"net/retry.py": RENAMED},
    )
    app = make_app(tmp_path / "repo")

    assert [it.path for it in find(app)] == ["README.md", "docs/guide.md"]
    assert [it.path for it in find(app, "docs")] == ["docs/guide.md"]
    with pytest.raises(QueryError, match=r"not indexed; did you mean docs/guide\.md\?"):
        find(app, "docs/giude.md")
    with pytest.raises(QueryError, match=r"not indexed; did you mean docs\?"):
        find(app, "dosc")
    with pytest.raises(QueryError, match=r"missing\.md is not indexed"):
        app.drift(["missing.md"])


@pytest.mark.fast
def test_a_memory_about_a_deleted_file_is_reported(tmp_path: Path, make_app: MakeApp) -> None:
    make_history(tmp_path / "repo", {"net/retry.py": RETRY, "net/pool.py": "LIMIT = 3\n"})
    app = make_app(tmp_path / "repo")
    app.index()
    stored = app.memory.remember("Timeouts are doubled in `net/retry.py`").memory
    assert stored is not None
    assert find(app) == []
    (tmp_path / "repo/net/retry.py").unlink()
    (report,) = find(app)

    assert (report.origin, report.memory, report.name) == ("memory", stored.id, "net/retry.py")


@pytest.mark.slow
def test_hostile_text_is_checked_in_bounded_time(tmp_path: Path, make_app: MakeApp) -> None:
    write_tree(
        tmp_path / "folder",
        {
            "README.md": "`" * 100_000 + "a_b." * 50_000 + "[" * 50_000 + "](" * 25_000,
            "a.c": "/* " * 100_000 + "\n" + "/*\n" * 50_000,
            "b.py": '"""\n' * 25_001 + ":param (" * 25_000,
            "c.py": f"def save():\n    # :param {' ' * 10_000}!\n    # {'[](https:' * 10_000}\n",
            "d.js": f"/** @param {{x}} size */\nfunction save({' ' * 100_000}) {{\n}}\n",
            "docs.md": ("[](https:" * 200 + "\n") * 250 + "Use `save_it_all` " + "def " * 100_000,
        },
    )
    assert find(make_app(tmp_path / "folder")) == []


def test_agents_read_outdated_names(tmp_path: Path, make_app: MakeApp) -> None:
    make_history(
        tmp_path / "repo",
        {
            "net/retry.py": RETRY,
            "docs/guide.md": GUIDE,
            "other.md": "# Other\n\nNothing.\n",
            "kept.md": "# Kept\n\nSee `net/retry.py`.\n",
        },
        {"net/retry.py": RENAMED},
    )
    tools = {tool.name: tool for tool in create_tools(make_app(tmp_path / "repo"))}

    def read(source: str) -> str:
        return tools["vectordb_read"].execute({"source": source}).text

    assert read("drift:").startswith("docs/guide.md:3  retry_backoff is gone (name in a document)")
    assert read("Drift: ./docs/guide.md") == read("drift:docs") == read("drift:")
    assert read("drift:other.md").startswith("Nothing was checked: no name of code was found")
    assert read("drift:kept.md").startswith("No name is gone (names checked: 1,")
    assert read("drift:missing.md").startswith("Error: missing.md is not indexed")


@pytest.mark.slow
def test_the_command_prints_the_reports(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    make_history(root, {"net/retry.py": RETRY, "docs/guide.md": GUIDE}, {"net/retry.py": RENAMED})
    options = ("--root", str(root), "--index-dir", str(tmp_path / "index"))
    shown = rootle("drift", *options)
    data = rootle("drift", "--json", *options).data
    nothing = rootle("drift", str(root / "net"), *options)

    assert shown.code == 0
    assert "docs/guide.md:3  retry_backoff is gone (name in a document)" in shown.out
    assert shown.err == "rootle: 1 name is gone or changed (names checked: 3, texts read: 1)\n"
    assert data["reports"][0]["commit"]["subject"] == "Change 1"
    assert nothing.code == 1
    assert "nothing was checked" in nothing.err


LONG_OPTION = """\
parser.add_argument(
    "-w",
    "--word-matches",
    help="match words",
)
parser.add_argument("--max-count", help="stop early")
word_matches = True
"""
DECORATORS = """\
export interface Server {
  hasRequestDecorator(name: string | symbol): boolean;
}
"""


@pytest.mark.parametrize(
    ("files", "changed", "name"),
    [
        (
            {"cli.py": LONG_OPTION, "README.md": "Pass `--word-matches` to match words.\n"},
            {"cli.py": LONG_OPTION.replace('"--word-matches"', '"--whole"')},
            "--word-matches",
        ),
        (
            {
                "src/config.rs": 'let path = std::env::var_os("APP_CONFIG_PATH");\n',
                "README.md": "Set the variable `APP_CONFIG_PATH`.\n",
            },
            {"src/config.rs": 'let path = std::env::var_os("APP_RC");\n'},
            "APP_CONFIG_PATH",
        ),
        (
            {
                "state.py": "class StateFile:\n    pass\n\n\nstate_file = StateFile()\n",
                "README.md": "A `StateFile` is written.\n",
            },
            {"state.py": "class Record:\n    pass\n\n\nstate_file = Record()\n"},
            "StateFile",
        ),
        (
            {"types/server.d.ts": DECORATORS, "README.md": "#### hasRequestDecorator\n"},
            {"types/server.d.ts": DECORATORS.replace("hasRequestDecorator", "knows")},
            "hasRequestDecorator",
        ),
        (
            {"GUIDE.md": "# Guide\n", "README.md": "It was easy: see the [guide](GUIDE.md).\n"},
            {"GUIDE.md": None, "manual/GUIDE.md": "# Guide\n"},
            "GUIDE.md",
        ),
        (
            {
                "net.py": RETRY,
                "README.md": "Before, `retry_backoff` was slow.\n\n\nCall `retry_backoff` now.\n",
            },
            {"net.py": RENAMED},
            "retry_backoff",
        ),
        (
            {
                "Handler.java": "class DateTypeHandler {\n}\n",
                "src/site/es/xdoc/configuration.xml": "<code>DateTypeHandler</code>\n",
                "README.md": "`DateTypeHandler` reads dates.\n",
            },
            {"Handler.java": "class Other {\n}\n"},
            "DateTypeHandler",
        ),
    ],
    ids=["option", "variable", "class", "method", "link", "now", "xml"],
)
def test_a_name_of_which_another_form_remains_is_reported(
    files: Mapping[str, str],
    changed: Mapping[str, str | None],
    name: str,
    tmp_path: Path,
    make_app: MakeApp,
) -> None:
    hashes = make_history(tmp_path / "repo", files, changed)
    (report,) = find(make_app(tmp_path / "repo"))

    assert (report.path, report.name) == ("README.md", name)
    assert report.line == (4 if "now" in files["README.md"] else 1)
    assert report.commit is not None
    assert report.commit.hash == hashes[1]


GIF_VIEW = "class GIFImageView: UIImageView {\n}\n"
XDEBUG = '<?php\nclass XdebugHandler {\n  public $on = getenv("APP_ALLOW_XDEBUG");\n}\n'


@pytest.mark.parametrize(
    ("path", "text", "present", "readme"),
    [
        (
            "Sources/Gifu/GIFImageView.swift",
            GIF_VIEW,
            {},
            "Use [Gifu](https://github.com/kaishin/Gifu):\n\n```swift\nlet v: GIFImageView\n```\n",
        ),
        (
            "src/XdebugHandler.php",
            XDEBUG,
            {"src/run.php": "<?php\nuse Other\\XdebugHandler;\n"},
            "Set `APP_ALLOW_XDEBUG`.\n",
        ),
        (
            "web/http.py",
            "class HttpResponse:\n    pass\n",
            {"app.py": "http_response = None\n"},
            "```python\nfrom django.http import HttpResponse\n```\n",
        ),
        (
            "tokens.py",
            "def tokenize_command():\n    pass\n",
            {"app.py": "# tokenize_command() is gone.\nLIMIT = 3\n"},
            "Run it.\n",
        ),
        (
            "names.py",
            "def internal_store_name():\n    pass\n",
            {},
            "The topic is named ${app_id}-${internal_store_name}-log.\n",
        ),
    ],
    ids=["copy of a library", "variable of a library", "import", "gone", "placeholder"],
)
def test_names_of_libraries_and_placeholders_are_not_reported(
    path: str,
    text: str,
    present: Mapping[str, str],
    readme: str,
    tmp_path: Path,
    make_app: MakeApp,
) -> None:
    make_history(tmp_path / "repo", {path: text, "README.md": readme, **present}, {path: None})
    assert find(make_app(tmp_path / "repo")) == []


def test_a_parameter_of_one_of_two_methods_of_a_name_is_reported_once(
    tmp_path: Path, make_app: MakeApp
) -> None:
    text = '''\
class Runner:
    def crawl(self, crawler):
        """Run it.

        :param crawler: what to run
        """
        return crawler


class Process:
    def crawl(self, spider):
        """:param spider: what to run"""
        return spider
'''
    changed = text.replace("(self, crawler)", "(self, target)").replace("n crawler", "n target")
    make_history(tmp_path / "repo", {"run.py": text}, {"run.py": changed})
    (report,) = find(make_app(tmp_path / "repo"))
    assert (report.line, report.name, report.kind) == (5, "crawler", "parameter")


def test_without_commits_the_answer_says_why(tmp_path: Path, make_app: MakeApp) -> None:
    write_tree(tmp_path / "repo", {"README.md": "Call `retry_backoff`.\n"})
    app = make_app(tmp_path / "repo")
    answer = app.drift()
    notes = answer.suggestions
    assert any("is not in a git repository, so a name is reported only if" in one for one in notes)
    assert not answer.is_complete
    assert not any("no name is gone" in one.lower() for one in _describe(app))


def test_with_a_part_of_the_commits_no_name_is_said_to_exist(
    tmp_path: Path, make_app: MakeApp
) -> None:
    files = {"net/retry.py": RETRY, "docs/guide.md": GUIDE}
    root = tmp_path / "repo"
    make_history(root, files, {"net/retry.py": RENAMED}, {"other.py": "LIMIT = 1\n"})
    complete = make_app(root)
    part = make_app(root, index_dir=tmp_path / "other", max_history_commits=1)

    assert complete.drift().is_complete
    assert not part.drift().is_complete
    assert to_json(part.drift())["isComplete"] is False
    first, *notes = _describe(part)
    assert first.startswith(
        "No outdated name was found, but the check is incomplete (names checked"
    )
    assert any("only the newest 1 are indexed" in note for note in notes)


def _describe(app: App) -> list[str]:
    """Return the paragraphs that an agent reads when it asks about all texts."""
    tools = {tool.name: tool for tool in create_tools(app)}
    return tools["vectordb_read"].execute({"source": "drift:"}).text.split("\n\n")


@pytest.mark.parametrize(
    ("limit", "missing"),
    [
        ((past_names, "_MAX_READ"), "not all names were looked up in the commits"),
        ((past_files, "_MAX_FILES"), "not all names were looked up in the commits"),
        ((find_drift, "MAX_PARSED_CHARS"), "the parameters in the comments of some files"),
        ((texts, "MAX_NAMES"), "names of a text were checked"),
    ],
)
def test_a_note_says_that_a_limit_was_reached(
    limit: tuple[ModuleType, str],
    missing: str,
    tmp_path: Path,
    make_app: MakeApp,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stated = RETRY.replace("attempt, base", "attempt").replace("base * 2", "2")
    make_history(
        tmp_path / "repo",
        {"net/retry.py": RETRY, "docs/guide.md": GUIDE},
        {"net/retry.py": RENAMED},
        {"net/retry.py": stated.replace("retry_backoff", "wait_seconds")},
    )
    app = make_app(tmp_path / "repo")
    complete = app.drift()
    assert {one.name for one in complete.reports} == {"retry_backoff", "base"}
    assert not complete.suggestions

    monkeypatch.setattr(*limit, 0)
    answer = app.drift()
    assert [note for note in answer.suggestions if missing in note]
    assert {one.name for one in answer.reports} <= {"retry_backoff", "base"}


@pytest.mark.slow
def test_many_documented_functions_calls_and_paths_are_checked_in_bounded_time(
    tmp_path: Path, make_app: MakeApp
) -> None:
    functions = "".join(f"function f{number}(a) {{}}\n" for number in range(10_000))
    write_tree(
        tmp_path / "folder",
        {
            "a.js": f"/** @param zz x */\n{functions}",
            **{f"p{number}/q.py": "x = 1\n" for number in range(750)},
            "docs.md": "".join(f"See zz{number}/yy.py here.\n\n" for number in range(10_000)),
        },
    )
    app = make_app(tmp_path / "folder")
    app.index()
    start = process_time()
    (report,) = find(app)
    assert process_time() - start < _WATCHDOG_S
    assert (report.path, report.name) == ("a.js", "zz")


@pytest.mark.fast
def test_a_note_says_that_not_all_definitions_were_read(
    tmp_path: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "net.py": "def fetch_page(url):\n    pass\n",
        "README.md": "Call `fetch_page(bad=1)`.\n",
    }
    write_tree(tmp_path / "folder", files)
    app = make_app(tmp_path / "folder")
    assert [one.name for one in find(app)] == ["fetch_page(bad=1)"]

    monkeypatch.setattr(signatures, "_BASE_COST", -1_000)
    answer = app.drift()
    assert answer.reports == ()
    assert any(
        "not all names were compared with their definitions" in it for it in answer.suggestions
    )


def test_a_note_says_that_not_all_commits_with_a_name_were_read(
    tmp_path: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past_names, "MAX_COMMITS", 2)
    guide = "Call `retry_forever` before the next attempt.\n"
    notes = [{f"notes/{number}.txt": "retry_forever\n"} for number in range(3)]
    make_history(tmp_path / "repo", {"net.py": RETRY, "docs/guide.md": guide}, *notes)
    (note,) = make_app(tmp_path / "repo").drift().suggestions
    assert "commits contain some of the names" in note
