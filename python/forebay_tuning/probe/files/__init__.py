"""Portraits, platforms and journals as files; the program that measures."""
