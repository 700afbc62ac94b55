"""Lists of the commits that changed a definition or a file, newest or oldest first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from commit_repository import DAY_S, add_commit, commit_all, commit_files, make_history, read_pages
from sample import OLD_S, MakeApp, git, write
from shared_apps import shared_app

from rootle import App
from rootle.types import SearchQuery

pytestmark = pytest.mark.slow


SUBJECTS = ("Alpha gets the zebra", "Beta gets the zebra")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_history(tmp_path / "repo", SUBJECTS)


@pytest.fixture
def app(root: Path, make_app: MakeApp) -> App:
    app: App = make_app(root)
    return app


@pytest.fixture
def zebras() -> Iterator[App]:
    with shared_app(make_history, SUBJECTS) as app:
        yield app


def add_herd(root: Path) -> Path:
    """Add five commits that change a function, and another one that only mentions it."""
    write(root, "herd.py", "def count_herd(name):\n    return 0\n")
    commit_all(root, "Count", day=10)
    for day in range(11, 15):
        write(root, "herd.py", f"def count_herd(name):\n    return {'1' * day}\n")
        commit_all(root, f"Number {day}", day=day)
    write(root, "use.py", "from herd import count_herd\n\n\ndef use():\n    count_herd('')\n")
    commit_all(root, "Call count_herd: which commit added count_herd, who changed it last", day=15)
    return root


@pytest.fixture
def herd(root: Path) -> Path:
    return add_herd(root)


def build_herd(root: Path) -> None:
    add_herd(make_history(root, SUBJECTS))


@pytest.fixture
def herd_app() -> Iterator[App]:
    with shared_app(build_herd) as app:
        yield app


@pytest.mark.parametrize(
    "question",
    [
        "who changed count_herd last?",
        "last commit that changed count_herd",
        "history of the function count_herd",
        "commits that touched `count_herd()`",
        "in:history when was count_herd last changed",
    ],
)
def test_the_commits_that_changed_a_function_are_listed_newest_first(
    question: str, herd_app: App
) -> None:
    pages = read_pages(herd_app, question, 3)

    found = [result.commit.subject for page in pages for result in page.results if result.commit]
    assert found == ["Number 14", "Number 13", "Number 12", "Number 11", "Count"]
    assert f"+    return {'1' * 14}" in pages[0].results[0].snippet
    assert pages[0].confident
    assert pages[0].suggestions[0].startswith("5 commits with changes in count_herd (herd.py:1-2)")


@pytest.mark.parametrize(
    "question",
    ["which commit added count_herd", "who wrote count_herd", "when was count_herd added"],
)
def test_the_commit_that_added_a_function_is_first(question: str, herd_app: App) -> None:
    answer = herd_app.search(SearchQuery(question))

    assert [it.commit.subject for it in answer.results if it.commit][:2] == ["Count", "Number 11"]
    assert not any("may be older" in note for note in answer.suggestions)


FIELD = """\
    /// <summary>
    /// Gets or sets the {text}.
    /// </summary>
    public int {name} {{ get; set; }} = {value};

"""


def test_commits_from_before_a_definition_was_added_are_not_listed(
    root: Path, make_app: MakeApp
) -> None:
    def save(*fields: str) -> None:
        write(root, "Feed.cs", "public class Feed\n{\n" + "".join(fields) + "}\n")

    hay = FIELD.format(text="hay of a day", name="Hay", value=1)
    oats = FIELD.format(text="oats of a day", name="Oats", value=2)
    salt = FIELD.format(text="salt of a day", name="SaltLick", value=3)
    save(hay)
    commit_all(root, "Feed hay", day=10)
    save(hay, oats)
    commit_all(root, "Feed oats", day=11)
    save(hay, salt, oats)
    commit_all(root, "Feed salt", day=12)
    save(hay, salt.replace("= 3", "= 30"), oats)
    commit_all(root, "Feed more salt", day=13)
    save(hay, salt.replace("= 3", "= 30").replace("SaltLick", "SaltLicks"), oats)
    commit_all(root, "Rename the salt lick", day=14)
    app = make_app(root)

    added = app.search(SearchQuery("who introduced SaltLicks"))
    changed = app.search(SearchQuery("who changed SaltLicks last"))

    subjects = ["Rename the salt lick", "Feed more salt", "Feed salt"]
    assert [it.commit.subject for it in changed.results if it.commit] == subjects
    assert next(it.commit.subject for it in added.results if it.commit) == subjects[-1]


PENS = """\
class CowPen:
    def open(self):
        return 1

    def close(self):
        return 1


