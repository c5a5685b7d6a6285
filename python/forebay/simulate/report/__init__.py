"""Prints the results of simulated pools and independent calls."""
