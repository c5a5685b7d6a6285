"""`forebay bench`: runs the benchmarks, and compares two configurations of them."""

SHORT_HELP = "Measure a file system."