class PigPen:
    def open(self):
        return 1

    def close(self):
        return 1
"""


def add_pens(root: Path) -> Path:
    """Add commits that change two classes with the same methods in turn."""
    write(root, "farm/pen.py", PENS)
    commit_all(root, "Build the pens", day=10)
    cow, pig = PENS.split("\n\n\n")
    cow = cow.replace("return 1", "return 10", 1)
    write(root, "farm/pen.py", f"{cow}\n\n\n{pig}")
    commit_all(root, "Open the cow pen", day=11)
    pig = pig.replace("return 1", "return 10", 1)
    write(root, "farm/pen.py", f"{cow}\n\n\n{pig}")
    commit_all(root, "Open the pig pen", day=12)
    git(root, "mv", "farm/pen.py", "farm/stall.py")
    commit_all(root, "Rename the file", day=13)
    cow = cow.replace("return 1\n", "return 100\n").replace("return 1", "return 100")
    write(root, "farm/stall.py", f"import cattle\n\n\n{cow}\n\n\n{pig}")
    commit_all(root, "Close the cow pen", day=14)
    return root


@pytest.fixture
def pens(root: Path) -> Path:
    return add_pens(root)


def build_pens(root: Path) -> Path:
    return add_pens(make_history(root, SUBJECTS))


@pytest.fixture
def pens_app() -> Iterator[App]:
    with shared_app(build_pens) as app:
        yield app


@pytest.mark.parametrize(
    ("question", "subjects"),
    [
        ("who changed CowPen last", ["Close the cow pen", "Open the cow pen", "Build the pens"]),
        ("when was the class CowPen changed last?", ["Close the cow pen", "Open the cow pen"]),
        ("what changed in CowPen recently", ["Close the cow pen", "Open the cow pen"]),
        ("who changed PigPen last", ["Open the pig pen", "Build the pens"]),
        ("who last changed CowPen.close", ["Close the cow pen", "Build the pens"]),
        ("who changed PigPen.open last", ["Open the pig pen", "Build the pens"]),
        ("which commit added PigPen", ["Build the pens", "Open the pig pen"]),
        ("who wrote PigPen.close", ["Build the pens"]),
    ],
)
def test_the_changes_of_a_class_or_a_method_are_not_those_of_a_similar_one(
    question: str, subjects: list[str], pens_app: App
) -> None:
    answer = pens_app.search(SearchQuery(question))

    found = [it.commit.subject for it in answer.results if it.commit]
    assert found[: len(subjects)] == subjects
    assert len(found) <= 3
    assert answer.confident
    assert "farm/stall.py:" in answer.suggestions[0]


def test_the_lines_of_the_class_are_shown(pens_app: App) -> None:
    results = pens_app.search(SearchQuery("who changed CowPen last")).results

    assert "+        return 100" in results[0].snippet
    assert results[0].place == "farm/stall.py"
    assert "+        return 10" in results[1].snippet
    assert results[1].place == "farm/pen.py"


def test_uncommitted_changes_move_the_lines_of_a_class(pens: Path, app: App) -> None:
    text = (pens / "farm/stall.py").read_text(encoding="utf-8")
    write(pens, "farm/stall.py", f"{'# A comment about cattle.' * 3}\n\n\n\n\n{text}", when_s=None)

    results = app.search(SearchQuery("who changed PigPen last")).results

    assert [it.commit.subject for it in results if it.commit] == [
        "Open the pig pen",
        "Build the pens",
    ]


def test_a_merge_is_no_change_of_a_class_unless_it_changed_lines_itself(
    pens: Path, app: App
) -> None:
    text = (pens / "farm/stall.py").read_text(encoding="utf-8")
    git(pens, "checkout", "-q", "-b", "side")
    write(pens, "farm/stall.py", text.replace("return 100", "return 1_000", 1))
    commit_all(pens, "Side", day=15)
    git(pens, "checkout", "-q", "main")
    head, _, tail = text.partition("class PigPen")
    last = head.rpartition("return 100")
    write(pens, "farm/stall.py", f"{last[0]}return 10_000{last[2]}class PigPen{tail}")
    commit_all(pens, "Main", day=16)
    git(pens, "merge", "-q", "--no-ff", "side", "-m", "Merge", when_s=OLD_S + 17 * DAY_S)

    answer = app.search(SearchQuery("who changed CowPen last since:2023-11-29"))

    assert [it.commit.subject for it in answer.results if it.commit] == ["Main", "Side"]
    assert answer.suggestions[1] == "2 of them pass the filters"


@pytest.mark.parametrize(
    "question",
    [
        "who changed farm/stall.py last",
        "history of stall.py",
        "when was the file `farm/stall.py` changed last",
        "what changed in farm/ recently",
    ],
)
def test_the_commits_that_changed_a_file_are_listed_newest_first(
    question: str, pens_app: App
) -> None:
    answer = pens_app.search(SearchQuery(question))

    assert [it.commit.subject for it in answer.results if it.commit] == [
        "Close the cow pen",
        "Rename the file",
        "Open the pig pen",
        "Open the cow pen",
        "Build the pens",
    ]
    assert answer.suggestions[0].startswith("5 commits with changes in")


def test_the_commits_that_changed_a_file_of_the_past_are_listed(pens: Path, app: App) -> None:
    git(pens, "rm", "-q", "alpha.py")
    commit_all(pens, "Drop alpha", day=20)

    renamed = app.search(SearchQuery("history of farm/pen.py")).results
    removed = app.search(SearchQuery("who changed alpha.py last")).results

    assert [it.commit.subject for it in renamed if it.commit] == [
        "Rename the file",
        "Open the pig pen",
        "Open the cow pen",
        "Build the pens",
    ]
    assert [it.commit.subject for it in removed if it.commit] == [
        "Drop alpha",
        "Alpha gets the zebra",
    ]


@pytest.mark.parametrize("revision", ["v1.0", "HEAD~2", "hash"])
def test_a_revision_leaves_out_the_changes_that_it_contains(
    revision: str, pens: Path, app: App
) -> None:
    git(pens, "tag", "v1.0", "HEAD~2")
    if revision == "hash":
        revision = git(pens, "rev-parse", "--short", "HEAD~2").strip()

    def subjects(name: str) -> list[str]:
        answer = app.search(SearchQuery(f"what changed in {name} since {revision}"))
        return [it.commit.subject for it in answer.results if it.commit]

    assert subjects("farm/stall.py") == ["Close the cow pen", "Rename the file"]
    assert subjects("CowPen") == ["Close the cow pen"]
    assert subjects("PigPen") == []


@pytest.mark.parametrize(
    "question",
    [
        "what changed between 1.0 and v2.0 in pen-farm",
        "what changed in pen-farm between v1.0 and v2.0?",
        "what changed from v1.0 to v2.0 in pen-farm/",
        "what changed between v1.0 and v2.0 in meadow",
    ],
)
def test_the_commits_between_two_versions_that_changed_a_folder_are_listed(
    question: str, root: Path, app: App
) -> None:
    for day, (name, version) in enumerate(
        [("pen-farm/a", "v1.0"), ("pen-farm/b", ""), ("other/b", "v2.0"), ("pen-farm/c", "")]
    ):
        write(root, f"{name}.py", f"N = {day}\n")
        write(root, f"{name.replace('pen-farm', 'meadow')}.md", f"Note {day}\n")
        commit_all(root, f"Change {name}, pen-farm 1.0 2.0", day=20 + day)
        if version:
            git(root, "tag", version)

    answer = app.search(SearchQuery(question))

    found = [it.commit.subject for it in answer.results if it.commit]
    assert found == ["Change pen-farm/b, pen-farm 1.0 2.0"]
    assert answer.suggestions[1] == "1 of them is between v1.0 and v2.0"


@pytest.mark.parametrize(
    ("question", "where"),
    [
        ("what changed between v1.0 and v2.0 in the readme", "README.md"),
        ("what changed in readme since v1.0", "README.md"),
        ("what changed in the readme file since v1.0", "README.md"),
        ("what changed in lanes between v1.0 and v2.0", "lanes/, Lanes.txt"),
        ("what changed in the barn module since v1.0", "barn (farm/barn.py)"),
    ],
)
def test_a_plain_word_may_be_the_name_of_a_file(
    question: str, where: str, root: Path, app: App
) -> None:
    git(root, "tag", "v1.0")
    for path in ("README.md", "Lanes.txt", "lanes/north.py", "farm/barn.py", "farm/readme.txt"):
        write(root, path, "Zebra crossing 1.0 2.0\n")
    commit_all(root, "Change all of them", day=20)
    write(root, "other.py", "readme = lanes = barns = 1\n")
    commit_all(root, "Change the readme, the lanes and the gate in another file", day=21)
    git(root, "tag", "v2.0")

    answer = app.search(SearchQuery(question))

    assert [it.commit.subject for it in answer.results if it.commit] == ["Change all of them"]
    assert answer.suggestions[0] == f"1 commit with changes in {where}, newest first"


@pytest.mark.parametrize(
    "question",
    [
        "when was --feed-all added",
        "who added the option --feed-all",
        "which commit added the `--feed-all` flag",
    ],
)
def test_the_commit_that_added_an_option_is_first(question: str, root: Path, app: App) -> None:
    write(root, "menu.py", "options = ['--feed-all-twice']\n")
    commit_all(root, "Add the option --feed-all-twice, to feed all", day=20)
    write(root, "menu.py", "options = ['--feed-all-twice', '--feed-all']\n")
    commit_all(root, "Let them choose", day=21)
    write(root, "menu.py", "options = ['--feed-all-twice', '--feed-all', '--feed']\n")
    commit_all(root, "Add support for feed in --feed-all", day=22)

    answer = app.search(SearchQuery(question))

    assert answer.results[0].commit is not None
    assert answer.results[0].commit.subject == "Let them choose"


def test_the_period_of_a_question_in_other_words_counts(root: Path, app: App) -> None:
    git(root, "tag", "v1.0")
    for version in ("v2.0", "v3.0"):
        add_commit(root, f"Barrier logic of the zebra crossing for {version}", day=20)
        git(root, "tag", version)

    answer = app.search(SearchQuery("what changed in the barrier logic between v1.0 and v2.0"))

    found = [it.commit.subject for it in answer.results if it.commit]
    assert found == ["Barrier logic of the zebra crossing for v2.0"]


def build_branch(root: Path) -> None:
    """Create a repository with v1.1 on the branch of a release, not in the history of HEAD."""
    pens = build_pens(root)
    git(pens, "tag", "v1.0")
    git(pens, "checkout", "-q", "-b", "release-1")
    for day in (30, 31, 32):
        write(pens, "farm/stall.py", f"class CowPen:\n    size = {'1' * day}\n")
        commit_all(pens, f"Backport {day}", day=day)
    write(pens, "other.py", "X = 1\n")
    commit_all(pens, "Backport something else", day=33)
    git(pens, "tag", "v1.1")
    git(pens, "checkout", "-q", "main")


@pytest.fixture
def branch_app() -> Iterator[App]:
    with shared_app(build_branch) as app:
        yield app


@pytest.mark.parametrize(
    "question",
    [
        "what changed in farm/stall.py between v1.0 and v1.1",
        "what changed in stall.py from v1.0 to v1.1",
        "who changed farm/ between 1.0 and 1.1?",
        "history of the folder farm between v1.0 and the tag v1.1",
    ],
)
def test_commits_of_a_period_on_another_branch_are_listed(question: str, branch_app: App) -> None:
    answer = branch_app.search(SearchQuery(question, limit=2))
    rest = branch_app.search(SearchQuery(question, limit=2, cursor=answer.next_cursor))

    found = [it.commit for it in (*answer.results, *rest.results) if it.commit]
    assert [it.subject for it in found] == [f"Backport {day}" for day in (32, 31, 30)]
    assert found[0].hash == git(Path(branch_app.status().root), "rev-parse", "v1.1~1").strip()
    assert any(
        note.startswith("3 commits of this period with changes in") for note in answer.suggestions
    )
    assert rest.next_cursor is None


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("who changed farm/stall.py last", "6 commits with changes in farm/stall.py, newest first"),
        ("who changed stall.py last", "6 commits with changes in stall.py (farm/stall.py), newest"),
        ("what changed in the folder farm recently", "6 commits with changes in farm/, newest"),
        ("who changed PigPen", "2 commits with changes in PigPen (farm/stall.py:13-18), newest"),
    ],
)
def test_a_note_above_a_list_is_short(question: str, note: str, pens: Path, app: App) -> None:
    write(pens, "farm/stall.py", "import horses\n" + (pens / "farm/stall.py").read_text())
    commit_all(pens, "Import horses", day=20)

    first = app.search(SearchQuery(question)).suggestions[0]

    assert first.startswith(note)
    assert len(first) < 80


def test_commits_on_another_branch_that_may_have_changed_a_definition_are_named(
    branch_app: App,
) -> None:
    answer = branch_app.search(SearchQuery("who changed CowPen between v1.0 and v1.1"))

    assert answer.results == ()
    newest = git(Path(branch_app.status().root), "rev-parse", "--short=12", "v1.1~1").strip()
    assert any(f"may have changed CowPen: {newest}" in note for note in answer.suggestions)


def test_the_author_of_a_file_with_one_commit_is_named(root: Path, app: App) -> None:
    write(root, "hut.py", "SIZE = 1\n")
    commit_all(root, "Build the hut", day=20, author="Bo <bo@x.org>")

    note = app.search(SearchQuery("who wrote most of hut.py")).suggestions[0]

    assert note.startswith("author of the only commit with changes in hut.py: Bo 1; counted")


def test_a_word_that_is_no_folder_is_searched(herd: Path, app: App) -> None:
    git(herd, "tag", "v1.0", "HEAD~2")

    answer = app.search(SearchQuery("what changed in numbers since v1.0"))

    found = [it.commit.subject for it in answer.results if it.commit]
    assert "Number 14" in found
    assert not any("with changes in" in note for note in answer.suggestions)


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("who wrote most of pen.py", "authors of the 3 commits with changes in pen.py: Bo 2, Al 1"),
        (
            "who changed pen.py last",
            "git lists 3 commits with changes in pen.py, newest first, and none",
        ),
        (
            "which commit added pen.py",
            "git lists 3 commits with changes in pen.py, oldest first, and none",
        ),
    ],
)
def test_git_is_asked_for_the_commits_of_a_file_if_none_is_indexed(
    question: str, shown: str, root: Path, make_app: MakeApp
) -> None:
    for day, author in enumerate(["Al <al@x.org>", "Bo <bo@x.org>", "Bo <bo@x.org>"], start=1):
        write(root, "pen.py", f"SIZE = {'1' * day}\n")
        commit_all(root, f"Size {day}\n\nA long story.", day=day, author=author)
    for day in range(4, 8):
        write(root, "use.py", f"# wrote most of pen.py, who changed it last: {'1' * day}\n")
        commit_all(root, f"Mention pen.py for the time number {day}", day=day)
    limited = make_app(root, max_history_commits=2)

    answer = limited.search(SearchQuery(question))

    assert answer.suggestions[0].startswith(shown)
    first = "Size 1" if "added" in question else "Size 3"
    assert next(one.commit.subject for one in answer.results if one.commit) == first


def test_the_oldest_commit_of_a_shallow_clone_is_not_said_to_change_anything(
    pens: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    git(tmp_path, "clone", "-q", "--depth", "3", f"file://{pens}", "shallow")

    answer = make_app(tmp_path / "shallow").search(SearchQuery("who changed CowPen last"))

    assert [it.commit.subject for it in answer.results if it.commit] == ["Close the cow pen"]
    assert "older commits are missing, because this is a shallow clone" in answer.suggestions


def test_the_changes_of_a_definition_are_followed_to_the_file_from_which_it_was_moved(
    herd: Path, app: App
) -> None:
    body = (herd / "herd.py").read_text(encoding="utf-8")
    write(herd, "herd.py", "def count_pigs(name):\n    return 2\n")
    write(herd, "cattle.py", f"import herd\n\n\n{body}")
    commit_all(herd, "Move it", day=20)
    write(herd, "other.py", "class Goat:\n    def count_herd(self):\n        return 3\n")
    commit_all(herd, "A similar method", day=21)

    answer = app.search(SearchQuery("who changed cattle.count_herd last"))

    found = [it.commit.subject for it in answer.results if it.commit]
    assert found == ["Move it", "Number 14", "Number 13", "Number 12", "Number 11", "Count"]


COUNT = "def count_herd(name):\n    herd = open(name).read()\n    return len(herd.split())\n"
OTHER = "def feed(name):\n    return name\n\n\n"


@pytest.mark.parametrize("question", ["who added count_herd", "history of count_herd"])
def test_a_definition_that_was_removed_and_added_again_keeps_its_changes(
    question: str, root: Path, app: App
) -> None:
    write(root, "herd.py", OTHER)
    commit_all(root, "Feed", day=9)
    write(root, "herd.py", OTHER + COUNT)
    commit_all(root, "Count", day=10)
    write(root, "herd.py", OTHER + COUNT.replace("split()", "splitlines()"))
    commit_all(root, "Lines", day=11)
    write(root, "herd.py", OTHER)
    removed = commit_all(root, "Do not count", day=12)
    git(root, "revert", "--no-edit", "HEAD", when_s=OLD_S + 13 * DAY_S)
    restored = git(root, "rev-parse", "HEAD").strip()
    answer = app.search(SearchQuery(question))

    found = [it.commit.subject for it in answer.results if it.commit]
    expected = ["Count", "Lines", "Do not count", 'Revert "Do not count"']
    assert found == (expected if question.startswith("who") else expected[::-1])
    note = f"count_herd was removed in {removed[:12]} and added again in {restored[:12]}"
    assert note in answer.suggestions


def test_a_removed_method_of_another_class_is_not_an_earlier_definition(
    root: Path, app: App
) -> None:
    goats = "class Goats:\n    def count_herd(self):\n        return 1\n\n\n"
    write(root, "herd.py", OTHER + goats)
    commit_all(root, "Goats", day=10)
    write(root, "herd.py", OTHER)
    commit_all(root, "No goats", day=11)
    write(root, "herd.py", OTHER + goats.replace("Goats", "Sheep"))
    commit_all(root, "Sheep", day=12)
    answer = app.search(SearchQuery("history of Sheep.count_herd"))

    assert [it.commit.subject for it in answer.results if it.commit] == ["Sheep"]
    assert not any("added again" in note for note in answer.suggestions)


def test_git_is_asked_for_the_first_commit_if_it_changed_too_many_functions(
    root: Path, app: App
) -> None:
    names = [*(f"feed_animal_{number}" for number in range(200)), "count_herd"]
    functions = [f"def {name}():\n    return 0\n" for name in names]
    write(root, "zoo.py", "\n\n".join(functions))
    commit_all(root, "Open the zoo", day=10)
    write(root, "zoo.py", "\n\n".join(functions[:-1]))
    write(root, "herd.py", f"import zoo\n\n\n{functions[-1]}")
    commit_all(root, "Move one", day=11)

    answer = app.search(SearchQuery("which commit added count_herd"))

    found = [it.commit.subject for it in answer.results if it.commit]
    assert found == ["Open the zoo", "Move one"]
    assert any("oldest one that added or removed" in note for note in answer.suggestions)


@pytest.mark.parametrize("step", [0, -1], ids=["equal dates", "skewed dates"])
def test_commits_are_in_the_order_of_the_history_whatever_their_dates(
    step: int, root: Path, app: App
) -> None:
    app.index_history()
    numbers = [str(number) for number in range(5)]
    for number in numbers:  # indexed one by one, so that newer commits have greater ids
        write(root, "herd.py", f"def count_herd(name):\n    return 1{'0' * int(number)}\n")
        commit_all(root, number, day=20 + int(number) * step)
        app.index_history()

    newest = app.search(SearchQuery("who changed count_herd last")).results
    oldest = app.search(SearchQuery("which commit added count_herd")).results
    in_range = app.search(SearchQuery("HEAD~4..")).results
    assert [it.commit.subject for it in newest if it.commit] == numbers[::-1]
    assert [it.commit.subject for it in oldest if it.commit] == numbers
    assert [it.commit.subject for it in in_range if it.commit] == numbers[:0:-1]


@pytest.mark.parametrize(
    "question", ["who changed zebra last", "who changed no_such_name last", "history of the zebra"]
)
def test_other_words_are_searched_as_before(question: str, zebras: App) -> None:
    answer = zebras.search(SearchQuery(question))

    assert not any("changes in" in note for note in answer.suggestions)


def build_years(root: Path) -> None:
    """Create a repository whose commits and names are from before and after a new year."""
    make_history(root, SUBJECTS)
    new_year_s = 1_704_067_200
    for subject, value, when_s in (
        ("Count", "1", new_year_s - 20 * DAY_S),
        ("Number 13", "13", new_year_s - 10 * DAY_S),
        ("Number 14", "14", new_year_s + 50 * DAY_S),
    ):
        write(root, "herd.py", f"def count_herd(name):\n    return {value}\n", when_s=when_s)
        commit_files(root, subject, when_s=when_s)
        if value == "13":
            git(root, "tag", "rel_13")
            git(root, "branch", "old/stable")


@pytest.fixture
def years_app() -> Iterator[App]:
    with shared_app(build_years) as app:
        yield app


@pytest.mark.parametrize(
    ("question", "subjects"),
    [
        ("what changed in herd.py since 2024-02-14", ["Number 14"]),
        ("what changed in count_herd in February 2024", ["Number 14"]),
        ("what changed in herd.py before 2024", ["Number 13", "Count"]),
        ("what changed in herd.py since rel_13", ["Number 14"]),
        ("what changed in herd.py since the branch old/stable", ["Number 14"]),
        ("what changed in herd.py before rel_13", ["Number 13", "Count"]),
        ("what changed since rel_13", ["Number 14"]),
        ("what changed between rel_13 and HEAD", ["Number 14"]),
        ("what changed since 2024", ["Number 14"]),
    ],
)
def test_dates_and_names_of_tags_and_branches_select_the_commits(
    question: str, subjects: list[str], years_app: App
) -> None:
    answer = years_app.search(SearchQuery(f"in:history {question}"))

    assert [it.commit.subject for it in answer.results if it.commit] == subjects


def build_folders(root: Path) -> None:
    make_history(root, SUBJECTS)
    for day, name in ((6, "pens/a"), (7, "other/pens"), (8, "pens/b"), (60, "pens/c")):
        write(root, f"{name}.py", f"N = {day}\n")
        commit_all(root, f"Change {name}", day=day)
        if day == 8:
            git(root, "tag", "v1.0")


@pytest.fixture
def folders_app() -> Iterator[App]:
    with shared_app(build_folders) as app:
        yield app


@pytest.mark.parametrize(
    "question",
    [
        "what changed in pens in November 2023",
        "what changed in November 2023 in pens?",
        "changes to pens in November 2023",
        "commits in pens between 2023-11 and 2023-11",
        "list the changes to the folder pens in 2023-11",
        "who changed pens in November 2023",
        "history of pens in November 2023",
        "what changed in pens until 2023-11",
        "what changed in pens until v1.0",
    ],
)
def test_a_plain_word_is_a_folder_in_a_question_with_dates(question: str, folders_app: App) -> None:
    answer = folders_app.search(SearchQuery(question))

    found = [it.commit.subject for it in answer.results if it.commit]
    assert found == ["Change pens/b", "Change pens/a"]


def test_a_plain_word_that_is_no_folder_is_searched_in_the_commits_of_the_period(
    herd_app: App,
) -> None:
    answer = herd_app.search(SearchQuery("changes to numbers in November 2023"))

    assert "Number 14" in [it.commit.subject for it in answer.results if it.commit]
    assert answer.suggestions[-1] == (
        "searched as what changed in numbers since:2023-11 until:2023-11"
    )


def test_a_number_that_is_no_year_is_not_a_date(herd_app: App) -> None:
    answer = herd_app.search(SearchQuery("which commit changed the zebra in 2024 bytes"))

    assert not [note for note in answer.suggestions if "since:" in note]


def test_a_count_with_a_path_is_a_lower_bound_if_files_of_a_commit_are_not_indexed(
    root: Path, app: App
) -> None:
    for number in range(40):
        write(root, f"many/m{number:02}.py", "a = 1\n")
    write(root, "zoo/cage.py", "b = 1\n")
    commit_all(root, "Import everything", day=20)
    write(root, "zoo/cage.py", "b = 22\n")
    commit_all(root, "Widen the cage", day=21)

    answer = app.search(SearchQuery("in:history path:zoo"))

    assert [it.commit.subject for it in answer.results if it.commit] == ["Widen the cage"]
    assert answer.suggestions[0] == "at least 1 commit"
    assert "1 of them may have changed this path too" in answer.suggestions[2]
