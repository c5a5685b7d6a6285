"""`forebay advise`: how a program should use a file system."""
