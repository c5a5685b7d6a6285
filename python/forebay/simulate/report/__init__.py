"""Output about simulated pools and independent calls."""
