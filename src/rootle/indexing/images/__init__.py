"""Embed images after the text of the index is written."""

from typing import Final

LOCK_NAME: Final = "images.lock"
