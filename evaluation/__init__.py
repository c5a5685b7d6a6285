"""Checks of Forebay's goals, as programs that anyone can run: `python -m evaluation --help`."""
