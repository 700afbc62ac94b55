"""Explain why lines of a file are there: the commits that gave them their meaning."""
