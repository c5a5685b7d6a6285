"""`forebay advise`: recommends how a program should use a file system."""
