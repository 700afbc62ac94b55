"""The first result of a question about one change is the commit that made it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from commit_repository import commit_all, find_commits, make_history
from sample import MakeApp, write
from shared_apps import shared_app

from rootle import App
from rootle.types import SearchQuery

pytestmark = pytest.mark.slow

LOGIN = "def login(user):\n    return user\n"
WARNING = '    warn("login is deprecated, use cloud login")\n'
ENGINE = (
    "import {0}\n\n\ndef run(code):\n    vm = {0}.new_runtime()\n    return {0}.run(vm, code)\n"
)


def build(root: Path) -> Path:
    make_history(root, ["Alpha is new"])
    day = 0

    def commit(message: str, **files: str | None) -> None:
        nonlocal day
        day += 1
        for name, text in files.items():
            path = f"{name}.py" if name.islower() else f"{name.lower()}.md"
            if text is None:
                (root / path).unlink()
            else:
                write(root, path, text)
        commit_all(root, message, day=day)

    commit("Run code with goja", engine=ENGINE.format("goja"), login=LOGIN)
    commit("Add the let-env command", let_env="def let_env(name):\n    return name\n")
    commit("Drop python 3.5 support", setup="python_requires = '3.6'\n")
    commit("First round of removal of python 2", compat="text = str\n")
    commit("Remove support for python 3.4", setup="python_requires = '3.5'\n")
    commit("Describe python 2 and how support was removed", GUIDE="# Python 2 support, removed\n")
    commit(
        "Move the cloud functions\n\nAdd a deprecation warning to the login command.",
        login=LOGIN + WARNING,
    )
    commit("Change the engine to our fork: from goja to sobek", engine=ENGINE.format("sobek"))
    commit("Convert the options of the engine, for goja and sobek", options="options = ['sobek']\n")
    commit("remove let-env, focus on mutating the environment", let_env=None)
    commit("Remove the env command that was removed by name", env="removed = ['env']\n")
    commit("remove the last mention to let-env", GUIDE="# Python 2 support\n")
    commit("Remove the deprecated login command", login=None)
    commit("Update the address of topaz\n\n* Remove link to topaz", GUIDE="# Topaz\n")
    commit(
        "Various cleanups in the extension\n\n"
        "So it is likely that all this code was for topaz support and can now\nbe removed.",
        extension="size = 1\n",
    )
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path / "repo")


@pytest.fixture
def shared() -> Iterator[App]:
    with shared_app(build) as app:
        yield app


@pytest.fixture
def app(root: Path, make_app: MakeApp) -> App:
    app: App = make_app(root)
    app.index_history()
    return app


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("when did they drop python 2 support", "First round of removal of python 2"),
        ("which commit removed python 3.4 support", "Remove support for python 3.4"),
        ("when was the let-env command removed", "remove let-env, focus on"),
        ("who removed let-env", "remove let-env, focus on"),
        ("when did it switch from goja to sobek", "Change the engine to our fork"),
        ("which commit deprecated the login command", "Move the cloud functions"),
        ("when was the login command removed", "Remove the deprecated login command"),
        ("when was topaz support removed", "Various cleanups in the extension"),
    ],
)
def test_the_commit_that_made_the_change_is_first(shared: App, question: str, subject: str) -> None:
    commit = find_commits(shared, question)[0].commit
    assert commit is not None
    assert commit.subject.startswith(subject)


@pytest.mark.parametrize(
    "question", ["who introduced the auto-fold option", "when did the auto-fold feature appear"]
)
def test_the_first_of_several_commits_that_added_a_thing_comes_first(
    question: str, tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_history(tmp_path / "repo", ["Alpha is new", "Beta appears as a feature"])
    option = "class Options:\n    # auto-fold when a file is opened\n    auto_fold = {0}\n{1}"
    code = "\n\ndef fold(text, auto_fold):\n    return text if auto_fold else ''\n"
    write(root, "options.py", option.format("False", code))
    first = commit_all(root, "Autofold all when a file is opened", day=2)
    more = "\n\nclass AutoFold:\n    auto_fold_after = 3\n    auto_fold_lines = 4\n" * 3
    write(root, "options.py", option.format("AutoFold()", code + more))
    later = commit_all(root, "Auto-fold all files after a delay", day=3)
    app: App = make_app(root)

    found = [one.commit.hash for one in find_commits(app, question) if one.commit]

    assert found[:2] == [first, later]


def test_a_removed_heading_is_not_the_removal_of_the_thing(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_history(tmp_path / "repo", ["Alpha is new"])
    write(root, "engine.py", "import blackbird\n\n\ndef run():\n    blackbird.run()\n" * 3)
    write(root, "GUIDE.md", "# Guide\n\n## Blackbird\n\nAn engine.\n")
    commit_all(root, "Run blackbird", day=2)
    write(root, "engine.py", "def run():\n    return None\n")
    wanted = commit_all(root, "Remove the Blackbird engine", day=3)
    write(root, "GUIDE.md", "# Guide\n\nNothing.\n")
    commit_all(root, "Squash the documents", day=4)
    app: App = make_app(root)
    app.index_history()

    found = find_commits(app, "when was Blackbird removed")[0].commit

    assert found is not None
    assert found.hash == wanted


def test_an_answer_about_another_version_is_not_confident(shared: App) -> None:
    found = shared.search(SearchQuery("when did they drop python 1.4 support"))
    assert found.confident is False
    assert 'the first commit lacks "python 1.4"' in found.suggestions[0]


def test_an_answer_that_names_the_version_is_confident(shared: App) -> None:
    found = shared.search(SearchQuery("which commit removed python 3.4 support"))
    assert not any("lacks" in note for note in found.suggestions)


@pytest.mark.parametrize(
    "question",
    ["when was tomb removed", "when did they get rid of tomb", "why was tomb removed"],
)
def test_the_commit_that_removed_the_last_of_several_uses_comes_first(
    question: str, tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_history(tmp_path / "uses", ["Alpha is new"])
    use = "import tomb\n\n\ndef run{0}(group):\n    tomb.start(group)\n    tomb.wait(group)\n{1}"
    write(root, "archive.py", use.format("_archive", "    tomb.kill(group)\n"))
    write(root, "backup.py", use.format("_backup", ""))
    commit_all(root, "Run groups with tomb", day=2)
    write(root, "archive.py", "def run_archive(group):\n    group.go()\n")
    part = commit_all(root, "archive: remove tomb", day=3)
    write(root, "backup.py", "def run_backup(group):\n    group.go()\n")
    last = commit_all(root, "get rid of the tomb package", day=4)
    write(root, "GUIDE.md", "Groups stop by themselves.\n")
    commit_all(root, "Describe groups after the tomb package was removed", day=5)
    app: App = make_app(root)

    answer = app.search(SearchQuery(question))

    found = [one.commit.hash for one in answer.results if one.commit]
    assert found[:2] == [last, part]
    note = next(one for one in answer.suggestions if "last one that removed this" in one)
    assert note.endswith(f": {part[:12]}")


def test_a_thing_after_a_reason_was_not_removed(app: App, root: Path) -> None:
    write(root, "install.py", "".join(f"install('python 3.8', {n})\n" for n in range(3)))
    commit_all(root, "Use an image", day=39)
    write(root, "install.py", "install('python 3.9')\n")
    commit_all(root, "Remove Python 3.8 from Dockerfile (#9933)", day=40)
    for day, reason in enumerate(("as not needed in", "because it is broken in", "since"), 41):
        write(root, "needs.txt", f"needs = {'1' * day}\n")
        commit_all(root, f"remove importlib-metadata {reason} python3.8 anymore", day=day)

    for question in ("when was python 3.8 support dropped", "who removed support for python 3.8"):
        commit = find_commits(app, question)[0].commit
        assert commit is not None
        assert commit.subject == "Remove Python 3.8 from Dockerfile (#9933)"


def test_a_part_of_a_longer_word_was_not_added(app: App, root: Path) -> None:
    for day, client in enumerate(("Eureka", "Hetzner"), 40):
        write(root, f"{client.lower()}.py", f"USER_AGENT = '{client}'\nuserAgent = USER_AGENT\n")
        commit_all(root, f"Add UserAgent to {client} client", day=day)
    write(root, "agent.py", "def run_agent():\n    agent = new_agent()\n    agent.wait()\n")
    message = "Initial draft of the zoo-agent\n\nAdd an agent that waits."
    commit_all(root, message, day=50)
    write(root, "flags.py", "AGENT = 'agent'\nis_agent = AGENT in flags\n")
    commit_all(root, "Add agent mode identifier", day=51)

    for question in ("who added the agent mode", "when was the agent introduced"):
        commit = find_commits(app, question)[0].commit
        assert commit is not None
        assert commit.subject == "Initial draft of the zoo-agent"


def _commit_files(root: Path, *commits: tuple[str, dict[str, str]]) -> list[str]:
    """Commit files with messages, one commit per day, and return the hashes."""
    found = []
    for day, (message, files) in enumerate(commits, start=60):
        for name, text in files.items():
            write(root, name, text)
        found.append(commit_all(root, message, day=day))
    return found


def test_a_planned_removal_does_not_come_before_the_removal(app: App, root: Path) -> None:
    lines = "Programming Language :: Python :: 3.7\nrun python 3.7\ntest python 3.7\n"
    _, removal, _ = _commit_files(
        root,
        ("Run the tests", {"setup.cfg": lines}),
        ("remove python 3.7 from tests (#8280)", {"setup.cfg": "run python 3.8\n"}),
        (
            "Fix the canvas\n\nAdded a note for removing the Python 3.7 patch when the support "
            "would be dropped entirely for 3.7",
            {"canvas.py": "size = 1\n"},
        ),
    )

    assert find_commits(app, "when did we drop python 3.7")[0].file_path == f"git:{removal}"


def test_later_additions_are_not_named_if_no_commit_removed_the_thing(app: App, root: Path) -> None:
    _commit_files(
        root,
        ("Fix the removal of the last quartz", {"order.py": "size = 1\n"}),
        ("More jobs", {"jobs.yml": "run quartz\n" * 6}),
    )

    answer = app.search(SearchQuery("when was quartz removed"))

    assert not [note for note in answer.suggestions if "added lines" in note]


@pytest.mark.parametrize("first", ["quartz: import", "quartz: initial implementation"])
def test_the_first_version_of_a_part_of_the_program_added_it(
    first: str, app: App, root: Path
) -> None:
    added, _ = _commit_files(
        root,
        (first, {"grab.py": "def grab():\n    return 1\n"}),
        ("quartz: allow more orders", {"NOTES.md": "quartz\n" * 6}),
    )

    assert find_commits(app, "when was quartz added")[0].file_path == f"git:{added}"


def test_pypi_is_another_thing_than_pypy(app: App, root: Path) -> None:
    targets = "run pypy\ntest pypy\ncheck pypy\nlint pypy\n"
    added, removed, *_, restored = _commit_files(
        root,
        ("Add targets", {"jobs.yml": targets}),
        ("Dropped pypy and python 2.7 from the matrix", {"jobs.yml": "run python\n"}),
        ("start removing codecov from pypi", {"needs.txt": "codecov\n"}),
        ("Remove test-pypy3.txt from Dockerfile", {"Dockerfile": "RUN pip install .\n"}),
        ("More targets", {"jobs.yml": targets}),
    )

    answer = app.search(SearchQuery("when was pypy support dropped"))

    assert answer.results[0].file_path == f"git:{removed}"
    note = next(one for one in answer.suggestions if "added" in one)
    assert note == f'commits after the first one added lines or files about "pypy": {restored[:12]}'
    assert added[:12] not in note


def test_a_part_of_several_uses_that_were_kept_is_not_the_last_removal(
    app: App, root: Path
) -> None:
    jobs = [f"- job: quartz-{at}\n  env: quartz\n" for at in range(9)]
    fewer = [job for at, job in enumerate(jobs) if at % 3]
    _, removed, *_ = _commit_files(
        root,
        ("Run jobs", {"jobs.yml": "".join(jobs), "quartz.py": "run('quartz')\n" * 6}),
        ("Simplify the engine", {"quartz.py": "run()\n"}),
        ("update the jobs", {"jobs.yml": "".join(fewer)}),
    )

    assert find_commits(app, "when was quartz removed")[0].file_path == f"git:{removed}"


def test_a_change_of_a_part_of_the_program_did_not_add_it(app: App, root: Path) -> None:
    code = "def serve(flags):\n" + "    flags.add('quartz-receiver')\n" * 3
    wanted, *_ = _commit_files(
        root,
        ("Add Quartz ingestion endpoint", {"server.py": code}),
        ("Quartz receiver: allow colons in units", {"units.py": "COLONS = True\n"}),
        ("README: Update the flags of the quartz receiver", {"flags.py": "FLAG = 1\n"}),
    )

    question = "when was the quartz receiver added"
    assert find_commits(app, question)[0].file_path == f"git:{wanted}"


def test_a_removal_from_one_place_comes_after_the_removal(app: App, root: Path) -> None:
    _, wanted = _commit_files(
        root,
        (
            "Remove path component limit from input of CleanPath in windows",
            {"path.py": "limit = 60\n"},
        ),
        (
            "CleanPath: Remove kMaxComponents limit\n\nRemove the kMaxPathComponents limit.",
            {"path.py": "pass\n"},
        ),
    )

    question = "why was the limit on path components removed"
    assert find_commits(app, question)[0].file_path == f"git:{wanted}"


@pytest.mark.parametrize(
    ("question", "removal", "leftover"),
    [
        (
            "when was walrus support removed",
            "Remove deprecated walrus support",
            "Remove unused code related to `walrus`\n\nSupport for walrus has been dropped in 8.0.",
        ),
        (
            "who removed walrus tests",
            "Remove walrus tests and seal properties",
            "Remove WALRUS_TESTS from the list of warnings as it is now an error",
        ),
        (
            "when was walrus support removed",
            "Drop compatibility with walrus support",
            "Remove the warning for walrus support",
        ),
    ],
)
def test_the_removal_of_something_related_comes_after_the_removal(
    question: str, removal: str, leftover: str, app: App, root: Path
) -> None:
    lines = "walrus_tests = support(walrus)\n"
    _, wanted, _ = _commit_files(
        root,
        ("Feed the seals", {"zoo.py": lines * 12}),
        (removal, {"zoo.py": lines * 6}),
        (leftover, {"zoo.py": "pass\n"}),
    )

    assert find_commits(app, question)[0].file_path == f"git:{wanted}"


def test_an_upper_bound_is_about_older_versions(app: App, root: Path) -> None:
    jobs = "".join(f"job {at} with python 3.8\n" for at in range(2))
    needs = "".join(f"backport{at}; python<3.8\n" for at in range(4))
    _, wanted, *_ = _commit_files(
        root,
        ("Run jobs", {"jobs.yml": jobs, "needs.cfg": needs}),
        ("Update the jobs", {"jobs.yml": "job with python 3.9\n"}),
        ("Update the needs", {"needs.cfg": "toml\n"}),
    )

    question = "when was python 3.8 support dropped"
    assert find_commits(app, question)[0].file_path == f"git:{wanted}"


TOOL = "def show(text):\n" + "    text.mark('rainbow bracket')\n" * 4
THEME = "rainbow = ['red']\n"


def test_the_addition_of_a_thing_comes_before_later_ones_with_all_the_words(
    app: App, root: Path
) -> None:
    added, *_ = _commit_files(
        root,
        ("Rainbow matches of the tree", {"rainbow.py": TOOL}),
        ("Add rainbow brackets support to the dark theme", {"dark.toml": THEME}),
        ("Theme light: add rainbow brackets", {"light.toml": THEME.replace("red", "blue") * 4}),
    )

    question = "when was rainbow bracket support added"
    assert find_commits(app, question)[0].file_path == f"git:{added}"


@pytest.mark.parametrize(
    "later",
    [
        "Do not add intermediate lines to the quartz",
        "Add quartz labels",
        "Add the missing quartz of a row",
    ],
)
def test_an_addition_of_something_else_comes_after_the_addition(
    later: str, app: App, root: Path
) -> None:
    code = "def list_quartz(rows):\n" + "    rows.keep('quartz', {0})\n" * 4
    added, *_ = _commit_files(
        root,
        ("Trivial quartz implementation.", {"quartz.py": code.format(1)}),
        (later, {"rows.py": code.format(2)}),
    )

    assert find_commits(app, "when was the quartz introduced")[0].file_path == f"git:{added}"


def test_two_words_of_a_question_may_be_one_word_in_the_commit(app: App, root: Path) -> None:
    code = "def wrap(text):\n" + "    text.break_softwrap()\n" * 4
    added, _ = _commit_files(
        root,
        ("Rework positions and enable softwrap", {"lines.py": code}),
        ("feat(themes): add soft-wrap style for night", {"night.toml": "soft-wrap = 'dim'\n"}),
    )

    assert find_commits(app, "when was soft wrap introduced")[0].file_path == f"git:{added}"


def test_the_name_of_a_thing_may_begin_with_the_word_file(app: App, root: Path) -> None:
    code = "def file_explorer(root):\n" + "    show('file explorer', root)\n" * 3
    renamed, _ = _commit_files(
        root,
        ('Rename "file browser" => "file explorer"', {"views.py": code}),
        ("feat: add file explorer options", {"options.py": "file_explorer = {}\n"}),
    )

    answer = app.search(SearchQuery("who added the file explorer"))

    assert answer.results[0].file_path == f"git:{renamed}"
    assert 'the first commit renamed "file browser"; ask who added that' in answer.suggestions


def test_a_deleted_file_with_the_name_of_the_thing_is_its_removal(app: App, root: Path) -> None:
    module = "def find(text):\n    return fuzzy(text)\n"
    picker = "import fuzzy\n" + "fuzzy.find()\n" * 6
    common = [(f"Match lines {at}", {"lines.py": f"match({at})\n"}) for at in range(20)]
    files = {"fuzzy_match.py": module, "picker.py": "go()\n", "theme.py": "fuzzy = 1\n" * 3}
    _commit_files(root, *common, ("Find", files), ("Update themes", {"theme.py": "dark = 1\n"}))
    (root / "fuzzy_match.py").unlink()
    write(root, "picker.py", picker)
    removed = commit_all(root, "transition to another engine", day=90)

    question = "who deleted the fuzzy match module"
    assert find_commits(app, question)[0].file_path == f"git:{removed}"


def test_the_path_of_a_deleted_file_may_lack_a_word_of_the_question(app: App, root: Path) -> None:
    use = "tracing.start('jaeger')\n" * 4
    _commit_files(root, ("Log", {"logs/jaeger.py": "log = 1\n", "new.py": use, "trace.py": "a\n"}))
    write(root, "new.py", "log()\n")
    commit_all(root, "New logger", day=61)
    (root / "logs/jaeger.py").unlink()
    write(root, "trace.py", "tracing.start('another')\n")
    removed = commit_all(root, "Migrate to another engine", day=62)

    question = "why was jaeger tracing removed"
    assert find_commits(app, question)[0].file_path == f"git:{removed}"


def test_a_note_names_later_commits_that_removed_more_of_the_thing(app: App, root: Path) -> None:
    use = "import pilot\n" + "pilot.run()\n" * 4
    *_, removed, later = _commit_files(
        root,
        ("Run", {"one.py": use, "two.py": use * 2, "three.py": use * 3}),
        ("Add the hub and remove pilot", {"one.py": "hub.run()\n"}),
        ("Remove pilot support", {"two.py": "run()\n"}),
        ("Delete old options", {"three.py": "run(1)\n"}),
    )

    answer = app.search(SearchQuery("when was pilot support removed"))

    assert answer.results[0].file_path == f"git:{removed}"
    notes = [one for one in answer.suggestions if "commits" in one]
    assert not any("last one that removed" in one for one in notes)
    note = f'commits after the first one removed more lines or files with "pilot": {later[:12]}'
    assert note in notes


def test_who_implemented_a_thing_asks_for_its_commit(app: App, root: Path) -> None:
    code = "def run_debug_adapter():\n" + "    adapter.debug()\n" * 4
    added, _ = _commit_files(
        root,
        ("Initial debug adapter", {"adapter.py": code}),
        ("Update the debug adapter", {"adapter.py": code + "\n"}),
    )

    answer = app.search(SearchQuery("who implemented the debug adapter"))
    assert answer.results[0].file_path == f"git:{added}"


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("when did we last upgrade topaz", 2),
        ("who last bumped topaz", 2),
        ("when did we upgrade topaz to 1.1", 0),
        ("why was the topaz cache change reverted", 4),
        ("commit reverting the topaz cache", 4),
    ],
)
def test_upgrades_and_reverts_are_found(
    question: str, wanted: int, tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_history(tmp_path / "repo", ["Alpha is new"])
    subjects = (
        "Bump topaz from 1.0 to 1.1",
        "Bump topaz from 1.1 to 1.2",
        "Upgrade topaz to 1.3",
        "Cache the results of topaz",
        'Revert "Cache the results of topaz"',
        "Explain how topaz is upgraded",
    )
    commits = []
    for day, subject in enumerate(subjects, start=2):
        write(root, "setup.cfg", f"topaz = {day}\n")
        commits.append(commit_all(root, subject, day=day))
    app: App = make_app(root)

    found = find_commits(app, question)[0].commit

    assert found is not None
    assert found.hash == commits[wanted]


def test_code_in_a_vendor_folder_is_no_evidence_of_a_removal(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_history(tmp_path / "repo", ["Alpha is new"])
    lines = "import blackbird\n\n\ndef run():\n    blackbird.run()\n" * 3
    write(root, "lib/engine.py", lines)
    write(root, "lib/_vendor/nest/bird.py", lines)
    commit_all(root, "Run it", day=2)
    write(root, "lib/engine.py", "def run():\n    return None\n")
    wanted = commit_all(root, "Use another engine", day=3)
    write(root, "lib/_vendor/nest/bird.py", "def run():\n    return None\n")
    commit_all(root, "Upgrade nest", day=4)
    app: App = make_app(root)
    app.index_history()

    found = find_commits(app, "when was the use of blackbird removed")[0].commit

    assert found is not None
    assert found.hash == wanted
