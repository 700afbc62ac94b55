"""Copies of repositories in which their own names are consistently replaced by other words."""
