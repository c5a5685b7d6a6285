"""Use cases: one benchmark, and interleaved pairs of them."""
