"""Pages of results with commits and files, and commits in the output of commands and tools."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import rootle
from commit_repository import (
    DAY_S,
    add_commit,
    commit_all,
    find_commits,
    make_history,
    read_pages,
    subjects_of,
)
from sample import OLD_S, MakeApp, git, write
from shared_apps import shared_app

from rootle import App
from rootle.errors import QueryError, SourceError, StaleCursorError
from rootle.history.commit_search import CommitSearch
from rootle.serialization.json import to_json
from rootle.tools.definitions.vectordb_read import vectordb_read
from rootle.tools.definitions.vectordb_search import search_folder
from rootle.types import SearchQuery, SearchResponse

pytestmark = pytest.mark.slow

SUBJECTS = tuple(f"{name} gets the zebra" for name in "Alpha Beta Gamma Delta Omega".split())
QUESTION = "which commit added the zebra"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_history(tmp_path / "repo", SUBJECTS)


@pytest.fixture
def app(root: Path, make_app: MakeApp) -> App:
    app: App = make_app(root)
    return app


@pytest.fixture
def shared() -> Iterator[App]:
    with shared_app(make_history, SUBJECTS) as app:
        yield app


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 7, 20])
def test_pages_together_contain_every_commit_and_file_once(limit: int, shared: App) -> None:
    pages = read_pages(shared, QUESTION, limit)

    paths = [result.file_path for page in pages for result in page.results]
    names = {f"{subject.split()[0].lower()}.py" for subject in SUBJECTS}
    assert len(paths) == len(set(paths)) == 10
    assert {path for path in paths if not path.startswith("git:")} == names
    assert all(0 < len(page.results) <= limit for page in pages[:-1])


def test_most_results_of_the_first_page_are_commits(shared: App) -> None:
    results = shared.search(SearchQuery(QUESTION, limit=4)).results

    assert [result.commit is not None for result in results] == [True, True, True, False]


def test_other_questions_find_only_files_with_their_last_commits(app: App) -> None:
    app.index_history()

    results = app.search(SearchQuery("alpha zebra")).results

    assert all(result.commit is None for result in results)
    assert results[0].last_commit is not None
    assert results[0].last_commit.subject == SUBJECTS[0]


def test_the_last_commit_is_that_of_the_checked_out_branch(root: Path, make_app: MakeApp) -> None:
    git(root, "checkout", "-q", "-b", "side")
    write(root, "alpha.py", "def alpha_0():\n    return 'side'\n")
    commit_all(root, "Side change", day=9)
    app = make_app(root)
    app.index_history()

    def last_subject() -> str:
        last = app.search(SearchQuery("alpha zebra path:alpha.py")).results[0].last_commit
        return last.subject if last is not None else ""

    assert last_subject() == "Side change"
    git(root, "checkout", "-q", "main")
    assert last_subject() == SUBJECTS[0]


def test_files_come_first_if_the_question_names_both_kinds(shared: App) -> None:
    results = shared.search(SearchQuery("in:code in:history zebra", limit=10)).results

    kinds = [result.commit is not None for result in results]
    assert kinds == sorted(kinds)
    assert set(kinds) == {True, False}


def test_a_cursor_that_was_changed_is_refused(shared: App) -> None:
    cursor = shared.search(SearchQuery(QUESTION, limit=2)).next_cursor
    assert cursor is not None
    for changed in ("h.AAAA", "h.", cursor[:-6], "h.bnVsbA==", "h.WzFd"):
        with pytest.raises(StaleCursorError):
            shared.search(SearchQuery(QUESTION, limit=2, cursor=changed))


def test_a_cursor_with_absurd_contents_is_refused(shared: App) -> None:
    for data in ("[" * 100_000, f'["{"9" * 5_000}", null]'):
        cursor = "h." + base64.urlsafe_b64encode(data.encode()).decode()
        for question in (QUESTION, "HEAD~2..HEAD"):
            with pytest.raises(StaleCursorError):
                shared.search(SearchQuery(question, limit=2, cursor=cursor))


@pytest.mark.parametrize("limit", [0, -1, 1_000_000])
@pytest.mark.parametrize("question", [QUESTION, "HEAD~2..HEAD", "in:history zebra"])
def test_a_limit_out_of_range_is_refused(question: str, limit: int, shared: App) -> None:
    with pytest.raises(QueryError, match="limit"):
        shared.search(SearchQuery(question, limit=limit))


@pytest.mark.parametrize("digits", [7, 12, 40])
def test_a_hash_finds_its_commit(digits: int, app: App, root: Path) -> None:
    sha = git(root, "rev-parse", "HEAD~2").strip()

    answer = app.search(SearchQuery(sha[:digits]))

    assert [result.file_path for result in answer.results] == [f"git:{sha}"]
    assert answer.confident
    commit = answer.results[0].commit
    assert commit is not None
    assert (commit.hash, commit.subject, commit.author) == (sha, SUBJECTS[2], "Ada <ada@x.org>")
    assert commit.date == "2023-11-16T22:13:20Z"
    assert [(file.path, file.functions) for file in commit.files] == [("gamma.py", ("gamma_2",))]


@pytest.mark.parametrize(
    "question",
    ["what changed in {}", "why was {} reverted?", "who wrote {}", "in:history what does {} do"],
)
def test_a_question_about_a_hash_lists_its_commit_without_a_note(
    question: str, app: App, root: Path
) -> None:
    sha = git(root, "rev-parse", "HEAD~2").strip()

    answer = app.search(SearchQuery(question.format(sha[:12])))

    assert [result.file_path for result in answer.results] == [f"git:{sha}"]
    assert answer.confident
    assert answer.suggestions == ()


def test_a_hash_in_a_question_about_code_puts_its_commit_before_the_files(
    app: App, root: Path
) -> None:
    app.index_history()
    sha = git(root, "rev-parse", "HEAD~2").strip()

    answer = app.search(SearchQuery(f"where is the alpha zebra of {sha[:12]} returned"))

    assert [result.file_path for result in answer.results[:2]] == [f"git:{sha}", "alpha.py"]
    assert not any("hash" in note for note in answer.suggestions)


def test_all_changes_since_a_hash_are_a_range(app: App, root: Path) -> None:
    older, newer = (git(root, "rev-parse", f"HEAD~{back}").strip() for back in (3, 1))

    since = app.search(SearchQuery(f"what changed since {older[:12]}?"))
    between = app.search(SearchQuery(f"what changed between {older[:12]} and {newer[:12]}"))
    open_range = app.search(SearchQuery(f"{older[:12]}.."))

    assert [it.commit.subject for it in since.results if it.commit] == [*SUBJECTS[:1:-1]]
    assert [it.commit.subject for it in open_range.results if it.commit] == [*SUBJECTS[:1:-1]]
    assert [it.commit.subject for it in between.results if it.commit] == [*SUBJECTS[3:1:-1]]


@pytest.mark.parametrize(
    "question",
    ["what changed since v1.0?", "what changed since 1.0", "changes between v1.0 and HEAD"],
)
def test_all_changes_since_a_version_are_a_range(question: str, app: App, root: Path) -> None:
    git(root, "tag", "v1.0", "HEAD~2")

    found = app.search(SearchQuery(question)).results

    assert [it.commit.subject for it in found if it.commit] == [*SUBJECTS[:2:-1]]
    unknown = app.search(SearchQuery("what changed since v9.9"))
    assert unknown.suggestions[0].startswith('no commit, tag or branch is named "v9.9"')


def test_filters_without_words_list_the_commits_that_pass_them(app: App, root: Path) -> None:
    add_commit(root, "Theta gets the zebra", day=7, author="Jane Doe <jane@x.org>")
    add_commit(root, "Iota gets the zebra", day=8)

    def subjects(query: str) -> list[str]:
        found = app.search(SearchQuery(query)).results
        return [it.commit.subject for it in found if it.commit]

    assert subjects("in:history author:jane") == ["Theta gets the zebra"]
    assert subjects("in:history since:2023-11-18 author:ada") == [
        "Iota gets the zebra",
        SUBJECTS[4],
    ]
    assert subjects("in:history path:beta.py") == [SUBJECTS[1]]
    assert [len(page.results) for page in read_pages(app, "in:history author:ada", 4)] == [4, 2]
    assert subjects("in:history author:nobody") == []
    with pytest.raises(QueryError, match="only says where to search"):
        app.search("in:history")


def test_a_note_about_absent_words_says_whether_commits_or_texts_lack_them(
    app: App, root: Path
) -> None:
    write(root, "notes.md", "How retry_404 works.\n")
    (note,) = (
        note
        for note in app.search(SearchQuery("why was retry_404 removed?")).suggestions
        if "retry_404" in note
    )
    assert note.startswith('not confident: no indexed commit has the word "retry_404"')


def test_an_unknown_hash_is_searched_in_the_files(shared: App) -> None:
    answer = shared.search(SearchQuery("0123456789abcdef"))

    assert all(result.commit is None for result in answer.results)


def test_a_range_lists_its_commits_newest_first_over_several_pages(shared: App) -> None:
    pages = read_pages(shared, "HEAD~4..HEAD", 3)

    found = [it.commit.subject for page in pages for it in page.results if it.commit]
    assert found == [*reversed(SUBJECTS[1:])]
    assert [len(page.results) for page in pages] == [3, 1]
    assert "4 commits" in pages[0].suggestions[0]


def test_from_shows_a_later_page_of_a_range(shared: App) -> None:
    tool = search_folder(shared)
    first = tool.run("HEAD~4..HEAD", limit=3)
    second = tool.run("HEAD~4..HEAD from:4", limit=3)
    beyond = tool.run("HEAD~4..HEAD from:99", limit=3)

    assert "Note: 4 commits; 3 on each page; from:4 in the query shows the next one" in first.text
    assert [len(it.data["results"]) for it in (first, second, beyond)] == [3, 1, 0]
    assert SUBJECTS[1] in second.text
    assert "Note: 4 commits\n" in second.text
    pages = read_pages(shared, "HEAD~4..HEAD author:ada from:2", 2)
    assert [len(page.results) for page in pages] == [2, 1]
    assert tool.run("HEAD~4..HEAD from:0").data == tool.run("HEAD~4..HEAD").data


def test_a_commit_that_is_indexed_while_a_search_runs_has_its_author(
    app: App, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.index_history()
    subject = "Theta gets the walrus"
    add_commit(root, subject, day=7)
    search = CommitSearch.search

    def search_later(commits: CommitSearch, query: SearchQuery, *, explain: bool) -> SearchResponse:
        app.index_history()
        return search(commits, query, explain=explain)

    monkeypatch.setattr(CommitSearch, "prepare", lambda _: "")
    monkeypatch.setattr(CommitSearch, "search", search_later)
    result = app.search(SearchQuery("in:history walrus")).results[0]
    assert result.commit is not None
    assert result.commit.subject == subject


def test_filters_apply_to_the_commits_of_a_range(app: App, root: Path) -> None:
    add_commit(root, "Theta gets the zebra", day=7, author="Jane Doe <jane@x.org>")

    assert subjects_of(app, "HEAD~4..HEAD author:jane") == {"Theta gets the zebra"}


def test_an_unknown_range_is_searched_in_the_files(shared: App) -> None:
    assert find_commits(shared, "v7.0..v8.0") == []
    notes = shared.search("HEAD~1..v8.0").suggestions
    assert (
        notes[0] == 'no commit, tag or branch is named "v8.0"; the question was searched as words'
    )


def test_a_range_may_end_or_begin_at_the_checked_out_commit(app: App, root: Path) -> None:
    git(root, "branch", "next")
    git(root, "reset", "-q", "--hard", "HEAD~1")

    assert subjects_of(app, "HEAD~2..") == set(SUBJECTS[2:4])
    assert subjects_of(app, "..next") == {SUBJECTS[4]}


def test_filters_limit_commits_by_author_and_date(app: App, root: Path) -> None:
    add_commit(root, "Theta gets the zebra", day=40, author="Jane Doe <jane@x.org>")
    git(root, "tag", "v1.0", "HEAD~2")

    assert subjects_of(app, "in:history zebra author:jane") == {"Theta gets the zebra"}
    assert subjects_of(app, 'in:history zebra author:"Jane Doe"') == {"Theta gets the zebra"}
    assert subjects_of(app, "in:history zebra author:ada") == set(SUBJECTS)
    assert subjects_of(app, "in:history zebra since:2023-12") == {"Theta gets the zebra"}
    assert subjects_of(app, "in:history zebra until:2023-11-15") == set(SUBJECTS[:2])
    recent = "in:history zebra since:2023-11-17 until:2023-11-17"
    assert subjects_of(app, recent) == {SUBJECTS[3]}
    assert subjects_of(app, "in:history zebra since:v1.0") == {SUBJECTS[4], "Theta gets the zebra"}
    assert subjects_of(app, "in:history zebra until:v1.0") == set(SUBJECTS[:4])
    assert subjects_of(app, "in:history zebra author:nobody") == set()
    with pytest.raises(QueryError, match="since:v9"):
        subjects_of(app, "in:history zebra since:v9")


def test_a_question_may_name_a_tag_in_words(app: App, root: Path) -> None:
    git(root, "tag", "v1.0", "HEAD~2")

    for question in (
        "what changed in the zebra since v1.0",
        "what changed since 1.0 in the zebra?",
    ):
        commits = [one.commit for one in app.search(SearchQuery(question)).results if one.commit]
        assert {commit.subject for commit in commits} == set(SUBJECTS[3:])
    unknown = app.search(SearchQuery("what changed in the zebra since v7.7"))
    assert {one.commit.subject for one in unknown.results if one.commit} == set(SUBJECTS)


@pytest.mark.parametrize(
    "question",
    [
        "what changed since v1.0",
        "what changed since 1.0 in the zebra",
        "in:history zebra since:v1.0",
    ],
)
def test_since_a_tag_includes_older_commits_that_were_merged_after_it(
    question: str, app: App, root: Path
) -> None:
    git(root, "checkout", "-q", "-b", "side", "HEAD~3")
    add_commit(root, "Sigma gets the zebra", day=2)
    git(root, "checkout", "-q", "main")
    git(root, "tag", "v1.0")
    add_commit(root, "Theta gets the zebra", day=4)  # in the same second as the tag
    git(root, "merge", "-q", "-m", "Merge the zebra", "side", when_s=OLD_S + 9 * DAY_S)

    subjects = {"Sigma gets the zebra", "Theta gets the zebra", "Merge the zebra"}
    assert subjects_of(app, question) == subjects


def test_until_a_tag_excludes_older_commits_that_it_does_not_contain(app: App, root: Path) -> None:
    git(root, "tag", "v1.0", "HEAD")
    git(root, "checkout", "-q", "-b", "side", "HEAD~3")
    add_commit(root, "Sigma gets the zebra", day=2)

    assert subjects_of(app, "in:history zebra until:v1.0") == set(SUBJECTS[:2])


def test_a_filter_of_files_accepts_a_tag(app: App, root: Path) -> None:
    git(root, "tag", "v1.0", "HEAD~1")

    found = app.search(SearchQuery("zebra since:v1.0")).results

    assert [one.file_path for one in found] == ["omega.py"]


def test_a_filter_by_tags_selects_the_files_that_changed_whatever_their_dates(
    app: App, root: Path
) -> None:
    git(root, "checkout", "-q", "-b", "side", "HEAD~3")
    add_commit(root, "Sigma gets the zebra", day=2)  # older than v1.0, and merged after it
    git(root, "checkout", "-q", "main")
    git(root, "tag", "v1.0")
    git(root, "merge", "-q", "-m", "Merge the zebra", "side", when_s=OLD_S + 9 * DAY_S)
    git(root, "tag", "v1.1")
    add_commit(root, "Theta gets the zebra", day=10)
    add_commit(root, "Sigma keeps the zebra", day=11)
    write(root, "omega.py", "def omega_new():\n    return 'a zebra'\n")

    def paths(question: str) -> set[str]:
        return {one.file_path for one in app.search(SearchQuery(question)).results}

    assert paths("zebra since:v1.0") == {"sigma.py", "theta.py", "omega.py"}
    assert paths("zebra since:v1.1") == {"sigma.py", "theta.py", "omega.py"}
    assert paths("zebra since:v1.0 until:v1.1") == {"sigma.py"}
    assert paths("zebra until:v1.1") == {"alpha.py", "beta.py", "gamma.py", "delta.py"}


@pytest.mark.parametrize("date", ["0000", "0000-01-01", "2024-13", "2023-02-30"])
def test_a_date_that_does_not_exist_is_an_error(date: str, shared: App) -> None:
    with pytest.raises(QueryError, match=f"there is no date {date}, as in since:{date}"):
        shared.search(SearchQuery(f"zebra since:{date}"))


def test_a_question_about_the_past_without_commits_says_so(
    tmp_path: Path, make_app: MakeApp
) -> None:
    plain = write(tmp_path, "plain/zebra.py", "zebra = 1\n").parent
    (tmp_path / "new").mkdir()
    write(tmp_path, "new/zebra.py", "zebra = 1\n")
    git(tmp_path / "new", "init", "-q")

    answer = make_app(plain).search(SearchQuery(QUESTION))
    assert [one.file_path for one in answer.results] == ["zebra.py"]
    assert any("no commits can be searched" in note for note in answer.suggestions)
    answer = make_app(tmp_path / "new").search(SearchQuery(QUESTION))
    assert [one.file_path for one in answer.results] == ["zebra.py"]
    assert not any("empty" in note for note in answer.suggestions)


def test_a_partial_answer_is_marked(app: App, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    app.index()
    app.index_history()
    add_commit(root, "Theta gets the zebra", day=9)
    monkeypatch.setattr("rootle.indexing.commit_index.CommitIndex.update", lambda self, **_: None)

    answer = app.search(SearchQuery(QUESTION))
    text = search_folder(app).run(QUESTION).text

    assert answer.suggestions[0].startswith("only 5 commits were searched: not all commits are")
    assert "rootle index --history" in answer.suggestions[0]
    assert text.startswith("Note: only 5 commits were searched")
    assert "rootle index" not in text
    assert "the others are being indexed, so ask again for a complete answer" in text
    assert "history" in answer.degraded
    assert to_json(answer)["degraded"] == ["history"]
    monkeypatch.undo()
    assert "history" not in app.search(SearchQuery(QUESTION)).degraded


@pytest.mark.parametrize("question", ["who added the zebra of Beta", "why was the zebra added"])
def test_an_answer_is_not_confident_while_many_commits_are_not_indexed(
    question: str, app: App, monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    app.index()
    app.index_history()
    assert app.search(SearchQuery(question)).confident
    add_commit(root, "Theta gets the zebra", day=9)
    monkeypatch.setattr("rootle.indexing.commit_index.CommitIndex.update", lambda self, **_: None)

    answer = app.search(SearchQuery(question))

    assert answer.results[0].commit is not None
    assert not answer.confident
    assert answer.suggestions[1] == (
        "not confident: a commit that is not indexed yet may be the answer"
    )
    monkeypatch.undo()
    assert app.search(SearchQuery(question)).confident


def test_an_answer_stays_confident_if_only_a_few_commits_are_not_indexed(
    app: App, monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    for day in range(20):
        commit_all(root, f"Count to {day}", day=9)
    app.index()
    app.index_history()
    add_commit(root, "Kappa is new", day=9)
    monkeypatch.setattr("rootle.indexing.commit_index.CommitIndex.update", lambda self, **_: None)

    answer = app.search(SearchQuery("why was the zebra added"))

    assert answer.suggestions[0].startswith("only 25 commits were searched")
    assert not any("may be the answer" in note for note in answer.suggestions)


def test_a_few_patches_that_are_too_long_are_noted_in_the_status_only(app: App, root: Path) -> None:
    for day in range(20):
        commit_all(root, f"Count to {day}", day=9)
    write(root, "long.py", "".join(f"NUMBER_{n} = {n}\n" for n in range(110_000)))
    commit_all(root, "Count far", day=10)
    app.index_history()

    answer = app.search(SearchQuery("in:history quaternion rotation of the camera"))

    assert not answer.confident
    assert not any("not all changed lines" in note for note in answer.suggestions)
    history = app.status().history
    assert history is not None
    assert any(note.startswith("not all changed lines of 1 of 26") for note in history.notes)


def test_a_question_that_no_commit_answers_is_not_confident(shared: App) -> None:
    answer = shared.search(SearchQuery("in:history quaternion rotation of the camera"))

    assert not answer.confident


def test_the_json_of_a_commit_has_its_facts(app: App, root: Path) -> None:
    sha = git(root, "rev-parse", "HEAD").strip()

    result: Any = to_json(app.search(SearchQuery(sha)))["results"][0]

    assert result["commit"] == {
        "hash": sha,
        "date": "2023-11-18T22:13:20Z",
        "author": "Ada <ada@x.org>",
        "subject": SUBJECTS[4],
        "files": [{"path": "omega.py", "functions": ["omega_4"]}],
    }
    assert result["place"] == "message"


def test_the_command_searches_commits(root: Path) -> None:
    indexed = rootle("index", "--history", cwd=root)
    text = rootle("search", "in:history omega zebra", cwd=root)
    data = rootle("search", "in:history omega zebra", "--json", cwd=root).data

    assert indexed.code == 0, indexed.err
    sha = git(root, "rev-parse", "HEAD").strip()
    assert text.code == 0
    assert sha[:12] in text.out
    assert f"2023-11-18 Ada: {SUBJECTS[4]}" in text.out
    assert data["results"][0]["commit"]["hash"] == sha
    status = rootle("status", cwd=root).out
    assert "commits" in status
    assert "5, " in status


def test_the_command_shows_a_commit_and_one_of_its_files(root: Path) -> None:
    write(root, "other.py", "other = 1\n")
    write(root, ".env", "TOKEN=zebra-secret\n")
    sha = commit_all(root, "Two files", day=9)

    whole = rootle("show", sha[:10], cwd=root)
    part = rootle("show", f"{sha[:10]}#other.py", cwd=root)
    unknown = rootle("show", "0123456789ab", cwd=root)

    assert whole.code == part.code == 0, whole.err + part.err
    assert "Two files" in whole.out
    assert "+other = 1" in whole.out
    assert "zebra-secret" not in whole.out
    assert "Two files" not in part.out
    assert "+other = 1" in part.out
    assert unknown.code != 0
    assert "no commit or file named 0123456789ab" in unknown.err
    assert rootle("show", sha, "--json", cwd=root).data["source"] == sha


def test_the_search_tool_prints_commits(app: App, root: Path) -> None:
    sha = git(root, "rev-parse", "HEAD").strip()

    text = search_folder(app).run("in:history omega gets the zebra").text

    assert f"{sha[:12]} 2023-11-18 Ada: {SUBJECTS[4]} #" in text
    assert "changed: omega.py (omega_4)" in text


def test_a_commit_without_files_has_no_list_of_them(root: Path, make_app: MakeApp) -> None:
    git(root, "commit", "-q", "--allow-empty", "-m", "Quokkas are announced\n\nThey come in May.")

    text = search_folder(make_app(root)).run("in:history quokkas are announced").text

    shown = text.partition("Quokkas are announced #message")[2].partition("\n2. ")[0]
    assert "They come in May." in shown
    assert "changed:" not in shown


def replace_lines(root: Path, lines: dict[int, list[str]]) -> str:
    """Commit a long function, and then a change of some of its lines; return the second hash."""
    body = [f"    step_{number} = prepare(step_{number - 1})" for number in range(1, 90)]
    write(root, "quagga.py", "\n".join(["def herd(step_0):", *body, ""]))
    commit_all(root, "Write the herd", day=8)
    body = [text for at, old in enumerate(body) for text in lines.get(at, [old])]
    write(root, "quagga.py", "\n".join(["def herd(step_0):", *body, ""]))
    return commit_all(root, "Count more", day=9)


def lines_of_patch(text: str, sha: str) -> list[str]:
    block = next(it for it in text.split("\n\n") if sha[:12] in it)
    return block.partition("\nchanged: ")[0].split("\n")[1:]


def test_a_small_change_is_shown_whole_and_without_a_sign(app: App, root: Path) -> None:
    sha = replace_lines(root, {40: ["    step_41 = count_quagga(step_40)"]})

    shown = lines_of_patch(search_folder(app).run("in:history count_quagga").text, sha)

    assert shown[0] == "quagga.py (+1 -1) herd"
    assert "-    step_41 = prepare(step_40)" in shown
    assert "+    step_41 = count_quagga(step_40)" in shown
    assert not any("…" in line for line in shown)


def test_a_removed_line_is_shown_with_what_replaced_it_and_cuts_have_a_sign(
    app: App, root: Path
) -> None:
    added = [
        f"    quagga_{number} = count_every_quagga_of_the_herd(step_40)" for number in range(30)
    ]
    sha = replace_lines(root, {40: added, 80: ["    step_81 = rest(step_80)"]})

    shown = lines_of_patch(search_folder(app).run("in:history count_every_quagga").text, sha)

    removed = shown.index("-    step_41 = prepare(step_40)")
    assert shown[removed + 1] == f"+{added[0]}"
    assert shown[-2:] == ["… more added lines", "…"]
    assert not any("step_81" in line for line in shown)


def test_a_hunk_heading_is_never_the_last_line_of_a_patch(app: App, root: Path) -> None:
    changes = {
        at: [f"    step_{at + 1} = count_quagga(step_{at}, {'x' * length})"]
        for at, length in ((10, 150), (30, 150), (50, 150), (70, 150))
    }
    sha = replace_lines(root, changes)

    shown = lines_of_patch(search_folder(app).run("in:history count_quagga").text, sha)

    assert shown[-1] == "…"
    assert not shown[-2].startswith("@@")
    assert sum(it.startswith("-") for it in shown) == sum(it.startswith("+") for it in shown) > 1


def test_a_change_that_begins_in_the_middle_of_a_patch_has_a_sign(app: App, root: Path) -> None:
    early = [f"    filler_{number} = prepare(step_0)" for number in range(30)]
    sha = replace_lines(root, {5: early, 80: ["    step_81 = count_quagga(step_80)"]})

    shown = lines_of_patch(search_folder(app).run('in:history "count_quagga"').text, sha)

    assert shown[0] == "…"
    assert "quagga.py (+31 -2) herd" not in shown
    assert "-    step_81 = prepare(step_80)" in shown
    assert "+    step_81 = count_quagga(step_80)" in shown


def test_the_search_tool_states_only_a_known_number_of_changed_files(app: App, root: Path) -> None:
    for count in (6, 40):
        for number in range(count):
            write(root, f"src/part_{number}.py", f"part = {number + count}\n")
        write(root, f"main_{count}.py", "")
        commit_all(root, f"Quagga with {count} files", day=9)

    tool = search_folder(app)
    small, large = (tool(f'in:history "with {count} files" quagga') for count in (6, 40))
    assert re.search(r"^changed: .*, and 3 more$", small, re.MULTILINE)
    assert re.search(r"^changed: .*, and more$", large, re.MULTILINE)
    found = [it.commit for it in find_commits(app, "in:history quagga") if it.commit]
    assert {it.subject[12:14]: it.may_lack_files for it in found} == {"6 ": None, "40": True}
    assert sum("mayLackFiles" in to_json(it) for it in found) == 1


def test_the_read_tool_reads_a_commit_and_one_of_its_files(app: App, root: Path) -> None:
    sha = git(root, "rev-parse", "HEAD").strip()
    read = vectordb_read(app)

    assert SUBJECTS[4] in read.run(sha).text
    assert "+def omega_4():" in read.run(f"{sha[:12]}#omega.py").text
    assert "omega_4" in read.run(f"git:{sha}").text
    with pytest.raises(SourceError, match=r"omega\.py"):
        app.read(f"{sha}#alpha.py")


def test_a_secret_in_a_message_is_masked_in_every_answer(app: App, root: Path) -> None:
    secret = "ghp_" + "0a1B2c3D4e5F" * 3
    sha = commit_all(root, f"Rotate {secret}\n\nzebra {secret}", day=9)

    answers = [
        json.dumps(to_json(app.search(SearchQuery(question))))
        for question in (sha, "in:history rotate zebra", "which commit was the last to rotate")
    ]

    assert all("Rotate" in answer for answer in answers)
    assert not any(secret in answer for answer in answers)


def test_the_date_of_a_commit_is_that_of_its_commit(app: App, root: Path) -> None:
    sha = git(root, "rev-parse", "HEAD~1").strip()

    result = app.search(SearchQuery(sha)).results[0]

    assert result.metadata.last_modified == "2023-11-17T22:13:20Z"
    assert OLD_S + 3 * DAY_S == 1_700_259_200


def test_filters_by_path_and_language_apply_to_the_changed_files(shared: App) -> None:
    found = shared.search(SearchQuery("in:history path:omega.py gets the zebra")).results
    assert found
    assert all(
        "omega.py" in {file.path for file in one.commit.files} for one in found if one.commit
    )
    assert shared.search(SearchQuery("in:history lang:python zebra", limit=20)).results
    assert not shared.search(SearchQuery("in:history lang:rust zebra")).results
    nothing = SearchQuery("in:history zebra", file_paths=("missing/",))
    assert not shared.search(nothing).results


def test_filters_by_path_and_language_apply_to_a_range(shared: App) -> None:
    assert subjects_of(shared, "HEAD~4..HEAD path:omega.py") == {SUBJECTS[4]}
    assert subjects_of(shared, "HEAD~4..HEAD lang:python") == set(SUBJECTS[1:])
    answer = shared.search(SearchQuery("HEAD~4..HEAD", file_paths=("beta.py",)))
    assert [one.commit.subject for one in answer.results if one.commit] == [SUBJECTS[1]]
    assert answer.suggestions == ("1 commit", "the filters exclude 3 other commits")


def test_an_empty_period_is_explained_with_the_newest_commit(app: App, root: Path) -> None:
    sha = git(root, "rev-parse", "--short=12", "HEAD").strip()

    listed = app.search(SearchQuery("what changed last month"))
    searched = app.search(SearchQuery("in:history omega since:2024"))

    assert listed.results == searched.results == ()
    assert listed.suggestions[:2] == (
        "0 commits",
        "the filters exclude 5 commits; the newest of them is of 2023-11-18",
    )
    note = f"since:2024 excludes 1 matching commit, such as {sha} 2023-11-18: {SUBJECTS[4]}"
    assert note in searched.suggestions


def test_a_range_is_listed_by_git_while_commits_are_indexed(
    app: App, monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    app.index()
    app.index_history()
    for name in ("Theta", "Kappa"):
        add_commit(root, f"{name} gets the zebra", day=9)
    monkeypatch.setattr("rootle.indexing.commit_index.CommitIndex.update", lambda self, **_: None)

    notes = app.search(SearchQuery("HEAD~3..HEAD")).suggestions
    text = search_folder(app)("HEAD~3..HEAD")

    assert notes[1].startswith("3 commits")
    assert notes[2].startswith("2 of them are not in the history of HEAD, or not indexed")
    assert "3 commits; 2 of them are not in the history of HEAD" in text
    assert "was not available" not in text
    assert text.count("not all commits are indexed") == 1
    monkeypatch.undo()
    assert app.search(SearchQuery("HEAD~3..HEAD")).suggestions[0] == "3 commits"


def test_filters_apply_to_the_commit_of_a_hash(app: App, root: Path) -> None:
    sha = git(root, "rev-parse", "HEAD").strip()

    assert subjects_of(app, f"{sha[:12]} author:ada path:omega.py") == {SUBJECTS[4]}
    answer = app.search(SearchQuery(f"{sha[:12]} author:jane"))
    assert answer.results == ()
    assert answer.suggestions == ("the filters exclude 1 commit with this hash",)


def test_contexts_are_not_available_for_commits(shared: App) -> None:
    with pytest.raises(QueryError, match="commits, which have no context"):
        shared.search(SearchQuery("in:history zebra"), context=True)
    answer = shared.search(SearchQuery(QUESTION), budget=2_000)
    assert find_commits_in(answer) == []
    assert any("commits are not searched" in note for note in answer.suggestions)


def find_commits_in(answer: SearchResponse) -> list[str]:
    return [result.file_path for result in answer.results if result.commit is not None]


def test_a_tag_is_a_date_also_without_indexed_commits_and_in_an_earlier_version(
    root: Path, make_app: MakeApp
) -> None:
    git(root, "tag", "v1.0", "HEAD~3")
    git(root, "tag", "v2.0", "HEAD~1")
    without = make_app(root, max_history_commits=0)
    found = without.search(SearchQuery("zebra since:v2.0")).results
    assert [one.file_path for one in found] == ["omega.py"]

    found = without.search(SearchQuery("zebra since:v1.0"), at="v2.0").results
    assert {one.file_path.partition(":")[2] for one in found} == {"gamma.py", "delta.py"}


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("in:history zebra since:main", "since:main excludes 5 matching commits, such as "),
        ('in:history zebra since:"main"', 'since:"main" excludes 5 matching commits'),
        ("zebra since:main", "since:main excludes 5 matching files, such as "),
    ],
)
def test_notes_quote_a_filter_by_revision_and_count_commits(
    question: str, note: str, shared: App
) -> None:
    response = shared.search(question)
    assert response.results == ()
    assert any(found.startswith(note) for found in response.suggestions), response.suggestions
    assert not any("@" in found for found in response.suggestions)


def test_since_may_be_capitalized(app: App, root: Path) -> None:
    git(root, "tag", "v1.0", "HEAD~2")
    found = app.search(SearchQuery("Since v1.0, what changed in the zebra?")).results
    assert {one.commit.subject for one in found if one.commit} == set(SUBJECTS[3:])


def last_commit_of(app: App, question: str) -> str | None:
    last = app.search(SearchQuery(question)).results[0].last_commit
    return None if last is None else last.subject


def test_an_older_commit_is_never_the_last_one(app: App, root: Path) -> None:
    body = "".join(f"    step_{number}(number={number})\n" for number in range(20))
    text = f"def alpha_0():\n{body}    return 'Alpha'\n\n\ndef other():\n{body}"
    write(root, "alpha.py", text)
    commit_all(root, "Add other", day=8)
    app.index_history()
    question = "alpha_0 Alpha path:alpha.py"
    # The commit also changed the text of alpha_0.
    assert last_commit_of(app, question) == "Add other"

    # The next commit is not indexed yet.
    write(root, "alpha.py", text.replace("'Alpha'", "'Alpha Centauri'"))
    commit_all(root, "Change the star", day=9)
    assert last_commit_of(app, question) is None
    app.index_history()
    assert last_commit_of(app, question) == "Change the star"

    # If a commit changed very many files, only some of them are indexed.
    for number in range(40):
        write(root, f"part_{number:02}.txt", "part\n")
    write(root, "zz.py", text.replace("alpha", "zz"))
    commit_all(root, "Add zz", day=10)
    write(root, "zz.py", text.replace("alpha", "zz").replace("Alpha", "Zebra crossing"))
    for number in range(40):
        write(root, f"part_{number:02}.py", "part = 2\n")
    commit_all(root, "Reformat everything", day=11)
    app.index_history()
    assert last_commit_of(app, "zz_0 path:zz.py") is None


def test_the_last_commit_is_the_last_in_the_history_whatever_its_date(app: App, root: Path) -> None:
    text = "def alpha_0():\n    return 'Alpha'\n"
    write(root, "alpha.py", text)
    commit_all(root, "With a fast clock", day=30)
    write(root, "alpha.py", text.replace("'Alpha'", "'Alpha Centauri'"))
    commit_all(root, "With a right clock", day=9)
    app.index_history()

    assert last_commit_of(app, "alpha_0 Alpha path:alpha.py") == "With a right clock"


def test_the_last_commit_of_a_function_may_precede_many_changes_of_its_file(
    app: App, root: Path
) -> None:
    body = "".join(f"    step_{number}(number={number})\n" for number in range(20))
    text = f"def alpha_0():\n{body}    return 'Centauri'\n\n\ndef other():\n{body}    return 0\n"
    write(root, "alpha.py", text)
    commit_all(root, "Name the star", day=8)
    for number in range(1, 13):
        write(root, "alpha.py", text.replace("return 0", f"return {number}"))
        commit_all(root, f"Change the other function {number}", day=8 + number)
    app.index_history()

    assert last_commit_of(app, "alpha_0 Centauri path:alpha.py") == "Name the star"


def test_the_last_commit_of_a_document_is_that_of_the_file(app: App, root: Path) -> None:
    sections = "Keepers\n=======\n\nThey feed it.\n\nCages\n=====\n\nThey are large.\n"
    write(root, "guide.rst", sections)
    commit_all(root, "Keepers", day=8)
    write(root, "guide.rst", sections.replace("feed it", "feed it daily"))
    commit_all(root, "Feed daily", day=9)
    app.index_history()
    assert last_commit_of(app, "cages keepers path:guide.rst") == "Feed daily"


def test_files_after_commits_have_their_last_commits(app: App) -> None:
    app.index_history()
    files = [one for one in app.search(SearchQuery(QUESTION)).results if one.commit is None]
    assert files
    assert all(one.last_commit is not None for one in files)


def test_notes_quote_a_tag_as_it_was_written(app: App, root: Path) -> None:
    git(root, "tag", "v1.0", "HEAD")
    notes = app.search(SearchQuery("zebra since:v1.0")).suggestions
    assert any("since:v1.0 excludes" in note for note in notes)
    assert not any("since:@" in note for note in notes)


def test_a_commit_that_renamed_a_file_is_found_by_both_paths(root: Path, app: App) -> None:
    git(root, "mv", "omega.py", "last.py")
    commit_all(root, "Rename it", day=20)

    for path in ("omega.py", "last.py"):
        assert "Rename it" in subjects_of(app, f"HEAD~1..HEAD path:{path}")
        assert "Rename it" in subjects_of(app, f"in:history path:{path} rename it")
    found = find_commits(app, "HEAD~1..HEAD")[0].commit
    assert found is not None
    assert [file.path for file in found.files] == ["last.py"]


def test_a_commit_names_the_old_and_the_new_path_of_a_renamed_file(
    root: Path, app: App, make_app: MakeApp
) -> None:
    write(root, "pen/zebra.py", "def count():\n    return 'a whole herd of zebras in a pen'\n")
    write(root, "other.py", "other = 1\n")
    commit_all(root, "Build a pen", day=20)
    git(root, "mv", "pen/zebra.py", "pen/quagga.py")
    write(root, "other.py", "other = 1 + 1\n")
    sha = commit_all(root, "Rename it", day=21)

    data: Any = to_json(app.search(SearchQuery(sha)))["results"][0]["commit"]
    assert data["files"] == [
        {"path": "other.py", "functions": []},
        {"path": "pen/quagga.py", "functions": [], "renamedFrom": "pen/zebra.py"},
    ]
    text = search_folder(app).run(sha).text
    assert "changed: other.py, pen/zebra.py → pen/quagga.py" in text
    assert "renamed: pen/zebra.py → pen/quagga.py" in rootle("search", sha, cwd=root).out
    assert "Renamed: pen/zebra" in rootle("search", sha, "--markdown", cwd=root).out
    below = to_json(make_app(root / "pen").search(SearchQuery(sha)))["results"][0]["commit"]
    assert below["files"] == [{"path": "quagga.py", "functions": [], "renamedFrom": "zebra.py"}]


def test_many_questions_about_the_past_do_not_split_the_hashes_of_all_commits(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    split: list[str] = []
    monkeypatch.setattr("rootle.search.session.path_parts", split.append)

    for _ in range(3):
        app.search(SearchQuery(QUESTION))

    assert "alpha.py" in split  # the paths of files are split in advance
    assert not [path for path in split if path.startswith("git:")]
