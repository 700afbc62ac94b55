"""Answers about the past in the tool `vectordb_search`."""
