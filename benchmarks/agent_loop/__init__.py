"""Measure whether a language model reads less with rootle than with grep alone.

The commands are `checkouts`, `check_tasks`, `session`, `play` and `report`.
"""
