"""The classes that plugins use. Import them from here."""

from rootle.plugins.registry import FileFacts, IndexPlace, Plugin, Section

__all__ = ["FileFacts", "IndexPlace", "Plugin", "Section"]
