"""Files with the same content are shown once, with the paths of the duplicates."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sample import FILES, MakeApp, make_repository

from rootle.app import App
from rootle.cli.main import main
from rootle.types import SearchQuery

_HELPER = '''\
def retry_backoff(attempt, base=0.5, limit=60.0):
    """How long to wait before the next attempt, doubled each time."""
    delay = base * 2**attempt
    jitter = random.random() * delay / 10
    if delay + jitter > limit:
        logger.debug("the delay of attempt %d is cut to %f", attempt, limit)
        return limit
    return delay + jitter
'''


def _find_duplicates(app: App, question: str) -> dict[str, tuple[str, ...]]:
    results = app.search(SearchQuery(question, limit=50)).results
    return {result.file_path: result.duplicates for result in results}


def test_equal_files_are_one_result_with_the_paths_of_the_duplicates(
    tmp_path: Path, make_app: MakeApp
) -> None:
    paths = ["a/retry.py", "lib/deep/retry.py", "old/retry.py", "vendor/x/retry.py"]
    app = make_app(make_repository(tmp_path / "repo", {**FILES, **dict.fromkeys(paths, _HELPER)}))
    for question in ("retry_backoff", "how long to wait before the next attempt"):
        found = _find_duplicates(app, question)
        shown = [path for path in paths if path in found]
        assert len(shown) == 1
        assert found[shown[0]] == tuple(path for path in paths if path != shown[0])
        # The file defines the same name, but its content is different.
        assert found["src/net/retry.py"] == ()


@pytest.mark.slow
def test_near_duplicates_are_one_result(tmp_path: Path, make_app: MakeApp) -> None:
    near_duplicate = "# Made for the second release.\n" + _HELPER.replace("    ", "\t")
    bundle = f"{_HELPER}\n\n" + "\n\n".join(
        f"def other_{n}(value):\n" + f"    value = other(value, {n})\n" * 30 for n in range(40)
    )
    files = {**FILES, "one.py": _HELPER, "two.py": near_duplicate, "bundle.py": bundle}
    app = make_app(make_repository(tmp_path / "repo", files))
    found = _find_duplicates(app, "delay with jitter before the next attempt")
    shown = [path for path in ("one.py", "two.py", "bundle.py") if path in found]
    assert len(shown) == 1
    assert len(found[shown[0]]) == 2


def test_a_phrase_is_shown_in_each_file_that_is_only_similar(
    tmp_path: Path, make_app: MakeApp
) -> None:
    files = {
        **FILES,
        "one.py": _HELPER,
        "two.py": _HELPER.replace("    ", "\t"),
        "three.py": _HELPER,
    }
    app = make_app(make_repository(tmp_path / "repo", files))
    assert len(_find_duplicates(app, "delay with jitter before the next attempt")) >= 1
    found = _find_duplicates(app, '"random.random()"')
    # The files one.py and three.py have the same content.
    assert len({"one.py", "two.py", "three.py"} & set(found)) == 2
    assert "two.py" in found


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_near_duplicates_that_differ_in_a_word_of_the_question_are_two_results(
    protocol: str, tmp_path: Path, make_app: MakeApp
) -> None:
    text = _HELPER.replace("attempt", "packet").replace("logger", "tcp_logger")
    files = {**FILES, "tcp.py": text, "udp.py": text.replace("tcp_logger", "udp_logger")}
    app = make_app(make_repository(tmp_path / "repo", files))
    found = _find_duplicates(app, f"jitter of {protocol} packets")
    assert next(iter(found)) == f"{protocol}.py"
    assert {"tcp.py", "udp.py"} <= set(found)
    assert len({"tcp.py", "udp.py"} & set(_find_duplicates(app, "jitter of packets"))) == 1


@pytest.mark.slow
def test_a_filter_selects_among_duplicates(tmp_path: Path, make_app: MakeApp) -> None:
    files = {**FILES, "a/retry.py": _HELPER, "b/retry.py": _HELPER}
    app = make_app(make_repository(tmp_path / "repo", files))
    for folder in ("a", "b"):
        query = SearchQuery("delay with jitter", file_paths=(folder,))
        (result,) = app.search(query).results
        assert (result.file_path, result.duplicates) == (f"{folder}/retry.py", ())


@pytest.mark.slow
def test_many_duplicates_leave_room_for_other_files(tmp_path: Path, make_app: MakeApp) -> None:
    files = {**FILES, **{f"pkg_{n}/wait.py": _HELPER for n in range(120)}}
    app = make_app(make_repository(tmp_path / "repo", files))
    response = app.search(SearchQuery("how long to wait before the next attempt"))
    duplicates = [result.duplicates for result in response.results if "wait.py" in result.file_path]
    assert len(duplicates) == 1
    assert len(duplicates[0]) == 119
    assert "src/net/retry.py" in {result.file_path for result in response.results}


def test_the_command_line_shows_the_number_of_duplicates(
    tmp_path: Path, make_app: MakeApp, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [f"{letter}/wait.py" for letter in "abcdef"]
    root = make_repository(tmp_path / "repo", {**FILES, **dict.fromkeys(paths, _HELPER)})
    assert main(["search", "--root", str(root), "delay with jitter"]) == 0
    line = r"^  5 duplicates: (\w/wait\.py, ){3}…$"
    assert re.search(line, capsys.readouterr().out, re.MULTILINE)
