"""Tools for agents: the tools of an app, search over your own vectors, and framework adapters."""

from __future__ import annotations

from rootle.tools.adapters import as_function, as_langchain, call_tool
from rootle.tools.backend_search import vectordb_search
from rootle.tools.definitions.vectordb_read import vectordb_read
from rootle.tools.definitions.vectordb_search import search_folder
from rootle.tools.registry import create_tools
from rootle.tools.schema_formats import as_anthropic, as_openai, as_openai_response
from rootle.tools.sent_passages import SentPassages
from rootle.tools.tool import Answer, Parameter, Tool

__all__ = [
    "Answer",
    "Parameter",
    "SentPassages",
    "Tool",
    "as_anthropic",
    "as_function",
    "as_langchain",
    "as_openai",
    "as_openai_response",
    "call_tool",
    "create_tools",
    "search_folder",
    "vectordb_read",
    "vectordb_search",
]
