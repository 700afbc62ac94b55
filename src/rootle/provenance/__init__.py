"""Explain why a file contains some lines: find the commits that introduced their words."""
