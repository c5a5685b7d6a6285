"""`forebay bench`: the benchmarks, and comparisons of two of them."""
