"""Measure how many secrets and how many ordinary lines are masked."""
