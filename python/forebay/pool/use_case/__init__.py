"""Use cases of the pool: for scripts, for single runs, for rescue files; and their ports."""
