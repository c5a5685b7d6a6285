"""Benchmarks' command lines and results, and comparisons. Pure."""
