"""Explain why a file contains some lines, by the commits that introduced their words."""
