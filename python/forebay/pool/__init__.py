"""`forebay pool`, and the pool of a run."""
