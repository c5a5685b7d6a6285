"""Use case: a run of a program, step by step."""
