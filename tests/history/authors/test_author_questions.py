"""Questions that name an author are recognized, and other questions with the same words are not."""

from __future__ import annotations

import pytest

from rootle.history.authors.author_request import Repository, allows_author, rewrite_question
from rootle.history.authors.known_authors import KnownAuthors
from rootle.search.query.operators import parse_query

AUTHORS = (
    *["Ada Lovelace <ada@example.org>"] * 3,
    "Dan Brown <dan@x.org>",
    "Daniel Graña <dgrana@x.org>",
    "James O'Neil <jo@x.org>",
    "Max Planck <mp@x.org>",
    "Grace Brewster Hopper <gbh@x.org>",
    "renewer[bot] <renewer@x.org>",
    "Quick Fox <1234+swiftfox@users.noreply.github.com>",
)
# Git takes "added" for the beginning of a hash.
REVISIONS = ("v2.0", "v1", "rel_1_0", "topic", "HEAD", "HEAD~2", "8eec5ca", "added")
REPOSITORY = Repository(
    KnownAuthors(AUTHORS),
    find_date=lambda name: 1.0 if name in REVISIONS else None,
    is_place=lambda name: name in ("Request", "Planck"),
    is_folder=lambda path: path == "src",
)


def rewrite(question: str) -> str | None:
    parsed = parse_query(question)
    if not allows_author(parsed):
        return None
    request = rewrite_question(question, parsed, REPOSITORY)
    return None if request is None else request.text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("commits by Ada", "in:history author:Ada"),
        ("commits by ada lovelace", 'in:history author:"ada lovelace"'),
        ("Commits from Ada Lovelace?", 'in:history author:"Ada Lovelace"'),
        ("show me the last 5 commits by Ada", "in:history author:Ada"),
        ("commits by @swiftfox", "in:history author:swiftfox"),
        ("commits by renewer", "in:history author:renewer"),
        ("commits by author Ada", "in:history author:Ada"),
        ("commits by James O'Neil", 'in:history author:"James O\'Neil"'),
        ("how many commits did Ada make", "in:history author:Ada"),
        ("Ada's latest commits", "in:history author:Ada"),
        (
            "commits that Ada made in March 2021",
            "in:history author:Ada since:2021-03 until:2021-03",
        ),
        ("the last thing Ada changed", "in:history author:Ada"),
        ("code written by ada", "in:history author:ada"),
        ("last commits of Ada", "in:history author:Ada"),
        ("commits by ada lovelace about retries", 'in:history author:"ada lovelace" retries'),
        ("commits by Ada about the command line", "in:history author:Ada the command line"),
        ("commits by Ada about declaration tags", "in:history author:Ada declaration tags"),
        ("commits by Ada regarding origin checks", "in:history author:Ada origin checks"),
        ("commits by Ada related to change lists", "in:history author:Ada change lists"),
        ("what did Ada change in main loop", "in:history author:Ada main loop"),
        ("what did Ada fix in plugin loading", "in:history author:Ada fix in plugin loading"),
        ("what changed in src/a.py by Ada", "in:history author:Ada path:src/a.py"),
        ("what has changed in Request by Ada", "in:history author:Ada what changed in Request"),
        ("what changed in the scheduler by ada", "in:history author:ada the scheduler"),
        (
            "what changed in src by Ada since 2.0",
            "in:history author:Ada since:v2.0 path:src/",
        ),
        ("commits that touched auto reload by Ada", "in:history author:Ada auto reload"),
        (
            "commits about the exchange of change lists by Ada",
            "in:history author:Ada the exchange of change lists",
        ),
        ("commits about undo in editing by Ada", "in:history author:Ada undo in editing"),
        ("changes to the scheduler by Ada", "in:history author:Ada the scheduler"),
        ("why did Ada remove the retry", "in:history author:Ada remove the retry"),
        ("bug fixes by Ada", "in:history author:Ada bug fixes"),
        (
            "in:history commits by ada@example.org about retries",
            "author:ada@example.org in:history retries",
        ),
        ("what did Ada change in src/parser", "in:history author:Ada path:src/parser"),
        ("what did Ada change in src", "in:history author:Ada path:src/"),
        ("did Ada touch app.py", "in:history author:Ada path:app.py"),
        ("what has Ada been working on last week", "in:history author:Ada since:1week"),
        ("what did Ada do in the last 3 months", "in:history author:Ada since:3months"),
        ("commits by Ada between 2020 and 2021", "in:history author:Ada since:2020 until:2021"),
        ("commits by Ada since 2.0", "in:history author:Ada since:v2.0"),
        ("which commits did Ada make since v1", "in:history author:Ada since:v1"),
        ("commits by Ada since rel_1_0", "in:history author:Ada since:rel_1_0"),
        ("commits by Ada since the topic", "in:history author:Ada since:topic"),
        ("commits by Ada after the branch topic", "in:history author:Ada since:topic"),
        ("commits by Ada since HEAD~2", "in:history author:Ada since:HEAD~2"),
        ("commits by Ada since commit 8eec5ca", "in:history author:Ada since:8eec5ca"),
        ("commits by Ada between v1 and HEAD", "in:history author:Ada since:v1 until:HEAD"),
        ("commits by Ada since v1 and until v2.0", "in:history author:Ada since:v1 until:v2.0"),
        ("commits by Ada until topic.", "in:history author:Ada until:topic"),
        ("commits by Ada since lunch", "in:history author:Ada since lunch"),
        ("commits by Ada since added", "in:history author:Ada since added"),
        ("when did Ada change Request", "in:history author:Ada who changed Request"),
        ("commits by Ada path:src", "in:history author:Ada path:src"),
        ('commits by Ada about "max retries"', 'in:history author:Ada max retries "max retries"'),
    ],
)
def test_the_commits_of_the_author_are_asked_for(question: str, expected: str) -> None:
    assert rewrite(question) == expected


def test_a_name_means_whole_words_regardless_of_case_and_accents() -> None:
    # A filter "author:Dan" would also find Daniel.
    assert rewrite("commits by dan") == 'in:history author:"Dan Brown <dan@x.org>"'
    accented = 'in:history author:"Daniel Graña <dgrana@x.org>"'
    assert rewrite("commits by daniel grana") == accented
    hopper = 'in:history author:"Grace Brewster Hopper <gbh@x.org>"'
    assert rewrite("commits by Grace Hopper") == hopper
    assert rewrite("commits by Lovel") is None


@pytest.mark.parametrize(
    "question",
    [
        "written by hand",
        "keys sorted by date",
        "commits sorted by date",
        "changes by default",
        "values changed by default",
        "commits grouped by user",
        "commits by Linus",
        "what did the parser change",
        "why did max change",
        "when was max changed",
        "how is max computed",
        "the list's changes",
        "last commits of Planck",
        "in:code commits by Ada",
        "commits by Ada author:bob",
        "who is Ada",
        "",
    ],
)
def test_other_questions_stay_as_they_are(question: str) -> None:
    assert not question or rewrite(question) is None
