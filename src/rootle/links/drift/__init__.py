"""Find documents, comments and memories that mention code that no longer exists."""
