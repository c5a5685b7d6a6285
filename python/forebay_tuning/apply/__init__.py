"""`forebay apply`: runs a program with the advised settings."""
