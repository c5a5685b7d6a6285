"""A verification as text, as an HTML page and as pictures."""
