"""The default embedding model."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rootle.embed.static import StaticEmbedder
from rootle.text.terms import WORD


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


def test_vectors_have_unit_length_and_unknown_words_give_zeros(embedder: StaticEmbedder) -> None:
    vectors = embedder.embed(["parse the http header", "", "ʘʘʘ"])
    assert vectors.shape == (3, 256)
    assert np.allclose(np.linalg.norm(vectors, axis=1), [1, 0, 0], atol=1e-5)


@pytest.mark.parametrize(
    ("unknown", "known"),
    [("parcels", "parcel"), ("charities", "charity"), ("totalParcels", "total parcel")],
)
def test_an_unknown_form_of_a_known_word_has_the_same_vector(
    embedder: StaticEmbedder, unknown: str, known: str
) -> None:
    vectors = embedder.embed([unknown, known])
    assert vectors[0].any()
    assert (vectors[0] == vectors[1]).all()


def test_a_text_is_closer_to_a_query_about_its_topic(embedder: StaticEmbedder) -> None:
    query, near, far = embedder.embed(
        [
            "how is the http header parsed",
            "def parse_headers(raw): split lines of the HTTP request header",
            "matrix multiplication kernel with tiles",
        ]
    )
    assert query @ near > query @ far + 0.2


def test_the_vector_of_a_text_does_not_depend_on_its_batch(embedder: StaticEmbedder) -> None:
    words = "open file number read lines parse header socket retry attempt token vector".split()
    texts = [" ".join(words[at % 12 :] + words[: at % 7] * (at % 5)) for at in range(70)]
    alone = np.vstack([embedder.embed([text]) for text in texts])
    assert np.array_equal(embedder.embed(texts), alone)
    assert np.array_equal(embedder.embed(texts[33:40]), alone[33:40])
    assert len(np.unique(alone, axis=0)) > 20


def test_texts_that_are_already_split_give_the_same_vectors(embedder: StaticEmbedder) -> None:
    texts = ["parseHTTPHeader(value)", "retry_backoff = 2 ** attempt"]
    words = [WORD.findall(text) for text in texts]
    assert np.array_equal(embedder.embed(texts), embedder.embed_words(words))


def test_the_vector_is_the_sum_of_rows_weighted_by_the_square_roots_of_their_counts(
    embedder: StaticEmbedder,
) -> None:
    socket, file = embedder.embed(["socket", "file"])
    both = embedder.embed(["socket socket socket socket file"])[0]
    # Expect sqrt(4) x socket + sqrt(1) x file, each multiplied by the norm of its row.
    lengths = [np.linalg.norm(embedder._rows[embedder._rows_of[w][0]].astype(np.float32))
               * embedder._scales[embedder._rows_of[w][0]] for w in ("socket", "file")]  # fmt: skip
    expected = 2 * lengths[0] * socket + lengths[1] * file
    assert np.allclose(both, expected / np.linalg.norm(expected), atol=1e-4)


def test_several_threads_can_use_one_embedder(embedder: StaticEmbedder) -> None:
    texts = [f"worker {i} opens connection {i % 7} and sends a request" for i in range(64)]
    expected = np.vstack([embedder.embed([text]) for text in texts])
    with ThreadPoolExecutor(8) as pool:
        found = np.vstack(list(pool.map(lambda text: embedder.embed([text]), texts * 5)))
    assert np.allclose(found, np.vstack([expected] * 5), atol=1e-5)
