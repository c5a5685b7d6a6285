"""`forebay apply`: a program with what was advised."""
