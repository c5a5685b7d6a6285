"""`forebay report`: describes a program's I/O, and names the causes of its cost."""

SHORT_HELP = "See what held a program's I/O back."
