"""Readers of documents that are not plain text: notebooks, office files, e-books, mail and PDF."""
