"""What is wrong with a program's I/O, from a record or a log. Pure."""
