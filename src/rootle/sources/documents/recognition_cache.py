"""Cache the text that was recognized in images. Recognition takes about a second per image."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path

from rootle.sources.documents.child_process import DocumentText
from rootle.sources.documents.formats import READERS_VERSION
from rootle.sources.files.skip_rules import IMAGE_WITHOUT_TEXT
from rootle.storage.atomic_json import read_json, write_json
from rootle.text.secret_masking import mask_secrets
from rootle.types import DocumentSection


@dataclass(frozen=True, slots=True)
class RecognitionCache:
    """A folder with one file of recognized text for each image, found by the digest of the image.

    Secrets are masked before the text is stored. Errors when a file is read or written are ignored:
    the text is then recognized again.
    """

    folder: str
    secret_exceptions: tuple[str, ...] = ()  # as in `mask_secrets`

    def find(self, digest: bytes, max_chars: int) -> DocumentText | str | None:
        """Return the stored result of reading a document, or None if there is none."""
        data = read_json(self._path(digest, max_chars))
        if "reason" in data:
            return IMAGE_WITHOUT_TEXT
        try:
            sections = tuple(DocumentSection(**section) for section in data.pop("sections"))
            return DocumentText(**data, sections=sections)
        except (KeyError, TypeError):
            return None

    def store(self, digest: bytes, max_chars: int, found: DocumentText | str) -> None:
        """Store a recognized text, or the fact that there is none. Other results are not stored."""
        if isinstance(found, str):
            if found != IMAGE_WITHOUT_TEXT:
                return
            data: dict[str, object] = {"reason": found}
        elif not found.is_recognized:
            return
        else:
            data = asdict(self._mask(found))
        with suppress(OSError):  # a full disk or a read-only folder
            write_json(self._path(digest, max_chars), data)

    def _mask(self, found: DocumentText) -> DocumentText:
        def mask(text: str) -> str:
            return mask_secrets(text, self.secret_exceptions).text

        sections = tuple(replace(one, title=mask(one.title)) for one in found.sections)
        return replace(
            found,
            text=mask(found.text),
            title=mask(found.title),
            author=mask(found.author),
            sections=sections,
        )

    def _path(self, digest: bytes, max_chars: int) -> Path:
        settings = f"{READERS_VERSION}/{max_chars}/{self.secret_exceptions}"
        name = blake2b(digest + settings.encode(), digest_size=16).hexdigest()
        return Path(self.folder) / f"{name}.json"
