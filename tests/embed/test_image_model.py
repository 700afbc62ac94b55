"""Requests to a server that embeds images and texts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from image_server import answer_images, image_server, vectors_reply
from json_server import JsonServer, Reply

from rootle.embed.image_model import ImageModel
from rootle.errors import ConfigError, UnavailableError


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with image_server() as found:
        yield found


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/embeddings"])
def test_the_endpoint_may_contain_the_path_of_the_api(server: JsonServer, path: str) -> None:
    model = ImageModel(f"{server.url}{path}", "clip")
    rows = model.embed_texts(["red", "blue"], 5.0)
    assert [int(row.argmax()) for row in rows] == [0, 2]
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1])
    assert server.requests[0].body == {
        "model": "clip",
        "input": ["red", "blue"],
        "truncate_prompt_tokens": -1,
        "encoding_format": "float",
    }


def test_a_key_is_sent_and_a_missing_model_is_left_to_the_server(server: JsonServer) -> None:
    ImageModel(server.url, key=lambda: "secret").embed_texts(["red"], 5.0)
    [request] = server.requests
    assert request.headers["authorization"] == "Bearer secret"
    assert "model" not in request.body


def test_texts_for_siglip_are_padded(server: JsonServer) -> None:
    ImageModel(server.url, "google/siglip-base-patch16-224").embed_texts(["red"], 5.0)
    assert server.requests[0].body["padding"] == "max_length"


def test_the_fingerprint_contains_no_password() -> None:
    assert ImageModel("http://user:password@127.0.0.1:9").fingerprint == "http://127.0.0.1:9"
    with pytest.raises(ConfigError):
        ImageModel("clip.local")


def test_a_server_that_keeps_failing_is_paused(server: JsonServer) -> None:
    server.answer = lambda _: Reply({}, status=404)
    model = ImageModel(server.url, "clip")
    for _ in range(3):
        with pytest.raises(UnavailableError, match="404"):
            model.embed_texts(["red"], 5.0)
    with pytest.raises(UnavailableError, match="paused because it keeps failing"):
        model.embed_texts(["red"], 5.0)
    assert len(server.requests) == 3


def test_an_image_that_is_refused_does_not_pause_the_server(server: JsonServer) -> None:
    server.answer = lambda _: Reply({}, status=400)
    model = ImageModel(server.url, "clip")
    for _ in range(4):
        with pytest.raises(UnavailableError, match="400"):
            model.embed_image(b"", "image/png", 5.0)
    server.answer = answer_images
    assert len(model.embed_texts(["red"], 5.0)) == 1


def test_vectors_of_another_length_are_refused(server: JsonServer) -> None:
    server.answer = lambda _: Reply(vectors_reply([[1.0, 0.0]]))
    model = ImageModel(server.url, "clip")
    model.expect_dimensions(4)
    with pytest.raises(UnavailableError, match="2 numbers instead of 4"):
        model.embed_texts(["red"], 5.0)
