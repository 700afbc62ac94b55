"""The classes that plugins use. Import them from here."""

from rootle.plugins.registry import DocumentPlace, FileFacts, IndexPlace, Plugin, Section

__all__ = ["DocumentPlace", "FileFacts", "IndexPlace", "Plugin", "Section"]
