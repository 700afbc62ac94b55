"""Sections of text files whose lines stay unchanged: diagrams and descriptions of interfaces."""
