"""The part of the public API that searches for the words in images."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rootle.app.search_api import SearchApi
from rootle.errors import QueryError
from rootle.types import Filters, SearchQuery, SearchResponse, ignore_progress


class ImageApi(SearchApi):
    """Searches the folder for the words in an image, such as a screenshot."""

    def search_image(
        self,
        path: str | os.PathLike[str],
        question: str = "",
        filters: Filters | Mapping[str, Any] | None = None,
    ) -> SearchResponse:
        """Search the folder for the words in an image, and for those of `question`.

        Tesseract recognizes the words. `question` may contain operators, such as `lang:python`.
        Raises QueryError if Tesseract is not installed, if the image cannot be read or has no words
        that are indexed, and otherwise the errors of `search`.
        """
        return self.search(self.image_query(path, question), filters)

    def image_query(self, path: str | os.PathLike[str], question: str = "") -> SearchQuery:
        """Return a query with a question and the words in an image that occur in the index.

        Words in lines with an error message come first, and at most 30 words are used. Raises
        QueryError as `search_image` does, and IndexStorageError if there is no index and none can
        be built.
        """
        from rootle.search.query.image_words import choose_words
        from rootle.sources.documents.screenshot import read_screenshot

        text = read_screenshot(os.fspath(path))
        self._container.refresher().refresh(ignore_progress, fully=False)
        words = choose_words(text, self._container.indexer().snapshot().sparse.is_known)
        if not words:
            raise QueryError(f"{os.fspath(path)}: none of the words in the image is indexed")
        return SearchQuery(" ".join([*filter(None, [question]), *words]))
