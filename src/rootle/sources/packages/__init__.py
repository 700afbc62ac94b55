"""The packages that a project depends on, as they are installed on this machine."""
