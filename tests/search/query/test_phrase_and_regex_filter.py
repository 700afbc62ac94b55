"""Searches with phrases, regular expressions, filters and excluded words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from fuzz_inputs import bounded_time
from sample import FILES, MakeApp, indexed_repository, make_repository, many_files

from rootle.app import App
from rootle.errors import QueryError
from rootle.search.query import phrase_and_regex_filter
from rootle.search.query.stem_parts import guaranteed_part
from rootle.text.stemmer import open_stemmer
from rootle.text.terms import whole_identifier
from rootle.types import SearchQuery, SearchResult

_FILES = {
    **FILES,
    "src/long.txt": "\n".join(["x y"] * 90) + "\nthe quick\n   brown fox\n" + "x y\n" * 40,
    "src/other.py": "def wait_retry_backoffs(x):\n    return x  # The  Quick brown wolf\n",
    "notes/a (1).md": "# Fox\n\nA `retry-backoff` of 5 % is -> wanted; deprecated since 2.0\n",
}


@pytest.fixture
def app(make_app: MakeApp) -> App:
    """Return an app whose folder and index must not be changed."""
    root, index_dir = indexed_repository(_FILES)
    return make_app(root, index_dir=index_dir)


def _find_paths(app: App, text: str, **filters: Any) -> set[str]:
    results = _search(app, text, **filters)
    found = {result.file_path for result in results}
    assert len(found) == len(results)
    return found


def _search(app: App, text: str, **filters: Any) -> tuple[SearchResult, ...]:
    return app.search(SearchQuery(text, limit=50, **filters)).results


def test_every_result_shows_the_phrase(app: App) -> None:
    for text, phrase in [
        ('"the quick brown"', r"the\s+quick\s+brown"),
        ('"THE QUICK" fox', r"the\s+quick"),
        ('"retry_backoff" doubled', "retry_backoff"),
        ('"etry_backof"', "etry_backof"),
        ('"maxAttempts: 5"', "maxAttempts: 5"),
        ('"->"', "->"),
        ('"return token.expiresAt > now;"', re.escape("return token.expiresAt > now;")),
        ('where is "5 % is"?', "5 % is"),
    ]:
        pattern = re.compile(phrase, re.IGNORECASE)
        expected = {path for path, content in _FILES.items() if pattern.search(content)}
        assert _find_paths(app, text) == expected, text
        for result in _search(app, text):
            assert pattern.search(result.snippet), text
            assert result.end_line - result.start_line < 60


def test_a_file_must_contain_all_phrases(app: App) -> None:
    assert _find_paths(app, '"retry_backoff" "def test_"') == {"tests/test_retry.py"}
    response = app.search('"retry_backoff" "access tokens"')
    assert response.results == ()
    assert '"retry_backoff" and "access tokens"' in response.suggestions[0]


def test_the_other_words_are_searched_if_the_phrase_does_not_match(app: App) -> None:
    response = app.search('"exponential jitter" retry backoff')
    assert response.results[0].file_path == "src/net/retry.py"
    assert 'no indexed text has "exponential jitter"' in response.suggestions[0]
    alone = app.search('"exponential jitter"')
    assert alone.results == ()
    assert "leave out the quotes" in alone.suggestions[0]


@pytest.mark.slow
def test_a_regex_finds_every_file_with_a_matching_line(app: App) -> None:
    for text, pattern in [
        (r"/def \w+_backoffs?\(/", r"def \w+_backoffs?\("),
        (r"/^#+ \w/", r"(?m)^#+ \w"),
        (r"/\d{3}/", r"\d{3}"),
        (r"regex:max\w+:\s\d", r"(?i)max\w+:\s\d"),
        (r"/[A-Z]\w+Cache/", r"[A-Z]\w+Cache"),
        (r"/now;$/", r"(?m)now;$"),
    ]:
        expected = {path for path, content in _FILES.items() if re.search(pattern, content)}
        assert expected
        assert _find_paths(app, text) == expected, text
        assert all(re.search(pattern, result.snippet) for result in _search(app, text)), text
    assert "simpler" in app.search(r"/zzz\d/").suggestions[0]


@pytest.mark.slow
def test_a_regex_for_blank_lines_finds_all_files_with_text_that_it_matches(
    tmp_path: Path, make_app: MakeApp
) -> None:
    modules = {f"src/m_{n}.py": f"def f_{n}(): ...\n\n\ndef g_{n}(): ...\n" for n in range(70)}
    others = {
        "src/blank.py": "\n" * 5,
        "src/first.txt": "\n\nthe first",
        "src/none.txt": "one line",
    }
    files = {**FILES, **modules, **others}
    app = make_app(make_repository(tmp_path / "repo", files))
    expected = {path for path, text in files.items() if re.search(r"(?m)^$", text)}
    found: list[str] = []
    cursor = None
    with bounded_time():
        while not found or cursor is not None:
            response = app.search(SearchQuery("/^$/", limit=50, cursor=cursor))
            found += [result.file_path for result in response.results]
            cursor = response.next_cursor
        assert app.search("/^$/ path:blank").results == ()
    assert sorted(found) == sorted(expected - {"src/blank.py"})


def test_nested_repetitions_find_lines_without_backtracking(
    tmp_path: Path, make_app: MakeApp
) -> None:
    files = {**FILES, "src/bits.txt": "ab" * 60 + "\n" + "x" * 5_000 + "abbac\n"}
    app = make_app(make_repository(tmp_path / "repo", files))

    assert _find_paths(app, "/(?:ab|a|b)+c/ path:bits") == {"src/bits.txt"}
    assert _find_paths(app, "/(?:ab|a|b)+d/ path:bits") == set()


def test_an_unsupported_regex_is_rejected_before_the_search(app: App) -> None:
    with pytest.raises(QueryError, match="lookahead"):
        app.search("/retry(?=_backoff)/")


def test_path_globs_with_many_stars_do_not_hang(app: App) -> None:
    stars = "*a" * 200 + "b"

    assert _find_paths(app, f"retry path:{stars}") == set()
    assert _find_paths(app, "retry", file_paths=(stars,)) == set()


def test_filters_in_the_text_combine_with_filters_of_the_query(app: App) -> None:
    words = "retry token password cache attempts pages sample"
    assert _find_paths(app, f"{words} path:src/net") == {"src/net/retry.py", "src/net/client.go"}
    assert _find_paths(app, f"{words} path:net lang:go") == {"src/net/client.go"}
    assert _find_paths(app, f"{words} path:SRC -path:net -path:long -path:other") == {
        "src/auth/token.ts",
        "src/auth/password.rs",
        "src/store/cache.py",
    }
    assert _find_paths(app, f"{words} path:*.md -path:notes/") == {"README.md", "docs/guide.md"}
    assert _find_paths(app, f"{words} path:retry.py") == {"src/net/retry.py"}
    assert _find_paths(app, f'{words} path:"a (1).md"') == {"notes/a (1).md"}
    assert _find_paths(app, f"{words} path:src", languages=("go",)) == {"src/net/client.go"}
    assert _find_paths(app, f"{words} path:src", file_paths=("docs",)) == set()
    assert {"python", "rust"}.isdisjoint(
        result.metadata.language for result in _search(app, f"{words} -lang:py -lang:rust")
    )


def test_lines_with_excluded_words_are_not_shown(app: App) -> None:
    shown = _search(app, "retry backoff")
    assert any("deprecated" in result.snippet for result in shown)
    results = _search(app, "retry backoff -deprecated -assert")
    assert results
    for result in results:
        for snippet in (result.snippet, *(span.snippet for span in result.more_spans)):
            assert not re.search(r"\b(deprecated|assert)\b", snippet, re.IGNORECASE)
    notes = app.search("how is the backoff computed -deprecated").suggestions
    assert any('"deprecated" are left out' in note for note in notes)


@pytest.mark.slow
def test_an_exact_search_has_pages(tmp_path: Path, make_app: MakeApp) -> None:
    files = many_files(90)
    app = make_app(make_repository(tmp_path / "many", files))
    paths: list[str] = []
    cursor = None
    while True:
        response = app.search(SearchQuery(r"/def load_\w+/ -path:pkg_3", limit=7, cursor=cursor))
        paths += [result.file_path for result in response.results]
        assert all("def load_" in result.snippet for result in response.results)
        cursor = response.next_cursor
        if cursor is None:
            break
    expected = {path for path, content in files.items() if "def load_" in content}
    expected = {path for path in expected if not path.startswith("pkg_3")}
    assert len(paths) == len(set(paths)) == min(60, len(expected))
    assert set(paths) <= expected


def test_a_truncated_search_is_reported(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phrase_and_regex_filter, "MAX_FILES", 3)
    response = app.search(r"/\d/")
    assert "exact" in response.degraded
    assert "3 of 12 files" in response.suggestions[-1]
    monkeypatch.setattr(phrase_and_regex_filter, "MAX_SECONDS", -1.0)
    assert "exact" in app.search('"->"').degraded


def test_an_explanation_contains_the_interpretation_of_the_question(app: App) -> None:
    text = '"retry_backoff" path:src -path:long lang:py -wolf'
    interpretation = app.search(text, explain=True).interpretation
    assert interpretation is not None
    assert interpretation.intent == "symbol"
    assert interpretation.phrases == ("retry_backoff",)
    assert interpretation.paths == ("src", "-long")
    assert interpretation.languages == ("py",)
    assert interpretation.excluded == ("wolf",)
    assert app.search(text).interpretation is None


_WORDS = """However, see the notes of the trying queries. The user happily tested it;
generalizations of relational authenticators, strictness, running, scrapy and dying organizations.
"""
_PIECES = (
    *("ever, see", "rying queries", "ries. The", "ppily tested", "zations", "izations of"),
    *("tional auth", "tors, strict", "ess, run", "nning, scra", "apy and", "ying org", "organizat"),
)


@pytest.mark.parametrize("piece", _PIECES)
def test_a_phrase_may_start_and_end_inside_words(
    piece: str, tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_repository(tmp_path / "repo", {"a.md": _WORDS, "b.md": "Other text.\n"})
    assert _find_paths(make_app(root), f'"{piece}"') == {"a.md"}


@pytest.mark.parametrize("regex", [r"\w+ly\b", r"\w+ies\b", r"\w+ing\b", r"\w+ed it", r"\w+ever,"])
def test_a_regex_finds_the_ends_of_words(regex: str, tmp_path: Path, make_app: MakeApp) -> None:
    root = make_repository(tmp_path / "repo", {"a.md": _WORDS, "b.md": "Other text.\n"})
    assert _find_paths(make_app(root), f"/{regex}/") == {"a.md"}


@pytest.mark.slow
def test_every_piece_of_a_word_is_found_by_its_stem() -> None:
    words = whole_identifier(" ".join(_FILES.values()) + _WORDS)
    stem = open_stemmer()
    for word in set(re.findall(r"[a-z0-9]{3,}", words)):
        (whole,) = stem(word)
        for start in range(len(word)):
            for end in range(start + 1, len(word) + 1):
                part = guaranteed_part(
                    word[start:end], starts_word=start == 0, ends_word=end == len(word)
                )
                assert part in whole, (word, word[start:end])
    assert guaranteed_part("exceptions", starts_word=False, ends_word=True) == "except"
    assert guaranteed_part("ly", starts_word=False, ends_word=True) == ""


@pytest.mark.slow
def test_text_in_very_long_words_and_lines_is_found(tmp_path: Path, make_app: MakeApp) -> None:
    data = "".join(f"x{number:04}" for number in range(60))
    line = ",".join(f"word{number}word" for number in range(2_000))
    files = {"key.txt": f"token {data} end\n", "line.md": f"# Words\n\n{line}\n"}
    app = make_app(make_repository(tmp_path / "repo", files))
    assert _find_paths(app, f'"{data[101:131]}"') == {"key.txt"}
    assert _find_paths(app, f"/{data[:200]}/") == {"key.txt"}
    assert _find_paths(app, f'"{data[:200]}"') == {"key.txt"}
    for number in range(0, 2_000, 7):
        assert _find_paths(app, f'",word{number}word,"') == ({"line.md"} if number else set())


def test_the_passage_with_both_phrases_is_first_in_a_file_with_many_matches(
    tmp_path: Path, make_app: MakeApp
) -> None:
    lines = [
        f"{word} {number}\n" + "filler line\n" * 10
        for word in ("gadget", "gizmo")
        for number in range(80)
    ]
    text = "".join(lines) + "gadget and gizmo together here\n"
    app = make_app(make_repository(tmp_path / "repo", {"b.txt": text}))
    (result,) = _search(app, '"gadget" "gizmo"')
    assert "together" in result.snippet
