"""Answer questions about the commits that changed a definition or a file."""
