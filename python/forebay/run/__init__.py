"""`forebay run`: runs a program with Forebay, and reports where its I/O time went."""

SHORT_HELP = "Run a program, with MPI or without, through Forebay."
