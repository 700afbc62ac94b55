"""Questions about the commit that removed, renamed or introduced a file or a name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from commit_repository import commit_all, make_history
from sample import MakeApp, git, write
from shared_apps import shared_app

from rootle import App
from rootle.history.names import name_changes
from rootle.history.removals import removed_definitions
from rootle.types import SearchQuery, SearchResponse

pytestmark = pytest.mark.slow

CAGE = """\
class Cage:
    def lock_door(self):
        bolt = self.find_bolt()
        return bolt.close_firmly()
"""


def build_zoo(root: Path) -> Path:
    make_history(root, ["Alpha is new"])
    write(root, "zoo/cage.py", CAGE)
    write(root, "zoo/feed.py", "def feed_all(names):\n    return sorted(names)\n")
    write(root, "zoo/settings.ini", "max_visitors = 3\nopen_at_night = no\n")
    write(root, "zoo/notes.py", "NOTES = ['feed the lions', 'count the bears']\n")
    commit_all(root, "Build the zoo", day=1)
    write(root, "zoo/settings.ini", "max_visitors = 3\n")
    commit_all(root, "Close at night", day=2)
    (root / "zoo/cage.py").unlink()
    commit_all(root, "Free the animals", day=3)
    git(root, "mv", "zoo/notes.py", "zoo/diary.py")
    commit_all(root, "Keep a diary", day=4)
    for number in range(40):
        write(root, f"zoo/pens/pen{number:02}.py", f"ANIMALS = {number}\nWATER = {number + 7}\n")
    commit_all(root, "Build pens", day=4)
    git(root, "mv", "zoo/pens", "zoo/stalls")
    commit_all(root, "Turn the pens into stalls", day=4)
    write(root, "zoo/stalls/pen39.py", "ANIMALS = 0\nWATER = 46\n")
    commit_all(root, "Empty one", day=4)
    write(root, "zoo/settings.ini", "max_visitors = 3\nticket_price = 4\n")
    commit_all(root, "Sell tickets", day=5)
    write(root, "zoo/names.ini", "zoo.ticket.price = ticket_price\n")
    commit_all(root, "Name the price", day=5)
    write(root, "zoo/settings.ini", "max_visitors = 3\nticket_price = 5\n")
    commit_all(root, "Which commit deleted Cage, lock_door, feed_all or cage.py", day=6)
    return root


def build_gates(root: Path) -> None:
    """Create a repository that removes Gate from one file, and renames it to Door in another."""
    build_zoo(root)
    gate = "class Gate:\n    def open_slowly(self):\n        return self.hinge.turn()\n"
    write(root, "zoo/gate.py", gate)
    write(root, "farm/gate.py", "class Gate:\n    def shut(self):\n        return 'shut'\n")
    write(root, "zoo/use.py", "from zoo.gate import Gate\n\nENTRY = Gate()\n")
    commit_all(root, "Add gates", day=20)
    for name in ("zoo/gate.py", "zoo/use.py"):
        write(root, name, (root / name).read_text().replace("Gate", "Door"))
    git(root, "mv", "zoo/gate.py", "zoo/door.py")
    commit_all(root, "Call it something else", day=21)
    (root / "farm/gate.py").unlink()
    write(root, "farm/wall.py", "from zoo.door import Door\n\nWALLS = [Door]\n")
    commit_all(root, "Who renamed Gate to Door: build a wall", day=22)


@pytest.fixture
def zoo() -> Iterator[App]:
    with shared_app(build_zoo) as app:
        yield app


@pytest.fixture
def gates() -> Iterator[App]:
    with shared_app(build_gates) as app:
        yield app


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build_zoo(tmp_path / "repo")


@pytest.fixture
def app(root: Path, make_app: MakeApp) -> App:
    app: App = make_app(root)
    app.index_history()
    return app


def first(answer: SearchResponse) -> str:
    commit = answer.results[0].commit
    assert commit is not None
    return commit.subject


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("when was zoo/cage.py removed", "Free the animals"),
        ("which commit deleted the file cage.py", "Free the animals"),
        ("who deleted Cage", "Free the animals"),
        ("when did lock_door disappear", "Free the animals"),
        ("what happened to the method lock_door", "Free the animals"),
        ("which commit removed open_at_night", "Close at night"),
        ("when was zoo/notes.py renamed", "Keep a diary"),
        ("when was notes.py removed", "Keep a diary"),
        ("who renamed zoo/diary.py", "Keep a diary"),
        ("when was zoo/stalls/pen39.py renamed", "Turn the pens into stalls"),
        ("when was ticket_price introduced", "Sell tickets"),
        ("when was zoo.ticket.price added", "Name the price"),
        ("when did Cage.lock_door disappear", "Free the animals"),
        ("which commit added open_at_night", "Build the zoo"),
    ],
)
def test_the_commit_that_did_it_is_first(question: str, subject: str, zoo: App) -> None:
    answer = zoo.search(SearchQuery(question))

    assert first(answer) == subject
    assert answer.confident


@pytest.mark.parametrize(
    "question",
    [
        "who renamed Gate to Door",
        "when was Gate renamed to `Door`?",
        "which commit renamed the class Gate into Door",
        "who renamed zoo/gate.py to zoo/door.py",
        "when was gate.py moved to door.py",
    ],
)
def test_a_rename_is_found_by_the_old_and_the_new_name(question: str, gates: App) -> None:
    answer = gates.search(SearchQuery(question))

    found = [it.commit.subject for it in answer.results if it.commit]
    assert found == ["Call it something else"]


@pytest.mark.parametrize(
    "question", ["who renamed Gate to Alpha", "who renamed zoo/gate.py to zoo/pen.py"]
)
def test_a_commit_that_renamed_something_else_is_not_said_to_be_the_rename(
    question: str, gates: App
) -> None:
    answer = gates.search(SearchQuery(question))

    assert not any("renamed" in note or "removed" in note for note in answer.suggestions)


@pytest.mark.parametrize(
    "question",
    ["who deleted the Old.Zoo folder", "when was the directory Old.Zoo removed"],
)
def test_the_commit_that_removed_the_last_file_of_a_folder_is_first(
    question: str, root: Path, make_app: MakeApp
) -> None:
    files = [f"Old.Zoo/Cage{number}.cs" for number in range(40)]
    for number, file in enumerate(files):
        write(root, file, f"using Old.Zoo;\nclass Cage{number} {{ }}\n")
    write(root, "Gate.cs", "using Old.Zoo;\nclass Gate { }\n")
    commit_all(root, "Open the old zoo", day=10)
    (root / files[0]).unlink()
    commit_all(root, "Remove one cage", day=11)
    for file in files[1:]:
        (root / file).unlink()
    commit_all(root, "Close it", day=12)
    (root / "Gate.cs").unlink()
    commit_all(root, "Remove the gate", day=13)

    answer = make_app(root).search(SearchQuery(question))

    assert first(answer) == "Close it"
    assert answer.suggestions[0].startswith("1 commit that deleted or renamed Old.Zoo/")


def test_a_definition_that_still_exists_is_not_said_to_be_removed(zoo: App) -> None:
    answer = zoo.search(SearchQuery("who deleted feed_all"))

    assert answer.suggestions[0].startswith("feed_all still exists: it is defined in zoo/feed.py:1")
    assert first(answer) == "Build the zoo"


@pytest.mark.parametrize(
    "question", ["who deleted zoo/feed.py", "when was the file feed.py removed"]
)
def test_a_file_that_still_exists_is_not_said_to_be_removed(question: str, zoo: App) -> None:
    answer = zoo.search(SearchQuery(question))

    assert re.match(r"(zoo/)?feed\.py still exists: zoo/feed\.py$", answer.suggestions[0])
    assert first(answer) == "Build the zoo"
    gone = zoo.search(SearchQuery("who deleted zoo/cage.py"))
    assert not any("still exists" in note for note in gone.suggestions)


def test_an_unknown_name_is_searched_as_words(zoo: App) -> None:
    answer = zoo.search(SearchQuery("when was no_such_name removed"))

    assert not any("no_such_name, newest first" in note for note in answer.suggestions)


def test_gone_says_where_a_definition_still_exists(zoo: App) -> None:
    present = zoo.gone("feed_all")
    assert present.suggestions[0].startswith(
        "feed_all still exists: it is defined in zoo/feed.py:1"
    )
    assert not any("still exists" in note for note in zoo.gone("lock_door").suggestions)
    assert not any("still exists" in note for note in zoo.gone("feed all animals").suggestions)


def test_gone_lists_removed_definitions_of_a_name_after_the_place_of_the_others(
    root: Path, app: App
) -> None:
    write(root, "farm/pen.py", "class Pen:\n    def lock_door(self):\n        return 'ajar'\n")
    commit_all(root, "Build a pen", day=7)
    app.index_history()

    answer = app.gone("lock_door")
    assert "farm/pen.py:2" in answer.suggestions[0]
    # Only the first result is checked. On a busy machine, the index of removed definitions may not
    # be complete yet, and lines that other commits removed can then follow.
    assert answer.removals[0].commit.subject == "Free the animals"


READER = "def read(settings):\n    return getattr(settings, 'ZOO_MAX_GUESTS', None)\n"


@pytest.mark.parametrize(
    "definitions",
    [
        ("tests/settings.py",),
        ("project_template/name/settings/base.py", "zoo/test/settings_ui.py"),
    ],
)
def test_a_setting_was_added_by_the_first_commit_outside_of_tests_and_templates(
    definitions: tuple[str, ...], root: Path, make_app: MakeApp
) -> None:
    write(root, "tests/test_guests.py", "def test_it(settings):\n    settings.ZOO_MAX_GUESTS = 1\n")
    commit_all(root, "Test the guests", day=7)
    write(root, "docs/guests.md", "Set `ZOO_MAX_GUESTS` one day.\n")
    commit_all(root, "Plan the guests", day=8)
    write(root, "tests/test_more.py", "LIMIT = 'ZOO_MAX_GUESTS'\n")
    write(root, "zoo/guests.py", READER)
    commit_all(root, "Limit the guests", day=9)
    for day, path in enumerate(definitions, start=10):
        write(root, path, "ZOO_MAX_GUESTS = 250\n")
        commit_all(root, f"Set the limit in {path}", day=day)

    answer = make_app(root).search(SearchQuery("when was ZOO_MAX_GUESTS added"))

    assert first(answer) == "Limit the guests"
    assert answer.results[0].place == "zoo/guests.py"
    assert [one.commit.subject for one in answer.results if one.commit] == ["Limit the guests"]
    assert "left out" in answer.suggestions[0]


def test_a_helper_of_tests_is_followed_in_the_tests(root: Path, make_app: MakeApp) -> None:
    write(root, "tests/helpers.py", "def make_guests():\n    return 3\n")
    commit_all(root, "Help the tests", day=7)
    write(root, "tests/helpers.py", "def make_guests():\n    return 4 * 5\n")
    write(root, "docs/guests.md", "Tests call `make_guests`.\n")
    commit_all(root, "Invite more guests", day=8)

    answer = make_app(root).search(SearchQuery("which commit added make_guests"))

    assert [one.commit.subject for one in answer.results if one.commit][:2] == [
        "Help the tests",
        "Invite more guests",
    ]


def test_an_answer_without_all_removed_definitions_says_so_first(
    root: Path, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed = app._container.history().removed_index()
    assert removed is not None
    monkeypatch.setattr(removed._source, "current_token", lambda: "of a newer commit")
    monkeypatch.setattr(removed, "update_in_background", lambda: None)

    for question in ("who deleted Cage", "when was no_such_name removed"):
        answer = app.search(SearchQuery(question))
        assert answer.suggestions[0].startswith("not all removed definitions were searched")
        assert answer.degraded == ("history",)
    assert app.search(SearchQuery("when was zoo/cage.py removed")).degraded == ()


@pytest.mark.parametrize(
    ("module", "limit", "question"),
    [
        (name_changes, "_MAX_CHANGES", "who deleted cage.py"),
        (removed_definitions, "_MAX_NAMED", "who removed open_cage"),
    ],
)
def test_a_count_is_a_lower_bound_if_not_all_commits_are_read(
    module: ModuleType,
    limit: str,
    question: str,
    tmp_path: Path,
    make_app: MakeApp,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = make_history(tmp_path / "limited", ["Start"])
    for day in range(10, 18, 2):
        write(root, "cage.py", f"def open_cage(key):\n    return key, {day}\n")
        write(root, "zoo.ini", f"zeta_limit = {day}\n")
        commit_all(root, "Open", day=day)
        (root / "cage.py").unlink()
        commit_all(root, "Close", day=day + 1)
    app = make_app(root)
    app.index_history()
    complete = app.search(SearchQuery(question)).suggestions[0]
    assert complete[0].isdecimal()

    monkeypatch.setattr(module, limit, 3)
    assert app.search(SearchQuery(question, limit=3)).suggestions[0].startswith("at least ")


def test_earlier_removals_of_a_setting_follow_the_one_that_removed_it_for_good(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_history(tmp_path / "settings", ["Alpha is new"])
    for name in ("day", "night"):
        write(root, f"{name}.ini", "opening_hours = 9\nmax_visitors = 3\n")
    commit_all(root, "Add the hours", day=2)
    write(root, "night.ini", "max_visitors = 3\n")
    part = commit_all(root, "Close at night", day=3)
    write(root, "day.ini", "max_visitors = 3\n")
    last = commit_all(root, "Never open", day=4)
    app: App = make_app(root)

    answer = app.search(SearchQuery("when was opening_hours removed"))

    assert [one.commit.hash for one in answer.results if one.commit] == [last, part]
    assert answer.suggestions[0].startswith("the first commit removed the last indexed lines with")


def test_the_commits_that_added_and_removed_an_option_are_found_by_its_declaration(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_history(tmp_path / "repo", ["Alpha is new"])
    declared = (
        "OPTIONS = [\n    option(\n        'keep-cold',\n        'Keep it cold.',\n    ),\n]\n"
    )
    hint = "HINT = 'use --keep-cold in summer'\n"
    write(root, "README.md", "A later version will have `--keep-cold`.\n")
    commit_all(root, "Announce a way to cool the food", day=1)
    write(root, "food/menu.py", declared)
    commit_all(root, "Cool the food", day=2)
    write(root, "food/hint.py", hint)
    commit_all(root, "Give a hint", day=3)
    write(root, "food/menu.py", "OPTIONS = []\n")
    commit_all(root, "All food is cold", day=4)
    write(root, "food/hint.py", "HINT = ''\n")
    commit_all(root, "Drop an outdated hint about --keep-cold", day=5)
    app: App = make_app(root)

    def first_of(question: str) -> str:
        commit = app.search(SearchQuery(question)).results[0].commit
        return commit.subject if commit else ""

    assert first_of("when was --keep-cold added") == "Cool the food"
    assert first_of("when was the option --keep-cold removed") == "All food is cold"


def test_the_commit_that_deprecated_an_option_is_found_by_its_lines(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_history(tmp_path / "repo", ["Alpha is new"])
    declared = "flags.add('last', 'Only show the last meal.')\n"
    write(root, "food/menu.py", declared)
    commit_all(root, "Show only the last meal", day=1)
    deprecated = "flags.deprecate('last', 'Deprecated: use --latest 1')\n"
    write(root, "food/menu.py", declared + deprecated)
    commit_all(root, "Limit the number of meals", day=2)
    write(root, "food/menu.py", f"{declared}# Shown below.\nerror = {deprecated}")
    commit_all(root, "Handle the deprecated option --last", day=3)
    app: App = make_app(root)

    def subjects_of(question: str) -> list[str]:
        found = app.search(SearchQuery(question)).results
        return [one.commit.subject for one in found if one.commit]

    assert subjects_of("when was --last deprecated") == ["Limit the number of meals"]
    assert subjects_of("who deprecated the option --last") == ["Limit the number of meals"]
    # The lines recommend this option in place of the deprecated one.
    assert subjects_of("when was --latest deprecated") != ["Limit the number of meals"]


LATCH = "def {0}(door):\n    return door.bolt.close_firmly()\n\n\nlock = {0}\n"


@pytest.fixture
def latches(tmp_path: Path, make_app: MakeApp) -> App:
    """Return a repository in which removals of two functions were reverted or followed by uses."""
    root = make_history(tmp_path / "repo", ["Alpha is new"])
    write(root, "zoo/latch.py", LATCH.format("shutLatch"))
    write(root, "zoo/use.py", "from zoo.latch import shutLatch\n\nuse = shutLatch\n" * 3)
    commit_all(root, "Add latches", day=1)
    (root / "zoo/latch.py").unlink()
    commit_all(root, "Remove `shutLatch`", day=2)
    write(root, "zoo/latch.py", LATCH.format("shutLatch"))
    commit_all(root, 'Revert "Remove `shutLatch`"', day=3)
    write(root, "zoo/latch.py", LATCH.format("shutLatch").replace("firmly", "gently"))
    commit_all(root, "Close gently", day=4)
    text = LATCH.format("closeLatch").replace("firmly", "gently")
    write(root, "zoo/latch.py", f"{text}\n\n# deprecated\ndef shutLatch(door):\n    return 0\n")
    commit_all(root, "Rename shutLatch to closeLatch", day=5)
    write(root, "zoo/use.py", "from zoo.latch import closeLatch\n\nuse = closeLatch\n" * 3)
    commit_all(root, "Replace uses of shutLatch by closeLatch", day=6)
    app: App = make_app(root)
    app.index_history()
    return app


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("which commit removed shutLatch", "Remove `shutLatch`"),
        ("commit removing shutLatch", "Remove `shutLatch`"),
        ("when was shutLatch renamed to closeLatch", "Rename shutLatch to closeLatch"),
        ("commit that renamed shutLatch", "Rename shutLatch to closeLatch"),
    ],
)
def test_a_commit_whose_message_says_what_it_did_to_a_name_is_first(
    question: str, subject: str, latches: App
) -> None:
    assert first(latches.search(SearchQuery(question))) == subject


def test_the_deprecation_that_a_message_states_is_first(tmp_path: Path, make_app: MakeApp) -> None:
    root = make_history(tmp_path / "repo", ["Alpha is new"])
    write(root, "zoo.py", "add_option('--max-lions')\n")
    commit_all(root, "Add options", day=1)
    write(root, "zoo.py", "add_option('--max-lions')  # --max-lions: deprecated checks\n")
    commit_all(root, "Postpone", day=2)
    write(root, "zoo.py", "add_option('--max-lions', hidden=True)\n")
    commit_all(root, "Deprecate --max-lions", day=3)
    app: App = make_app(root)

    assert first(app.search(SearchQuery("when was --max-lions deprecated"))) == (
        "Deprecate --max-lions"
    )
