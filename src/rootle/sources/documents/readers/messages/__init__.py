"""Readers of messages."""
