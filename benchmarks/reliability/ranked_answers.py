"""Answers of an index, in a form that can be compared with the answers of another index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.common.arguments import option
from rootle import App, Config, SearchQuery, open_app
from rootle.serialization.json import to_json

LIMIT: Final = 50  # results per answer

_OTHER_KEYS: Final = frozenset({"tookMs", "generation", "memories", "textQuery"})

Answer = Mapping[str, Any]  # Any: JSON


def fresh_answers(root: Path, index_dir: Path, questions: Iterable[str]) -> list[Answer]:
    """Return the answers of a new index, which is built in `index_dir`."""
    with open_app(root, index_dir=index_dir, config=comparison_config()) as app:
        app.index()
        return ask(app, questions)


def comparison_config(**settings: Any) -> Config:  # Any: values of settings
    """Return the defaults without the parts that depend on earlier questions or on the user."""
    return Config(**{"enable_cache": False, "search_log": False, "memory_store": "", **settings})


def ask(app: App, questions: Iterable[str]) -> list[Answer]:
    """Return the answer to each question."""
    return [
        comparable(question, to_json(app.search(SearchQuery(question, limit=LIMIT))))
        for question in questions
    ]


def comparable(question: str, response: Mapping[str, Any]) -> Answer:
    """Return, as JSON, the values of a response that depend only on the tree."""
    answer = {key: value for key, value in response.items() if key not in _OTHER_KEYS}
    # A cursor contains the generation.
    return {**answer, "question": question, "nextCursor": response["nextCursor"] is not None}


def path_list(answer: Answer) -> list[Any]:
    """Return the paths of the results, best first."""
    return [result["filePath"] for result in answer["results"]]


def ranked_list(answer: Answer) -> list[Any]:
    """Return path, score and all spans of the results, best first."""
    return [
        (result["filePath"], result["score"], _lines(result), *map(_lines, result["moreSpans"]))
        for result in answer["results"]
    ]


def whole_answer(answer: Answer) -> list[Any]:
    """Return every value of an answer that a user can see, as one list."""
    return list(_flatten(answer, ""))


# The strictness of a comparison: a function that returns the values to compare.
COMPARISONS: Final[Mapping[str, Callable[[Answer], list[Any]]]] = {
    "paths": path_list,
    "ranked": ranked_list,
    "answers": whole_answer,
}
COMPARE: Final = option(
    "--compare", choices=COMPARISONS, default="answers", help="default: %(default)s"
)


def describe_differences(
    found: Sequence[Answer], expected: Sequence[Answer], comparison: str
) -> tuple[str, ...]:
    """Return one line for each answer that differs, with the first different value."""
    values = COMPARISONS[comparison]
    return tuple(
        f"{one['question']!r}: {_first_difference(values(one), values(other))}"
        for one, other in zip(found, expected, strict=True)
        if values(one) != values(other)
    )


def _first_difference(found: Sequence[Any], expected: Sequence[Any]) -> str:
    for place, (one, other) in enumerate(zip(found, expected, strict=False)):
        if one != other:
            return f"value {place} is {one!r}, in a new index {other!r}"
    return f"{len(found)} values, in a new index {len(expected)}"


def _lines(span: Mapping[str, Any]) -> tuple[int, int]:
    return span["startLine"], span["endLine"]


def _flatten(value: Any, name: str) -> Iterable[tuple[str, Any]]:
    """Yield each single value with its place, such as `.results.0.score`."""
    if isinstance(value, Mapping):
        for key, item in sorted(value.items()):
            yield from _flatten(item, f"{name}.{key}")
    elif isinstance(value, list | tuple):
        yield f"{name}.length", len(value)
        for place, item in enumerate(value):
            yield from _flatten(item, f"{name}.{place}")
    else:
        yield name, value
