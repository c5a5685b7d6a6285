"""What Forebay is held to, as programs that anyone can run: `python -m evaluation --help`."""
