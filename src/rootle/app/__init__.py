"""The public API: search a folder, read its files and maintain its index."""

from __future__ import annotations

from rootle.app.facade import App, open_app

__all__ = ["App", "open_app"]
