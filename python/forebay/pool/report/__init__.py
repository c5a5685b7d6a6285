"""Output about a pool, and while it drains."""
