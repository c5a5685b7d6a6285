"""Finds the causes of slow I/O in a log or a record. Pure."""
