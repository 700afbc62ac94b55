"""`App.impact`: the files that probably change together with the given files."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from time import process_time

import pytest
from command import rootle
from commit_repository import commit_files
from commit_writer import init_repository
from sample import OLD_S, MakeApp, git, write

from rootle import App
from rootle.errors import QueryError
from rootle.history.impact_features import NAMES, estimate_probabilities, estimate_probability
from rootle.serialization.history import impact_lines

pytestmark = pytest.mark.slow

_WATCHDOG_S = 20  # the calls took minutes when their time was quadratic
FORMAT = "def format_price(amount):\n    return f'{amount} EUR'\n"
FILES = {
    "shop/price.py": FORMAT,
    "tests/test_price.py": "from shop.price import format_price\n\nassert format_price(1)\n",
    "docs/prices.md": "# Prices\n\nAmounts are shown in euros.\n",
    "shop/mail.py": "def send_letter(address):\n    return deliver(address)\n",
    "shop/stock.py": "def count_items(shelf):\n    return len(shelf)\n",
    "legacy/old.c": "int unrelated_counter;\n",
}


@pytest.fixture
def shop(tmp_path: Path, make_app: MakeApp) -> tuple[Path, App]:
    """Return a repository in which the price changes together with its test and its document."""
    root = tmp_path / "shop"
    init_repository(root)
    for path, text in FILES.items():
        write(root, path, text)
    commit_files(root, "Start")
    for number in range(6):
        together = ("shop/price.py", "tests/test_price.py", "docs/prices.md")
        for path in together if number % 2 else ("shop/mail.py",):
            text = f"{FILES[path]}\nversion_{number} = {number}\n"
            write(root, path, text, when_s=OLD_S + number + 1)
        commit_files(root, f"Change {number}", when_s=OLD_S + (number + 1) * 86_400)
    return root, make_app(root)


def test_the_files_that_changed_together_come_first_with_their_commits(
    shop: tuple[Path, App],
) -> None:
    root, app = shop
    files = app.impact("shop/price.py").files

    assert {file.path for file in files[:2]} == {"tests/test_price.py", "docs/prices.md"}
    by_path = {file.path: file for file in files}
    test, document = by_path["tests/test_price.py"], by_path["docs/prices.md"]
    assert (test.kind, document.kind, by_path["shop/mail.py"].kind) == ("test", "document", "code")
    assert test.cochanges == 4
    assert [commit.subject for commit in test.commits] == ["Change 5", "Change 3", "Change 1"]
    assert test.commits[0].hash == git(root, "rev-parse", "HEAD").strip()
    assert "format_price" in test.references
    probabilities = [file.probability for file in files]
    assert probabilities == sorted(probabilities, reverse=True)
    assert 0 < probabilities[-1] <= probabilities[0] < 1


def test_the_change_can_be_the_work_tree_a_diff_or_a_task(shop: tuple[Path, App]) -> None:
    root, app = shop
    with pytest.raises(QueryError, match="no file has changed"):
        app.impact()
    write(root, "shop/price.py", f"{FORMAT}# changed\n", when_s=None)
    expected = app.impact(["shop/price.py"]).files

    assert app.impact().seeds == ("shop/price.py",)
    assert app.impact().files == expected
    diff = git(root, "diff")
    assert app.impact(diff).seeds == ("shop/price.py",)
    assert app.impact("format the price").seeds[0] == "shop/price.py"


def test_a_task_is_not_about_copies_of_other_projects_unless_it_names_them(
    shop: tuple[Path, App],
) -> None:
    root, app = shop
    copy = "def limit_redirects(request):\n    return request.redirects < 5\n"
    write(root, "shop/_vendor/fetcher/limits.py", copy * 3)
    write(root, "shop/fetch.py", "def fetch(request):\n    return limit_redirects(request)\n")
    commit_files(root, "Fetch")

    assert app.impact("limit the redirects of a request").seeds[0] == "shop/fetch.py"
    seeds = app.impact("limit the redirects of a request in fetcher").seeds
    assert "shop/_vendor/fetcher/limits.py" in seeds


@pytest.mark.parametrize("change", ["shop/price.py:1", "./shop/price.py:1-2", "shop\\price.py"])
def test_a_file_may_be_named_with_a_line(change: str, shop: tuple[Path, App]) -> None:
    assert shop[1].impact(change).seeds == ("shop/price.py",)
    assert shop[1].impact([change]).seeds == ("shop/price.py",)


def test_a_file_name_may_be_escaped_as_in_the_output(shop: tuple[Path, App]) -> None:
    root, app = shop
    write(root, "new\nline.py", "def f(): ...\n")
    assert app.impact("new\\nline.py").seeds == ("new\nline.py",)


def test_a_diff_may_contain_lines_that_resemble_file_headers(shop: tuple[Path, App]) -> None:
    root, app = shop
    write(root, "shop/query.sql", "-- old comment\nselect 1;\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Add a query")
    write(root, "shop/query.sql", "select 1;\n++ counter\n", when_s=None)
    assert app.impact(git(root, "diff")).seeds == ("shop/query.sql",)


@pytest.mark.parametrize("name", ["naïve.py", 'a "b".py', "b\\c.py"])
def test_names_that_git_quotes_in_a_diff_are_understood(name: str, shop: tuple[Path, App]) -> None:
    root, app = shop
    write(root, name, "first = 1\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Add a file")
    write(root, name, "second = 2\n", when_s=None)
    assert app.impact(git(root, "diff")).seeds == (name,)
    git(root, "checkout", "-q", "--", name)
    git(root, "mv", name, "plain.py")
    assert set(app.impact(git(root, "diff", "--cached")).seeds) == {name, "plain.py"}


def test_a_diff_is_understood_in_a_folder_below_the_work_tree(
    shop: tuple[Path, App], make_app: MakeApp
) -> None:
    root = shop[0]
    write(root, "shop/price.py", f"{FORMAT}# changed\n", when_s=None)
    answer = make_app(root / "shop").impact(git(root, "diff"))
    assert answer.seeds == ("price.py",)
    shown = [file.path for one in answer.files for commit in one.commits for file in commit.files]
    assert {"mail.py", "stock.py"} <= set(shown) <= {"price.py", "mail.py", "stock.py"}


def test_commits_of_other_branches_do_not_count(shop: tuple[Path, App], make_app: MakeApp) -> None:
    root, app = shop
    git(root, "worktree", "add", "-q", "-b", "side", root.parent / "side")
    side = root.parent / "side"
    for path in ("shop/price.py", "legacy/old.c"):
        write(side, path, f"{FILES[path]}\n// side\n")
    git(side, "commit", "-qam", "Side")

    def cochanges(folder: App) -> int:
        files = folder.impact("legacy/old.c", 50).files
        return next(one.cochanges for one in files if one.path == "shop/price.py")

    assert (cochanges(app), cochanges(make_app(side))) == (1, 2)


def test_files_are_found_before_commits_are_indexed(
    shop: tuple[Path, App], make_app: MakeApp
) -> None:
    root, app = shop
    app.index()
    answer = make_app(root, enable_indexing=False).impact("shop/price.py")
    assert answer.degraded == ("history",)
    references = {file.path: file.references for file in answer.files}
    assert "format_price" in references["tests/test_price.py"]


def test_several_changed_files_are_not_in_the_answer(shop: tuple[Path, App]) -> None:
    answer = shop[1].impact(["shop/price.py", "docs/prices.md"], 1)
    assert [file.path for file in answer.files] == ["tests/test_price.py"]
    assert answer.files[0].seed in answer.seeds


def test_a_commit_with_many_files_does_not_count(shop: tuple[Path, App]) -> None:
    root, app = shop
    for number in range(40):
        write(root, f"generated/part_{number}.txt", f"part {number}\n")
    write(root, "legacy/old.c", "int unrelated_counter = 1;\n")
    write(root, "shop/stock.py", f"{FILES['shop/stock.py']}\n# changed\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Reformat everything", when_s=OLD_S + 900_000)

    found = {file.path: file for file in app.impact("shop/stock.py", 50).files}
    # The first commit counts; the large one does not.
    assert found["legacy/old.c"].cochanges == 1
    assert not any(path.startswith("generated/") for path in found)


def test_a_file_without_history_has_files_with_shared_names(shop: tuple[Path, App]) -> None:
    root, app = shop
    write(root, "shop/receipt.py", "from shop.price import format_price\n\nformat_price(3)\n")
    found = {file.path: file for file in app.impact("shop/receipt.py").files}
    assert found["shop/price.py"].references == ("format_price",)
    assert found["shop/price.py"].cochanges == 0


def test_the_change_can_be_a_commit_or_a_range(shop: tuple[Path, App]) -> None:
    root, app = shop
    git(root, "switch", "-q", "-c", "topic")
    write(root, "shop/price.py", FORMAT.replace("EUR", "USD"))
    commit_files(root, "Show dollars", when_s=OLD_S + 9 * 86_400)
    write(root, "shop/stock.py", "def count_items(shelf):\n    return sum(shelf)\n")
    last = commit_files(root, "Count all items", when_s=OLD_S + 10 * 86_400)

    assert app.impact("HEAD~1").seeds == ("shop/price.py",)
    assert app.impact(last[:12]).seeds == ("shop/stock.py",)
    assert app.impact("main..topic").seeds == ("shop/price.py", "shop/stock.py")
    assert app.impact("main..").seeds == ("shop/price.py", "shop/stock.py")
    for unknown in ("HEAD~99", "deadbee1"):
        with pytest.raises(QueryError, match=f"git has no commit {unknown}"):
            app.impact(unknown)
    with pytest.raises(QueryError, match="changed no files; name another commit"):
        app.impact("main..main")


def test_a_range_with_three_dots_starts_at_the_common_ancestor(shop: tuple[Path, App]) -> None:
    root, app = shop
    git(root, "switch", "-q", "-c", "topic")
    write(root, "shop/price.py", FORMAT.replace("EUR", "USD"))
    commit_files(root, "Show dollars", when_s=OLD_S + 9 * 86_400)
    git(root, "switch", "-q", "main")
    write(root, "shop/stock.py", "def count_items(shelf):\n    return sum(shelf)\n")
    commit_files(root, "Count all items", when_s=OLD_S + 10 * 86_400)

    assert app.impact("main..topic").seeds == ("shop/price.py", "shop/stock.py")
    assert app.impact("main...topic").seeds == ("shop/price.py",)
    assert app.impact("...topic").seeds == ("shop/price.py",)
    assert app.impact("topic...").seeds == ("shop/stock.py",)

    git(root, "checkout", "-q", "--orphan", "unrelated")
    commit_files(root, "Begin again", when_s=OLD_S + 11 * 86_400)
    for unknown in ("main...unrelated", "main..nowhere", "nowhere.."):
        with pytest.raises(QueryError, match=f"{unknown} is neither an indexed file nor a range"):
            app.impact(unknown)
    with pytest.raises(QueryError, match="is not an indexed file"):
        app.impact("../elsewhere/price.py")


def test_invalid_requests_are_errors(shop: tuple[Path, App], make_app: MakeApp) -> None:
    root, app = shop
    with pytest.raises(QueryError, match="limit is 0; give a number from 1 to 200"):
        app.impact("shop/price.py", 0)
    with pytest.raises(QueryError, match=r"not an indexed file; did you mean shop/price\.py\?"):
        app.impact("shop/prise.py")
    with pytest.raises(QueryError, match=r"not an indexed file; name an indexed file, or describe"):
        app.impact("shop/zebra.rs")
    with pytest.raises(QueryError, match="maxHistoryCommits is 0"):
        make_app(root, max_history_commits=0).impact("shop/price.py")


def test_more_frequent_cochange_is_more_probable() -> None:
    def probability(share: float) -> float:
        values = dict.fromkeys(NAMES, 0.0) | {
            "share": share,
            "share_squared": share**2,
            "reverse_share": share,
            "recent_share": share,
            "year_share": share,
            "folder_share": share,
            "log_count": 5 * share,
            "lift": math.log((share + 0.01) / 0.02),
        }
        return estimate_probability([values[name] for name in NAMES])

    assert 1 > probability(0.9) > probability(0.5) > probability(0.05) > 0


def test_without_candidates_there_are_no_probabilities() -> None:
    assert estimate_probabilities([]) == []


def test_a_misspelled_path_among_others_is_an_error(shop: tuple[Path, App]) -> None:
    root, app = shop
    with pytest.raises(QueryError, match=r"shop/prise\.py is not an indexed file"):
        app.impact(["shop/price.py", "shop/prise.py"])
    for folder in ("shop", "shop/", ["shop/price.py", "shop"]):
        with pytest.raises(QueryError, match=r"shop/? is a folder; name the files in it"):
            app.impact(folder)
    command = rootle("impact", "shop/price.py", "shop/prise.py", "--root", root)
    assert command.code == 2
    assert "shop/prise.py is not an indexed file" in command.err


def test_an_empty_diff_is_an_error(shop: tuple[Path, App]) -> None:
    with pytest.raises(QueryError, match="the diff is empty"):
        shop[1].impact("")


def test_a_diff_without_changed_lines_names_its_files(shop: tuple[Path, App]) -> None:
    root, app = shop
    (root / "shop/mail.py").chmod(0o755)
    write(root, "shop/empty.py", "")
    git(root, "add", "-A")
    assert set(app.impact(git(root, "diff", "--cached")).seeds) == {
        "shop/mail.py",
        "shop/empty.py",
    }


def test_a_diff_without_prefixes_names_its_files(shop: tuple[Path, App]) -> None:
    root, app = shop
    for path in ("a/first.py", "first.py"):
        write(root, path, "first = 1\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Add files")
    write(root, "a/first.py", "first = 2\n", when_s=None)
    assert app.impact(git(root, "diff", "--no-prefix")).seeds == ("a/first.py",)


def test_the_shared_commits_are_counted_among_those_of_the_changed_file(
    shop: tuple[Path, App],
) -> None:
    root, app = shop
    write(root, "shop/price.py", f"{FORMAT}alone = True\n")
    git(root, "commit", "-qam", "Change the price alone")
    for number in range(30):
        write(root, f"many/file_{number}.py", "first = 1\n")
    write(root, "shop/price.py", f"{FORMAT}many = True\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Change many files")
    # Four commits changed both files: the first one, and three later ones.
    text = "\n".join(impact_lines(app.impact("shop/price.py")))
    assert "changed together in 4 of 5 commits" in text
    assert "\n  (without commits that changed 30 or more files)\n" in text

    answer = app.impact(["shop/price.py", "shop/stock.py"])
    assert "changed with shop/price.py in 4 of 5 commits" in "\n".join(impact_lines(answer))


def test_the_only_commit_of_a_file_is_one_of_one(tmp_path: Path, make_app: MakeApp) -> None:
    root = tmp_path / "one"
    root.mkdir()
    git(root, "init", "-q")
    write(root, "app.py", FORMAT)
    write(root, "mail.py", "def send():\n    pass\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Start")
    text = "\n".join(impact_lines(make_app(root).impact("app.py")))
    assert "changed together in 1 of 1 commit: " in text
    assert "%" not in text.partition("changed together")[2]


def test_the_same_commit_is_described_once(tmp_path: Path, make_app: MakeApp) -> None:
    root = tmp_path / "same"
    root.mkdir()
    git(root, "init", "-q")
    for number in range(6):
        write(root, f"part_{number}.py", FORMAT)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Start everything")

    text = "\n".join(impact_lines(make_app(root).impact("part_0.py")))

    assert text.count("Start everything") == 1
    assert text.count("changed together in 1 of 1 commit") == 1
    assert text.count("(code), in the same commit\n") == 4


def test_the_same_commit_is_described_again_for_another_changed_file(
    shop: tuple[Path, App],
) -> None:
    answer = shop[1].impact("legacy/old.c", 3)
    files = [replace(one, cochanges=1, commits=one.commits[-1:]) for one in answer.files]
    files = [replace(files[0], seed="a.c"), replace(files[1], seed="b.c")]
    text = "\n".join(impact_lines(replace(answer, seeds=("a.c", "b.c"), files=tuple(files))))

    assert "in the same commit" not in text
    assert "changed with a.c in 1 of 1 commit: " in text
    assert "changed with b.c in 1 of 1 commit: " in text


def test_the_same_commit_is_not_mentioned_if_no_commit_is_named(shop: tuple[Path, App]) -> None:
    answer = shop[1].impact("legacy/old.c")

    assert "in the same commit" in "\n".join(impact_lines(answer, 1))
    assert "in the same commit" not in "\n".join(impact_lines(answer, 0))


def test_files_without_evidence_are_not_called_similar(shop: tuple[Path, App]) -> None:
    answer = shop[1].impact("shop/stock.py", 50)
    text = "\n".join(impact_lines(answer))
    assert "of the words" not in text
    assert "0% of the highest score" not in text


def test_changes_before_a_file_was_renamed_count(shop: tuple[Path, App]) -> None:
    root, app = shop
    (root / "src").mkdir()
    git(root, "mv", "shop/price.py", "src/price.py")
    git(root, "commit", "-qm", "Move", when_s=OLD_S + 20 * 86_400)
    git(root, "mv", "src/price.py", "src/prices.py")
    git(root, "commit", "-qm", "Rename", when_s=OLD_S + 21 * 86_400)

    files = {file.path: file for file in app.impact("src/prices.py").files}

    assert files["tests/test_price.py"].cochanges == 4


def test_a_change_that_is_one_very_long_word_is_an_error(shop: tuple[Path, App]) -> None:
    _, app = shop
    with pytest.raises(QueryError, match=r"one word of 100,001 characters; pass a diff, the path"):
        app.impact("/" * 100_000 + "x")


def test_a_long_task_may_contain_slashes(shop: tuple[Path, App]) -> None:
    _, app = shop
    task = "format the price " + "/" * 200_000 + " x"
    start = process_time()
    assert app.impact(task).seeds[0] == "shop/price.py"
    assert process_time() - start < _WATCHDOG_S


def test_a_note_says_that_not_all_changed_files_were_used(shop: tuple[Path, App]) -> None:
    root, app = shop
    paths = [f"many/part_{number}.txt" for number in range(50)]
    for path in paths:
        write(root, path, f"{path}\n")
    answer = app.impact(paths)

    assert len(answer.seeds) == 50
    assert answer.suggestions[-1].startswith("only the first 40 of 50 changed files were used")


def test_an_answer_without_files_says_so(tmp_path: Path, make_app: MakeApp) -> None:
    root = tmp_path / "single"
    root.mkdir()
    git(root, "init", "-q")
    write(root, "a.py", "x = 1\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Start")

    lines = list(impact_lines(make_app(root).impact("a.py")))
    assert lines == ["together with a.py:", "no other file found"]
