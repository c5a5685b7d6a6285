"""`forebay report`: what a program's I/O was."""
