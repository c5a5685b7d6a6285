"""`forebay run`: runs a program with Forebay, and reports where its I/O time went."""
