"""The index of the packages that a project depends on."""
