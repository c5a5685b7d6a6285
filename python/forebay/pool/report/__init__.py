"""What is printed of a pool, and while it drains."""
