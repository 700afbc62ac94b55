"""The places of several files that an answer shows."""

from __future__ import annotations

from one_file_answer import OneFile

from rootle.tools.excerpts.answer_places import AnswerFile, choose_places
from rootle.tools.excerpts.shown_lines import FileExcerpts
from rootle.types import Definition, FileOutline, Span

_QUESTION = "bake the sourdough bread slowly with salt"


def _outline(path: str, lines: list[str], names: list[str]) -> FileOutline:
    """Return the outline of a file with one definition of eight lines for each name."""
    text, definitions = list[str](), list[Definition]()
    for name in names:
        first = len(text) + 1
        text += [f"def {name}(oven):", *lines]
        definitions.append(Definition(f"def {name}", first, len(text)))
    return FileOutline(path, tuple(text), tuple(definitions))


def _choose(scores: tuple[float, float]) -> list[bool]:
    """Return for each of two files whether lines of it are shown."""
    tests = ["    bake(salt, slowly)", *["    check(oven, status, header, body)"] * 6]
    bread = ["    # Bake the sourdough bread slowly with salt.", *["    oven.bread(salt)"] * 6]
    outlines = [
        _outline("tests/oven.py", tests, ["test_one"]),
        _outline("src/oven.py", bread, ["bake_bread", "bake_slowly", "bake_sourdough"]),
    ]
    files = [
        AnswerFile(FileExcerpts(one, _QUESTION), [Span(1, 8, "", "")], score)
        for one, score in zip(outlines, scores, strict=True)
    ]
    return [bool(one.shown) for one in choose_places(_QUESTION, files, 900)]


def test_an_answer_shows_lines_of_the_file_that_clearly_matches_best() -> None:
    assert _choose((0.6, 0.4)) == [True, True]


def test_the_best_file_has_lines_even_if_they_say_little() -> None:
    best = _outline("src/events.py", ["    call(oven)", *["    wait()"] * 6], ["on_oven"])
    other = _outline("src/oven.py", [f"    {_QUESTION.replace(' ', '(')}"] * 7, ["bake_sourdough"])
    files = [
        AnswerFile(FileExcerpts(one, _QUESTION), [Span(1, 8, "", "")], score)
        for one, score in ((best, 0.9), (other, 0.7))
    ]
    assert all(one.shown for one in choose_places(_QUESTION, files, 900))


def test_lines_of_files_with_similar_scores_are_chosen_by_their_words() -> None:
    assert _choose((0.41, 0.4)) == [False, True]


def test_a_definition_whose_name_the_question_contains_comes_first() -> None:
    outline = _outline("src/oven.py", ["    oven.bake(bread)"] * 7, ["bakeBread", "isHot"])
    spans = [Span(1, 8, "", "")]
    assert OneFile(outline, "bake bread in the oven").places(spans)[0].name == "def bakeBread"
    assert OneFile(outline, "bake in the oven if isHot").places(spans)[0].name == "def isHot"


def test_a_place_that_uses_a_name_of_the_question_is_shown() -> None:
    question = "bake the bread with salt in the oven; oven_salt"
    body = ["    bake(bread, oven, salt)"] * 7
    outline = _outline("src/oven.py", body, ["one", "two", "three", "four"])
    text = list(outline.lines)
    text[25:32] = [*["    wait()"] * 3, "    bake(oven_salt)", *["    wait()"] * 3]
    outline = FileOutline(outline.path, tuple(text), outline.definitions)
    files = [AnswerFile(FileExcerpts(outline, question), [Span(1, 8, "", "")], 0.9)]
    (chosen,) = choose_places(question, files, 500)
    assert any(29 in numbers for _, numbers in chosen.shown)
