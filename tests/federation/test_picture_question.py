"""Questions that ask for a picture, and questions that ask for code about pictures."""

from __future__ import annotations

import pytest

from rootle.federation.picture_question import asks_for_picture


@pytest.mark.parametrize(
    "question",
    [
        "the diagram that shows how an order is paid",
        "diagram of the login flow",
        "sequence diagram",
        "show me the screenshot of the settings page",
        "Is there a picture of the old dashboard?",
        "where is the architecture diagram",
        "chart showing the number of requests",
        "the whiteboard sketch from the planning meeting",
    ],
)
def test_it_asks_for_a_picture(question: str) -> None:
    assert asks_for_picture(question)


@pytest.mark.parametrize(
    "question",
    [
        "where is the retry backoff computed",
        "resize image",
        "take screenshot",
        "how are diagrams rendered",
        "draw_diagram",
        "renderDiagram of a flow",
        "which function compresses the picture before the upload",
        "why is the screenshot empty",
        "image cache",
        "class ImageStore",
        "parse the figure caption",
        "write the diagram of the classes to a file",
        "",
    ],
)
def test_it_asks_for_code(question: str) -> None:
    assert not asks_for_picture(question)
