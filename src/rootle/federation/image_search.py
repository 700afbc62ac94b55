"""Add images that fit a question to the results from the files."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final, Literal, Protocol

from rootle.config.fields import Config
from rootle.errors import RootleError
from rootle.federation.picture_question import asks_for_picture
from rootle.index.reader import FileState, ImageMatch
from rootle.search.query.file_filters import filter_files
from rootle.search.query.operators import ParsedQuery, parse_query
from rootle.search.request import check_query
from rootle.serialization.timestamps import format_timestamp
from rootle.text.secret_masking import mask_secrets
from rootle.types import FileMetadata, ImageStatus, SearchQuery, SearchResponse, SearchResult

IMAGES: Final = "images"  # the name of the image search in `degraded`
SIMILAR_TO_QUESTION: Final = "similar to the question by its image embedding"
SIMILAR_TO_IMAGE: Final = "similar to the image by its image embedding"
_IMAGE: Final = "image"  # the language and the place of an image
# The maximum share of images on a page, from 0 to 1, if a question asks for pictures or documents.
_SHARE: Final = 0.3
# The number of best images that are checked for changes. A page shows fewer images than this.
_MAX_CANDIDATES: Final = 50
# The maximum length of a question, in characters, for which images are searched. Longer questions
# are pasted texts, and image models read fewer than a hundred words.
_MAX_CHARS: Final = 1_000
_EMPTY: Final = SearchResponse((), None, (), None, 0, 0.0)

# "competes": images are merged with the files. "last": one image follows the last file.
Role = Literal["competes", "last"]
FindFiles = Callable[[SearchQuery], SearchResponse]


class ImageIndex(Protocol):
    """The vectors of the images."""

    def find_by_text(self, question: str) -> Sequence[ImageMatch]:
        """Return the images that fit a question, best first. Raise RootleError if that fails."""

    def find_similar(self, image: bytes, media_type: str) -> Sequence[ImageMatch]:
        """Return the images that are similar to another one. Raise RootleError if that fails."""

    def is_current(self, image: ImageMatch) -> bool:
        """Return whether an image is still in the folder, unchanged and not ignored."""

    def status(self) -> ImageStatus:
        """Return how many images are embedded."""


@dataclass(frozen=True, slots=True)
class ImageSearch:
    """Searches images in addition to the files of the project."""

    config: Config
    index: ImageIndex

    def search(
        self, query: SearchQuery, find_files: FindFiles, *, explain: bool = False
    ) -> SearchResponse:
        """Return the first page of the files, with images; later pages contain only files.

        If the question asks for a picture or has `in:docs`, about 30% of the page is for images,
        and if their search fails, `degraded` says so. Otherwise, one image may follow the files if
        the page has room for it.
        """
        parsed = parse_query(query.text_query)
        role = _role_of_images(query, parsed)
        if role is None:
            return find_files(query)
        limit = check_query(query, self.config)
        if role == "last":
            response = find_files(query)
            if response.symbols is not None or len(response.results) >= limit:
                return response
            images, _ = self._find_by_text(query, parsed, 1, explain=explain)
            return replace(response, results=_merge(response.results, images))
        images, problem = self._find_by_text(query, parsed, _limit_images(limit), explain=explain)
        if not images:
            return _add_problem(find_files(query), problem)
        response = find_files(replace(query, limit=limit - len(images)))
        return _add_problem(_combine(response, images), problem)

    def search_similar(
        self,
        image: bytes,
        media_type: str,
        query: SearchQuery,
        find: FindFiles | None,
        *,
        explain: bool = False,
    ) -> SearchResponse:
        """Return the images that are similar to a PNG or JPEG image, with the results of `find`.

        `find` is None if there are no words to search for. The filters of `query` apply to images.
        """
        valid = query if find is not None else replace(query, text_query=_IMAGE)
        limit = check_query(valid, self.config)
        is_first = query.cursor is None and query.at is None
        parsed = parse_query(query.text_query) if find is not None else ParsedQuery("")
        most = limit if find is None else _limit_images(limit)
        images, problem = (
            self._find(
                lambda: self.index.find_similar(image, media_type),
                (query, parsed),
                most,
                explanation=SIMILAR_TO_IMAGE,
                explain=explain,
            )
            if is_first
            else ((), "")
        )
        if find is None:
            response = replace(_EMPTY, results=tuple(images))
        else:
            found = find(replace(query, limit=max(1, limit - len(images))))
            response = _combine(found, images) if images else found
        return _add_problem(response, problem)

    def _find_by_text(
        self, query: SearchQuery, parsed: ParsedQuery, most: int, *, explain: bool
    ) -> tuple[Sequence[SearchResult], str]:
        question = mask_secrets(parsed.text, self.config.secret_exceptions).text
        return self._find(
            lambda: self.index.find_by_text(question),
            (query, parsed),
            most,
            explanation=SIMILAR_TO_QUESTION,
            explain=explain,
        )

    def _find(
        self,
        find: Callable[[], Sequence[ImageMatch]],
        filters: tuple[SearchQuery, ParsedQuery],
        most: int,
        *,
        explanation: str,
        explain: bool,
    ) -> tuple[Sequence[SearchResult], str]:
        """Return at most `most` images, and the reason why images may be missing, or ""."""
        try:
            found = _filter(find(), *filters)[:_MAX_CANDIDATES]
            current = [image for image in found if self.index.is_current(image)]
            status = self.index.status()
        except RootleError as error:
            return (), f"images are not searched: {error}"
        problem = ""
        if status.embedded < status.total or (not status.total and status.reason):
            reason = f": {status.reason}" if status.reason else ""
            problem = f"{status.embedded:,} of {status.total:,} images embedded{reason}"
        return [_to_result(one, explanation, explain=explain) for one in current[:most]], problem


def _role_of_images(query: SearchQuery, parsed: ParsedQuery) -> Role | None:
    """Return the role of images in the answer to a question; None to leave them out."""
    if query.cursor or query.context or query.budget is not None or parsed.is_exact:
        return None
    if len(parsed.text) > _MAX_CHARS:
        return None
    names_images = _IMAGE in (*parsed.languages, *(query.languages or ()))
    if parsed.kinds:
        return "competes" if "docs" in parsed.kinds else None
    if names_images or asks_for_picture(parsed.text):
        return "competes"
    return "last" if len(parsed.text.split()) > 1 else None


def _limit_images(limit: int) -> int:
    return int(limit * _SHARE) or (1 if limit > 1 else 0)


def _filter(
    found: Sequence[ImageMatch], query: SearchQuery, parsed: ParsedQuery
) -> Sequence[ImageMatch]:
    states = [_to_state(at, image) for at, image in enumerate(found)]
    passed = filter_files(query, parsed, states, time.time())
    return found if passed is None else [found[state.id] for state in states if state.id in passed]


def _to_state(at: int, image: ImageMatch) -> FileState:
    return FileState(
        id=at,
        path=image.path,
        size=image.size,
        mtime_ns=image.mtime_ns,
        seen_ns=0,
        digest=None,
        skip=None,
        language=_IMAGE,
        encoding="",
        chars=0,
        skipped_chars=0,
        committed_s=None,
        is_dirty=True,  # the time of a commit is not known, so `mtime_ns` is used
        generation=0,
    )


def _to_result(image: ImageMatch, explanation: str, *, explain: bool) -> SearchResult:
    modified = format_timestamp(image.mtime_ns / 1e9)
    similarity = round(image.similarity, 4)
    return SearchResult(
        image.path,
        1,
        1,
        f"image of {image.width} x {image.height} pixels",
        max(0.0, similarity),
        "dense",
        FileMetadata(modified, _IMAGE, image.size),
        scope=explanation,
        place=_IMAGE,
        kind="docs",
        explanation={"image_similarity": similarity} if explain else None,
    )


def _combine(response: SearchResponse, images: Sequence[SearchResult]) -> SearchResponse:
    """Interleave files and images; the images come first if no file answers confidently."""
    if response.confident is False or not response.results:
        return replace(response, results=_merge(images, response.results), confident=None)
    return replace(response, results=_merge(response.results, images, in_turns=True))


def _merge(
    first: Sequence[SearchResult], second: Sequence[SearchResult], *, in_turns: bool = False
) -> tuple[SearchResult, ...]:
    """Return both lists, with each file once: a result for its text replaces one for its image."""
    by_text = {one.file_path: one for one in (*first, *second) if not _is_image(one)}
    if in_turns:
        pairs = zip_longest(first, second)
        ordered = [one for pair in pairs for one in pair if one is not None]
    else:
        ordered = [*first, *second]
    unique = {one.file_path: by_text.get(one.file_path, one) for one in reversed(ordered)}
    return tuple(unique[path] for path in dict.fromkeys(one.file_path for one in ordered))


def _is_image(result: SearchResult) -> bool:
    return result.scope in (SIMILAR_TO_QUESTION, SIMILAR_TO_IMAGE)


def _add_problem(response: SearchResponse, problem: str) -> SearchResponse:
    if not problem:
        return response
    return replace(
        response,
        degraded=(*response.degraded, IMAGES),
        suggestions=(*response.suggestions, problem),
    )
