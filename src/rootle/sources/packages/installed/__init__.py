"""Find installed packages on disk."""
