"""Ordinary and hostile documents for the benchmark `benchmarks.speed.documents`."""
