"""Measures how much a program gains by the pool; see evaluation/pool/__main__.py."""
