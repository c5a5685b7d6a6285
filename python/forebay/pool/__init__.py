"""`forebay pool`, and the pool of a single run."""

SHORT_HELP = "Keep what programs write in memory of the node, and write it out."
