"""The lines that are shown from each file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from document_samples import code_cell, markdown_cell, write_notebook
from hash_embedder import HashEmbedder
from sample import MakeApp, make_repository

from rootle.config.fields import Config
from rootle.errors import UnavailableError
from rootle.protocols import Matrix
from rootle.search.factory import SearchedIndex, open_agent
from rootle.types import SearchQuery


class _FailingEmbedder(HashEmbedder):
    def embed(self, texts: Sequence[str]) -> Matrix:
        raise UnavailableError("the model is down")


def _function(name: str, length: int, last: str = "return rows") -> str:
    """Return a Python function of `length` lines."""
    body = "".join(f"    row_{at} = rows.pop({at})\n" for at in range(length - 2))
    return f"def {name}(rows):\n{body}    {last}\n"


def test_without_vectors_the_chunk_with_the_words_of_the_question_is_shown(
    tmp_path: Path, make_app: MakeApp
) -> None:
    text = _function("first_part", 40) + "\n\n" + _function("second_part", 40, "return zebra")
    app = make_app(make_repository(tmp_path / "repo", {"parts.py": text}))
    app.index()
    agent = open_agent(SearchedIndex(app._container.indexer().snapshot, _FailingEmbedder), Config())
    (result,) = agent.search(SearchQuery("where is the zebra")).results
    agent.close()
    assert result.start_line == 43


def test_a_chunk_of_22_lines_is_shown_whole_wherever_its_match_is(
    tmp_path: Path, make_app: MakeApp
) -> None:
    text = _function("first_part", 40) + "\n\n" + _function("second_part", 22, "return zebra")
    app = make_app(make_repository(tmp_path / "repo", {"parts.py": text}))
    (result,) = app.search('"return zebra"').results
    assert (result.start_line, result.end_line) == (43, 64)


def test_spans_with_a_phrase_are_longer_than_those_of_a_question(
    tmp_path: Path, make_app: MakeApp
) -> None:
    parts = [_function(f"part_{at}", 40).replace("rows.pop(0)", "zebra_stripes") for at in range(4)]
    app = make_app(make_repository(tmp_path / "repo", {"parts.py": "\n\n".join(parts)}))

    def lengths(question: str) -> list[int]:
        (result,) = app.search(question).results
        spans = [(result.start_line, result.end_line)]
        spans += [(span.start_line, span.end_line) for span in result.more_spans]
        return [end - start + 1 for start, end in spans]

    # There is room for sixty lines. Each span with a phrase starts with 24 of them, and each span
    # of another question with eight. The first span gets the rest.
    assert lengths('"= zebra_stripes"') == [24, 24, 12]
    assert lengths("rows of zebra_stripes") == [36, 8, 8, 8]


def test_only_places_with_a_phrase_are_shown_if_nothing_else_is_asked_for(
    tmp_path: Path, make_app: MakeApp
) -> None:
    parts = [_function(f"zebra_rows_{at}", 40, "return zebra_rows") for at in range(3)]
    parts.append(_function("last_part", 40, "return zebra, rows"))
    app = make_app(make_repository(tmp_path / "repo", {"parts.py": "\n\n".join(parts)}))

    def snippets(question: str) -> list[str]:
        (result,) = app.search(question).results
        return [result.snippet, *(span.snippet for span in result.more_spans)]

    (only,) = snippets('"return zebra, rows"')
    assert "return zebra, rows" in only
    first, *others = snippets('zebra_rows "return zebra, rows"')
    assert "return zebra, rows" in first
    assert others


def test_a_cell_of_one_statement_comes_after_the_explanation_of_its_section(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_repository(tmp_path / "repo", {"a.py": "params = 1\n"})
    explanation = (
        "# Rolling regression\n\nRolling OLS applies OLS across a fixed window of observations and "
        "then moves the window across the data set."
    )
    fit = "rolling = RollingOLS(endog, exog, window=60)\nresults = rolling.fit(method='pinv')\n"
    write_notebook(
        root / "rolling.ipynb",
        [
            markdown_cell(explanation),
            code_cell(f"{fit}params = results.params.copy()\nparams.head()"),
            code_cell("params.iloc[57:62]"),
            code_cell("params.tail()"),
            code_cell("%timeit rolling.fit()"),
        ],
    )
    result = make_app(root).search("in:docs how do I run a rolling regression").results[0]
    snippets = [result.snippet, *(span.snippet for span in result.more_spans)]
    assert "applies OLS across" in snippets[0]
    assert "RollingOLS(endog" in snippets[1]


def test_the_text_of_a_document_comes_before_the_directives_above_it(
    tmp_path: Path, make_app: MakeApp
) -> None:
    directives = (
        ".. module:: tools.imputation.mice\n"
        "   :synopsis: Multiple imputation for missing data with MICE\n\n"
        ".. currentmodule:: tools.imputation.mice\n\n.. _imputation:\n\n\n"
    )
    title = "Chained equations"
    text = "The module fits models to a dataset with missing values and imputes them. " * 6
    page = f"{directives}{title}\n{'=' * len(title)}\n\n{text}\n"
    app = make_app(make_repository(tmp_path / "repo", {"docs/imputation.rst": page}))
    result = app.search("in:docs how to impute missing data with MICE").results[0]
    assert result.start_line == 9


def test_the_row_of_the_asked_option_is_shown_first(tmp_path: Path, make_app: MakeApp) -> None:
    rows = [
        f"| `scroll-part-{at}` | How the scrolling of part {at} works | {at} |" for at in range(9)
    ]
    rows[6] = "| `scrolloff` | Lines around the edge of the screen | `5` |"
    table = ["# Editor", "", "| Key | Description | Default |", "|--|--|--|", *rows]
    text = "\n".join([*table, "", "## Notes", "", "The default of scrolloff was changed once.", ""])
    app = make_app(make_repository(tmp_path / "repo", {"docs/editor.md": text}))
    (result,) = app.search("what is the default of scrolloff").results
    assert result.snippet.startswith(rows[6])
    assert result.start_line == 11


def test_a_constant_whose_name_has_the_words_of_the_question_is_shown(
    tmp_path: Path, make_app: MakeApp
) -> None:
    names = ("jump", "jump_list", "list_capacity", "jump_capacity", "list_jump")
    users = [_function(name, 12, "return jump(list, JUMP_LIST_CAPACITY)") for name in names]
    head = [f"import module_{at}" for at in range(20)]
    constant = [
        "",
        "# The JUMP_LIST_CAPACITY.",
        "JUMP_LIST_CAPACITY = min(",
        "    30,",
        ")",
        "",
        "",
    ]
    text = "\n".join([*head, *constant, *users])
    app = make_app(make_repository(tmp_path / "repo", {"parts.py": text}))
    (result,) = app.search("jump list capacity").results
    spans = [(span.start_line, span.end_line) for span in result.more_spans]
    assert (22, 25) in [(result.start_line, result.end_line), *spans]
