"""`rootle search`: text output, JSON output and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Outcome, rootle
from sample import FILES, QUESTIONS, MakeApp, git, make_repository, many_files, write

from rootle.tools import create_tools

pytestmark = pytest.mark.slow

_RESPONSE = {
    "results",
    "nextCursor",
    "degraded",
    "confident",
    "generation",
    "tookMs",
    "suggestions",
    "memories",
    "revision",
}
_RESULT = {
    "filePath",
    "startLine",
    "endLine",
    "snippet",
    "score",
    "source",
    "metadata",
    "scope",
    "moreSpans",
    "duplicates",
    "translations",
    "context",
    "kind",
}


def _assert_refused(outcome: Outcome) -> None:
    assert outcome.code == 2
    assert outcome.out == ""
    assert len(outcome.err.splitlines()) == 1, outcome.err


def test_json_has_exactly_the_documented_keys(repository: Path) -> None:
    outcome = rootle("search", "retry_backoff", "--json", cwd=repository)
    assert (outcome.code, outcome.err) == (0, "")
    assert set(outcome.data) == _RESPONSE | {"symbols"}
    first = outcome.data["results"][0]
    assert set(first) == _RESULT
    assert set(first["metadata"]) == {"lastModified", "language", "fileSizeBytes"}
    assert first["filePath"] == "src/net/retry.py"
    assert first["source"] in ("dense", "sparse", "merged")
    assert 0 <= first["score"] <= 1
    assert first["metadata"]["fileSizeBytes"] == len(FILES["src/net/retry.py"])
    explained = rootle("search", "retry_backoff", "--json", "--explain", cwd=repository)
    assert set(explained.data) == _RESPONSE | {"interpretation", "symbols"}
    assert set(explained.data["results"][0]) == _RESULT | {"explanation"}


def test_piped_output_is_stable_and_without_color(repository: Path) -> None:
    first = rootle("search", "retry_backoff", "-n", "1", cwd=repository)
    second = rootle("search", "retry_backoff", "-n", "1", cwd=repository)
    assert first == second
    assert first.err == ""
    assert "\x1b" not in first.out
    head, *lines = first.out.splitlines()
    assert head.startswith("src/net/retry.py:")
    assert any("def retry_backoff" in line for line in lines)


def test_color_can_be_requested(repository: Path) -> None:
    outcome = rootle("search", "retry_backoff", "--color", "always", cwd=repository)
    assert "\x1b[1;36m" in outcome.out
    assert "\x1b[1;31m" in outcome.out  # the words of the question are highlighted
    assert "\x1b" not in rootle("search", "retry", "--color", "never", cwd=repository).out
    filtered = rootle(
        "search", "retry path:net lang:python -wolf", "--color", "always", cwd=repository
    )
    assert "\x1b[1;31mretry" in filtered.out
    assert "\x1b[1;31mnet" not in filtered.out


def test_a_path_is_relative_to_the_current_folder_or_else_to_the_project(repository: Path) -> None:
    def find_in(path: str, folder: str) -> set[str]:
        outcome = rootle("search", "retry", "--path", path, "--json", cwd=repository / folder)
        return {one["filePath"] for one in outcome.data["results"]}

    expected = find_in("src/net", ".")
    assert expected
    assert all(path.startswith("src/net/") for path in expected)
    assert find_in("net", "src") == expected
    assert find_in(".", "src/net") == expected
    assert find_in("src/net", "src") == expected
    assert find_in(str(repository / "src/net"), "docs") == expected


def test_several_arguments_are_one_question(repository: Path) -> None:
    apart = rootle("search", "validate", "access", "token", "--json", cwd=repository)
    together = rootle("search", "validate access token", "--json", cwd=repository)
    assert apart.data["results"] == together.data["results"]


def test_a_subfolder_uses_the_index_of_its_work_tree(repository: Path, home: Path) -> None:
    outcome = rootle("search", "validateToken", "--json", cwd=repository / "src/net")
    assert outcome.paths[0] == "src/auth/token.ts"
    assert rootle("status", cwd=repository).code == 0
    assert len(list((home / "cache/rootle").iterdir())) == 1


def test_explain_shows_the_contribution_of_each_feature(repository: Path) -> None:
    outcome = rootle("search", "retry_backoff", "--explain", cwd=repository)
    assert "score from " in outcome.out
    assert "defines_symbol" in outcome.out


def test_explain_shows_how_the_question_was_interpreted(repository: Path) -> None:
    outcome = rootle("search", '"retry_backoff" path:src -wolf', "--explain", cwd=repository)
    assert outcome.out.splitlines()[0] == (
        'interpreted as: symbol; must contain "retry_backoff"; without "wolf"; path: src'
    )
    filters = "in:code,docs author:ada since:2001 until:2030 retry delay"
    filtered = rootle("search", filters, "--explain", cwd=repository)
    assert filtered.out.splitlines()[0].endswith(
        "; in: code,docs; author: ada; since: 2001; until: 2030"
    )
    revised = rootle("search", "retry delay since:HEAD at:HEAD", "--explain", cwd=repository)
    assert revised.out.splitlines()[0].endswith("; since: HEAD; at: HEAD")
    typo = rootle("search", "retry_backof", "--explain", cwd=repository)
    assert 'interpreted as: symbol; "retry_backoff" for "retry_backof"' in typo.out
    assert (
        'no indexed text has the name "retry_backof"; showing results for "retry_backoff"'
        in typo.err
    )
    assert "interpreted as" not in rootle("search", "retry_backoff", cwd=repository).out
    data = rootle("search", "retry_backoff", "--explain", "--json", cwd=repository).data
    assert data["interpretation"]["intent"] == "symbol"


def test_invalid_query_syntax_is_refused(repository: Path, home: Path) -> None:
    for question in ("lang:cobolt retry", "/(/", "/a(?=b)/", '""', "path:src lang:py"):
        _assert_refused(rootle("search", question, cwd=repository))
    assert not (home / "cache/rootle").exists()  # no index was created


@pytest.mark.parametrize("limit", ["0", "51", "-1"])
def test_a_limit_out_of_range_is_refused(limit: str, repository: Path, home: Path) -> None:
    outcome = rootle("search", "retry", "-n", limit, cwd=repository)
    _assert_refused(outcome)
    assert "1 to 50" in outcome.err
    assert not (home / "cache/rootle").exists()  # no index was created


@pytest.mark.parametrize("question", ["", "   ", "\n", "?!... --- ((("])
def test_a_question_without_a_word_is_refused(question: str, repository: Path) -> None:
    _assert_refused(rootle("search", "--", question, cwd=repository))


def test_a_missing_question_is_refused(repository: Path) -> None:
    _assert_refused(rootle("search", cwd=repository))


@pytest.mark.parametrize(
    "question",
    [
        "how is the",  # stop words without any other word
        "retry backoff " * 7_500,  # a question of 100 KB
        "word" * 25_000,
        "a_" * 50_000,
        "::" * 4_000 + "retry",
        "重试之前要等多久",
        "\udcff\udcfe retry",  # not UTF-8
        "retry \U0001f600 \u202e",
        "x" * 100 + " retry",
    ],
    ids=["stop", "long", "one word", "parts", "signs", "chinese", "bytes", "emoji", "data"],
)
def test_unusual_questions_are_answered(question: str, make_app: MakeApp, repository: Path) -> None:
    app = make_app(repository)
    response = app.search(question)
    assert response.degraded == ()
    assert all(0 <= result.score <= 1 for result in response.results)


def test_long_and_non_utf_8_questions_are_accepted(repository: Path) -> None:
    assert rootle("search", "retry backoff " * 7_500, cwd=repository).code == 0
    assert rootle("search", b"\xff retry".decode("utf-8", "surrogateescape"), cwd=repository).out


def test_chinese_text_is_found(tmp_path: Path, make_app: MakeApp) -> None:
    root = make_repository(
        tmp_path / "repo", {**FILES, "docs/zh.md": "# 说明\n\n重试之前要等多久\n"}
    )
    assert make_app(root).search("重试等多久").results[0].file_path == "docs/zh.md"


def test_an_empty_repository_gives_no_results_and_a_suggestion(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "empty", {})
    outcome = rootle("search", "anything", "--json", cwd=root)
    assert (outcome.code, outcome.data["results"], outcome.err) == (1, [], "")
    assert "empty" in outcome.data["suggestions"][0]
    plain = rootle("search", "anything", cwd=root)
    assert (plain.code, plain.out) == (1, "")
    assert "the index is empty" in plain.err
    assert rootle("index", root).code == 0


def test_filters_that_match_no_file_give_exit_code_1(repository: Path) -> None:
    outcome = rootle("search", "retry", "--path", "nowhere", "--json", cwd=repository)
    assert (outcome.code, outcome.data["results"]) == (1, [])
    assert outcome.data["suggestions"][0].startswith(
        'filePaths "nowhere" excludes 3 matching files'
    )
    shown = rootle("search", "retry", "--path", "nowhere", cwd=repository)
    assert '--path "nowhere" excludes 3 matching files' in shown.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--lang", "klingon"),
        ("--changed-within", "-1"),
        ("--changed-within", "nan"),
        ("--cursor", "nonsense"),
        ("--cursor", "é"),
        ("--config", "nowhere.json"),
    ],
)
def test_bad_options_are_refused_with_a_message_of_one_line(
    arguments: tuple[str, str], repository: Path
) -> None:
    _assert_refused(rootle("search", "retry", *arguments, cwd=repository))


@pytest.mark.parametrize("arguments", [("--limit", "many"), ("--nonsense",)])
def test_invalid_options_are_refused_with_a_pointer_to_the_help(
    arguments: tuple[str, ...], repository: Path
) -> None:
    outcome = rootle("search", "retry", *arguments, cwd=repository)
    assert outcome.code == 2
    assert "--help" in outcome.err


def test_pages_together_contain_every_result_once(tmp_path: Path, make_app: MakeApp) -> None:
    from rootle.types import SearchQuery, SearchResult

    root = make_repository(tmp_path / "repo", many_files(30))
    app = make_app(root)
    whole = app.search(SearchQuery("flush the ledger", limit=50)).results
    paged: list[SearchResult] = []
    cursor = None
    while True:
        page = app.search(SearchQuery("flush the ledger", limit=7, cursor=cursor))
        paged += page.results
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(whole) > 14
    assert tuple(paged[: len(whole)]) == whole
    assert len({result.file_path for result in paged}) == len(paged)


def test_the_command_line_pages_by_cursor(repository: Path) -> None:
    first = rootle("search", "retry", "-n", "1", "--json", cwd=repository)
    second = rootle(
        *("search", "retry", "-n", "1", "--json", "--cursor", first.data["nextCursor"]),
        cwd=repository,
    )
    assert first.paths != second.paths
    other = rootle("search", "token", "--cursor", first.data["nextCursor"], cwd=repository)
    assert (other.code, "another question" in other.err) == (2, True)
    write(repository, "new.md", "# retry\n")
    late = rootle("search", "retry", "--cursor", first.data["nextCursor"], cwd=repository)
    assert (late.code, "index has changed" in late.err) == (2, True)


def test_a_batch_answers_in_order_and_reports_invalid_lines(repository: Path) -> None:
    lines = [
        b'{"textQuery": "retry_backoff", "limit": 1}',
        b"not json",
        b"",
        b'{"textQuery": "validateToken", "languages": ["ts"]}',
        b'{"textQuery": "x", "limitt": 3}',
        b'{"textQuery": 3}',
        b'["textQuery"]',
        b"\xff\xfe",
        b"[" * 100_000,
        b"1" * 5_000,
        b'{"textQuery": "retry", "limit": 0}',
        b'{"textQuery": "retry", "minRecencyDays": NaN}',
        b'{"textQuery": "hash_password"}',
    ]
    outcome = rootle("search", "--batch", cwd=repository, stdin=b"\n".join(lines))
    answers = [json.loads(line) for line in outcome.out.splitlines()]
    assert outcome.code == 2
    assert len(answers) == len(lines) - 1
    assert [answer.get("textQuery") for answer in answers if "results" in answer] == [
        "retry_backoff",
        "validateToken",
        "hash_password",
    ]
    assert answers[0]["results"][0]["filePath"] == "src/net/retry.py"
    assert len(answers[0]["results"]) == 1
    assert [answer["line"] for answer in answers if "error" in answer] == [
        2,
        5,
        6,
        7,
        8,
        9,
        10,
        11,
        12,
    ]
    assert 'did you mean "limit"?' in answers[3]["error"]
    assert all(answer["tookMs"] >= 0 for answer in answers)


def test_a_batch_gives_the_same_results_as_single_questions(repository: Path) -> None:
    lines = "\n".join(json.dumps({"textQuery": question}) for question in QUESTIONS)
    batch = rootle("search", "--batch", cwd=repository, stdin=lines)
    assert (batch.code, batch.err) == (0, "")
    single = rootle("search", QUESTIONS[1], "--json", cwd=repository)
    answers = [json.loads(line) for line in batch.out.splitlines()]
    assert [answer["textQuery"] for answer in answers] == list(QUESTIONS)
    assert answers[1]["results"] == single.data["results"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--at", "HEAD"), '--at has no effect; set "at" in these lines'),
        (("-n", "3"), '--limit has no effect; set "limit" in these lines'),
        (("--in", "docs"), '--in has no effect; set "textQuery" in these lines'),
        (("-n", "0"), '--limit has no effect; set "limit" in these lines'),
        (("--links",), "--links has no effect; leave it out"),
        (("retry",), 'the question has no effect; set "textQuery" in these lines'),
    ],
)
def test_a_batch_refuses_options_that_its_lines_replace(
    options: tuple[str, ...], message: str, repository: Path
) -> None:
    outcome = rootle("search", "--batch", *options, cwd=repository, stdin='{"textQuery": "x"}\n')
    assert outcome.code == 2
    assert message in outcome.err


def test_links_of_an_earlier_version_are_refused(repository: Path) -> None:
    for arguments in (("--at", "HEAD", "retry"), ("retry at:HEAD",)):
        outcome = rootle("search", "--links", *arguments, cwd=repository)
        assert outcome.code == 2
        assert 'present code, and "HEAD" is an earlier version; leave out one' in outcome.err


def test_a_batch_without_results_has_exit_code_1(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "empty", {})
    outcome = rootle("search", "--batch", cwd=root, stdin='{"textQuery": "x"}\n')
    assert outcome.code == 1
    assert rootle("search", "--batch", cwd=root, stdin="").code == 1


def test_control_characters_in_names_are_escaped(tmp_path: Path) -> None:
    name = "evil\n\x1b[2J\x1b]0;owned\x07.py"
    root = make_repository(tmp_path / "repo", {name: "def hostile_name(): pass  # \x1b[31m\n"})
    outcome = rootle("search", "hostile_name", cwd=root)
    assert outcome.out.startswith("evil\\n\\x1b[2J\\x1b]0;owned\\x07.py:1-1")
    assert "\x1b" not in outcome.out
    assert rootle("search", "hostile_name", "--json", cwd=root).paths == [name]
    write(root, "evil\x1b[2J.png", b"\0\0")
    shown = rootle("index", root, "--dry-run").out + rootle("status", root, "--skipped").out
    assert "\x1b" not in shown


def test_control_characters_in_the_titles_of_linked_documents_are_escaped(tmp_path: Path) -> None:
    title = "Guide \x1b[31mred\x1b]0;owned\x07 \u202eright"
    files = {"a.py": "def target_fn(): pass\n", "d.md": f"# {title}\n\nsee `target_fn`\n"}
    root = make_repository(tmp_path / "repo", files)
    for option in ("--markdown", "--color=always"):
        out = rootle("search", "--links", option, "target_fn", cwd=root).out
        assert "Guide \\x1b[31mred\\x1b]0;owned\\x07 \\u202eright" in out
        assert not any(sign in out for sign in ("\x1b[31m", "\x1b]", "\x07", "\u202e"))


def test_names_that_are_not_utf_8_are_found_and_shown(tmp_path: Path) -> None:
    name = b"caf\xe9.py".decode("utf-8", "surrogateescape")
    root = make_repository(tmp_path / "repo", {name: "def odd_bytes(): pass\n"})
    assert rootle("search", "odd_bytes", "--json", cwd=root).paths == [name]
    assert rootle("search", "odd_bytes", cwd=root).out.startswith("caf")


def test_a_closed_pipe_is_not_an_error(repository: Path) -> None:
    command = ("sh", "-c", '"$@" | head -c 1', "sh")
    assert rootle("search", "retry", cwd=repository, wrapper=command).err == ""


def test_settings_come_from_the_configuration_file_of_the_user(
    repository: Path, home: Path
) -> None:
    write(
        home,
        "config/rootle/config.json",
        '{"searchAgent": {"maxLimit": 3, "defaultLimit": 3 /* so */},}',
    )
    _assert_refused(rootle("search", "retry", "-n", "4", cwd=repository))
    write(home, "config/rootle/config.json", '{"searchAgent": {"maxLimits": 3}}')
    outcome = rootle("search", "retry", cwd=repository)
    _assert_refused(outcome)
    assert 'did you mean "maxLimit"?' in outcome.err


def test_a_missing_model_does_not_delete_the_index(repository: Path, home: Path) -> None:
    assert rootle("index", repository).code == 0
    config = write(home, "c.json", '{"searchAgent": {"embeddingModelID": "static-code-v9"}}')
    outcome = rootle("search", "retry", "--config", config, cwd=repository)
    _assert_refused(outcome)
    assert "static-code-v9" in outcome.err
    status = rootle("status", repository, "--json").data
    assert status["files"] == len(FILES)


def test_git_ignores_an_index_inside_the_repository(repository: Path) -> None:
    assert rootle("index", repository, "--index-dir", repository / ".rootle").code == 0
    assert git(repository, "status", "--porcelain") == ""


def test_an_earlier_version_is_searched(repository: Path) -> None:
    git(repository, "tag", "v1")
    write(repository, "src/net/retry.py", "x = 1\n")
    git(repository, "commit", "-qam", "second")
    outcome = rootle("search", "--at", "v1", "retry_backoff", cwd=repository)
    assert outcome.code == 0
    assert ":src/net/retry.py:" in outcome.out
    assert "searched v1 = " in outcome.err
    place = outcome.out.split(" ", 1)[0]
    assert "def retry_backoff" in rootle("show", place, cwd=repository).out
    symbol = rootle("symbol", "--at", "v1", "retry_backoff", cwd=repository)
    assert ":src/net/retry.py:" in symbol.out
    assert "1 earlier version" in rootle("status", cwd=repository).out
    unknown = rootle("search", "--at", "v9", "retry_backoff", cwd=repository)
    assert unknown.code == 2
    assert 'there is no commit "v9"' in unknown.err


def test_filters_that_exclude_each_other_are_named_as_options(repository: Path) -> None:
    outcome = rootle("search", "--path", "docs", "--lang", "go", "evict_oldest", cwd=repository)
    assert '--path "docs" and --lang "go" together exclude every file' in outcome.err


def test_the_option_for_agents_prints_the_answer_of_their_tool(
    repository: Path, make_app: MakeApp
) -> None:
    question = "how long to wait before the next attempt"
    outcome = rootle("search", "--agent", question, cwd=repository)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == create_tools(make_app(repository))[0](question) + "\n"
    limited = rootle("search", "--agent", "-n", "1", "--path", "src", question, cwd=repository)
    assert "1. src/net/retry.py" in limited.out
    assert "2. " not in limited.out


def test_the_option_for_agents_respects_the_maximum_number_of_results(repository: Path) -> None:
    limits = ("--set", "maxLimit=2", "--set", "defaultLimit=2")
    outcome = rootle("search", "--agent", *limits, "retry", cwd=repository)
    assert (outcome.code, outcome.err) == (0, "")
    assert "2. " in outcome.out
    assert "3. " not in outcome.out


def test_the_option_for_agents_reports_that_nothing_was_found(repository: Path) -> None:
    outcome = rootle("search", "--agent", '"no such text anywhere"', cwd=repository)
    assert outcome.code == 1
    assert outcome.out.startswith("No matches found")


@pytest.mark.parametrize("option", ["--json", "--markdown", "--explain", "--context"])
def test_the_option_for_agents_refuses_other_forms_of_output(repository: Path, option: str) -> None:
    outcome = rootle("search", "--agent", option, "retry", cwd=repository)
    _assert_refused(outcome)
    assert option in outcome.err
