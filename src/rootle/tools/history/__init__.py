"""Text for the answers of `vectordb_search` about commits and removed code."""
