"""Ordinary and hostile documents for the measurement of `benchmarks.speed.documents`."""
