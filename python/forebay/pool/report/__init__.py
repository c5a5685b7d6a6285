"""Text and JSON about a pool, and the progress of its draining."""
