"""Commits are read from git with the files, lines and functions that they changed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from sample import OLD_S, git, write

from rootle.sources.git.command import open_session
from rootle.sources.git.commits import patch_process
from rootle.sources.git.commits.changed_names import find_changed_names, find_removed_names
from rootle.sources.git.commits.commit_document import make_document
from rootle.sources.git.commits.definition_lines import defined_name
from rootle.sources.git.commits.patch_parsing import CommitPatch, FileChange, Hunk
from rootle.sources.git.commits.patch_process import PatchProcess, find_readable_levels
from rootle.sources.secret_masking_reader import MaskingReader
from rootle.sources.source import Document
from rootle.types import CHANGED_NAMES_SEPARATOR, UNNAMED_CHANGES


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


@pytest.fixture
def patches(root: Path) -> Iterator[PatchProcess]:
    process = PatchProcess(os.fspath(root))
    yield process
    process.close()


def commit(root: Path, message: str = "change", **options: str) -> str:
    """Commit all files and return the hash of the commit."""
    git(root, "add", "-A")
    arguments = ("--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "-m", message)
    extra = [word for name, value in options.items() for word in (f"--{name}", value)]
    git(root, "commit", "-q", *arguments, *extra)
    return git(root, "rev-parse", "HEAD").strip()


def read(root: Path, sha: str) -> CommitPatch:
    process = PatchProcess(os.fspath(root))
    found = process.read(sha)
    process.close()
    assert found is not None
    return found


def changes_of(root: Path, sha: str) -> dict[str, FileChange]:
    return {change.path: change for change in read(root, sha).changes}


def lines_of(change: FileChange) -> list[str]:
    return [line for hunk in change.hunks for line in hunk.lines if line[0] in "+-"]


TEXT = "".join(f"line {number}\n" for number in range(20))


def test_a_renamed_file_has_both_paths_and_only_the_changed_lines(root: Path) -> None:
    write(root, "old.txt", TEXT)
    commit(root)
    (root / "old.txt").unlink()
    write(root, "sub/new.txt", TEXT.replace("line 7\n", "seven\n"))

    changes = changes_of(root, commit(root))

    assert list(changes) == ["sub/new.txt"]
    found = changes["sub/new.txt"]
    assert (found.status, found.old_path) == ("R", "old.txt")
    assert lines_of(found) == ["-line 7", "+seven"]


def test_a_copy_a_deletion_and_a_new_file_are_separate_changes(root: Path) -> None:
    write(root, "a.txt", TEXT)
    write(root, "gone.txt", "bye\n")
    commit(root)
    (root / "gone.txt").unlink()
    write(root, "copy.txt", TEXT)
    write(root, "new.txt", "hello\n")

    changes = changes_of(root, commit(root))

    assert {path: change.status for path, change in changes.items()} == {
        "copy.txt": "A",
        "gone.txt": "D",
        "new.txt": "A",
    }
    assert lines_of(changes["gone.txt"]) == ["-bye"]
    assert lines_of(changes["new.txt"]) == ["+hello"]


def test_changes_of_modes_and_types_do_not_mix_up_the_lines_of_other_files(root: Path) -> None:
    for name in ("a.sh", "b.txt", "z.txt"):
        write(root, name, "first\n")
    commit(root)
    (root / "a.sh").chmod(0o755)
    (root / "b.txt").unlink()
    (root / "b.txt").symlink_to("a.sh")
    write(root, "z.txt", "last\n")

    changes = changes_of(root, commit(root))

    assert [change.status for change in changes.values()] == ["M", "T", "M"]
    assert lines_of(changes["a.sh"]) == []
    assert lines_of(changes["b.txt"]) == ["-first", "+a.sh"]
    assert lines_of(changes["z.txt"]) == ["-first", "+last"]


def test_a_binary_file_has_no_lines(root: Path) -> None:
    write(root, "a.dat", b"\0\1\2" * 50)
    write(root, "b.txt", "text\n")

    changes = changes_of(root, commit(root))

    assert lines_of(changes["a.dat"]) == []
    assert lines_of(changes["b.txt"]) == ["+text"]


def test_unusual_paths_are_preserved_and_can_be_written_to_a_document(root: Path) -> None:
    names = [b'quo"te.txt', b"new\nline.txt", b"tab\t.txt", b"\xff\xfe.txt", "zoë.txt".encode()]
    for name in names:
        with open(os.path.join(os.fsencode(root), name), "wb") as file:
            file.write(b"x\n")

    found = read(root, commit(root))

    assert {os.fsencode(change.path) for change in found.changes} == set(names)
    document = make_document(found)
    assert len(document.text.split("\n")) == document.sections[-1].end_line
    assert {section.label for section in document.sections[1:]} == set(map(os.fsdecode, names))


def test_lines_end_without_carriage_returns(root: Path) -> None:
    write(root, "a.txt", "one\r\ntwo\r\n")

    found = read(root, commit(root, "subject\r\n\r\nbody\r\n"))

    assert lines_of(found.changes[0]) == ["+one", "+two"]
    assert found.message == "subject\n\nbody"


def test_messages_in_other_encodings_are_decoded(root: Path) -> None:
    git(root, "config", "i18n.commitEncoding", "ISO-8859-1")
    message = write(root.parent, "message", "Größe geändert\n".encode("latin-1"))
    git(root, "commit", "-q", "--allow-empty", "-F", message)
    declared = git(root, "rev-parse", "HEAD").strip()
    raw = subprocess.run(
        ["git", "-C", root, "cat-file", "commit", "HEAD"], check=True, capture_output=True
    ).stdout
    undeclared = write(root.parent, "commit", raw.replace(b"encoding ISO-8859-1\n", b""))
    sha = git(root, "hash-object", "-t", "commit", "-w", undeclared).strip()

    assert read(root, declared).message == "Größe geändert"
    assert read(root, sha).message == "Gr\ufffd\ufffde ge\ufffdndert"


def test_an_empty_message_is_described(root: Path) -> None:
    write(root, "a.py", "a = 1\n")

    found = read(root, commit(root, ""))

    assert found.message == ""
    assert make_document(found).text.startswith("(no message)\na")


def test_a_merge_has_its_parents_and_no_patch(root: Path) -> None:
    first = commit(root, "first")
    tips = []
    for name in ("a", "b", "c"):
        git(root, "checkout", "-q", "-b", name, first)
        write(root, f"{name}.txt", f"{name}\n")
        tips.append(commit(root, name))
    git(root, "merge", "-q", "-m", "three at once", "a", "b")

    found = read(root, git(root, "rev-parse", "HEAD").strip())

    assert set(found.parents) == set(tips)
    assert (found.message, found.changes) == ("three at once", ())


def test_the_next_commit_is_correct_after_one_that_is_too_long(
    root: Path, patches: PatchProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patch_process, "_MAX_PATCH_BYTES", 20_000)
    write(root, "huge.txt", TEXT * 2_000)
    huge = commit(root, "huge")
    write(root, "small.txt", "small\n")
    small = commit(root, "small")

    first, second = patches.read(huge), patches.read(small)

    assert first is not None
    assert second is not None
    assert (first.message, first.is_cut) == ("huge", True)
    assert 0 < len(lines_of(first.changes[0])) < 20 * 2_000
    assert (second.message, second.is_cut) == ("small", False)
    assert lines_of(second.changes[0]) == ["+small"]


def test_a_missing_commit_is_skipped(root: Path, patches: PatchProcess) -> None:
    sha = commit(root, "here")

    assert patches.read("0123456789" * 4) is None
    found = patches.read(sha)
    assert found is not None
    assert found.message == "here"


def test_readers_do_not_disturb_each_other(root: Path, patches: PatchProcess) -> None:
    first, second = commit(root, "first"), commit(root, "second")
    other = PatchProcess(os.fspath(root))

    found = [patches.read(first), other.read(second), patches.read(second), other.read(first)]
    other.close()

    assert [it.message if it else "" for it in found] == ["first", "second", "second", "first"]


def test_a_changed_submodule_is_ignored(root: Path) -> None:
    commit(root, "first")
    sha = git(root, "rev-parse", "HEAD").strip()
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{sha},module")
    write(root, "z.txt", "text\n")
    git(root, "add", "z.txt")
    git(root, "commit", "-qm", "module")

    found = read(root, git(root, "rev-parse", "HEAD").strip())

    assert [change.path for change in found.changes] == ["z.txt"]
    assert lines_of(found.changes[0]) == ["+text"]


def clone(origin: Path, folder: Path, *options: str) -> Path:
    """Clone from a file URL, a protocol that only this command allows."""
    git(origin, "config", "uploadpack.allowFilter", "true")
    command = ("git", "-c", "protocol.file.allow=always", "clone", "-q", "--no-checkout")
    subprocess.run([*command, *options, f"file://{origin}", folder], check=True)
    return folder


@pytest.fixture
def origin(root: Path) -> Path:
    for number in range(4):
        write(root, f"f{number}.py", f"def f{number}():\n    return 1\n")
        commit(root, f"add {number}")
    return root


def list_hashes(root: Path) -> list[str]:
    return git(root, "rev-list", "HEAD").split()


def test_commits_of_a_partial_clone_have_paths_but_no_lines(origin: Path, tmp_path: Path) -> None:
    partial = clone(origin, tmp_path / "partial", "--filter=blob:none")
    packs = sorted(os.listdir(partial / ".git/objects/pack"))
    patches = PatchProcess(os.fspath(partial))

    found = [patches.read(sha) for sha in list_hashes(partial)]
    patches.close()

    assert [it.message if it else "" for it in found] == [f"add {n}" for n in (3, 2, 1, 0)]
    assert [[c.path for c in it.changes] if it else [] for it in found] == [
        [f"f{n}.py"] for n in (3, 2, 1, 0)
    ]
    assert sorted(os.listdir(partial / ".git/objects/pack")) == packs  # nothing was fetched


def test_git_is_not_started_for_every_commit_of_a_partial_clone(
    origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    partial = clone(origin, tmp_path / "partial", "--filter=tree:0")
    starts: list[str] = []

    def record(folder: str, command: str, *options: str, config: Mapping[str, str]) -> object:
        starts.append(command)
        return open_session(folder, command, *options, config=config)

    hashes = list_hashes(partial)
    levels = find_readable_levels(os.fspath(partial), hashes[:1])
    monkeypatch.setattr(patch_process, "open_session", record)
    patches = PatchProcess(os.fspath(partial), levels)

    found = [patches.read(sha) for sha in hashes]
    patches.close()

    assert [it.message if it else "" for it in found] == [f"add {n}" for n in (3, 2, 1, 0)]
    assert found[0] is not None
    assert found[0].author == "t <t@example.com>"
    assert starts == ["cat-file"]


def test_the_text_of_a_commit_does_not_depend_on_the_order_of_reading(
    origin: Path, tmp_path: Path
) -> None:
    partial = clone(origin, tmp_path / "partial", "--filter=blob:none", "--no-checkout")
    write(partial, "own.py", "def own():\n    return 1\n")
    git(partial, "add", "own.py")
    commit(partial, "add own")
    hashes = list_hashes(partial)

    def read_all(order: Sequence[str]) -> dict[str, CommitPatch | None]:
        patches = PatchProcess(os.fspath(partial))
        found = {sha: patches.read(sha) for sha in order}
        patches.close()
        return found

    assert read_all(hashes) == read_all(hashes[::-1])


def test_the_oldest_commit_of_a_shallow_clone_has_only_its_message(
    origin: Path, tmp_path: Path
) -> None:
    shallow = clone(origin, tmp_path / "shallow", "--depth=2")

    newest, oldest = (read(shallow, sha) for sha in list_hashes(shallow))

    assert [change.path for change in newest.changes] == ["f3.py"]
    assert (oldest.message, oldest.changes) == ("add 2", ())
    assert make_document(oldest).text == "add 2"


LANGUAGES = {
    "a.py": (
        "class Cache:\n    def get(self):\n        a = 1\n        b = 2\n        return a\n",
        "        return a",
        "get",
    ),
    "a.c": (
        "static int parse_it(char *s) {\n    int a = 1;\n    int b = 2;\n    return a;\n}\n",
        "    return a;",
        "parse_it",
    ),
    "a.ts": (
        "export class Store {\n  async load(key: string) {\n    const a = 1;\n    let b = 2;\n"
        "    return a;\n  }\n}\n",
        "    return a;",
        "load",
    ),
    "b.ts": (
        "export class Store {\n  load<T>(key: string): T {\n    const a = 1;\n    let b = 2;\n"
        "    if (a) {\n      b += 3;\n    }\n    b += 4;\n    return a;\n  }\n}\n",
        "    return a;",
        "load",
    ),
    "c.ts": (
        "export function run(x: number) {\n  let a = 1;\n  let b = 2;\n  return a;\n}\n",
        "  return a;",
        "run",
    ),
    "a.js": (
        "const render = async (x) => {\n  let a = 1;\n  let b = 2;\n  return a;\n};\n",
        "  return a;",
        "render",
    ),
    "a.go": (
        "package p\n\nfunc (s *Server) Listen(a int) int {\n\tb := 1\n\tc := 2\n\treturn b\n}\n",
        "\treturn b",
        "Listen",
    ),
    "a.rs": (
        "impl Store {\n    pub fn flush(&self) -> u8 {\n        let a = 1;\n        let b = 2;\n"
        "        a + b\n    }\n}\n",
        "        a + b",
        "flush",
    ),
    "A.java": (
        "class A {\n    public int count(int x) {\n        int a = 1;\n        int b = 2;\n"
        "        return a;\n    }\n}\n",
        "        return a;",
        "count",
    ),
    "a.rb": (
        "class Job\n  def perform(x)\n    a = 1\n    b = 2\n    a\n  end\nend\n",
        "    a\n",
        "perform",
    ),
    "a.md": (
        "# Guide\n\n## Install it\n\nFirst line.\n\nSecond line.\n\nlast words\n",
        "last words",
        "Install it",
    ),
}


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_changed_function_is_named_in_each_language(name: str, root: Path) -> None:
    text, line, expected = LANGUAGES[name]
    write(root, name, text)
    commit(root)
    write(root, name, text.replace(line, f"{line.rstrip()} // changed\n" * 2, 1))

    found = changes_of(root, commit(root))[name]

    assert find_changed_names(found.hunks, found.path) == (expected,)


def test_a_definition_between_the_heading_and_the_change_is_the_changed_one(root: Path) -> None:
    text = "def first():\n    return 1\n\n\ndef second():\n    return 2\n\n\nx = 1\n"
    write(root, "a.py", text)
    commit(root)
    write(root, "a.py", text.replace("return 2", "return 22"))

    found = changes_of(root, commit(root))["a.py"]

    assert find_changed_names(found.hunks, found.path) == ("second",)


def test_a_new_function_is_named_but_not_the_one_before_it(root: Path) -> None:
    text = "def first():\n    a = 1\n    b = 2\n    c = 3\n    return a\n"
    write(root, "a.py", text)
    commit(root)
    write(root, "a.py", f"{text}\n\ndef added():\n    return 3\n")

    found = changes_of(root, commit(root))["a.py"]

    assert find_changed_names(found.hunks, found.path)[-1:] == ("added",)


def test_lines_after_a_nested_function_belong_to_the_outer_one(root: Path) -> None:
    text = (
        "def confirm(text):\n    def callback(value):\n        return value\n\n"
        '    prompt = "go on?"\n    kind = "flag"\n    return callback, prompt, kind\n'
    )
    write(root, "a.py", text)
    commit(root)
    write(root, "a.py", text.replace("go on?", "continue?"))

    near = changes_of(root, commit(root))["a.py"]
    write(root, "a.py", text.replace("go on?", "continue?").replace('"flag"', '"switch"'))
    far = changes_of(root, commit(root))["a.py"]

    # The hunks begin below the first line of the function, so its name is unknown.
    assert find_changed_names(near.hunks, near.path) == (UNNAMED_CHANGES,)
    assert find_changed_names(far.hunks, far.path) == (UNNAMED_CHANGES,)
    whole = [Hunk("", (*(f" {line}" for line in text.split("\n")[:4]), "-    a = 1"), 1)]
    assert find_changed_names(whole, "a.py") == ("confirm",)


def test_a_changed_decorator_or_comment_belongs_to_the_function_below_it(root: Path) -> None:
    before = "def first():\n    return 1\n\n\n"
    text = (
        f"{before}# Adds.\n@option(\n    default=1,\n    help='a',\n    is_flag=True,\n)\n"
        "@first\ndef second():\n    return 2\n"
    )
    write(root, "a.py", text)
    commit(root)
    for old, new, expected in (
        ("@first", "@last", ("second",)),
        ("help='a'", "help='text'", (UNNAMED_CHANGES,)),  # git does not show the function
        ("# Adds.", "# Adds two.", (UNNAMED_CHANGES,)),
    ):
        text = text.replace(old, new)
        write(root, "a.py", text)
        change = changes_of(root, commit(root))["a.py"]
        assert find_changed_names(change.hunks, change.path) == expected
    comment = [Hunk("def a():", ("-# Old.", "+# New.", " def b():"), 5)]
    assert find_changed_names(comment, "a.py") == ("b",)
    inside = [Hunk("def a():", ("-    # Old.", "+    # New.", " def b():"), 5)]
    assert find_changed_names(inside, "a.py") == ("a",)
    option = [Hunk("@option(", ("-    # Old.", "+    # New.", " )", " def b():"), 5)]
    assert find_changed_names(option, "a.py") == ("b",)


def test_a_statement_after_a_function_is_outside_of_it(root: Path) -> None:
    text = "def run():\n    return 1\n\n\nTABLE = {\n    1: 2,\n    3: 4,\n    5: 6,\n}\n"
    write(root, "a.py", text)
    commit(root)
    write(root, "a.py", text.replace("5: 6", "5: 700"))

    found = changes_of(root, commit(root))["a.py"]

    assert find_changed_names(found.hunks, found.path) == ()


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.py", "# Settings, sizes, and names"),
        ("a.py", "setup("),
        ("a.py", "the class of the object"),
        ("a.sh", "# Old settings"),
        ("conf.yaml", "# Old settings of the cluster, a list"),
        ("requirements.txt", "# autogenerated by pip-compile"),
        ("guide.rst", "It's a short guide."),
        ("guide.rst", "# A comment in an example"),
        ("guide.md", "an older screencast"),
        ("guide.md", "class of objects"),
        ("LICENSE", "interface definition files, plus"),
        ("a.c", "    return parse(text) {"),
        ("A.java", "        if (count(x)) {"),
        ("a.ts", "  while (next(x)) {"),
    ],
)
def test_comments_prose_and_calls_are_not_names(path: str, line: str) -> None:
    hunks = [Hunk("", (f"-{line}", f" {line}"), 1)]
    assert find_changed_names(hunks, path) in ((), (UNNAMED_CHANGES,))
    assert find_removed_names(hunks, path) == ()


@pytest.mark.parametrize(
    ("path", "line", "name"),
    [
        ("a.py", "async def load(url):", "load"),
        ("a.c", "struct node *find_node(int key)", "find_node"),
        ("a.c", "witness_init (void)", "witness_init"),
        ("a.cpp", "void Store::flush(int x) {", "flush"),
        ("a.h", "    virtual int size() const {", "size"),
        ("A.java", "    private Map<String, List<T>> groupBy(K key) {", "groupBy"),
        ("A.java", "    Map<String, T> groupBy(K key) {", "groupBy"),
        ("a.ts", "  private load<T>(key: string): T {", "load"),
        ("a.js", "exports.render = function (x) {", "render"),
        ("a.go", "type Server struct {", "Server"),
        ("a.rs", "impl<T> Display for Store<T> {", "Store"),
        ("a.rb", "  def empty?", "empty?"),
        ("a.php", "    public static function make(array $x)", "make"),
        ("a.kt", "    override suspend fun load(key: String): T {", "load"),
        ("a.scala", "case class Point(x: Int)", "Point"),
        ("a.swift", "    public func load<T>(key: String) -> T {", "load"),
        ("a.sh", "build_all() {", "build_all"),
        ("a.ex", "  defp parse(text) do", "parse"),
        ("bin/run", "def main(arguments):", "main"),
        ("a.md", "## Install, run and stop", "Install, run and stop"),
    ],
)
def test_definitions_are_named_by_the_rules_of_their_language(
    path: str, line: str, name: str
) -> None:
    assert find_removed_names([Hunk("", (f"-{line}", "+x"), 1)], path) == (name,)


def test_the_headings_of_prose_are_names(root: Path) -> None:
    rst = [Hunk("", (" Install it", " ==========", " ", "-Old.", "+New."), 1)]
    assert find_changed_names(rst, "guide.rst") == ("Install it",)
    lines = (" ## Install, run", " ```sh", " # A comment", "-old", "+new", " ```")
    assert find_changed_names([Hunk("", lines, 1)], "guide.md") == ("Install, run",)


def test_a_heading_with_commas_is_one_name(root: Path) -> None:
    write(root, "guide.md", "# Install, run and stop\n\nA text.\n")
    write(root, "a.py", "def first():\n    return 1\n\n\ndef second():\n    return 2\n")
    titles = {one.label: one.title for one in document_of(root, commit(root)).sections}

    assert titles["guide.md"].split(CHANGED_NAMES_SEPARATOR) == ["Install, run and stop"]
    assert titles["a.py"].split(CHANGED_NAMES_SEPARATOR) == ["first", "second"]


# Documents made from commits.


def document_of(root: Path, sha: str) -> Document:
    class Reader:
        def read(self, uri: str) -> Document:
            return make_document(read(root, uri))

    found = MaskingReader(Reader()).read(sha)
    assert isinstance(found, Document)
    return found


def section_text(document: Document, label: str) -> str:
    section = next(s for s in document.sections if s.label == label)
    return "\n".join(document.text.split("\n")[section.start_line - 1 : section.end_line])


def test_a_document_has_a_section_for_the_message_and_for_each_file(root: Path) -> None:
    write(root, "tests/test_a.py", "def test_a():\n    assert True\n")
    write(root, "docs/a.md", "# About\n")
    write(root, "src/a.py", "def run():\n    return 1\n")

    document = document_of(root, commit(root, "Run it\n\nBecause.\n\nSigned-off-by: A <a@b.c>"))

    labels = [section.label for section in document.sections]
    assert labels == ["message", "src/a.py", "docs/a.md", "tests/test_a.py"]
    assert section_text(document, "message") == "Run it\n\nBecause."
    assert section_text(document, "src/a.py").startswith("added src/a.py (+2 -0) run\n")
    assert document.sections[1].title == "run"
    assert (document.title, document.author) == ("Run it", "t <t@example.com>")


def test_a_file_that_the_message_names_comes_first(root: Path) -> None:
    for name in ("alpha.py", "omega.py"):
        write(root, name, "x = 1\n")

    document = document_of(root, commit(root, "Fix omega"))

    assert [section.label for section in document.sections][1] == "omega.py"


def test_a_document_is_limited(root: Path) -> None:
    for number in range(40):
        write(root, f"f{number:02}.txt", "some words in a line\n" * 400)

    document = document_of(root, commit(root))

    assert len(document.sections) == 31
    assert len(document.text) < 14_000


def test_added_lines_of_a_commit_of_many_files_are_left_out(root: Path) -> None:
    for number in range(120):
        write(root, f"f{number:03}.txt", "zebra\n")

    assert "zebra" not in document_of(root, commit(root)).text


def test_lines_of_hidden_files_are_left_out(root: Path) -> None:
    hidden = (".env", "vendor/a.py", "package-lock.json", "a.min.js", "server.pem", "x_pb2.py")
    for name in hidden:
        write(root, name, "zebra = 1\n")
    key = "-----BEGIN RSA PRIVATE KEY-----\nzebra\n-----END RSA PRIVATE KEY-----\n"
    write(root, "notes.txt", key)

    document = document_of(root, commit(root))

    assert {section.label for section in document.sections[1:]} == {*hidden, "notes.txt"}
    assert "zebra" not in document.text


def test_secrets_are_masked_in_messages_and_lines_even_if_they_were_removed(root: Path) -> None:
    secret = "ghp_" + "0a1B2c3D4e5F" * 3
    write(root, "a.py", f'TOKEN = "{secret}"\n')
    added = commit(root, f"Use {secret}")
    write(root, "a.py", "TOKEN = read()\n")
    removed = commit(root, "Remove the token")

    for sha in (added, removed):
        document = document_of(root, sha)
        assert secret not in document.text
        assert secret not in document.title
        assert "TOKEN" in document.text


@pytest.mark.parametrize("number", [2, 4, 8])
def test_lines_of_a_key_are_masked_if_a_commit_changes_only_lines_inside_it(
    root: Path, number: int
) -> None:
    key = [f"{line:02}q9Zk3LmT7xWv2RbN8sYd/+{line * 10}A1b2C3d4E5f6" * 2 for line in range(9)]
    for line in (key[number], key[number][:0:-1]):
        key[number] = line
        whole = ["-----BEGIN RSA PRIVATE KEY-----", *key, "-----END RSA PRIVATE KEY-----"]
        write(root, "deploy.yml", "tls: |\n" + "".join(f"  {line}\n" for line in whole))
        sha = commit(root)

    text = document_of(root, sha).text

    assert "deploy.yml (+1 -1)" in text
    assert "q9Zk" not in text
    assert "9kZq" not in text


def test_a_damaged_commit_is_read_without_lines_and_the_next_one_with_them(
    root: Path, patches: PatchProcess
) -> None:
    hashes = []
    for number in range(3):
        write(root, f"{number}.txt", f"text {number}\n")
        hashes.append(commit(root))
    blob = git(root, "rev-parse", "HEAD~1:1.txt").strip()
    (root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    (root / "1.txt").unlink()  # git would otherwise read this file instead of the missing object

    found = [patches.read(sha) for sha in hashes]

    changes = [change for patch in found if patch for change in patch.changes]
    assert [change.path for change in changes] == ["0.txt", "1.txt", "2.txt"]
    assert [lines_of(change) for change in changes] == [["+text 0"], [], ["+text 2"]]


def test_a_merge_has_only_the_lines_that_differ_from_all_parents(root: Path) -> None:
    check = "def check():\n    fail()\n\n"
    run = "def run():\n    pool.append(1)\n"
    write(root, "a.py", f"import os\n\n{check}{run}")
    write(root, "b.py", "b = 1\n")
    commit(root, "start")
    git(root, "checkout", "-q", "-b", "side")
    write(
        root,
        "a.py",
        "import os\n\ndef check():\n    fail()\n\ndef run():\n    pool.append(1)\n    log()\n",
    )
    write(root, "b.py", "b = 2\n")
    commit(root, "side")
    git(root, "checkout", "-q", "-")
    write(
        root, "a.py", "import sys\n\ndef check():\n    fail()\n\ndef run():\n    pool.append(1)\n"
    )
    commit(root, "main")
    git(root, "merge", "-q", "--no-commit", "side")
    write(root, "a.py", "import sys\n\ndef run():\n    pool.insert(1)\n    log()\n")
    changes = changes_of(root, commit(root, "merge"))

    assert list(changes) == ["a.py"]
    assert changes["a.py"].status == "M"
    assert sorted(lines_of(changes["a.py"])) == [
        "+    pool.insert(1)",
        "-",
        "-    fail()",
        "-    pool.append(1)",
        "-def check():",
    ]


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("A.kt", "    private var listener: WeakReference<Listener>? = null", ""),
        ("A.java", "    private final Map<String, List<User>> users =", ""),
        ("A.java", "    public List<User> findUsers(String name) {", "findUsers"),
        ("A.java", "    public <T> Map<String, List<T>> groupUsers(", "groupUsers"),
        ("a.ts", "    static async run<T extends Map<string, T>>(", "run"),
        ("a.cpp", "    virtual std::vector<int> sizes() const", "sizes"),
    ],
)
def test_the_type_in_a_declaration_is_not_its_name(path: str, line: str, expected: str) -> None:
    assert defined_name(line, path) == expected


def test_a_change_whose_function_is_unknown_is_marked() -> None:
    unknown = [Hunk("weird heading", ("-a", "+b"), 1)]
    assert find_changed_names(unknown, "a.py") == (UNNAMED_CHANGES,)
    assert find_changed_names(unknown, "a.rst") == ()
    outside = [Hunk("", ("-import a", "+import b"), 1)]
    assert find_changed_names(outside, "a.py") == ()
    two = Hunk("", ("+x = 1", " def first():", "+    pass"), 1)
    assert find_changed_names([two], "a.py") == ("first",)


def test_expressions_of_the_repository_do_not_find_headings(root: Path) -> None:
    lines = "".join("a" * 60 + "c\n" for _ in range(60))
    write(root, ".gitattributes", "*.py diff=evil\n*.txt diff=other\n")
    for number in range(2):
        write(root, "a.py", f"def start():\n{lines}  return {number}\n", when_s=OLD_S + number)
        write(root, "b.txt", f"  Section\n{lines}  {number}\n", when_s=OLD_S + number)
        sha = commit(root)
    # git would need centuries to match this expression.
    git(root, "config", "diff.evil.xfuncname", r"^((a|aa)*)*\2\1b$")
    git(root, "config", "include.path", "more")
    write(root, ".git/more", '[diff "other"]\n\tfuncname = "^ *Section"\n')
    changes = changes_of(root, sha)

    assert [hunk.heading for hunk in changes["a.py"].hunks] == ["a" * 60 + "c"]
    assert changes["b.txt"].hunks[0].heading == "a" * 60 + "c"


def test_after_many_slow_commits_only_paths_are_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shas = []
    for number in range(2):
        write(root, "a.py", f"x = {number}\n", when_s=OLD_S + number)
        shas.append(commit(root))
    monkeypatch.setattr(patch_process, "_SLOW_S", 0.0)
    monkeypatch.setattr(patch_process, "_ALL_SLOW_S", 1e-9)
    process = PatchProcess(os.fspath(root))
    found = [process.read(sha) for sha in shas]
    process.close()

    assert [[(one.path, bool(one.hunks)) for one in it.changes] for it in found if it] == [
        [("a.py", True)],
        [("a.py", False)],
    ]
