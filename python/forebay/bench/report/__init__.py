"""HTML pages and pictures of benchmarks' results."""
