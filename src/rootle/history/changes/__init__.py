"""Find the commit that made the change that a question asks about."""
