"""A probe, and the systems that may be behind it."""
