"""The classes that plugins use. Import them from here."""

from rootle.plugins.registry import FileFacts, IndexPlace, Place, Plugin, Section

__all__ = ["FileFacts", "IndexPlace", "Place", "Plugin", "Section"]
