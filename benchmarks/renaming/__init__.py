"""Copies of repositories whose own names were replaced, consistently, by other words."""
