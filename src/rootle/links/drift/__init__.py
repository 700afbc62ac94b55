"""Find documents, comments and memories that name what no longer exists."""
