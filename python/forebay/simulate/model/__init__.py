"""Experiments and the simulator's results. Pure."""
