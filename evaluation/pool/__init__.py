"""Measures a program's gain by the pool; see evaluation/pool/__main__.py."""
