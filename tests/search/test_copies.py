"""What says the same is shown once, with the places of its copies."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sample import FILES, make_repository

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


def _paths(app: App, question: str) -> dict[str, tuple[str, ...]]:
    results = app.search(SearchQuery(question, limit=50)).results
    return {result.file_path: result.duplicates for result in results}


def test_equal_files_are_one_result_with_the_paths_of_the_others(tmp_path: Path, make_app) -> None:
    places = ["a/retry.py", "lib/deep/retry.py", "old/retry.py", "vendor/x/retry.py"]
    app = make_app(make_repository(tmp_path / "repo", {**FILES, **dict.fromkeys(places, _HELPER)}))
    for question in ("retry_backoff", "how long to wait before the next attempt"):
        found = _paths(app, question)
        shown = [path for path in places if path in found]
        assert len(shown) == 1
        assert found[shown[0]] == tuple(path for path in places if path != shown[0])
        assert found["src/net/retry.py"] == ()  # the same name, and another text


def test_twins_with_a_few_other_words_are_one_result(tmp_path: Path, make_app) -> None:
    twin = "# Made for the second release.\n" + _HELPER.replace("    ", "\t")
    bundle = f"{_HELPER}\n\n" + "\n\n".join(
        f"def other_{n}(value):\n" + f"    value = other(value, {n})\n" * 30 for n in range(40)
    )
    files = {**FILES, "one.py": _HELPER, "two.py": twin, "bundle.py": bundle}
    app = make_app(make_repository(tmp_path / "repo", files))
    found = _paths(app, "delay with jitter before the next attempt")
    shown = [path for path in ("one.py", "two.py", "bundle.py") if path in found]
    assert len(shown) == 1
    assert len(found[shown[0]]) == 2


@pytest.mark.parametrize("asked", ["udp", "tcp"])
def test_twins_that_differ_in_what_was_asked_for_stay_apart(
    asked: str, tmp_path: Path, make_app
) -> None:
    text = _HELPER.replace("attempt", "packet").replace("logger", "tcp_logger")
    files = {**FILES, "tcp.py": text, "udp.py": text.replace("tcp_logger", "udp_logger")}
    app = make_app(make_repository(tmp_path / "repo", files))
    found = _paths(app, f"jitter of {asked} packets")
    assert next(iter(found)) == f"{asked}.py"
    assert {"tcp.py", "udp.py"} <= set(found)
    assert len({"tcp.py", "udp.py"} & set(_paths(app, "jitter of packets"))) == 1


def test_a_filter_chooses_among_copies(tmp_path: Path, make_app) -> None:
    files = {**FILES, "a/retry.py": _HELPER, "b/retry.py": _HELPER}
    app = make_app(make_repository(tmp_path / "repo", files))
    for folder in ("a", "b"):
        query = SearchQuery("delay with jitter", file_paths=(folder,))
        (result,) = app.search(query).results
        assert (result.file_path, result.duplicates) == (f"{folder}/retry.py", ())


def test_more_copies_than_candidates_leave_room_for_others(tmp_path: Path, make_app) -> None:
    files = {**FILES, **{f"pkg_{n}/wait.py": _HELPER for n in range(120)}}
    app = make_app(make_repository(tmp_path / "repo", files))
    response = app.search(SearchQuery("how long to wait before the next attempt"))
    copies = [result.duplicates for result in response.results if "wait.py" in result.file_path]
    assert len(copies) == 1
    assert len(copies[0]) == 119
    assert "src/net/retry.py" in {result.file_path for result in response.results}


def test_the_command_line_says_how_many_copies_there_are(
    tmp_path: Path, make_app, capsys: pytest.CaptureFixture[str]
) -> None:
    places = [f"{letter}/wait.py" for letter in "abcdef"]
    root = make_repository(tmp_path / "repo", {**FILES, **dict.fromkeys(places, _HELPER)})
    assert main(["search", "--root", str(root), "delay with jitter"]) == 0
    line = r"^  5 duplicates: (\w/wait\.py, ){3}…$"
    assert re.search(line, capsys.readouterr().out, re.MULTILINE)
