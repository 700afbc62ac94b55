"""The part of the public API that searches with an image."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from rootle.app.search_api import SearchApi
from rootle.errors import QueryError
from rootle.serialization.folder_filter import relative_filters
from rootle.serialization.json import apply_filters
from rootle.types import Filters, SearchQuery, SearchResponse, ignore_progress


class ImageApi(SearchApi):
    """Searches the folder with an image, such as a screenshot."""

    def search_image(
        self,
        path: str | os.PathLike[str],
        question: SearchQuery | str = "",
        filters: Filters | Mapping[str, Any] | None = None,
        *,
        explain: bool = False,
    ) -> SearchResponse:
        """Search the folder for the words in an image and the words of `question`.

        Tesseract recognizes the words. `question` may contain operators, such as `lang:python`. If
        `question` is a SearchQuery, such as the result of `image_query`, no words are recognized.
        If `imageEmbeddingEndpoint` is set, similar images are found too; then words are optional.

        Raises the errors of `search`, and QueryError if Tesseract is not installed, or if the image
        cannot be read or contains no indexed words.
        """
        query = self.image_query(path, question) if isinstance(question, str) else question
        query = relative_filters(apply_filters(query, filters), self.root)
        images = self._container.images()
        content = None if images is None else _read_image(path)
        if images is None or content is None:
            return self.search(query, explain=explain)
        has_words = bool(query.text_query.strip())
        if not has_words:
            self._container.refresher().refresh(ignore_progress, fully=False)
        find = partial(self.search, explain=explain) if has_words else None
        return images.search.search_similar(*content, query, find, explain=explain)

    def image_query(self, path: str | os.PathLike[str], question: str = "") -> SearchQuery:
        """Return a query with a question and the words in an image that occur in the index.

        Words in lines with an error message come first, and at most 30 words are used. Raises
        QueryError as `search_image` does, and IndexStorageError if there is no index and none can
        be built. If `imageEmbeddingEndpoint` is set and the image is a PNG or JPEG file, the query
        may have no words.
        """
        images = self._container.images()
        try:
            words = self._words_in(os.fspath(path))
        except QueryError:
            if images is None or _read_image(path) is None:
                raise
            words = []
        return SearchQuery(" ".join([*filter(None, [question]), *words]))

    def _words_in(self, path: str) -> list[str]:
        from rootle.search.query.image_words import choose_words
        from rootle.sources.documents.screenshot import read_screenshot

        text = read_screenshot(path)
        self._container.refresher().refresh(ignore_progress, fully=False)
        words = choose_words(text, self._container.indexer().snapshot().sparse.is_known)
        if not words:
            raise QueryError(f"{path}: none of the words in the image is indexed")
        return list(words)


def _read_image(path: str | os.PathLike[str]) -> tuple[bytes, str] | None:
    """Return a PNG or JPEG image and its media type; None for any other file."""
    from rootle.sources.documents.readers.images.image_size import MAX_IMAGE_BYTES, media_type

    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_IMAGE_BYTES + 1)
    except OSError:
        return None
    kind = media_type(raw)
    return (raw, kind) if kind and len(raw) <= MAX_IMAGE_BYTES else None
