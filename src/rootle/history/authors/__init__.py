"""Answer questions about the commits of an author."""
