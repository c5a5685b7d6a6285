"""`forebay probe`: measures a file system, or models one, and draws its portrait."""

SHORT_HELP = "Measure what a file system likes."
