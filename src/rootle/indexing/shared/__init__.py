"""Indexes that share their documents: a store of all documents, and views of parts of it."""
