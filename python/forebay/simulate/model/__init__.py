"""Experiments, and what the simulator says of them. Pure."""
