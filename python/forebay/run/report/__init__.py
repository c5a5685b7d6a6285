"""The summary of a run, and of a comparison of runs."""
