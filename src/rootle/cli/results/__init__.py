"""The results of a search on a terminal, and how much of an answer fits on one screen."""
