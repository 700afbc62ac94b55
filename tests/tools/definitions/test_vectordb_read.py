"""The tool `vectordb_read`: its answers, and the files that it refuses to read."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from document_samples import code_cell, markdown_cell, write_notebook
from sample import MakeApp, git, make_repository, write, write_tree

from rootle.serialization.citation import cite
from rootle.sources.files import file_source
from rootle.sources.files.discovery import WalkRules, look_up_files
from rootle.tools.definitions.vectordb_read import MAX_CHARS, MAX_LINES, vectordb_read
from rootle.tools.definitions.vectordb_search import search_folder
from rootle.tools.tool import Answer
from rootle.types import Span

Read = Callable[[str], Answer]

SECRET = "hunter2-the-password"


@pytest.fixture
def read(repository: Path, make_app: MakeApp) -> Read:
    return vectordb_read(make_app(repository)).run


def lines_in(answer: Answer) -> list[str]:
    assert not answer.is_error, answer.text
    lines: list[str] = answer.data["text"].split("\n")
    return lines


def error_in(answer: Answer) -> str:
    assert answer.is_error
    assert answer.text.startswith("Error: ")
    assert answer.data == {"error": answer.text.removeprefix("Error: ")}
    assert SECRET not in answer.text
    return answer.text


def test_the_lines_of_a_file_are_numbered(read: Read) -> None:
    answer = read("src/net/client.go")
    assert answer.text == (
        "src/net/client.go:1-6 of 6 (go)\n"
        "1  package net\n"
        "2\n"
        "3  // Fetch downloads a page and follows redirects.\n"
        "4  func Fetch(url string, maxRedirects int) (string, error) {\n"
        "5  \treturn download(url, maxRedirects)\n"
        "6  }"
    )
    assert answer.data["source"] == "src/net/client.go:1-6"
    assert answer.data["language"] == "go"
    assert answer.data["leftOutLines"] == 0


SOURCES = [
    ("src/net/retry.py:4-6", 4, 6),
    ("src/net/retry.py:9-99", 9, 13),
    ("src/net/retry.py:12", 12, 13),  # the method around the line
    ("src/net/retry.py#RetryPolicy", 9, 13),
    ("src/net/retry.py#RetryPolicy.should_retry", 12, 13),
    ("src/net/retry.py#class RetryPolicy > def should_retry", 12, 13),
    ("src/auth/token.ts#validateToken", 3, 5),
    ("docs/guide.md#logging-in", 7, 9),
    ("docs/guide.md#Guide > Logging in", 7, 9),
    ("docs/guide.md#guide", 1, 9),
    ("docs/guide.md:8", 7, 9),
    ("config/service.yaml:1", 1, 2),
    ("./src//net/retry.py:4-4", 4, 4),
    ("  src/net/retry.py:4-4\n", 4, 4),
    ("src/net/retry.py#L4-L6", 4, 6),
    ("src/net/retry.py#L4-6", 4, 6),
    ("src/net/retry.py#L4C2-L6C9", 4, 6),
    ("src/net/retry.py#L12", 12, 13),
    ("src/net/retry.py:L12", 12, 13),
    ("src/net/retry.py:L4-L6", 4, 6),
    ("src/net/retry.py:4\u20136", 4, 6),
    ("src/net/retry.py:12:3", 12, 13),
    ("src/net/retry.py:4:3-6:1", 4, 6),
    ("`src/net/retry.py:4-6`", 4, 6),
    ("(src/net/retry.py:4-6).", 4, 6),
    ('"src/net/retry.py#RetryPolicy",', 9, 13),
    ("src/net/retry.py:4-6:", 4, 6),
    (".\\src\\net\\retry.py:4-6", 4, 6),
    ("`src\\net\\retry.py#L4-L6`", 4, 6),
]


@pytest.mark.slow
def test_a_source_with_a_range_returns_only_these_lines(read: Read, repository: Path) -> None:
    for source, first, last in SOURCES:
        answer = read(source)
        plain = source.strip('`()" \n').replace("\\", "/").replace("//", "/")
        path = re.split("[:#]", plain.removeprefix("./"))[0]
        lines = (repository / path).read_text().split("\n")
        assert lines_in(answer) == lines[first - 1 : last], source
        assert answer.data["source"] == f"{path}:{first}-{last}"


def test_an_absolute_path_inside_the_folder_is_accepted(read: Read, repository: Path) -> None:
    assert read(f"{repository}/README.md").data["source"] == "README.md:1-3"


def test_names_with_special_characters_are_read(read: Read, repository: Path) -> None:
    for name in ("notes:12", "C#.md", "-p", "--output=x"):
        write(repository, name, f"this is {name}\n")
        assert lines_in(read(name)) == [f"this is {name}"]
    assert lines_in(read("-p:1-1")) == ["this is -p"]


def test_a_place_in_a_file_with_a_number_sign_in_its_name_is_read(
    read: Read, repository: Path
) -> None:
    guide = "# Guide\n\n## Install steps\n\nRun it.\n\n## F# and C#\n\nBoth.\n"
    for name in ("C# notes.md", "a#b#c.md", "#.md", "plain.md"):
        write(repository, name, guide)
        assert lines_in(read(f"{name}#install-steps")) == guide.split("\n")[2:5]
        assert lines_in(read(f"{name}#F# and C#")) == guide.split("\n")[6:9]
    assert read("C# notes.md#other").text.startswith('Error: C# notes.md has no "other"')


def test_the_error_for_an_unknown_name_begins_with_similar_names(
    read: Read, repository: Path
) -> None:
    methods = "".join(
        f"    def get(self): pass\n\n    def step{at}(self): pass\n" for at in range(9)
    )
    write(repository, "oven.py", f"class Oven:\n{methods}\n    def preheat(self): pass\n")
    error = read("oven.py#prehaet").text
    assert error.startswith('Error: oven.py has no "prehaet"; it has: preheat, Oven, get, step0, ')


PAGES = {
    "page.html": (
        '<h1>Guide</h1>\n<a class="x" name="top"></a>\n<p>Intro <b id=intro>a</b></p>\n'
        '<section id="setup">\n<h2>Install</h2>\n<p>Run it.</p>\n</section>\n'
        "<h2 class='a'\n  id='use'>Use it</h2>\n<p>Call it.</p>\n"
    ),
    "page.md": (
        "# Guide\n\nIntro <span id='intro'></span>\n\n<a id='setup'></a>\n\n"
        "## Install\n\nRun it.\n\n## Use it {#use .x}\n\nCall it.\n\n"
        "(myst-label)=\n## Last\n\nEnd.\n"
    ),
    "page.rst": (
        "Guide\n=====\n\n.. _intro: https://example.org\n\nIntro\n\n.. _setup:\n.. _Set Up:\n\n"
        "Install\n-------\n\nRun it.\n\n.. _use:\n\n.. index:: x\n   single: y\n\n"
        "Use it\n------\n\nCall it.\n"
    ),
    "page.adoc": (
        "= Guide\n\nIntro anchor:intro[]text\n\n[[setup,Set up]]\n== Install\n\nRun it.\n\n"
        "[#use.x]\n== Use it\n\nCall it.\n\n== Last [[end]]\n\nEnd.\n"
    ),
}


@pytest.mark.parametrize(
    ("source", "first", "last"),
    [
        ("page.html#top", "<h1>Guide</h1>", "<p>Call it.</p>"),
        ("page.html#intro", "<h1>Guide</h1>", "<p>Call it.</p>"),
        ("page.html#setup", '<section id="setup">', "</section>"),
        ("page.html#SETUP", '<section id="setup">', "</section>"),
        ("page.html#use", "<h2 class='a'", "<p>Call it.</p>"),
        ("page.md#intro", "# Guide", "End."),
        ("page.md#setup", "## Install", "Run it."),
        ("page.md#use", "## Use it {#use .x}", "(myst-label)="),
        ("page.md#use-it", "## Use it {#use .x}", "(myst-label)="),
        ("page.md#myst-label", "## Last", "End."),
        ("page.rst#setup", "Install", "   single: y"),
        ("page.rst#set-up", "Install", "   single: y"),
        ("page.rst#use", "Use it", "Call it."),
        ("page.adoc#intro", "= Guide", "End."),
        ("page.adoc#setup", "== Install", "[#use.x]"),
        ("page.adoc#use", "== Use it", "Call it."),
        ("page.adoc#end", "== Last [[end]]", "End."),
        ("page.adoc#last", "== Last [[end]]", "End."),
    ],
)
def test_the_section_of_an_anchor_is_read(
    source: str, first: str, last: str, read: Read, repository: Path
) -> None:
    path = source.partition("#")[0]
    write(repository, path, PAGES[path])
    lines = [line for line in lines_in(read(source)) if line]
    assert (lines[0], lines[-1]) == (first, last)


def test_a_name_that_is_no_anchor_is_not_read(read: Read, repository: Path) -> None:
    for path, text in PAGES.items():
        write(repository, path, text)
        for name in ("x", "Set", "Call it", "nothing"):
            assert "has no" in error_in(read(f"{path}#{name}"))
    # `_intro` is the target of a link, not an anchor.
    assert "has no" in error_in(read("page.rst#intro"))


def test_a_name_in_code_is_read_in_its_spelling(read: Read, repository: Path) -> None:
    code = (
        "export interface Ref { value: number }\nexport function ref(): Ref { return make(); }\n"
        "export const MAXIMUM = 3;\nexport function maximum() { return MAXIMUM; }\n"
    )
    write(repository, "ref.ts", code)
    rows = code.split("\n")
    for name, row in (("Ref", 0), ("ref", 1), ("MAXIMUM", 2), ("maximum", 3)):
        assert lines_in(read(f"ref.ts#{name}")) == [rows[row]]
    other = read("ref.ts#REF")
    assert lines_in(other) == [rows[0]]
    assert 'Note: there is no "REF" here; this is "interface Ref"; 1 other place' in other.text


def test_the_part_of_a_long_section_with_the_anchor_is_read(read: Read, repository: Path) -> None:
    rows = [f"<p>{number}</p>" for number in range(500)]
    rows[300] = '<p id="far">here</p>'
    write(repository, "a.html", "\n".join(["<h1>A</h1>", *rows, "<h2>B</h2>"]))
    lines = lines_in(read("a.html#far"))
    assert '<p id="far">here</p>' in lines
    assert len(lines) < 100


@pytest.mark.slow
def test_the_headings_of_a_notebook_are_read(read: Read, repository: Path) -> None:
    write_notebook(
        repository / "study.ipynb",
        [
            markdown_cell("# Sales study"),
            markdown_cell("## Load data"),
            code_cell("def load(rows):\n    return rows"),
            markdown_cell("## Results"),
            code_cell("def load(again):\n    return again"),
        ],
    )
    for name in ("Load data", "load-data", "Sales study > Load data"):
        lines = lines_in(read(f"study.ipynb#{name}"))
        assert (lines[0], lines[-1]) == ("# ## Load data", "    return rows")
    assert lines_in(read("study.ipynb#sales-study"))[-1] == "    return again"
    lines = lines_in(read("study.ipynb#Sales study > Results > def load"))
    assert lines == ["def load(again):", "    return again"]


@pytest.mark.slow
def test_names_that_resemble_other_references_are_read(read: Read, repository: Path) -> None:
    names = ("a:1", "b#L2", "c:L3-L4", "`d`", "e.", "back\\slash", "\\n", "x\\udce9", "new\nline")
    for name in names:
        write(repository, name, f"one {name!r}\ntwo\n")
        assert lines_in(read(name)) == [f"one {name!r}", "two"]
        assert lines_in(read(f"{name}:2-2")) == ["two"]


def test_every_printed_name_can_be_read(read: Read, repository: Path) -> None:
    names = (
        b"caf\xe9.py",
        b"\xff\xfe",
        b"new\nline.md",
        b"\\n",
        b"back\\\\slash",
        b"\x1b[31m",
        b"\\\xe9",
    )
    for name in names:
        path = os.fsencode(repository) + b"/" + name
        with open(path, "w") as file:
            file.write(f"this is {name!r}\n")
    for name in names:
        printed = cite(os.fsdecode(name), [Span(1, 1, "", "")])
        assert printed.isprintable()
        answer = read(printed)
        assert lines_in(answer) == [f"this is {name!r}"]
        assert answer.data["source"] == printed
        assert answer.text.startswith(f"{printed} of 1")


def test_a_path_below_the_home_folder_is_accepted(home: Path, make_app: MakeApp) -> None:
    root = make_repository(home / "project", {"a.py": "x = 1\n"})
    read = vectordb_read(make_app(root)).run
    assert lines_in(read("~/project/a.py")) == ["x = 1"]
    assert "outside the folder" in error_in(read("~/other/a.py"))


def test_other_places_with_the_same_name_are_listed(read: Read, repository: Path) -> None:
    code = "class Pool {\n  void close() {}\n\n  void close(int now) {}\n}\n"
    write(repository, "Pool.java", code)
    answer = read("Pool.java#close")
    assert "Note: 1 other place has this name: lines 4-4" in answer.text


def test_a_query_for_removed_code_is_referred_to_the_search(read: Read) -> None:
    text = error_in(read("gone:packet__read"))

    assert text == 'Error: "gone:packet__read" is a query for vectordb_search; search for it'


def test_a_range_beyond_the_end_is_reported(read: Read) -> None:
    answer = read("src/net/retry.py:9-99")
    assert answer.data["source"] == "src/net/retry.py:9-13"
    assert answer.data["note"] == "src/net/retry.py ends at line 13; line 99 does not exist"
    assert answer.text.splitlines()[-1] == f"Note: {answer.data['note']}"
    assert "Note:" not in read("src/net/retry.py:9-13").text


def test_the_current_text_of_any_file_is_read(read: Read, repository: Path) -> None:
    write(repository, "src/new.py", "fresh = 1\n")
    assert lines_in(read("src/new.py")) == ["fresh = 1"]
    write(repository, "src/new.py", "fresh = 2\r\n")
    assert lines_in(read("src/new.py")) == ["fresh = 2"]


def test_a_folder_without_git_is_read(tmp_path: Path, make_app: MakeApp) -> None:
    root = tmp_path / "plain"
    write(root, "a/notes.txt", "hello\n")
    write(root, ".ignore", "hidden.txt\n")
    write(root, "hidden.txt", SECRET)
    read = vectordb_read(make_app(root)).run
    assert lines_in(read("a/notes.txt")) == ["hello"]
    assert "by `hidden.txt` in .ignore:1" in error_in(read("hidden.txt"))


def test_the_ignore_rules_of_a_nested_repository_apply(read: Read, repository: Path) -> None:
    inner = make_repository(repository / "vendor/inner", {"a.txt": "inner\n"})
    write(inner, ".gitignore", "local.txt\n")
    write(inner, "local.txt", SECRET)
    assert lines_in(read("vendor/inner/a.txt")) == ["inner"]
    rule = "by `local.txt` in vendor/inner/.gitignore:1"
    assert rule in error_in(read("vendor/inner/local.txt"))
    assert "by the name of the folder vendor/inner/.git" in error_in(
        read("vendor/inner/.git/config")
    )


def test_a_folder_replaced_by_a_link_after_the_check_is_not_followed(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = WalkRules()
    before = look_up_files(repository, ["src/net/retry.py"], rules)
    assert before is not None
    assert len(before.documents) == 1
    write(repository.parent, "elsewhere/retry.py", SECRET)
    (repository / "src/net").rename(repository / "src/old")
    (repository / "src/net").symlink_to(repository.parent / "elsewhere")
    monkeypatch.setattr(file_source, "look_up_files", lambda *_: before)
    assert file_source.read_listed_file(repository, "src/net/retry.py", rules) == "symlink"


def test_each_part_of_a_long_file_names_the_next_one(read: Read, repository: Path) -> None:
    lines = [f"line {at}" for at in range(1, 1_001)]
    write(repository, "long.txt", "\n".join(lines) + "\n")
    seen: list[str] = []
    source = "long.txt"
    while source:
        answer = read(source)
        assert len(answer.data["text"].split("\n")) <= MAX_LINES
        seen += lines_in(answer)
        source = answer.text.partition("more lines: ask for ")[2]
    assert seen == lines
    last = read("long.txt:100-999").text.splitlines()[-1]
    assert last == f"… 600 more lines: ask for long.txt:{100 + MAX_LINES}-999"


def test_long_lines_are_shortened(read: Read, repository: Path) -> None:
    write(repository, "wide.txt", "\n".join(["word " * 100] * 200))
    answer = read("wide.txt")
    assert len(answer.text) < 1.1 * MAX_CHARS
    assert answer.data["leftOutLines"] == 200 - len(lines_in(answer)) > 0
    write(repository, "widest.txt", "start " + "x" * 4_000)
    (line,) = lines_in(read("widest.txt"))
    assert line.startswith("start ")
    assert line.endswith("… (3006 more characters)")


def test_an_empty_file_is_one_empty_line(read: Read, repository: Path) -> None:
    write(repository, "empty.py", "")
    assert lines_in(read("empty.py")) == [""]


@pytest.mark.parametrize(
    "source",
    [
        "../outside.txt",
        "src/../../outside.txt",
        "src/../README.md",
        "..",
        "/etc/passwd",
        "/",
        "~/.netrc",
        "{parent}/outside.txt",
        "{root}/../outside.txt",
        "{parent}/repository-too/outside.txt",
        "link.txt",
        "folder/outside.txt",
        "folder/repository-too/outside.txt",
        "loop/loop/loop",
        "tracked_folder/file.txt",
        ".git/config",
        ".git",
        "fifo",
    ],
)
def test_nothing_outside_the_folder_is_read(source: str, read: Read, repository: Path) -> None:
    write(repository.parent, "outside.txt", SECRET)
    write(repository.parent, "repository-too/outside.txt", SECRET)
    write(repository.parent, "elsewhere/file.txt", SECRET)
    write(repository, "tracked_folder/file.txt", "ours\n")
    git(repository, "add", "-A")
    (repository / "tracked_folder/file.txt").unlink()
    (repository / "tracked_folder").rmdir()
    (repository / "tracked_folder").symlink_to(repository.parent / "elsewhere")
    (repository / "link.txt").symlink_to(repository.parent / "outside.txt")
    (repository / "folder").symlink_to(repository.parent)
    (repository / "loop").symlink_to(repository)
    os.mkfifo(repository / "fifo")
    for suffix in ("", ":1-5", "#x"):
        error_in(read(source.format(parent=repository.parent, root=repository) + suffix))


def test_a_link_to_a_file_in_the_folder_is_not_followed(read: Read, repository: Path) -> None:
    (repository / "link.md").symlink_to("README.md")
    assert "excluded from the index (symlink)" in error_in(read("link.md"))


def test_a_folder_opened_through_a_link_is_read(
    tmp_path: Path, repository: Path, make_app: MakeApp
) -> None:
    (tmp_path / "link").symlink_to(repository)
    read = vectordb_read(make_app(tmp_path / "link")).run
    assert lines_in(read("config/service.yaml:1-1")) == ["maxAttempts: 5"]
    for folder in (tmp_path / "link", repository):
        assert lines_in(read(f"{folder}/config/service.yaml:2-2")) == ["logLevel: debug"]


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        (".env", SECRET, "(secret)"),
        ("deploy/id_rsa", SECRET, "(secret)"),
        ("deploy/key.txt", f"-----BEGIN PRIVATE KEY-----\n{SECRET}", "(secret)"),
        ("server.pem", SECRET, "(secret)"),
        ("data.dat", b"\0\1\2" + SECRET.encode(), "(binary)"),
        ("logo.png", SECRET, "(binary)"),
        ("package-lock.json", SECRET, "(lock file)"),
        ("site.min.js", SECRET, "(minified)"),
        ("ignored.txt", SECRET, "by `ignored.*` in .gitignore:1"),
        ("build/ignored.py", SECRET, "by `build/` in .gitignore:2"),
        ("private/ours.py", SECRET, "by `private/` in .rootleignore:1"),
        ("node_modules/x/index.js", SECRET, "by the name of the folder node_modules"),
    ],
)
def test_files_excluded_from_the_index_are_not_read(
    path: str, content: str | bytes, reason: str, read: Read, repository: Path
) -> None:
    write(repository, ".gitignore", "ignored.*\nbuild/\n")
    write(repository, ".rootleignore", "private/\n")
    write(repository, path, content)
    for source in (path, f"{path}:1-3", f"{path}#x", f"./{path}", f"{repository}/{path}"):
        assert reason in error_in(read(source))


def test_the_indexed_lines_of_a_huge_file_can_be_read(
    repository: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootle.sources.files.file_source.MAX_SHOWN_BYTES", 40_000)
    write(repository, "big.log", "".join(f"line {number}\n" for number in range(1, 9_001)))
    read = vectordb_read(make_app(repository, max_file_bytes=20_000)).run
    assert lines_in(read("big.log:770-771")) == ["line 770", "line 771"]
    beyond = read("big.log:8990")
    assert "line 8990" not in beyond.text


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("api/shop_pb2.py", "class Order:\n    pass\n\n\nclass Item:\n    pass\n"),
        ("api/shop.go", "// Code generated by shopgen. DO NOT EDIT.\n\ntype Item struct {\n}\n"),
    ],
)
def test_a_generated_file_is_read_with_a_note(
    path: str, content: str, read: Read, repository: Path
) -> None:
    write(repository, path, content)
    answer = read(path)
    assert lines_in(answer) == content.removesuffix("\n").split("\n")
    assert answer.data["note"] == "this file is not indexed, because it is generated"
    assert "Note: this file is not indexed, because it is generated" in answer.text
    named = read(f"{path}#Item")
    assert "Item" in lines_in(named)[0]
    assert "is not indexed" in named.data["note"]
    beyond = read(f"{path}:1-999")
    assert "not indexed" in beyond.data["note"]
    assert "line 999 does not exist" in beyond.data["note"]


def test_a_secret_in_a_generated_file_is_not_shown(read: Read, repository: Path) -> None:
    key = f"-----BEGIN PRIVATE KEY-----\n{SECRET}"
    write(repository, "api/key_pb2.py", key)
    assert "(secret)" in error_in(read("api/key_pb2.py"))


def test_the_rule_that_excludes_a_file_is_named(repository: Path, make_app: MakeApp) -> None:
    read = vectordb_read(make_app(repository)).run
    write(repository, ".rootleignore", "*.dump\n")
    write(repository, "data/today.dump", "rows")
    assert error_in(read("data/today.dump")) == (
        "Error: data/today.dump is excluded from the index by `*.dump` in .rootleignore:1"
    )


REMEDIES = [
    ("", "Error: source is empty"),
    (" \n", "Error: source is empty"),
    ("x" * 2_000, "source has 2000 characters; give the path of a file, not its content"),
    ("a\0b", "source contains characters that are invalid in a path"),
    ("\ud800", "source contains characters that are invalid in a path"),
    ("retry.py", "did you mean src/net/retry.py?"),
    ("lib/Retry.py:3-4", "did you mean src/net/retry.py?"),
    ("src", "src is a folder; name one of its files: src/auth/password.rs, "),
    ("src/net/", "src/net is a folder; name one of its files: src/net/client.go, "),
    (".", ". is a folder; name one of its files: README.md, "),
    ("nothing.py", "use a path from a search result"),
    ("src/net/retries.py", "does not exist here or is ignored; did you mean src/net/retry.py?"),
    ("`src/net/retry.js:3`", "src/net/retry.js does not exist here or is ignored; did you mean"),
    ("src\\net\\client.ts", "src/net/client.ts does not exist here or is ignored; did you mean"),
    ("src/net/retry.py:14", "src/net/retry.py has lines 1-13, not 14"),
    ("src/net/retry.py:0-3", "has lines 1-13, not 0-3"),
    (
        "src/net/retry.py:9-4",
        "lines 9-4 of src/net/retry.py end before they begin; request src/net/retry.py:4-9",
    ),
    ("src/net/retry.py#Nope", 'has no "Nope"; it has: retry_backoff, RetryPolicy, '),
    ("docs/guide.md#nope", "it has: Guide, Configuring the retry policy, Logging in"),
    ("config/service.yaml#x", "has no headings or definitions; request lines instead"),
    ("deadbeef", "there is no commit or file named deadbeef"),
]


@pytest.mark.slow
def test_an_error_names_the_remedy(repository: Path, make_app: MakeApp) -> None:
    app = make_app(repository)
    app.index()
    for source, remedy in REMEDIES:
        assert remedy in error_in(vectordb_read(app).run(source))


@pytest.mark.slow
def test_a_commit_shows_its_message_and_its_changes(read: Read, repository: Path) -> None:
    write(repository, "src/store/cache.py", "class LruCache:\n    pass\n")
    git(repository, "commit", "-qam", "Empty the cache\n\nNobody used it.")
    sha = git(repository, "rev-parse", "HEAD").strip()
    for source in (sha, sha[:8], sha.upper(), f"commit {sha}", f"commit:{sha[:10]}"):
        text = read(source).text
        assert text.startswith(f"{sha[:12]}")
        for part in (
            "t, 2023-11-14",
            "Empty the cache",
            "Nobody used it.",
            "src/store/cache.py | +1 -4",
            "+    pass",
            "-    def evict_oldest",
        ):
            assert part in text
    assert lines_in(read(f"{sha[:9]}:4-4")) == ["Empty the cache"]


def test_a_commit_does_not_show_files_excluded_from_the_index(read: Read, repository: Path) -> None:
    write(repository, ".env", SECRET)
    write(repository, "later_ignored.txt", SECRET)
    write(repository, "private/ours.py", SECRET)
    write(repository, "deploy/key.txt", f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n")
    write(repository, "plain.txt", "visible\n")
    # After this filler, the diff does not contain the line that marks a key.
    filler = "x\n" * 9
    write(repository, "still_there.txt", f"-----BEGIN PRIVATE KEY-----\n{filler}")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "Some")
    write(repository, "still_there.txt", f"-----BEGIN PRIVATE KEY-----\n{filler}{SECRET}\n")
    write(repository, "plain.txt", "visible too\n")
    for path in (".env", "later_ignored.txt", "private/ours.py", "deploy/key.txt"):
        (repository / path).write_text((repository / path).read_text() + f"\n{SECRET} again\n")
    git(repository, "commit", "-qam", "Too much")
    sha = git(repository, "rev-parse", "HEAD").strip()
    git(repository, "rm", "-q", "later_ignored.txt", "private/ours.py", "deploy/key.txt")
    write(repository, ".gitignore", "later_ignored.txt\n")
    write(repository, ".rootleignore", "private/\n")
    text = read(sha).text
    assert "+visible" in text
    assert SECRET not in text
    assert "files not shown: 4" in text
    assert "patches left out because they are large, binary or secret: 1" in text


def test_a_commit_does_not_show_lines_of_a_key_that_begins_outside_of_the_patch(
    read: Read, repository: Path
) -> None:
    key = [f"{line:02}q9Zk3LmT7xWv2RbN8sYd/+{line * 10:02}A1b2C3d4E5f6" * 2 for line in range(20)]
    for line in (key[10], key[10][:0:-1]):
        key[10] = line
        whole = ["-----BEGIN RSA PRIVATE KEY-----", *key, "-----END RSA PRIVATE KEY-----"]
        write(repository, "deploy.yml", "tls: |\n" + "".join(f"  {line}\n" for line in whole))
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", "Replace the key")
    text = read(git(repository, "rev-parse", "HEAD").strip()).text
    assert "+  [masked: possible private key]" in text
    assert "q9Zk" not in text


def test_a_commit_shows_only_changes_inside_the_folder(repository: Path, make_app: MakeApp) -> None:
    write(repository, "src/net/retry.py", "retry = None\n")
    write(repository, "README.md", SECRET)
    git(repository, "commit", "-qam", "Both")
    both = git(repository, "rev-parse", "HEAD").strip()
    write(repository, "README.md", f"{SECRET} again")
    git(repository, "commit", "-qam", f"Other {SECRET}")
    other = git(repository, "rev-parse", "HEAD").strip()
    read = vectordb_read(make_app(repository / "src")).run
    text = read(both).text
    assert "net/retry.py | +1 -13" in text
    assert SECRET not in text
    error_in(read(other))


def test_a_merge_and_the_first_commit_are_shown(read: Read, repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD").strip()
    assert "+def retry_backoff" in read(f"{first}:1-300").text + read(f"{first}:300-400").text
    git(repository, "checkout", "-qb", "side")
    write(repository, "side.txt", "from the side\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "side")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", "Merge the side", "side")
    merge = git(repository, "rev-parse", "HEAD").strip()
    assert "+from the side" in read(merge).text


def test_a_huge_commit_is_bounded(tmp_path: Path, make_app: MakeApp) -> None:
    files = {f"f{at}.txt": "line\n" * 1_000 for at in range(10)}
    root = make_repository(tmp_path / "huge", files)
    sha = git(root, "rev-parse", "HEAD").strip()
    answer = vectordb_read(make_app(root)).run(sha)
    assert len(lines_in(answer)) == MAX_LINES
    assert answer.data["totalLines"] < 4_500
    assert "f9.txt | +1000 -0" in answer.text


@pytest.mark.parametrize(
    "name",
    [
        *("--output=stolen", "-p", "main*", "@{0}", "--output=stolen:README.md"),
        *("HEAD:../README.md", "HEAD^{tree}:README.md", "HEAD:.git/config", ":README.md"),
    ],
)
def test_names_that_git_would_interpret_are_refused(
    name: str, read: Read, repository: Path
) -> None:
    error_in(read(name))
    error_in(read(f"commit {name}"))
    assert not (repository / "stolen").exists()


def test_programs_configured_by_a_repository_are_not_run(
    read: Read, repository: Path, tmp_path: Path
) -> None:
    spy = tmp_path / "spy.sh"
    spy.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    spy.chmod(0o755)
    for name in ("diff.external", "diff.spy.command", "diff.spy.textconv", "core.pager"):
        git(repository, "config", name, os.fspath(spy))
    write(repository, ".gitattributes", "*.py diff=spy\n")
    write(repository, "src/net/retry.py", "retry = 1\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "With a spy")
    sha = git(repository, "rev-parse", "HEAD").strip()
    assert "+retry = 1" in read(sha).text
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_why_names_the_commit_that_introduced_a_line(read: Read) -> None:
    answer = read("why:src/net/retry.py:6")

    assert not answer.is_error
    assert "> 6      return base * 2**attempt" in answer.text
    assert "1. " in answer.text
    assert answer.data["place"] == "src/net/retry.py:6"
    assert answer.data["commits"][0]["hash"][:12] in answer.text
    assert answer.data["commits"][0]["subject"] == "first"
    assert "does not exist" in error_in(read("why:src/net/missing.py:6"))
    assert read(" Why: src/net/retry.py:6").data == answer.data


def test_a_long_explanation_ends_with_the_number_of_lines_left_out(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read("why:src/net/retry.py:6").text.split("\n")
    monkeypatch.setattr(sys.modules["rootle.tools.definitions.vectordb_read"], "MAX_CHARS", 200)
    *shown, last = read("why:src/net/retry.py:6").text.split("\n")

    assert shown == whole[: len(shown)]
    assert 0 < len("\n".join(shown)) <= 200
    assert last == f"… ({len(whole) - len(shown)} more lines are left out)"


def test_names_of_files_may_begin_like_other_sources(tmp_path: Path, make_app: MakeApp) -> None:
    code = "def mu_fn():\n    return 42\n"
    files = dict.fromkeys(("deps:z.py", "web:z.py", "why:x/z.py"), code)
    app = make_app(write_tree(tmp_path / "project", files))
    read, search = vectordb_read(app).run, search_folder(app).run

    for path in files:
        for source in (path, f"{path}:1-2", f"{path}#mu_fn"):
            assert "return 42" in read(source).text
    found = search("symbol:mu_fn")
    assert not found.is_error
    assert "deps:z.py:1" in found.text
