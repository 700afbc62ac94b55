"""`App.gone`: code that no longer exists, and the commits that removed it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from commit_repository import commit_files
from commit_writer import init_repository
from sample import OLD_S, MakeApp, git, write

from rootle import App
from rootle.errors import QueryError
from rootle.indexing.commit_index import CommitIndex
from rootle.tools import search_folder
from rootle.types import CountedCommits, Removal

pytestmark = pytest.mark.slow

RETRY = '''\
"""Requests."""


# Some servers answer 404 while they start.
def retry_404(status, attempts):
    """Try again after a missing page."""
    remaining = attempts - 1
    return status == 404 and remaining > 0


def fetch_page(url):
    connection = open_connection(url)
    return connection.read_everything()
'''
WITHOUT_RETRY = '''\
"""Requests."""


def fetch_page(url):
    connection = open_connection(url)
    return connection.read_everything()
'''
RENAMED = WITHOUT_RETRY.replace("fetch_page", "download_page")


def make_history(
    root: Path, *commits: tuple[str, Mapping[str, str | None]], step_s: int = 86_400
) -> list[str]:
    """Create a repository with these commits; return the hashes. The text None deletes a file.

    Each commit is `step_s` seconds newer than the one before it.
    """
    init_repository(root)
    hashes = []
    for number, (message, files) in enumerate(commits):
        for path, text in files.items():
            if text is None:
                (root / path).unlink()
            else:
                write(root, path, text)
        hashes.append(commit_files(root, message, when_s=OLD_S + number * step_s))
    return hashes


def find(app: App, query: str) -> list[Removal]:
    return list(app.gone(query).removals)


@pytest.mark.parametrize(
    "query", ["retry_404", "retry404()", "retry on 404", '"status == 404 and remaining"']
)
def test_a_removed_function_is_found_with_the_commit_that_removed_it(
    query: str, tmp_path: Path, make_app: MakeApp
) -> None:
    hashes = make_history(
        tmp_path / "repo",
        ("Add requests", {"net/request.py": RETRY}),
        ("Fail at once on a missing page", {"net/request.py": WITHOUT_RETRY}),
        ("Unrelated", {"README.md": "A text about something else.\n"}),
    )
    found = find(make_app(tmp_path / "repo"), query)[0]

    assert found.commit.hash == hashes[1]
    assert found.commit.subject == "Fail at once on a missing page"
    assert (found.path, found.name, found.start_line) == ("net/request.py", "retry_404", 4)
    assert found.lines[1] == "def retry_404(status, attempts):"
    assert not any("fetch_page" in line for line in found.lines)


@pytest.mark.slow
def test_a_function_is_found_by_its_body_if_many_messages_contain_the_words(
    tmp_path: Path, make_app: MakeApp
) -> None:
    wanted = (
        "def zz(lock):\n"
        '    """Wait until no other process writes."""\n'
        "    while lock.is_held_by_other_process():\n"
        "        sleep_briefly(lock)\n"
    )
    others = "".join(f"def handle_{at}():\n    return dispatch({at})\n\n\n" for at in range(140))
    messages = [f"Describe waiting for the lock of another process {at}" for at in range(50)]
    hashes = make_history(
        tmp_path / "repo",
        ("Add", {"net.py": others + wanted, "kept.py": "def main():\n    return 1\n"}),
        ("Clean up", {"net.py": None}),
        *((message, {f"{message[-2:]}.txt": "A note.\n"}) for message in messages),
    )
    found = find(make_app(tmp_path / "repo"), "wait for the lock of another process")[0]

    assert (found.commit.hash, found.name) == (hashes[1], "zz")
    assert (found.start_line, len(found.lines)) == (4 * 140 + 1, 4)


@pytest.mark.parametrize("query", ["unknown_name", "render a triangle mesh"])
def test_nothing_is_found_if_no_removed_code_has_a_word_of_the_question(
    query: str, tmp_path: Path, make_app: MakeApp
) -> None:
    make_history(
        tmp_path / "repo",
        ("Add requests", {"net/request.py": RETRY}),
        ("Fail at once on a missing page", {"net/request.py": WITHOUT_RETRY}),
    )
    assert find(make_app(tmp_path / "repo"), query) == []


def test_a_comment_is_no_definition(tmp_path: Path, make_app: MakeApp) -> None:
    make_history(
        tmp_path / "repo",
        ("Add requests", {"net/request.py": RETRY}),
        ("Fail at once on a missing page", {"net/request.py": WITHOUT_RETRY}),
    )
    names = [one.name for one in find(make_app(tmp_path / "repo"), "servers answer 404")]

    assert names == ["retry_404"]


def test_renamed_and_moved_code_is_not_gone(tmp_path: Path, make_app: MakeApp) -> None:
    make_history(
        tmp_path / "repo",
        ("Add", {"a.py": WITHOUT_RETRY}),
        ("Move", {"a.py": None, "deep/b.py": WITHOUT_RETRY}),
        ("Rename", {"deep/b.py": RENAMED}),
    )
    app = make_app(tmp_path / "repo")
    assert [one.name for one in find(app, "fetch_page") if one.name] == []
    assert find(app, '"connection.read_everything()"') == []


def test_code_that_was_moved_by_two_commits_is_not_gone(tmp_path: Path, make_app: MakeApp) -> None:
    make_history(
        tmp_path / "repo",
        ("Add", {"a.py": RETRY}),
        ("Copy", {"b.py": RETRY}),
        ("Remove the original", {"a.py": WITHOUT_RETRY}),
    )
    assert find(make_app(tmp_path / "repo"), "retry_404") == []


def test_the_last_removal_counts_if_code_was_restored_in_between(
    tmp_path: Path, make_app: MakeApp
) -> None:
    hashes = make_history(
        tmp_path / "repo",
        ("Add", {"a.py": RETRY}),
        ("Remove", {"a.py": WITHOUT_RETRY}),
        ("Revert", {"a.py": RETRY}),
        ("Remove for good", {"a.py": WITHOUT_RETRY}),
    )
    app = make_app(tmp_path / "repo")
    found = [one.commit.hash for one in find(app, "retry_404") if one.name == "retry_404"]
    assert found == [hashes[3]]

    git(tmp_path / "repo", "revert", "--no-edit", hashes[3], when_s=OLD_S + 900_000)
    assert [one for one in find(app, "retry_404") if one.name] == []


@pytest.mark.parametrize("step_s", [0, -86_400], ids=["equal dates", "skewed dates"])
def test_removals_of_one_name_are_in_the_order_of_the_history(
    step_s: int, tmp_path: Path, make_app: MakeApp
) -> None:
    paths = ["b.py", "d.py", "a.py", "c.py"]
    edits = {path: RETRY.replace("remaining", f"left_{path[0]}") for path in paths}
    hashes = make_history(
        tmp_path / "repo",
        ("Add", edits),
        *((f"Shorten {path}", {path: WITHOUT_RETRY}) for path in paths),
        step_s=step_s,
    )
    found = find(make_app(tmp_path / "repo"), "retry_404")

    assert [one.commit.hash for one in found] == hashes[:0:-1]


@pytest.mark.parametrize("step_s", [0, -86_400], ids=["equal dates", "skewed dates"])
def test_the_last_removal_counts_whatever_the_dates(
    step_s: int, tmp_path: Path, make_app: MakeApp
) -> None:
    hashes = make_history(
        tmp_path / "repo",
        ("Add", {"a.py": RETRY}),
        ("Remove", {"a.py": WITHOUT_RETRY}),
        ("Revert", {"a.py": RETRY}),
        ("Remove for good", {"a.py": WITHOUT_RETRY}),
        step_s=step_s,
    )
    found = [one for one in find(make_app(tmp_path / "repo"), "retry_404") if one.name]

    assert [one.commit.hash for one in found] == [hashes[3]]


def test_since_a_tag_finds_removals_of_a_branch_that_was_merged_after_it(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = tmp_path / "repo"
    make_history(root, ("Add retries", {"net.py": RETRY, "b.py": "x = 1\n"}))
    git(root, "checkout", "-q", "-b", "side")
    write(root, "net.py", WITHOUT_RETRY)
    git(root, "commit", "-qam", "Remove it", when_s=OLD_S + 1)
    git(root, "checkout", "-q", "main")
    write(root, "b.py", "x = 22\n")
    git(root, "commit", "-qam", "Release", when_s=OLD_S + 86_400)
    git(root, "tag", "v1.0")
    git(root, "merge", "-q", "-m", "Merge", "side", when_s=OLD_S + 2 * 86_400)
    app = make_app(root)

    assert [one.name for one in find(app, "retry_404 since:v1.0")] == ["retry_404"]
    assert find(app, "retry_404 until:v1.0") == []


def test_each_function_of_a_large_deleted_file_is_found(tmp_path: Path, make_app: MakeApp) -> None:
    names = [f"convert_{word}_{at}" for at in range(40) for word in ("metre", "gram", "litre")]
    body = "    scaled_value = value * {at}\n    return rounded(scaled_value, digits={at})\n"
    text = "".join(f"def {name}(value):\n{body.format(at=at)}\n" for at, name in enumerate(names))
    hashes = make_history(
        tmp_path / "repo", ("Add", {"units.py": text, "b.py": RETRY}), ("Drop", {"units.py": None})
    )
    app = make_app(tmp_path / "repo")
    for name in (names[0], names[60], names[-1]):
        found = find(app, name)[0]
        assert (found.name, found.path, found.commit.hash) == (name, "units.py", hashes[1])


def test_each_function_of_a_deleted_component_is_found(
    tmp_path: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def text(file: int) -> str:
        return "".join(
            f"def herd_{file}_{at}(animals):\n" + "    animals.count_the_zebra(1)\n" * 12 + "\n"
            for at in range(30)
        )

    files = {f"zoo/f{number:02}.py": text(number) for number in range(40)}
    assert sum(map(len, files.values())) > 400_000
    hashes = make_history(
        tmp_path / "repo",
        ("Add", {**files, "b.py": RETRY}),
        ("Drop the zoo", dict.fromkeys(files)),
    )
    monkeypatch.setattr(
        CommitIndex, "find_by_count", lambda *_: CountedCommits((), is_complete=False)
    )
    app = make_app(tmp_path / "repo")

    for name in ("herd_0_0", "herd_39_29"):
        found = find(app, name)[0]
        assert (found.name, found.commit.hash) == (name, hashes[1])


def test_a_search_that_git_did_not_finish_is_reported(
    tmp_path: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_history(
        tmp_path / "repo", ("Add", {"a.py": RETRY}), ("Drop", {"a.py": None, "b.py": "x = 1\n"})
    )
    monkeypatch.setattr(
        CommitIndex, "find_by_count", lambda *_: CountedCommits((), is_complete=False)
    )
    app = make_app(tmp_path / "repo")

    assert any("did not search all commits" in note for note in app.gone("shear_sheep").suggestions)
    assert not any("in time" in note for note in app.gone("retry_404").suggestions)


def test_secrets_and_ignored_files_are_not_shown(tmp_path: Path, make_app: MakeApp) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    secret = (
        f'def open_service():\n    service_token = "{token}"\n    return connect(service_token)\n'
    )
    make_history(
        tmp_path / "repo",
        ("Add", {"a.py": secret, "local/b.py": secret.replace("open_", "start_")}),
        ("Remove", {"a.py": "x = 1\n", "local/b.py": None, ".gitignore": "local/\n"}),
    )
    app = make_app(tmp_path / "repo")
    found = find(app, "open_service")[0]
    assert found.name == "open_service"
    assert token not in "\n".join(found.lines)
    assert [one.path for one in find(app, "start_service")] in ([], ["a.py"])


def test_only_code_below_the_folder_is_found(tmp_path: Path, make_app: MakeApp) -> None:
    make_history(
        tmp_path / "repo",
        ("Add", {"net/a.py": RETRY, "other/b.py": RETRY.replace("retry_404", "retry_410")}),
        ("Remove", {"net/a.py": WITHOUT_RETRY, "other/b.py": WITHOUT_RETRY}),
    )
    app = make_app(tmp_path / "repo/net")
    assert [(one.path, one.name) for one in find(app, "retry_404")][:1] == [("a.py", "retry_404")]
    assert "retry_410" not in {one.name for one in find(app, "retry_410")}


def test_ignored_files_do_not_displace_others(tmp_path: Path, make_app: MakeApp) -> None:
    ignored = {f"local/{at}.py": RETRY.replace("missing page", f"page {at}") for at in range(8)}
    make_history(
        tmp_path / "repo",
        ("Add", {**ignored, "net/request.py": RETRY}),
        ("Remove", {"net/request.py": WITHOUT_RETRY}),
        ("Remove", {**dict.fromkeys(ignored), ".gitignore": "local/\n"}),
    )
    found = make_app(tmp_path / "repo").gone("retry_404", 2).removals
    assert [(one.path, one.name) for one in found][:1] == [("net/request.py", "retry_404")]


def test_only_commits_of_the_checked_out_branch_are_searched(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = tmp_path / "repo"
    make_history(root, ("Add", {"a.py": WITHOUT_RETRY}))
    git(root, "worktree", "add", "-q", "-b", "side", tmp_path / "side")
    for message, text in (("Try", RETRY), ("Give up", "x = 1\n")):
        write(tmp_path / "side", "b.py", text)
        git(tmp_path / "side", "add", "-A")
        git(tmp_path / "side", "commit", "-qm", message)

    assert find(make_app(root), "retry_404") == []
    assert find(make_app(tmp_path / "side"), "retry_404")[0].commit.subject == "Give up"


def test_a_commit_is_described_relative_to_the_folder(tmp_path: Path, make_app: MakeApp) -> None:
    make_history(
        tmp_path / "repo",
        ("Add", {"net/a.py": RETRY, "other/b.py": "x = 1\n"}),
        ("Remove", {"net/a.py": WITHOUT_RETRY, "other/b.py": "x = 1000\n"}),
    )
    found = find(make_app(tmp_path / "repo/net"), "retry_404")[0]
    assert [file.path for file in found.commit.files] == ["a.py"]


def test_an_index_without_commits_that_must_not_be_written_is_reported(
    tmp_path: Path, make_app: MakeApp
) -> None:
    make_history(tmp_path / "repo", ("Add", {"a.py": RETRY}))
    make_app(tmp_path / "repo").index()
    answer = make_app(tmp_path / "repo", enable_indexing=False).gone("retry_404")
    assert (answer.removals, answer.degraded) == ((), ("history",))
    assert "enableIndexing is false" in answer.suggestions[0]


def test_a_query_without_words_or_history_is_an_error(tmp_path: Path, make_app: MakeApp) -> None:
    make_history(tmp_path / "repo", ("Add", {"a.py": RETRY}))
    app = make_app(tmp_path / "repo")
    with pytest.raises(QueryError, match="no words"):
        app.gone("?!")
    with pytest.raises(QueryError, match="limit is 0; give a number from 1 to 100"):
        app.gone("retry", 0)
    without = make_app(tmp_path / "repo", max_history_commits=0)
    with pytest.raises(QueryError, match="maxHistoryCommits is 0"):
        without.gone("retry")


def test_an_agent_asks_with_gone_in_the_query(tmp_path: Path, make_app: MakeApp) -> None:
    hashes = make_history(
        tmp_path / "repo",
        ("Add requests", {"net/request.py": RETRY}),
        ("Fail at once", {"net/request.py": WITHOUT_RETRY}),
    )
    tool = search_folder(make_app(tmp_path / "repo"))
    answer = tool.run("gone:retry on 404")
    assert f"removed by {hashes[1][:12]}" in answer.text
    assert "-def retry_404(status, attempts):" in answer.text
    assert answer.data["results"][0]["source"] == hashes[1]
    assert "No removed code matches" in tool.run("gone:zebra_stripes").text
    assert tool.run("gone:").is_error


def test_filters_apply_to_removed_code(tmp_path: Path, make_app: MakeApp) -> None:
    script = "function retry404(status) {\n  return status == 404 && attempts < 3\n}\n"
    make_history(
        tmp_path / "repo",
        ("Add", {"net/a.py": RETRY, "web/b.js": script}),
        ("Remove", {"net/a.py": WITHOUT_RETRY, "web/b.js": "let x = 1\n"}),
    )
    app = make_app(tmp_path / "repo")
    assert {one.path for one in find(app, "retry 404")} == {"net/a.py", "web/b.js"}
    assert {one.path for one in find(app, "retry 404 lang:js")} == {"web/b.js"}
    assert {one.path for one in find(app, "retry 404 path:net")} == {"net/a.py"}
    assert find(app, "retry 404 author:nobody") == []
    tool = search_folder(app)
    assert "net/a.py" not in tool.run("gone:retry 404", path="web").text
    assert "web/b.js" not in tool.run("gone:retry 404", language="python").text


def test_a_method_is_not_inside_the_one_before_it(tmp_path: Path, make_app: MakeApp) -> None:
    body = "".join(f"        step_{number}()\n" for number in range(9))
    before = f"class Shop:\n    def open(self):\n{body}\n    def close_early(self):\n{body}"
    after = before[: before.index("    def close_early")]
    make_history(tmp_path / "repo", ("Add", {"a.py": before}), ("Remove", {"a.py": after}))
    found = find(make_app(tmp_path / "repo"), "close_early")[0]
    assert (found.name, found.scope) == ("close_early", "")


def test_code_that_a_merge_removes_is_found(tmp_path: Path, make_app: MakeApp) -> None:
    root = tmp_path / "repo"
    make_history(root, ("Add", {"net/a.py": RETRY}))
    git(root, "checkout", "-q", "-b", "side")
    write(root, "net/a.py", f"{RETRY}\n\nside = 1\n")
    git(root, "commit", "-qam", "Side")
    git(root, "checkout", "-q", "main")
    write(root, "net/a.py", f"main = 1\n\n\n{RETRY}")
    git(root, "commit", "-qam", "Main")
    git(root, "merge", "-q", "--no-commit", "side")
    write(root, "net/a.py", f"main = 1\n\n\n{WITHOUT_RETRY}\n\nside = 1\n")
    git(root, "commit", "-qam", "Merge and give up", when_s=OLD_S + 9 * 86_400)
    app = make_app(root)
    assert find(app, "retry_404")[0].commit.subject == "Merge and give up"


MAILER = """\
class Mailer:
    name = "mailer"

    def flush(self):
        for letter in self.outbox:
            self.smtp.send_letter(letter)
        self.outbox.clear()


