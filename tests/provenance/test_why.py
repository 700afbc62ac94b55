"""The commits that `App.why` names, in real repositories."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from random import Random
from time import process_time

import pytest
from commit_repository import commit_files
from commit_writer import init_repository
from sample import OLD_S, MakeApp, git, write

from rootle.errors import QueryError, SourceError
from rootle.serialization.why import reason_lines
from rootle.types import WhyAnswer

pytestmark = pytest.mark.slow

_WATCHDOG_S = 20  # the calls took over a minute when their time was cubic
FETCH = '''\
def fetch(url, attempts):
    """Return the page at a URL."""
    delay = initial_delay(url)
    for attempt in range(attempts):
        page = download(url, timeout=30)
        if page.status == 503:
            wait_for_server(delay * attempt)
            continue
        return page
    raise TooManyAttempts(url)
'''
OTHER = """\
def parse_header(text):
    name, _, value = text.partition(":")
    return name.strip().lower(), value.strip()
"""


class History:
    """A repository whose commits have ascending dates by default."""

    def __init__(self, root: Path, make_app: MakeApp) -> None:
        self.root = root
        self._make_app = make_app
        self._count = 0
        init_repository(root)

    def commit(
        self,
        message: str,
        files: Mapping[str, str | None] | None = None,
        *,
        when_s: int | None = None,
    ) -> str:
        """Write files, delete those given as None, commit everything, and return the hash.

        The commit has the time `when_s`, by default a later time than the last commit.
        """
        for path, text in (files or {}).items():
            if text is None:
                (self.root / path).unlink()
            else:
                # The new time shows git that the file has changed, even if its size is the same.
                self._count += 1
                write(self.root, path, text, when_s=OLD_S + self._count)
        self._count += 1
        when_s = OLD_S + self._count if when_s is None else when_s
        return commit_files(self.root, message, when_s=when_s)

    def git(self, *arguments: str) -> str:
        self._count += 1
        return git(self.root, *arguments, when_s=OLD_S + self._count)

    def why(self, place: str, limit: int | None = None) -> WhyAnswer:
        return self._make_app(self.root).why(place, limit=limit)

    def hashes(self, place: str) -> list[str]:
        return [commit.hash for commit in self.why(place).commits]


@pytest.fixture
def history(tmp_path: Path, make_app: MakeApp) -> History:
    return History(tmp_path / "project", make_app)


def line_of(text: str, part: str) -> int:
    return next(n for n, line in enumerate(text.split("\n"), start=1) if part in line)


def test_the_commit_that_introduced_a_line_comes_first(history: History) -> None:
    history.commit("first", {"net.py": FETCH.replace("        if page.status == 503:\n", "")})
    added = history.commit(
        "Wait while the server is overloaded\n\nIt answers 503 then. Fixes #41", {"net.py": FETCH}
    )

    answer = history.why(f"net.py:{line_of(FETCH, '503')}")

    assert answer.commits[0].hash == added
    assert answer.commits[0].subject == "Wait while the server is overloaded"
    assert "It answers 503 then." in answer.commits[0].message
    assert answer.commits[0].numbers == (41,)
    assert answer.commits[0].author == "t <t@example.com>"
    assert 6 in answer.commits[0].lines
    assert answer.place == "net.py:6"
    assert answer.name == "fetch"
    assert (answer.passage.start_line, len(answer.passage.lines)) == (1, 10)
    assert answer.is_complete
    assert answer.notes == ()


def test_a_changed_value_is_explained_before_the_line_that_it_changed(history: History) -> None:
    first = history.commit("first", {"net.py": FETCH.replace("timeout=30", "timeout=5")})
    longer = history.commit("Give slow servers more time", {"net.py": FETCH})

    assert history.hashes("net.py:5")[0] == longer
    assert first in history.hashes("net.py:5")


def test_the_same_small_change_in_many_files_does_not_explain_a_line(history: History) -> None:
    code = "def rate(prices: {0}[str, float]) -> float:\n    return max(prices.values()) * 2\n"
    paths = [f"shop/part{number:02}.py" for number in range(40)]
    history.commit("Begin", {path: f"NAMES: Dict = {path!r}\n" for path in paths})
    added = history.commit(
        "Price each part by the dearest one", {"shop/rate.py": code.format("Dict")}
    )
    swept = {path: f"NAMES: dict = {path!r}\n" for path in paths}
    history.commit(
        "Require a newer Python, because the old one is no longer supported",
        {**swept, "shop/rate.py": code.format("dict")},
    )

    assert history.why("shop/rate.py:1").commits[0].hash == added


def test_white_space_and_quotation_marks_do_not_count(history: History) -> None:
    added = history.commit("Add the parser of headers", {"a.py": OTHER})
    inside = "class Headers:\n" + "".join(f"    {line}\n" for line in OTHER.split("\n")[:-1])
    formatted = history.commit("Put it into a class", {"a.py": inside.replace('"', "'")})

    hashes = history.hashes("a.py:3")

    assert hashes[0] == added
    assert formatted not in hashes


def test_a_line_that_is_split_keeps_its_commit(history: History) -> None:
    added = history.commit("Add the parser of headers", {"a.py": OTHER})
    split = OTHER.replace(
        "return name.strip().lower(), value.strip()",
        "return (\n        name.strip().lower(),\n        value.strip(),\n    )",
    )
    history.commit("Run the formatter", {"a.py": split})

    assert history.hashes("a.py:4") == [added]


def test_commits_in_the_list_to_ignore_do_not_count(history: History) -> None:
    added = history.commit("Retry while overloaded", {"net.py": FETCH})
    renamed = FETCH.replace("page", "response")
    sha = history.commit("Rename page to response", {"net.py": renamed})
    assert sha in history.hashes("net.py:5")
    history.commit("Ignore the renaming", {".git-blame-ignore-revs": f"# names\n{sha}\n"})

    assert history.hashes("net.py:5")[0] == added
    assert history.why("net.py:5").commits[0].share > 0.7


def test_the_configured_list_to_ignore_is_read_if_it_is_in_the_tree(
    history: History, tmp_path: Path
) -> None:
    history.commit("Retry while overloaded", {"net.py": FETCH})
    sha = history.commit("Rename", {"net.py": FETCH.replace("page", "response")})
    outside = write(tmp_path, "outside", f"{sha}\n")
    os.mkfifo(tmp_path / "pipe")
    for name in (outside, "../outside", tmp_path / "pipe", ".git/HEAD"):
        history.git("config", "blame.ignoreRevsFile", os.fspath(name))
        assert history.hashes("net.py:5")[0] == sha
    history.commit("List it", {"lists/formatting": f"{sha}\n"})
    history.git("config", "blame.ignoreRevsFile", "lists/formatting")

    assert history.hashes("net.py:5")[0] != sha


def test_a_moved_function_keeps_its_commits(history: History) -> None:
    added = history.commit("Retry while overloaded", {"net.py": FETCH + "\n\n" + OTHER})
    moved = history.commit("Move it down", {"net.py": OTHER + "\n\n" + FETCH})

    hashes = history.hashes("net.py:11")

    assert hashes[0] == added
    assert moved not in hashes


def test_a_function_that_moved_to_another_file_keeps_its_commits(history: History) -> None:
    added = history.commit("Retry while overloaded", {"all.py": OTHER + "\n\n" + FETCH})
    slow = FETCH.replace("timeout=30", "timeout=60")
    longer = history.commit("Give slow servers more time", {"all.py": OTHER + "\n\n" + slow})
    moved = history.commit("Split the module", {"all.py": OTHER, "net/fetch.py": slow})

    hashes = history.hashes("net/fetch.py:5")

    assert set(hashes[:2]) == {added, longer}
    assert moved not in hashes
    assert history.why("net/fetch.py:5").commits[0].path == "all.py"


def test_lines_that_moved_and_changed_in_another_order_keep_their_commits(
    history: History,
) -> None:
    url = "    if env[HTTP_HOST]:\n        env[SERVER_NAME] = env[HTTP_HOST]\n"
    agent = "    env[USER_AGENT] = socket.user_agent\n"
    certificate = "    env[PEER_CERTIFICATE] = socket.certificate\n"
    before = "def answer(env, socket):\n" + url
    after = "    env[REMOTE_ADDRESS] = socket.address\n    return call(env)\n"
    history.commit("first", {"server.py": before + after})
    history.commit("Name the program", {"server.py": before + agent + after})
    added = history.commit(
        "Authenticate clients", {"server.py": before + certificate + agent + after}
    )
    prepared = (agent + certificate + url).replace("env[", "self.env[")
    moved = history.commit(
        "Collect what reads the request",
        {
            "server.py": "def answer(request):\n    return call(request.prepare())\n",
            "request.py": "def prepare(self):\n" + prepared.replace("socket", "self.socket"),
        },
    )

    hashes = history.hashes("request.py:3")

    assert added in hashes[:2]
    assert moved in hashes


def test_a_renamed_file_is_followed_even_if_a_line_changes_at_the_same_time(
    history: History,
) -> None:
    added = history.commit("Retry while overloaded", {"net.py": FETCH})
    history.git("mv", "net.py", "fetching.py")
    renamed = history.commit(
        "Rename the module", {"fetching.py": FETCH.replace("delay * attempt", "delay")}
    )

    assert history.hashes("fetching.py:5")[0] == added
    assert renamed in history.hashes("fetching.py:7")[:2]


def test_a_file_that_is_renamed_with_hundreds_of_others_is_followed(history: History) -> None:
    # There are too many changed files to compare every pair of them. The lines of the passage are
    # too short to be recognized on their own, and no other line is near them.
    names = [f"m{number}.py" for number in range(210)]
    end = "\n" * 9 + "def run():\n    return find_all_of_them(DEPTH)\n"
    texts = {name: f"import project.{name}\n\nDEPTH = 1\n{end}# {name}\n" for name in names}
    history.commit("first", {f"old/{name}": text for name, text in texts.items()})
    changed = texts["m7.py"].replace("DEPTH = 1", "DEPTH = 2")
    deepened = history.commit("Search two levels", {"old/m7.py": changed})
    history.git("mv", "old", "new")
    renamed = history.commit(
        "Rename the package",
        {
            f"new/{name}": (changed if name == "m7.py" else text).replace("project", "package")
            for name, text in texts.items()
        },
    )

    answer = history.why("new/m7.py:3")

    assert answer.is_complete
    assert answer.commits[0].hash == deepened
    assert renamed not in [commit.hash for commit in answer.commits]


def test_blame_names_the_commit_if_the_source_of_a_renamed_file_cannot_be_found(
    history: History,
) -> None:
    added = history.commit("Retry while overloaded", {"net.py": FETCH, "other.py": OTHER})
    lost = history.git("rev-parse", "HEAD:other.py").strip()
    history.git("mv", "net.py", "fetching.py")
    renamed = history.commit(
        "Rename the module",
        {
            "fetching.py": FETCH.replace("TooManyAttempts", "Failed"),
            "other.py": OTHER + "\nA = 1\n",
        },
    )
    (history.root / ".git/objects" / lost[:2] / lost[2:]).unlink()

    answer = history.why("fetching.py:5")

    assert answer.commits[0].hash == added
    assert answer.commits[0].path == "net.py"
    assert 5 not in [line for one in answer.commits if one.hash == renamed for line in one.lines]
    assert not answer.is_complete
    assert "git blame named the last commit" in answer.notes[0]


def test_changes_of_other_lines_do_not_count(history: History) -> None:
    added = history.commit("Retry while overloaded", {"net.py": FETCH + "\n\n" + OTHER})
    typo = history.commit(
        "Fix a typo", {"net.py": FETCH + "\n\n" + OTHER.replace("lower", "casefold")}
    )
    comment = FETCH.replace("Return the page at", "Return the whole page at")
    history.commit("Say more", {"net.py": comment + "\n\n" + OTHER})

    hashes = history.hashes("net.py:6")

    assert hashes[0] == added
    assert typo not in hashes


def test_a_revert_is_paired_and_the_commit_before_it_is_named(history: History) -> None:
    added = history.commit("Retry while overloaded", {"net.py": FETCH})
    without = FETCH.replace("            wait_for_server(delay * attempt)\n", "")
    removed = history.commit("Do not wait", {"net.py": without})
    revert = history.commit(
        f'Revert "Do not wait"\n\nThis reverts commit {removed}.\nThe server was overloaded.',
        {"net.py": FETCH},
    )

    answer = history.why("net.py:7")
    by_hash = {commit.hash: commit for commit in answer.commits}

    assert set(list(by_hash)[:2]) == {added, revert}
    assert removed not in by_hash
    assert by_hash[revert].reverts == removed
    assert by_hash[revert].reverted_subject == "Do not wait"


def test_a_commit_that_removed_words_or_lines_counts(history: History) -> None:
    history.commit("first", {"net.py": FETCH.replace("url, timeout=30", "url, proxy, timeout=30")})
    shorter = history.commit("Never use a proxy", {"net.py": FETCH})
    without = FETCH.replace("        if page.status == 503:\n", "")
    line = history.commit("Always wait", {"net.py": without})

    hashes = history.hashes("net.py:5")
    assert hashes[0] == shorter
    assert line in hashes[:3]


def test_a_merge_is_shown_with_its_pull_request(history: History) -> None:
    history.commit("first", {"a.py": OTHER})
    history.git("checkout", "-q", "-b", "topic")
    added = history.commit("Retry while overloaded", {"net.py": FETCH})
    history.git("checkout", "-q", "main")
    direct = history.commit("other", {"b.py": "b = 1\n"})
    history.git("merge", "-q", "--no-ff", "-m", "Merge pull request #17 from t/topic", "topic")
    merge = history.git("rev-parse", "HEAD").strip()

    commit = history.why("net.py:5").commits[0]

    assert commit.hash == added
    assert (commit.merge, commit.merge_subject) == (merge, "Merge pull request #17 from t/topic")
    assert commit.numbers == (17,)
    assert history.why("b.py:1").commits[0].hash == direct
    assert history.why("b.py:1").commits[0].merge == ""


def test_changes_on_two_branches_are_both_followed(history: History) -> None:
    history.commit("first", {"net.py": FETCH})
    history.git("checkout", "-q", "-b", "topic")
    slow = FETCH.replace("timeout=30", "timeout=60")
    topic = history.commit("Give slow servers more time", {"net.py": slow})
    history.git("checkout", "-q", "main")
    busy = FETCH.replace("raise TooManyAttempts(url)", "raise ServerBusy(url)")
    main = history.commit("Raise another error", {"net.py": busy})
    history.git("merge", "-q", "--no-ff", "-m", "merge", "topic")

    assert history.hashes("net.py:5")[0] == topic
    assert history.hashes("net.py:10")[0] == main


@pytest.mark.parametrize("days", [0, -30])
def test_a_commit_whose_date_is_before_that_of_its_parent_is_followed(
    days: int, history: History
) -> None:
    history.commit("Retry while overloaded", {"net.py": FETCH})
    history.commit("Ask a busy server", {"net.py": FETCH.replace("503", "429")})
    history.git("checkout", "-q", "-b", "topic")
    slow = FETCH.replace("503", "429").replace("timeout=30", "timeout=60")
    topic_s = OLD_S + 100 + days * 86_400
    history.commit("Give slow servers more time", {"net.py": slow}, when_s=topic_s)
    history.git("checkout", "-q", "main")
    busy = FETCH.replace("503", "429").replace("TooManyAttempts", "ServerBusy")
    history.commit("Raise another error", {"net.py": busy})
    history.git("merge", "-q", "--no-ff", "-m", "merge", "topic")

    answer = history.why("net.py:1-10")

    assert answer.notes == ()
    assert answer.is_complete
    assert {commit.subject: commit.lines for commit in answer.commits} == {
        "Retry while overloaded": tuple(range(1, 11)),
        "Ask a busy server": (6,),
        "Give slow servers more time": (5,),
        "Raise another error": (10,),
    }


def test_uncommitted_lines_are_named_with_what_they_replace(history: History) -> None:
    added = history.commit("Retry while overloaded", {"net.py": FETCH})
    write(history.root, "net.py", "import net\n\n" + FETCH.replace("timeout=30", "timeout=5"))

    answer = history.why("net.py:7")

    assert answer.uncommitted == (7,)
    assert answer.replaced == ("        page = download(url, timeout=30)",)
    assert answer.commits[0].hash == added
    assert history.why("net.py:8").commits[0].lines[0] == 3


def test_a_staged_renaming_is_followed(history: History) -> None:
    added = history.commit("Retry while overloaded", {"net.py": FETCH})
    history.git("mv", "net.py", "fetching.py")

    assert history.hashes("fetching.py:5") == [added]


def test_a_new_file_and_a_folder_without_commits_have_notes(
    history: History, tmp_path: Path, make_app: MakeApp
) -> None:
    write(history.root, "new.py", OTHER)
    assert history.why("new.py:2").notes == ("the repository has no commit yet",)
    history.commit("first", {"net.py": FETCH})
    write(history.root, "newer.py", OTHER)
    answer = history.why("newer.py:2")
    assert answer.notes == ("the file is not committed yet",)
    assert answer.uncommitted == (1, 2, 3)

    write(tmp_path, "plain/a.py", OTHER)
    plain = make_app(tmp_path / "plain").why("a.py:1")
    assert plain.commits == ()
    assert "not in a git repository" in plain.notes[0]


def test_a_shallow_clone_says_that_older_commits_are_missing(
    history: History, tmp_path: Path, make_app: MakeApp
) -> None:
    history.commit("first", {"net.py": FETCH})
    last = history.commit("second", {"net.py": FETCH.replace("30", "60")})
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{history.root}", clone)

    answer = make_app(clone).why("net.py:5")

    assert [commit.hash for commit in answer.commits] == [last]
    assert not answer.is_complete
    assert "shallow clone" in answer.notes[0]


def test_a_clone_without_old_contents_lists_the_commits_of_the_file(
    history: History, tmp_path: Path, make_app: MakeApp
) -> None:
    first = history.commit("first", {"net.py": FETCH})
    second = history.commit("second", {"net.py": FETCH.replace("30", "60")})
    history.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{history.root}", clone)
    shutil.move(history.root, tmp_path / "gone")

    answer = make_app(clone).why("net.py:5")

    assert [commit.hash for commit in answer.commits] == [second, first]
    assert answer.are_of_file
    assert not answer.is_complete
    assert "older" in answer.notes[0]
    text = "\n".join(reason_lines(answer))
    assert "The newest commits that changed this file" in text
    assert "changed the meaning of these lines" not in text


def test_secrets_in_messages_and_replaced_lines_are_masked(history: History) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    history.commit(f"Use the token\n\n{secret}", {"net.py": f'key = load("{secret}")\n'})
    assert secret not in repr(history.why("net.py:1"))
    write(history.root, "net.py", "key = ask_for_the_key()\n")

    answer = history.why("net.py:1")

    assert answer.uncommitted == (1,)
    assert secret not in repr(answer)


def test_documents_and_memories_about_the_place_are_named(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q")
    text = OTHER.replace("parse_header", "parse_header_line")
    write(root, "src/headers.py", text)
    write(root, "docs/guide.md", "# Guide\n\nSee src/headers.py for details.\n")
    write(root, "docs/decisions/0007.md", "# Headers\n\nWe chose `parse_header_line`.\n")
    write(root, "docs/other.md", "# Other\n\nThe header is long.\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    app = make_app(root)
    app.memory.remember("`parse_header_line` lowers names because proxies change them")
    app.memory.remember("Headers are long", about=["src/headers.py"])
    app.memory.remember("The guide needs more examples", about=["docs/guide.md"])
    assert app.why("src/headers.py:2").documents == ()  # there is no index yet

    app.index()
    answer = app.why("src/headers.py#parse_header_line")

    assert [(found.path, found.line) for found in answer.documents] == [
        ("docs/decisions/0007.md", 3),
        ("docs/guide.md", 3),
    ]
    assert {memory.text for memory in answer.memories} == {
        "`parse_header_line` lowers names because proxies change them",
        "Headers are long",
    }


def test_a_folder_below_the_top_of_the_repository_is_explained(
    history: History, make_app: MakeApp
) -> None:
    added = history.commit("Retry while overloaded", {"lib/net.py": FETCH})

    answer = make_app(history.root / "lib").why("net.py#fetch")

    assert [commit.hash for commit in answer.commits] == [added]
    assert answer.place == "net.py:1-10"


def test_a_long_range_is_cut_with_a_note(history: History) -> None:
    history.commit("Add a list", {"list.txt": "".join(f"line {n}\n" for n in range(900))})

    answer = history.why("list.txt:1-900")

    assert len(answer.passage.lines) == 400
    assert any("only the first 400 lines" in note for note in answer.notes)


def test_the_number_of_commits_is_limited(history: History) -> None:
    for value in range(5):
        history.commit(f"Wait {value}", {"net.py": FETCH.replace("30", f"{value}, x{value}=1")})

    assert len(history.why("net.py:5", limit=1).commits) == 1
    with pytest.raises(QueryError, match="limit is 0"):
        history.why("net.py:5", limit=0)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("missing.py:3", "does not exist"),
        ("net.py:99", "has lines 1-10, not 99"),
        ("net.py", "add them, as in net.py:10"),
        ("net.py#nothing", 'has no "nothing"'),
        (".env:1", "excluded"),
        ("../outside.py:1", "outside the folder"),
    ],
)
def test_an_invalid_place_is_rejected(place: str, message: str, history: History) -> None:
    history.commit("first", {"net.py": FETCH, ".env": "KEY=hunter2-the-password\n"})

    with pytest.raises(SourceError, match=message):
        history.why(place)


def test_a_commit_is_no_place(history: History) -> None:
    sha = history.commit("first", {"net.py": FETCH})

    with pytest.raises(SourceError, match="is a commit"):
        history.why(f"{sha}:3")


def test_a_file_name_with_special_characters_is_followed(history: History) -> None:
    name = 'sub dir/ä "x"*[1].py'
    added = history.commit("Retry while overloaded", {name: FETCH})
    history.commit("other", {"sub dir/ä.py": OTHER})

    assert history.hashes(f"{name}:5") == [added]


def test_a_line_like_one_that_moved_elsewhere_is_not_traced_to_it(history: History) -> None:
    delete = "    library.delete_item(item, options(delete_location=False), parent)\n"
    first = f"def validate(item, old):\n    check(item)\n{delete}    finish(old)\n"
    history.commit("Delete items that are gone", {"folder.py": first})
    late = delete.replace("item,", "old_primary,")
    moved = (
        "def validate(item, old):\n    if is_replaced(item):\n        return\n    check(item)\n"
        f"    report(item)\n    finish(old)\n{delete}    create(old)\n    # No promotion.\n{late}"
    )
    deferred = history.commit("Defer the deletion of a replaced item", {"folder.py": moved})

    line = line_of(moved, "old_primary")
    commits = history.why(f"folder.py:{line}").commits
    assert [commit.hash for commit in commits if line in commit.lines] == [deferred]


def test_a_file_of_repeated_lines_is_compared_in_bounded_time_with_a_note(
    history: History,
) -> None:
    def repeat(seed: int) -> str:
        numbers = Random(seed)
        return "".join(f"x{numbers.randrange(120)} = 1\n" for _ in range(30_000))

    history.commit("Add", {"a.py": repeat(0)})
    write(history.root, "a.py", repeat(1))
    start = process_time()
    answer = history.why("a.py:1-3")

    assert process_time() - start < _WATCHDOG_S
    assert not answer.is_complete
    assert answer.notes[0].startswith("the file was not completely compared with the last commit")
