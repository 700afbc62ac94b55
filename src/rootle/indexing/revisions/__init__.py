"""Indexes of earlier versions of a repository."""
