"""Finds out what a file system likes, and says and proves how a program should use it."""
