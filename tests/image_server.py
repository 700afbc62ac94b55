"""A server with vLLM's API for multimodal embeddings; the vector of an image is its mean color."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from json_server import JsonServer, Reply, Request, serving

COLORS = {"red": (230, 20, 20), "green": (20, 190, 20), "blue": (20, 20, 230)}
# The last component of every vector. A text without the name of a color thus fits all images.
_SHARE_OF_ALL = 0.5


def draw_color(path: Path, color: str, size: tuple[int, int] = (320, 200)) -> Path:
    """Write an image of one color, in the format of the file extension."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new("RGB", size, COLORS[color])
    image.putpixel((0, 0), (size[0] % 256, size[1] % 256, 0))
    image.save(path)
    # Images of one color compress to less than the minimum size of the images that rootle reads.
    with path.open("ab") as file:
        file.write(bytes(700))
    return path


def embed_picture(raw: bytes) -> list[float]:
    from PIL import Image

    pixel = Image.open(io.BytesIO(raw)).convert("RGB").resize((1, 1)).getpixel((0, 0))
    assert isinstance(pixel, tuple)
    return [*(part / 255 for part in pixel), _SHARE_OF_ALL]


def embed_words(text: str) -> list[float]:
    words = set(text.lower().split())
    return [*(float(color in words) for color in COLORS), _SHARE_OF_ALL]


def answer_images(request: Request) -> Reply:
    """Answer as vLLM does: one image in `messages`, or texts in `input`."""
    body = request.body
    if request.path != "/v1/embeddings" or body["encoding_format"] != "float":
        return Reply({"error": "unknown request"}, status=404)
    if "messages" in body:
        [message] = body["messages"]
        [part] = message["content"]
        assert (message["role"], part["type"]) == ("user", "image_url")
        head, _, data = part["image_url"]["url"].partition(",")
        assert head in ("data:image/png;base64", "data:image/jpeg;base64")
        rows = [embed_picture(base64.b64decode(data))]
    else:
        rows = [embed_words(text) for text in body["input"]]
    return Reply(vectors_reply(rows))


def vectors_reply(rows: list[list[float]]) -> Any:
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
    return {"object": "list", "data": data, "model": "toy"}


@contextmanager
def image_server() -> Iterator[JsonServer]:
    with serving(answer_images) as server:
        yield server


def sent_images(server: JsonServer) -> int:
    """Return how many images the server received."""
    return sum("messages" in request.body for request in server.requests)


def sent_texts(server: JsonServer) -> list[str]:
    """Return the questions that the server received, without the texts that fit every image."""
    return [request.body["input"][0] for request in server.requests if "input" in request.body]