"""
LEDGER = """\
class Ledger:
    name = "ledger"

    def flush(self):
        for entry in self.entries:
            self.database.insert_entry(entry)
        self.entries = []
"""


def _cut_flush(text: str) -> str:
    return text[: text.index("    def flush")]


def test_methods_of_different_classes_with_the_same_name_are_both_found(
    tmp_path: Path, make_app: MakeApp
) -> None:
    hashes = make_history(
        tmp_path / "repo",
        ("Add", {"jobs.py": MAILER + LEDGER}),
        ("Mailer sends at once", {"jobs.py": _cut_flush(MAILER) + LEDGER}),
        ("Ledger writes at once", {"jobs.py": _cut_flush(MAILER) + _cut_flush(LEDGER)}),
    )
    app = make_app(tmp_path / "repo")
    named = [one.commit.hash for one in find(app, "flush") if one.name == "flush"]
    assert sorted(named) == sorted(hashes[1:])
    assert find(app, "Mailer.flush")[0].commit.hash == hashes[1]
    assert find(app, "Ledger.flush")[0].commit.hash == hashes[2]


def test_the_last_removal_counts_for_quoted_lines_too(tmp_path: Path, make_app: MakeApp) -> None:
    other = RETRY.replace("status == 404 and remaining", "status == 404 and attempts")
    hashes = make_history(
        tmp_path / "repo",
        ("Add", {"a.py": RETRY}),
        ("Change", {"a.py": other}),
        ("Revert", {"a.py": RETRY}),
        ("Change again", {"a.py": other}),
    )
    found = find(make_app(tmp_path / "repo"), '"404 and remaining"')
    assert [one.commit.hash for one in found] == [hashes[3]]


@pytest.mark.parametrize("calls", ["", "\n\nload = fetch_page_now\n"])
def test_the_name_of_a_renamed_function_is_found_in_the_commit_that_renamed_it(
    calls: str, tmp_path: Path, make_app: MakeApp
) -> None:
    before = WITHOUT_RETRY.replace("fetch_page", "fetch_page_now") + calls
    similar = "def fetch_page_later(url):\n    queue_of_pages.append(url)\n    return None\n"
    hashes = make_history(
        tmp_path / "repo",
        ("Add", {"net/a.py": before, "net/b.py": similar}),
        ("Remove fetch_page_later", {"net/b.py": "x = 1\n"}),
        ("Download pages", {"net/a.py": before.replace("fetch_page_now", "download_page")}),
        ("Unrelated", {"README.md": "A text about something else.\n"}),
    )
    answer = make_app(tmp_path / "repo").gone("fetch_page_now")
    assert answer.removals[0].commit.hash == hashes[2]
    assert "fetch_page_now" in "\n".join(answer.removals[0].lines)
    assert 'no removed definition with the name "fetch_page_now"' in answer.suggestions[0]


def test_similar_names_are_marked_as_such(tmp_path: Path, make_app: MakeApp) -> None:
    make_history(
        tmp_path / "repo",
        ("Add requests", {"net/request.py": RETRY}),
        ("Fail at once on a missing page", {"net/request.py": WITHOUT_RETRY}),
    )
    app = make_app(tmp_path / "repo")
    answer = app.gone("retry_404_pages")
    assert [one.name for one in answer.removals] == ["retry_404"]
    assert 'no removed code with the name "retry_404_pages"' in answer.suggestions[0]
    assert app.gone("retry_404").suggestions == ()


@pytest.mark.parametrize("query", ["retry\0count", "\ud800 retry_count"])
def test_a_query_that_git_cannot_read_has_an_answer(
    query: str, tmp_path: Path, make_app: MakeApp
) -> None:
    make_history(tmp_path / "repo", ("Add", {"a.py": "x = 1\n"}))
    assert find(make_app(tmp_path / "repo"), query) == []


def test_a_note_says_that_changes_are_hidden_because_of_secrets(
    tmp_path: Path, make_app: MakeApp
) -> None:
    body = "\n".join("MIIEowIBAAKCAQEA" + "b3Ry" * 12 for _ in range(12))
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    code = f'def load_signing():\n    return """\n{key}\n"""\n\n\ndef tail_part():\n    return 1\n'
    make_history(
        tmp_path / "repo",
        ("Add", {"a.py": code}),
        ("Remove load_signing", {"a.py": "def tail_part():\n    return 1\n"}),
    )
    answer = make_app(tmp_path / "repo").gone("load_signing")
    assert answer.removals == ()
    (note,) = answer.suggestions
    assert "are hidden, because the files may contain secrets" in note


COLLECTOR = """\
package kafka

