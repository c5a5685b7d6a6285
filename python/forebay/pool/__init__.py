"""`forebay pool`, and the pool of a single run."""
