"""The tools of an app, in the order in which agents list them."""

from __future__ import annotations

from rootle.app import App
from rootle.tools.definitions.memory import recall, remember
from rootle.tools.definitions.vectordb_read import vectordb_read
from rootle.tools.definitions.vectordb_search import search_folder
from rootle.tools.definitions.web import web_read, web_search
from rootle.tools.sent_passages import SentPassages
from rootle.tools.tool import Tool


def create_tools(app: App, shown: SentPassages | None = None) -> tuple[Tool, ...]:
    """Return the tools that the configuration enables. Nothing is opened before the first call.

    `shown` records the passages that a client has received. Later answers name these passages
    without printing them again.
    """
    tools = [search_folder(app, shown), vectordb_read(app)]
    if app.config.memory_store:
        tools += [recall(app), remember(app)]
    if app.config.web_search:
        limit = app.config.web_max_results
        tools.append(web_search(lambda query: app.web_engines.search(query, limit)))
        tools.append(web_read(lambda url: app.web_pages.read(url)))
    return tuple(tools)
