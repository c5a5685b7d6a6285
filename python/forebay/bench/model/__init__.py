"""Command lines, results and comparisons. Pure."""
