"""Sections of text files that keep their lines: diagrams and descriptions of interfaces."""
