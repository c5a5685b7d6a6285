"""`forebay run`: a program with Forebay in it, and where its I/O time went."""
