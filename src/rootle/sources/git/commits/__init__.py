"""Commits as documents: their messages, the functions that they changed, and their patches."""
