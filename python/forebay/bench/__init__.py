"""`forebay bench`: runs the benchmarks, and compares two configurations of them."""
