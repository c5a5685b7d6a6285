"""`forebay report`: describes a program's I/O, and names the causes of its cost."""
