"""Follow lines of a file through the commits of a repository."""
