"""The words of texts, and the stems of a question in the lines of a file."""

from rootle.text.terms import WORD, find_words
from rootle.text.word_stems import find_stems, list_stems


def test_words_are_found_in_ascii_and_in_other_texts() -> None:
    assert find_words("parse_header(HTTP2, x1)\t->\r\nNone;") == [
        "parse_header", "HTTP2", "x1", "None",
    ]  # fmt: skip
    assert find_words("größe = naïve_Ω, 数え") == ["größe", "naïve_Ω", "数え"]
    assert find_words("") == find_words(" .,-\n") == []


def test_each_ascii_character_belongs_to_a_word_or_separates_words() -> None:
    for character in map(chr, range(128)):
        text = f"a{character}b"
        assert find_words(text) == WORD.findall(text), repr(character)


def test_stems_are_those_of_the_parts_of_identifiers() -> None:
    assert list_stems("retryBackoff(max_delays) for the HTTPServer") == [
        "retry", "backo", "max", "delay", "http", "serve",
    ]  # fmt: skip


def test_a_short_name_with_digits_is_a_stem() -> None:
    assert list_stems("E2E tests of i18n, k8s and HTTP2 in v1 of sha_256") == [
        "e2e", "tests", "i18n", "k8s", "http", "sha", "256",
    ]  # fmt: skip
    assert find_stems(["make e2e-setup", "make setup"], "the e2e target") == {1: {"=e2e", "e2e"}}


def test_lines_have_the_stems_of_the_question_and_its_adjacent_pairs() -> None:
    lines = [
        "def compute_delay(attempt):",
        "    # the delays of",
        "    # attempts",
        "    return 1",
        "    İ delay ẞ",
    ]
    found = find_stems(lines, "delay of attempts")
    assert found == {
        1: {"delay", "attem", "delay attem"},
        2: {"delay"},
        3: {"attem", "delay attem"},  # the pair is on two adjacent lines
        5: {"delay"},
    }


def test_lines_have_the_names_of_the_question() -> None:
    lines = ["retry = maxDelay", "delay = max", "max_delay", "is_ok(delay)"]
    found = find_stems(lines, "the largest delay, maxDelay or is_ok")
    assert [at for at, words in found.items() if "=maxDelay" in words] == [1]
    assert [at for at, words in found.items() if "=is_ok" in words] == [4]


def test_a_word_that_only_contains_a_stem_does_not_count() -> None:
    assert find_stems(["reset offset", "set()"], "set") == {2: {"set"}}
    assert find_stems([], "set") == find_stems([""], "set") == find_stems(["set"], "") == {}


def test_a_file_with_more_distinct_words_than_are_kept_is_read_completely() -> None:
    lines = [f"value_{number} = name_{number}" for number in range(20_000)]
    found = find_stems([*lines, "value = name"], "value name")
    assert len(found) == 20_001
    assert found[20_001] == {"value", "name", "value name"}
