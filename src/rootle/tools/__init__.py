"""Tools for agents: the tools of an app, search over your own vectors, and framework adapters."""

from __future__ import annotations

from rootle.tools.adapters import as_function, as_langchain, call_tool
from rootle.tools.app_backend import AppBackend
from rootle.tools.registry import tools_of
from rootle.tools.schemas import as_anthropic, as_openai, as_openai_response
from rootle.tools.tool import Answer, Tool
from rootle.tools.vectordb_read import vectordb_read
from rootle.tools.vectordb_search import vectordb_search

__all__ = [
    "Answer",
    "AppBackend",
    "Tool",
    "as_anthropic",
    "as_function",
    "as_langchain",
    "as_openai",
    "as_openai_response",
    "call_tool",
    "tools_of",
    "vectordb_read",
    "vectordb_search",
]