// Collector pushes the samples of a test run to a Kafka topic.
type Collector struct {
\tProducer string
\tTopic    string
}

// PublishSamples sends all buffered samples to the broker.
func (c *Collector) PublishSamples(samples []string) error {
\tfor _, message := range formatSamples(samples) {
\t\tif err := c.sendMessage(message); err != nil {
\t\t\treturn err
\t\t}
\t}
\treturn nil
}
"""
PUBLISHES = "collector that publishes samples to a broker"


@pytest.mark.parametrize("folder", ["vendor/example.org/kafka", "third_party/kafka", "extensions"])
def test_an_answer_says_where_code_is_that_was_moved(
    folder: str, tmp_path: Path, make_app: MakeApp
) -> None:
    place = f"{folder}/collector.go"
    make_history(
        tmp_path / "repo",
        ("Add the collector", {"stats/collector.go": COLLECTOR, "main.go": "package main\n"}),
        ("Move the collector out", {"stats/collector.go": None}),
        ("Use the moved collector", {place: COLLECTOR.replace("package kafka", "package sink")}),
    )
    app: App = make_app(tmp_path / "repo")

    answer = app.gone(PUBLISHES)

    assert answer.removals == ()
    assert answer.suggestions[0].startswith("not gone, because it was moved: ")
    assert f"PublishSamples, from stats/collector.go to {place}" in answer.suggestions[0]
    assert place in app.gone("PublishSamples").suggestions[0]


def test_code_is_found_that_was_moved_to_a_vendored_folder_and_deleted_there(
    tmp_path: Path, make_app: MakeApp
) -> None:
    place = "vendor/example.org/kafka/collector.go"
    vendored = COLLECTOR.replace("package kafka", "package sink")
    hashes = make_history(
        tmp_path / "repo",
        ("Add the collector", {"stats/collector.go": COLLECTOR, "main.go": "package main\n"}),
        ("Make the collector an extension", {"stats/collector.go": None, place: vendored}),
        ("Delete the deprecated output", {place: None}),
    )
    app: App = make_app(tmp_path / "repo")

    for query in (PUBLISHES, "PublishSamples"):
        first = find(app, query)[0]
        assert (first.path, first.name) == ("stats/collector.go", "PublishSamples")
        assert (first.commit.hash, first.moved_to) == (hashes[1], place)
    text = search_folder(app).run("gone: PublishSamples").text
    assert f"moved to {place}, where it no longer is" in text


def test_what_only_a_change_of_many_files_removed_is_found(
    tmp_path: Path, make_app: MakeApp
) -> None:
    files = {
        f"pkg/part_{at:03}.py": f"import old\n\nSIZE_{at} = old.read({at})\n" for at in range(110)
    }
    last = "pkg/part_109.py"
    files[last] += "# Wait until the coordinator has drained its backlog.\nold.settle(40)\n"
    changed = {path: text.replace("old", "new") for path, text in files.items()}
    changed[last] = "import new\n\nSIZE_109 = new.read(109)\n"
    hashes = make_history(
        tmp_path / "repo", ("Add all parts", files), ("Switch to the new reader", changed)
    )
    app: App = make_app(tmp_path / "repo")

    removal = find(app, "wait until the coordinator drained the backlog")[0]
    past = app.search("why was the wait for the coordinator backlog removed").results[0]

    assert (removal.path, removal.commit.hash) == (last, hashes[1])
    assert past.commit is not None
    assert past.commit.hash == hashes[1]
    assert "drained its backlog" in past.snippet
