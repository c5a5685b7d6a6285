"""A portrait as text, page and pictures."""
