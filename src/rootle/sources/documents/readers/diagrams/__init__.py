"""Readers of diagrams: their labels and edges become lines of text."""
