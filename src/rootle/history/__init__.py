"""Answers from the commits of a repository."""
