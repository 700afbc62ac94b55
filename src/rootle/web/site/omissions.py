"""The pages that are left out of a site: those that cannot be read, and those beyond a limit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rootle.errors import RootleError, UnavailableError
from rootle.web.page_download import DownloadedPage

# The number of consecutive failed requests after which a site is not read further.
MAX_FAILED_REQUESTS: Final = 20


@dataclass
class Omissions:
    """The pages that are left out of a site while it is read once."""

    # page -> the reason why it could not be read
    failed: dict[str, str] = field(default_factory=dict)
    beyond_limits: int = 0
    not_requested: int = 0  # because too many earlier requests had failed
    cut: int = 0  # pages of which only the beginning was read
    _failed_in_sequence: int = 0

    @property
    def is_silent(self) -> bool:
        """Whether so many requests in a row failed that further requests are useless."""
        return self._failed_in_sequence >= MAX_FAILED_REQUESTS

    def add_page(self, page: DownloadedPage) -> None:
        self._failed_in_sequence = 0
        self.cut += page.is_truncated

    def add_failure(self, page: str, error: RootleError) -> None:
        """Record why a page was not read.

        Only an UnavailableError counts as a failed request. With other errors, such as for a
        missing page or a PDF file, the server has answered.
        """
        self.failed[page] = str(error)
        is_answered = not isinstance(error, UnavailableError)
        self._failed_in_sequence = 0 if is_answered else self._failed_in_sequence + 1

    def describe_silence(self) -> str:
        """Return why reading the site ended early; "" if it did not."""
        if not self.is_silent:
            return ""
        return f"reading stopped after {MAX_FAILED_REQUESTS} failed requests in a row"

    def describe(self) -> str:
        """Return the omissions in one sentence; "" if there are none."""
        parts = []
        if self.beyond_limits == 1:
            parts.append("1 more page is beyond the limits")
        elif self.beyond_limits:
            parts.append(f"{self.beyond_limits:,} more pages are beyond the limits")
        if self.not_requested == 1:
            parts.append("1 more page was not requested")
        elif self.not_requested:
            parts.append(f"{self.not_requested:,} more pages were not requested")
        if self.cut == 1:
            parts.append("1 page is too long, and only its beginning was read")
        elif self.cut:
            parts.append(f"{self.cut:,} pages are too long, and only their beginning was read")
        reasons = list(self.failed.values())
        if len(reasons) == 1:
            parts.append(f"1 page could not be read: {reasons[0]}")
        elif reasons:
            parts.append(f"{len(reasons):,} pages could not be read, the first: {reasons[0]}")
        return "; ".join(parts)
