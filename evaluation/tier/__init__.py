"""The gain of a tier of fast storage, and its cost."""
