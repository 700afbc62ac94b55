"""Questions name packages; names that are also words count only in certain phrases."""

from __future__ import annotations

import pytest

from rootle.federation.package_names import find_named_packages

_ALIASES = {
    "httpx": "httpx",
    "click": "click",
    "requests": "requests",
    "pydantic": "pydantic",
    "ms": "ms",
    "@x/hono": "@x/hono",
    "hono": "@x/hono",
    "yaml": "PyYAML",
    "pyyaml": "PyYAML",
    "typing-extensions": "t_e",
}


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("how does httpx follow redirects", ("httpx",)),
        ("Does HTTPX follow redirects?", ("httpx",)),
        ("httpx.Client timeout", ("httpx",)),
        ("how do pydantic and httpx differ", ("pydantic", "httpx")),
        ("hono basic auth", ("@x/hono",)),
        ("@x/hono basic auth", ("@x/hono",)),
        ("typing_extensions backports", ("t_e",)),
        ("how does click find the pager", ("click",)),
        ("the click library", ("click",)),
        ("click's pager", ("click",)),
        ("what does click.edit do", ("click",)),
        ("where do we handle a click", ()),
        ("retry failed requests", ()),
        ("how does requests retry", ("requests",)),
        ("read the yaml settings", ()),
        ("wait 100 ms", ()),
        ("nothing of this kind", ()),
        ("", ()),
    ],
)
def test_packages_that_a_question_names(question: str, named: tuple[str, ...]) -> None:
    assert find_named_packages(question, _ALIASES) == named


def test_a_long_question_costs_bounded_time() -> None:
    assert find_named_packages("a." * 500_000 + " httpx", _ALIASES) == ()
