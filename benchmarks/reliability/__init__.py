"""Reliability: whether answers are right after damage."""
