"""Advice that is tried, on a file system or on a simulated one."""
