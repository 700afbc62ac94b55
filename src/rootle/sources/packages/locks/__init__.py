"""Readers of lock files."""
