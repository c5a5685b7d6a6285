"""What a tier of fast storage gains, and what it costs."""
